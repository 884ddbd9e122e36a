/* SPDX-License-Identifier: Apache-2.0 */
/* From what a driver was given (IR, SPIR-V, or our own compiled form) to kernels in memory. */
#include "api/offers.h"
#include "soft.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- SPIR-V -> bitcode ---------------------------------------------------------------------- */

static bool is_spirv(const void *data, size_t size)
{
    uint32_t magic = 0;
    if (size < 20)
        return false;
    memcpy(&magic, data, sizeof magic);
    return magic == 0x07230203u;
}

/* llvm-spirv-15 -r IN -o OUT; what it says goes to `log`. */
static enum status translator_run(const char *in, const char *out, const char *folder, char *log,
                                  size_t log_size, struct error *err)
{
    const char *wanted = getenv("ISOPHOTE_LLVM_SPIRV");
    char *arguments[] = {(char *)(wanted && *wanted ? wanted : "llvm-spirv-15"),
                         (char *)"-r",
                         (char *)in,
                         (char *)"-o",
                         (char *)out,
                         NULL};
    int code = 0;
    enum status s = child_run(arguments, folder, log, log_size, &code, err);
    if (s == STATUS_MISSING)
        return error_msg(err, s, "no %s; on Debian: apt-get install llvm-spirv-15", arguments[0]);
    if (s == STATUS_OK && code != 0)
        s = error_msg(err, STATUS_BUILD, "llvm-spirv refuses the module (%d): %.500s", code, log);
    return s;
}

static void log_add(char *log, size_t log_size, const char *text)
{
    if (log && log_size > 0) {
        size_t length = strlen(log);
        snprintf(log + length, log_size - length, "%s", text);
    }
}

static enum status spirv_translate(struct arena *a, const void *data, size_t size,
                                   const void **bitcode, size_t *bitcode_size, char *log,
                                   size_t log_size, struct error *err)
{
    char folder[3072], in[3200], out[3200], said[2048] = "";
    TRY(scratch_make(folder, sizeof folder, err));
    snprintf(in, sizeof in, "%s/in.spv", folder);
    snprintf(out, sizeof out, "%s/out.bc", folder);
    char *result = NULL;
    enum status s = file_write(in, data, size, err);
    if (s == STATUS_OK)
        s = translator_run(in, out, folder, said, sizeof said, err);
    log_add(log, log_size, said);
    if (s == STATUS_OK)
        s = file_read(a, out, 0, &result, bitcode_size, err);
    *bitcode = result;
    scratch_remove(folder);
    return s;
}

/* ---- IR -> object code ---------------------------------------------------------------------- */

static enum status machine_open(struct making *m)
{
    const struct llvm_api *a = m->llvm;
    llvm_target target;
    char *message = NULL;
    if (a->GetTargetFromTriple(a->host_triple, &target, &message))
        return llvm_error(m->err, a, STATUS_UNSUPPORTED, NULL, message, a->host_triple);
    /* Programs here are many and run briefly: LLVM's fastest code generator takes more from the
     * compiling than its code, half as fast, gives back (docs/contributor/software_devices.md). */
    m->machine = a->CreateTargetMachine(target, a->host_triple, a->host_cpu, a->host_features,
                                        LLVM_OPTIMISE_NONE, LLVM_RELOCATE_FAR, LLVM_CODE_MODEL_FAR);
    if (!m->machine)
        return error_msg(m->err, STATUS_UNSUPPORTED, "LLVM has no machine for %s", a->host_triple);
    m->layout = a->CreateTargetDataLayout(m->machine);
    return STATUS_OK;
}

static enum status module_parse(struct making *m, const void *data, size_t size)
{
    const struct llvm_api *a = m->llvm;
    char *message = NULL;
    llvm_buffer buffer = a->CreateMemoryBufferWithMemoryRangeCopy(data, size, "device code");
    if (a->ParseIRInContext(m->context, buffer, &m->module, &message)) {
        m->module = NULL;
        return llvm_error(m->err, a, STATUS_BUILD, NULL, message, "not a module of LLVM 15");
    }
    if (a->VerifyModule(m->module, LLVM_RETURN_STATUS, &message))
        return llvm_error(m->err, a, STATUS_BUILD, NULL, message, "the module does not verify");
    a->DisposeMessage(message);
    a->SetTarget(m->module, a->host_triple);
    a->SetModuleDataLayout(m->module, m->layout);
    return STATUS_OK;
}

static enum status passes_run(struct making *m, const char *passes)
{
    const struct llvm_api *a = m->llvm;
    llvm_passes options = a->CreatePassBuilderOptions();
    llvm_failure failure = a->RunPasses(m->module, passes, m->machine, options);
    a->DisposePassBuilderOptions(options);
    return failure ? llvm_error(m->err, a, STATUS_BUILD, failure, NULL, passes) : STATUS_OK;
}

static enum status module_verify(struct making *m)
{
    char *message = NULL;
    if (m->llvm->VerifyModule(m->module, LLVM_RETURN_STATUS, &message))
        return llvm_error(m->err, m->llvm, STATUS_INTERNAL, NULL, message,
                          "what lowering made does not verify");
    m->llvm->DisposeMessage(message);
    return STATUS_OK;
}

/* $ISOPHOTE_SOFT_DUMP is a folder: the module after each stage, as text. */
static void module_dump(const struct making *m, const char *stage)
{
    const char *folder = getenv("ISOPHOTE_SOFT_DUMP");
    if (!folder || !*folder)
        return;
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.ll", folder, stage);
    char *text = m->llvm->PrintModuleToString(m->module);
    struct error err;
    if (file_write(path, text, strlen(text), &err) != STATUS_OK)
        fprintf(stderr, "soft: %s\n", err.msg);
    m->llvm->DisposeMessage(text);
}

static enum status module_make(struct making *m, const void *data, size_t size,
                               const char *const *kernels, llvm_buffer *object)
{
    const struct llvm_api *a = m->llvm;
    enum status s = machine_open(m);
    if (s == STATUS_OK)
        s = module_parse(m, data, size);
    if (s != STATUS_OK)
        return s;
    module_dump(m, "1-parsed");
    s = module_lower(m, kernels);
    if (s == STATUS_OK)
        s = passes_run(m, "function(mem2reg)");
    if (s == STATUS_OK && m->checks) {
        module_dump(m, "2-lowered");
        s = module_instrument(m);
    }
    for (size_t i = 0; s == STATUS_OK && i < m->out->kernel_count; i++)
        s = kernel_entry_write(m, &m->out->kernels[i]);
    if (s == STATUS_OK)
        s = module_verify(m);
    if (s == STATUS_OK) {
        module_dump(m, "3-checked");
        s = passes_run(m, "default<O1>");
    }
    if (s != STATUS_OK)
        return s;
    module_dump(m, "4-optimised");
    char *message = NULL;
    if (a->TargetMachineEmitToMemoryBuffer(m->machine, m->module, LLVM_OBJECT_FILE, &message,
                                           object))
        return llvm_error(m->err, a, STATUS_BUILD, NULL, message, "no machine code");
    return STATUS_OK;
}

static enum status object_make(struct soft_module *out, const void *data, size_t size,
                               const char *const *kernels, struct error *err)
{
    const struct llvm_api *a = out->device->llvm;
    llvm_buffer object = NULL;
    struct making m = {.llvm = a, .out = out, .checks = out->device->options.checks, .err = err};
    m.context = llvm_context_open(a);
    m.builder = a->CreateBuilderInContext(m.context);
    m.void_type = a->VoidTypeInContext(m.context);
    m.i32 = a->Int32TypeInContext(m.context);
    m.i64 = a->Int64TypeInContext(m.context);
    m.pointer = a->PointerTypeInContext(m.context, 0);
    enum status s = module_make(&m, data, size, kernels, &object);
    if (s == STATUS_OK)
        s = native_write(out, a->GetBufferStart(object), a->GetBufferSize(object), err);
    if (object)
        a->DisposeMemoryBuffer(object);
    a->DisposeBuilder(m.builder);
    if (m.module)
        a->DisposeModule(m.module);
    if (m.layout)
        a->DisposeTargetData(m.layout);
    if (m.machine)
        a->DisposeTargetMachine(m.machine);
    a->ContextDispose(m.context);
    return s;
}

/* ---- object code -> kernels ----------------------------------------------------------------- */

static enum status runtime_define(const struct llvm_api *a, llvm_jit jit, struct error *err)
{
    enum { SYMBOLS_MAX = 160 };
    struct llvm_symbol symbols[SYMBOLS_MAX];
    size_t count = 0;
    for (const struct runtime_symbol *r = runtime_symbols; r->name; r++, count++) {
        if (count == SYMBOLS_MAX)
            return error_msg(err, STATUS_INTERNAL, "more than %d runtime functions", SYMBOLS_MAX);
        symbols[count] = (struct llvm_symbol){.name = a->OrcLLJITMangleAndIntern(jit, r->name),
                                              .to = {.address = (uint64_t)(uintptr_t)r->address,
                                                     .flags = {.generic = LLVM_EXPORTED}}};
    }
    llvm_failure failure = a->OrcJITDylibDefine(a->OrcLLJITGetMainJITDylib(jit),
                                                a->OrcAbsoluteSymbols(symbols, count));
    return failure ? llvm_error(err, a, STATUS_INTERNAL, failure, NULL, "runtime functions")
                   : STATUS_OK;
}

static enum status symbol_find(const struct soft_module *m, const char *name, uint64_t *address,
                               struct error *err)
{
    const struct llvm_api *a = m->device->llvm;
    llvm_failure failure = a->OrcLLJITLookup(m->jit, address, name);
    return failure ? llvm_error(err, a, STATUS_BUILD, failure, NULL, name) : STATUS_OK;
}

static enum status object_link(struct soft_module *m, const void *object, size_t size,
                               struct error *err)
{
    const struct llvm_api *a = m->device->llvm;
    llvm_failure failure = a->OrcCreateLLJIT(&m->jit, NULL);
    if (failure) {
        m->jit = NULL;
        return llvm_error(err, a, STATUS_INTERNAL, failure, NULL, "LLVM's linker");
    }
    enum status s = runtime_define(a, m->jit, err);
    if (s != STATUS_OK)
        return s;
    llvm_buffer buffer = a->CreateMemoryBufferWithMemoryRangeCopy(object, size, "device code");
    failure = a->OrcLLJITAddObjectFile(m->jit, a->OrcLLJITGetMainJITDylib(m->jit), buffer);
    if (failure)
        return llvm_error(err, a, STATUS_BUILD, failure, NULL, "object code");
    for (size_t i = 0; s == STATUS_OK && i < m->kernel_count; i++) {
        char name[512];
        uint64_t address = 0;
        snprintf(name, sizeof name, "%s.entry", m->kernels[i].name);
        s = symbol_find(m, name, &address, err);
        m->entries[i] = (kernel_entry)(uintptr_t)address;
    }
    for (size_t i = 0; s == STATUS_OK && i < m->variable_count; i++) {
        struct variable *v = &m->variables[i];
        uint64_t address = 0;
        if (symbol_find(m, v->name, &address, NULL) != STATUS_OK)
            continue; /* the optimiser needed it no more */
        v->object = (struct object){.base = (unsigned char *)(uintptr_t)address,
                                    .size = v->size,
                                    .constant = v->constant,
                                    .name = v->name};
        if (v->size > 0)
            s = memory_insert(&m->device->memory, &v->object, err);
    }
    return s;
}

/* ---- the interface -------------------------------------------------------------------------- */

enum status soft_module_load(struct soft_device *d, const void *data, size_t size,
                             const char *const *kernels, struct soft_module **out, char *log,
                             size_t log_size, struct error *err)
{
    struct soft_module *m = calloc(1, sizeof *m);
    if (log && log_size)
        log[0] = '\0';
    if (!m)
        return error_msg(err, STATUS_MEMORY, "out of memory for a module");
    m->device = d;
    struct arena scratch = {0};
    enum status s = STATUS_OK;
    const void *object = NULL;
    size_t object_size = 0;
    if (!native_is(data, size)) {
        if (is_spirv(data, size))
            s = spirv_translate(&scratch, data, size, &data, &size, log, log_size, err);
        if (s == STATUS_OK)
            s = object_make(m, data, size, kernels, err);
        data = m->native;
        size = m->native_size;
        arena_free(&m->arena); /* what native_read makes again, from what is kept */
        m->kernel_count = m->place_count = m->variable_count = 0;
    }
    if (s == STATUS_OK)
        s = native_read(m, data, size, &object, &object_size, err);
    if (s == STATUS_OK)
        s = object_link(m, object, object_size, err);
    arena_free(&scratch);
    m->next = d->modules;
    d->modules = m;
    if (s != STATUS_OK) {
        if (err)
            log_add(log, log_size, err->msg);
        soft_module_free(m);
        return s;
    }
    *out = m;
    return STATUS_OK;
}

void soft_module_free(struct soft_module *m)
{
    if (!m)
        return;
    struct soft_device *d = m->device;
    commands_run(d, d->command_count);
    for (size_t i = 0; i < m->variable_count; i++)
        if (m->variables[i].object.base)
            memory_remove(&d->memory, &m->variables[i].object);
    for (struct soft_module **at = &d->modules; *at; at = &(*at)->next)
        if (*at == m) {
            *at = m->next;
            break;
        }
    if (m->jit) {
        llvm_failure failure = d->llvm->OrcDisposeLLJIT(m->jit);
        if (failure)
            d->llvm->DisposeErrorMessage(d->llvm->GetErrorMessage(failure));
    }
    free(m->native);
    arena_free(&m->arena);
    free(m);
}

size_t soft_module_kernel_count(const struct soft_module *m) { return m->kernel_count; }
const struct soft_kernel *soft_module_kernel(const struct soft_module *m, size_t index)
{
    return &m->kernels[index];
}
const struct soft_kernel *soft_module_find(const struct soft_module *m, const char *name)
{
    for (size_t i = 0; i < m->kernel_count; i++)
        if (strcmp(m->kernels[i].name, name) == 0)
            return &m->kernels[i];
    return NULL;
}
void *soft_module_variable(const struct soft_module *m, const char *name, size_t *size)
{
    for (size_t i = 0; i < m->variable_count; i++)
        if (strcmp(m->variables[i].name, name) == 0 && m->variables[i].object.base) {
            *size = m->variables[i].size;
            return m->variables[i].object.base;
        }
    return NULL;
}
void soft_module_native(const struct soft_module *m, const void **data, size_t *size)
{
    *data = m->native;
    *size = m->native_size;
}
