/* SPDX-License-Identifier: Apache-2.0 */
#include "embree.h"

#include <dlfcn.h>
#include <pthread.h>

struct embree_functions embree;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[512]; /* empty: loaded */

static void load(void)
{
    void *library = dlopen("libembree3.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(failure, sizeof failure, "%s", dlerror());
        return;
    }
    /* POSIX: a function's address read through a pointer to an object. */
#define X(name)                                                                                    \
    *(void **)&embree.name = dlsym(library, #name);                                                \
    if (!embree.name)                                                                              \
        snprintf(failure, sizeof failure, "it has no function %s", #name);
    EMBREE_FUNCTIONS(X)
#undef X
}

enum status embree_load(struct error *err)
{
    pthread_once(&once, load);
    if (failure[0])
        return error_msg(err, STATUS_MISSING,
                         "the reference needs Embree 3 (apt-get install libembree3-3): %s",
                         failure);
    return STATUS_OK;
}
