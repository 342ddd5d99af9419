// GTK 4 and libadwaita 1.2, with the two display servers that they run on.
#ifndef CADWAITA_SHIM_H
#define CADWAITA_SHIM_H

#include <adwaita.h>
#include <gdk/wayland/gdkwayland.h>
#include <gdk/x11/gdkx.h>
#include "foreign.h"

#endif
