/* The options of the sanitizers. They are linked in, so that they also apply to a program started with
 * its own environment, such as the process that checks a password.
 *
 * REPORTS is the path of the reports, SUPPRESSIONS the file of findings to ignore. */
#define COMMON "log_path=" REPORTS ":log_exe_name=1"

/* verify_asan_link_order=0: a library that a test preloads comes first, which does no harm.
 *
 * detect_leaks=0: Swift may store an enumeration's case in the highest bits of a pointer. The leak
 * checker does not recognise this as an address, and reports memory in use as leaked. `make soak` finds
 * leaks. */
const char *__asan_default_options(void) {
    return COMMON ":verify_asan_link_order=0:strict_string_checks=1:detect_leaks=0";
}

const char *__ubsan_default_options(void) { return COMMON ":print_stacktrace=1"; }

/* GTK, GLib, sd-bus and the libraries of Swift are built without the sanitizer, so ignore their
 * accesses. */
const char *__tsan_default_options(void) {
    return COMMON ":ignore_noninstrumented_modules=1:suppressions=" SUPPRESSIONS;
}
