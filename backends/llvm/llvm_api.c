/* SPDX-License-Identifier: Apache-2.0 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include "llvm_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A library that was asked for; opened once and kept. */
static struct library {
    unsigned version; /* 0: the one that $ISOPHOTE_LLVM names by its path */
    const char *names[4];
    const char *package; /* Debian's */
    bool tried, loaded;
    struct llvm_api api;
    char problem[640];
} libraries[] = {
    {15,
     {"libLLVM-15.so.1", "libLLVM-15.so", "/usr/lib/llvm-15/lib/libLLVM-15.so.1"},
     "libllvm15",
     false,
     false,
     {0},
     ""},
    {19,
     {"libLLVM.so.19.1", "libLLVM-19.so", "/usr/lib/llvm-19/lib/libLLVM.so.19.1"},
     "libllvm19",
     false,
     false,
     {0},
     ""},
    {0, {NULL}, "libllvm15", false, false, {0}, ""},
};
enum { LIBRARIES = sizeof libraries / sizeof libraries[0] };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* NULL: why each of the names does not load is in `why`. */
static void *library_open(const struct library *l, char *why, size_t size)
{
    const char *const named[] = {getenv("ISOPHOTE_LLVM"), NULL};
    const char *const *names = l->version ? l->names : named;
    size_t used = 0;
    for (size_t i = 0; names[i]; i++) {
        void *handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (handle)
            return handle;
        const char *reason = dlerror();
        int n = snprintf(why + used, size - used, "%s%s", i ? "; " : "",
                         reason ? reason : "it does not load");
        used = n < 0 || (size_t)n >= size - used ? size - 1 : used + (size_t)n;
    }
    return NULL;
}

enum status llvm_target_ready(const struct llvm_api *api, const char *architecture,
                              struct error *err)
{
    static const char *const parts[] = {"TargetInfo", "Target", "TargetMC", "AsmPrinter"};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "LLVMInitialize%s%s", architecture, parts[i]);
        void (*initialise)(void);
        *(void **)&initialise = dlsym(api->library, name);
        if (!initialise)
            return error_msg(err, STATUS_UNSUPPORTED, "llvm: %s lacks %s", api->path, name);
        initialise();
    }
    return STATUS_OK;
}

static void path_keep(struct llvm_api *a)
{
    Dl_info where;
    void *symbol = dlsym(a->library, "LLVMContextCreate");
    snprintf(a->path, sizeof a->path, "%s",
             symbol && dladdr(symbol, &where) && where.dli_fname ? where.dli_fname : "libLLVM");
}

static void host_describe(struct llvm_api *a)
{
    char *triple = a->GetDefaultTargetTriple(), *cpu = a->GetHostCPUName();
    snprintf(a->host_triple, sizeof a->host_triple, "%s", triple);
    snprintf(a->host_cpu, sizeof a->host_cpu, "%s", cpu);
    a->host_features = a->GetHostCPUFeatures();
    a->DisposeMessage(triple);
    a->DisposeMessage(cpu);
}

/* The first function that the library lacks, NULL: none. */
static const char *functions_bind(struct llvm_api *a)
{
    const char *lacks = NULL;
#define X(member, result, parameters)                                                              \
    *(void **)&a->member = dlsym(a->library, "LLVM" #member);                                      \
    if (!a->member && !lacks)                                                                      \
        lacks = "LLVM" #member;
    LLVM_FUNCTIONS(X)
#undef X
#define X(member, result, parameters) *(void **)&a->member = dlsym(a->library, "LLVM" #member);
    LLVM_FUNCTIONS_OF_SOME(X)
#undef X
    return lacks;
}

static void library_load(struct library *l)
{
    struct llvm_api *a = &l->api;
    char reasons[512] = "";
    a->library = library_open(l, reasons, sizeof reasons);
    if (!a->library) {
        snprintf(l->problem, sizeof l->problem,
                 "llvm: no libLLVM-%u (%s); on Debian: apt-get install %s",
                 l->version ? l->version : 15, reasons, l->package);
        return;
    }
    path_keep(a);
    const char *lacks = functions_bind(a);
    if (lacks) {
        snprintf(l->problem, sizeof l->problem, "llvm: %s lacks %s; version 15 or 19 is needed",
                 a->path, lacks);
        return;
    }
    unsigned minor, patch;
    a->version = 15; /* which cannot be asked */
    if (a->GetVersion)
        a->GetVersion(&a->version, &minor, &patch);
    struct error why = {0};
    if (llvm_target_ready(a, LLVM_HOST_ARCHITECTURE, &why) != STATUS_OK) {
        snprintf(l->problem, sizeof l->problem, "%.600s", why.msg);
        return;
    }
    host_describe(a);
    l->loaded = true;
}

static const struct llvm_api *library_get(unsigned version, const char **problem)
{
    struct library *l = libraries;
    while (l->version != version && l + 1 < libraries + LIBRARIES)
        l++;
    pthread_mutex_lock(&lock);
    if (!l->tried)
        library_load(l);
    l->tried = true;
    pthread_mutex_unlock(&lock);
    *problem = l->loaded ? NULL : l->problem;
    return l->loaded ? &l->api : NULL;
}

const struct llvm_api *llvm_load_version(unsigned version, const char **problem)
{
    if (version == 15 || version == 19)
        return library_get(version, problem);
    *problem = "llvm: versions 15 and 19 are known";
    return NULL;
}

const struct llvm_api *llvm_load(const char **problem)
{
    const char *wanted = getenv("ISOPHOTE_LLVM"), *none;
    if (wanted && *wanted)
        return library_get(strcmp(wanted, "15") == 0   ? 15
                           : strcmp(wanted, "19") == 0 ? 19
                                                       : 0,
                           problem);
    const struct llvm_api *api = library_get(15, problem);
    if (!api && (api = library_get(19, &none)) != NULL)
        *problem = NULL;
    return api;
}

llvm_context llvm_context_open(const struct llvm_api *api)
{
    llvm_context context = api->ContextCreate();
    if (api->ContextSetOpaquePointers)
        api->ContextSetOpaquePointers(context, 1);
    return context;
}

enum status llvm_error(struct error *err, const struct llvm_api *api, enum status code,
                       llvm_failure failure, char *message, const char *what)
{
    char *text = failure ? api->GetErrorMessage(failure) : message;
    error_msg(err, code, "%s: %.800s", what, text ? text : "failed without a reason");
    if (failure && text)
        api->DisposeErrorMessage(text);
    else if (text)
        api->DisposeMessage(text);
    return code;
}
