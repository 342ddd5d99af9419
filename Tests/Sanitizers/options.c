/* Linked into what is built with a sanitizer: its options, also for a program that is started with
 * an environment of its own, such as the process that checks a passcode.
 *
 * REPORTS is where each program writes what it finds, SUPPRESSIONS what is no finding. */
#define COMMON "log_path=" REPORTS ":log_exe_name=1"

/* A library that a test preloads comes before the sanitizer's own, and does no harm there. Leaks
 * aren't looked for: where Swift has the case of an enumeration in the highest bits of a pointer,
 * that is no address to the checker, and what is in use looks lost. `make soak` shows what piles
 * up. */
const char *__asan_default_options(void) {
    return COMMON ":verify_asan_link_order=0:strict_string_checks=1:detect_leaks=0";
}

const char *__ubsan_default_options(void) { return COMMON ":print_stacktrace=1"; }

/* GTK, GLib, sd-bus and the libraries of Swift aren't built with it: what they touch isn't looked
 * at. */
const char *__tsan_default_options(void) {
    return COMMON ":ignore_noninstrumented_modules=1:suppressions=" SUPPRESSIONS;
}
