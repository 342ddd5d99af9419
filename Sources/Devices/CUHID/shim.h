// HID devices that a program makes, and access lists of their nodes.
#ifndef CUHID_SHIM_H
#define CUHID_SHIM_H

#include <linux/uhid.h>
#include <sys/xattr.h>

#endif
