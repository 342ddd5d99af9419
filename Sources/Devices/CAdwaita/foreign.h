// Makes another program's window the parent of ours, by xdg-foreign-unstable-v2.
//
// KWin supports no other version of the protocol. GTK supports this version only from 4.10 on.
#ifndef CADWAITA_FOREIGN_H
#define CADWAITA_FOREIGN_H

#include <string.h>
#include <wayland-client.h>

static const struct wl_interface foreign_imported;
static const struct wl_interface *foreign_types[] = {
    &foreign_imported, NULL, &wl_surface_interface,
};
static const struct wl_message foreign_imported_requests[] = {
    {"destroy", "", NULL},
    {"set_parent_of", "o", foreign_types + 2},
};
static const struct wl_message foreign_imported_events[] = {{"destroyed", "", NULL}};
static const struct wl_interface foreign_imported = {
    "zxdg_imported_v2", 1, 2, foreign_imported_requests, 1, foreign_imported_events,
};
static const struct wl_message foreign_importer_requests[] = {
    {"destroy", "", NULL},
    {"import_toplevel", "ns", foreign_types},
};
static const struct wl_interface foreign_importer = {
    "zxdg_importer_v2", 1, 2, foreign_importer_requests, 0, NULL,
};

/// The handles that keep a parent set; both are NULL without a parent.
struct foreign_parent {
    struct wl_proxy *importer, *imported;
};

static void foreign_found(
    void *importer, struct wl_registry *registry, uint32_t name, const char *interface,
    uint32_t version
) {
    (void)version;
    // Bind only the first importer if a compositor announces two.
    if (!*(struct wl_proxy **)importer && strcmp(interface, foreign_importer.name) == 0)
        *(struct wl_proxy **)importer = wl_registry_bind(registry, name, &foreign_importer, 1);
}

static void foreign_lost(void *importer, struct wl_registry *registry, uint32_t name) {
    (void)importer, (void)registry, (void)name;
}

static struct wl_proxy *foreign_find(struct wl_display *display, struct wl_event_queue *queue) {
    static const struct wl_registry_listener listener = {foreign_found, foreign_lost};
    struct wl_proxy *importer = NULL;
    // A wrapper with its own queue leaves the events of other listeners in their queue.
    struct wl_display *wrapper = wl_proxy_create_wrapper(display);
    if (!wrapper)
        return NULL;
    wl_proxy_set_queue((struct wl_proxy *)wrapper, queue);
    struct wl_registry *registry = wl_display_get_registry(wrapper);
    wl_proxy_wrapper_destroy(wrapper);
    if (!registry)
        return NULL;
    wl_registry_add_listener(registry, &listener, &importer);
    wl_display_roundtrip_queue(display, queue);
    wl_registry_destroy(registry);
    if (importer)
        wl_proxy_set_queue(importer, NULL);
    return importer;
}

/// Sets the window that exported `handle` as the parent of `child`.
///
/// `child` has to be a toplevel already. A handle that is no longer valid changes nothing.
static inline struct foreign_parent foreign_take(
    struct wl_display *display, struct wl_surface *child, const char *handle
) {
    struct foreign_parent parent = {NULL, NULL};
    struct wl_event_queue *queue = wl_display_create_queue(display);
    if (!queue)
        return parent;
    parent.importer = foreign_find(display, queue);
    wl_event_queue_destroy(queue);
    if (parent.importer)
        parent.imported =
            wl_proxy_marshal_flags(parent.importer, 1, &foreign_imported, 1, 0, NULL, handle);
    if (parent.imported)
        wl_proxy_marshal_flags(parent.imported, 1, NULL, 1, 0, child);
    return parent;
}

static inline void foreign_leave(struct foreign_parent parent) {
    if (parent.imported)
        wl_proxy_marshal_flags(parent.imported, 0, NULL, 1, WL_MARSHAL_FLAG_DESTROY);
    if (parent.importer)
        wl_proxy_marshal_flags(parent.importer, 0, NULL, 1, WL_MARSHAL_FLAG_DESTROY);
}

#endif
