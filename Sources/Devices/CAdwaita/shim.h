// GTK 4, libadwaita 1.2 and their two display servers.
#ifndef CADWAITA_SHIM_H
#define CADWAITA_SHIM_H

#include <adwaita.h>
#include <gdk/wayland/gdkwayland.h>
#include <gdk/x11/gdkx.h>
#include "foreign.h"

#endif
