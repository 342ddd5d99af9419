// Loads OpenBLAS on demand: it reads its settings and starts its threads when it is loaded.

#include "blas.h"
#include "cface.h"

#ifndef LOCALAUTH_FACE

extern "C" void cface_choose_kernels(void) {}

#else

#include <cstdlib>
#include <dlfcn.h>

namespace localauth {

multiply load_multiply() {
    static const multiply found = [] {
        void *const library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) return multiply{};
        // For a process that chose no kernels. More threads do not help on two cores.
        if (void *const limit = dlsym(library, "openblas_set_num_threads"))
            reinterpret_cast<void (*)(int)>(limit)(1);
        return reinterpret_cast<multiply>(dlsym(library, "cblas_sgemm"));
    }();
    return found;
}

} // namespace localauth

extern "C" void cface_choose_kernels(void) {
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
#ifdef __x86_64__
    // OpenBLAS takes processors that are newer than itself for processors of 2004 or 2007.
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return;
    const bool has_avx512 = __builtin_cpu_supports("avx512f") &&
                            __builtin_cpu_supports("avx512dq") &&
                            __builtin_cpu_supports("avx512bw") &&
                            __builtin_cpu_supports("avx512vl");
    setenv("OPENBLAS_CORETYPE", has_avx512 ? "SkylakeX" : "Haswell", 0);
#endif
}

#endif
