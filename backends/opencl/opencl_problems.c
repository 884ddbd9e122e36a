/* SPDX-License-Identifier: Apache-2.0 */
/* Drivers that are installed but do not load. The ICD loader passes over them without a word, so
 * this reads the .icd files as it does: OCL_ICD_VENDORS (a folder or one .icd file), else
 * /etc/OpenCL/vendors; one library name a file. */
#include "opencl.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void icd_check(const char *file, void (*problem)(void *ctx, const char *text), void *ctx)
{
    struct arena a = {0};
    char *name, text[1024];
    size_t size;
    if (file_read(&a, file, 1 << 16, &name, &size, NULL) != STATUS_OK) {
        snprintf(text, sizeof text, "opencl: %.500s cannot be read", file);
        problem(ctx, text);
        arena_free(&a);
        return;
    }
    name[strcspn(name, "\r\n")] = '\0';
    /* The loader has been through all of them: what works is loaded already. */
    void *library = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (!library) {
        library = dlopen(name, RTLD_LAZY);
        const char *why = library ? "it loads, but the loader did not take it" : dlerror();
        snprintf(text, sizeof text,
                 "opencl: %.300s names the driver \"%.200s\", which does not work: %.300s", file,
                 name, why ? why : "no reason given");
        problem(ctx, text);
    }
    if (library)
        dlclose(library);
    arena_free(&a);
}

void opencl_installed_problems(void (*problem)(void *ctx, const char *text), void *ctx)
{
    const char *where = getenv("OCL_ICD_VENDORS");
    if (!where || !where[0])
        where = "/etc/OpenCL/vendors";
    struct stat st;
    size_t length = strlen(where);
    if (stat(where, &st) != 0)
        return; /* no drivers at all: said elsewhere */
    if (!S_ISDIR(st.st_mode)) {
        if (length > 4 && strcmp(where + length - 4, ".icd") == 0)
            icd_check(where, problem, ctx);
        return;
    }
    DIR *d = opendir(where);
    if (!d)
        return;
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        char file[4096];
        size_t n = strlen(e->d_name);
        if (n > 4 && strcmp(e->d_name + n - 4, ".icd") == 0 &&
            (size_t)snprintf(file, sizeof file, "%s/%s", where, e->d_name) < sizeof file)
            icd_check(file, problem, ctx);
    }
    closedir(d);
}
