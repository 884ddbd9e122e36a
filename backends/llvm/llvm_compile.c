#include "llvm_compile.h"

#include <stdlib.h>
#include <string.h>

struct compiling {
    const struct llvm_api *llvm;
    const struct llvm_machine_choice *choice;
    llvm_context context;
    llvm_module module;
    llvm_machine machine;
    llvm_layout layout;
    struct error *err;
    char diagnosis[400]; /* LLVM's first complaint of the code */
};

/* Without a handler LLVM would end the process over what a target cannot have. */
static void diagnosis_take(llvm_diagnosis d, void *ctx)
{
    struct compiling *c = ctx;
    if (c->llvm->GetDiagInfoSeverity(d) != LLVM_DIAGNOSIS_ERROR || c->diagnosis[0])
        return;
    char *text = c->llvm->GetDiagInfoDescription(d);
    snprintf(c->diagnosis, sizeof c->diagnosis, "%s", text);
    c->llvm->DisposeMessage(text);
}

struct llvm_machine_choice llvm_host_machine(const struct llvm_api *api)
{
    return (struct llvm_machine_choice){
        LLVM_HOST_ARCHITECTURE, api->host_triple, api->host_cpu, api->host_features, false, {{0}}};
}

struct llvm_machine_choice llvm_nvptx_machine(const struct llvm_api *api, int arch)
{
    static const struct {
        int arch;
        const char *cpu, *ptx;
        unsigned since; /* version of LLVM */
    } known[] = {{90, "sm_90", "+ptx78", 16}, {86, "sm_86", "+ptx71", 0},
                 {80, "sm_80", "+ptx70", 0},  {75, "sm_75", "+ptx63", 0},
                 {70, "sm_70", "+ptx60", 0},  {60, "sm_60", "+ptx50", 0},
                 {50, "sm_50", "+ptx40", 0}};
    size_t i = 0;
    while (i + 1 < sizeof known / sizeof known[0] &&
           (known[i].arch > arch || known[i].since > api->version))
        i++;
    return (struct llvm_machine_choice){
        "NVPTX", "nvptx64-nvidia-cuda", known[i].cpu, known[i].ptx, true, {{0}}};
}

enum status llvm_amdgpu_machine(const struct llvm_api *api, const char *arch, uint32_t registers,
                                struct llvm_machine_choice *out, struct error *err)
{
    /* LLVM's User Guide for the AMDGPU back end, "Processors", of versions 15 and 19 */
    static const struct {
        const char *cpu;
        unsigned since;
    } known[] = {{"gfx900", 0},   {"gfx906", 0},   {"gfx908", 0},  {"gfx90a", 0},  {"gfx942", 17},
                 {"gfx1010", 0},  {"gfx1011", 0},  {"gfx1012", 0}, {"gfx1030", 0}, {"gfx1031", 0},
                 {"gfx1032", 0},  {"gfx1033", 0},  {"gfx1034", 0}, {"gfx1035", 0}, {"gfx1036", 0},
                 {"gfx1100", 0},  {"gfx1101", 0},  {"gfx1102", 0}, {"gfx1103", 0}, {"gfx1150", 17},
                 {"gfx1151", 17}, {"gfx1200", 18}, {"gfx1201", 18}};
    enum { FULL_GROUP_REGISTERS = 64 }; /* of a work-item in a work-group of 1024 (RDNA) */
    size_t length = strcspn(arch, ":"), i = 0;
    while (i < sizeof known / sizeof known[0] &&
           (strlen(known[i].cpu) != length || strncmp(known[i].cpu, arch, length) != 0))
        i++;
    if (i == sizeof known / sizeof known[0] || known[i].since > api->version)
        return error_msg(err, STATUS_UNSUPPORTED, "LLVM %u does not know the architecture %.40s",
                         api->version, arch);
    *out =
        (struct llvm_machine_choice){"AMDGPU", "amdgcn-amd-amdhsa", known[i].cpu, "", false, {{0}}};
    if (!registers)
        return STATUS_OK;
    out->attributes[0].key = "amdgpu-num-vgpr";
    snprintf(out->attributes[0].value, sizeof out->attributes[0].value, "%u", registers);
    out->attributes[1].key = "amdgpu-flat-work-group-size";
    snprintf(out->attributes[1].value, sizeof out->attributes[1].value, "1,%d",
             registers > FULL_GROUP_REGISTERS ? 256 : 1024);
    return STATUS_OK;
}

static enum status machine_open(struct compiling *c)
{
    const struct llvm_api *a = c->llvm;
    llvm_target target;
    char *message = NULL;
    enum status s = llvm_target_ready(a, c->choice->architecture, c->err);
    if (s != STATUS_OK)
        return s;
    if (a->GetTargetFromTriple(c->choice->triple, &target, &message))
        return llvm_error(c->err, a, STATUS_UNSUPPORTED, NULL, message, c->choice->triple);
    c->machine =
        a->CreateTargetMachine(target, c->choice->triple, c->choice->cpu, c->choice->features,
                               LLVM_OPTIMISE_MORE, LLVM_RELOCATE_PIC, LLVM_CODE_MODEL_DEFAULT);
    if (!c->machine)
        return error_msg(c->err, STATUS_UNSUPPORTED, "LLVM has no machine for %s",
                         c->choice->triple);
    c->layout = a->CreateTargetDataLayout(c->machine);
    return STATUS_OK;
}

/* clang wrote down for which processor it compiled; the machine found is what counts. */
static void functions_retarget(const struct compiling *c, llvm_module m)
{
    static const char *const names[] = {"target-cpu", "target-features", "tune-cpu",
                                        "min-legal-vector-width", "prefer-vector-width"};
    const struct llvm_api *a = c->llvm;
    for (llvm_value f = a->GetFirstFunction(m); f; f = a->GetNextFunction(f))
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            a->RemoveStringAttributeAtIndex(f, (unsigned)LLVM_FUNCTION_INDEX, names[i],
                                            (unsigned)strlen(names[i]));
}

static enum status part_parse(const struct compiling *c, const struct llvm_part *part,
                              llvm_module *out)
{
    const struct llvm_api *a = c->llvm;
    char *message = NULL;
    llvm_buffer buffer =
        a->CreateMemoryBufferWithMemoryRangeCopy(part->data, part->size, part->name);
    if (a->ParseIRInContext(c->context, buffer, out, &message)) {
        *out = NULL;
        return llvm_error(c->err, a, STATUS_BUILD, NULL, message, part->name);
    }
    if (a->VerifyModule(*out, LLVM_RETURN_STATUS, &message)) {
        a->DisposeModule(*out);
        *out = NULL;
        return llvm_error(c->err, a, STATUS_BUILD, NULL, message, part->name);
    }
    a->DisposeMessage(message);
    a->SetTarget(*out, c->choice->triple);
    a->SetModuleDataLayout(*out, c->layout);
    functions_retarget(c, *out);
    return STATUS_OK;
}

/* The first part takes in the others. */
static enum status parts_link(struct compiling *c, const struct llvm_part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        llvm_module m;
        enum status s = part_parse(c, &parts[i], &m);
        if (s != STATUS_OK)
            return s;
        if (i == 0)
            c->module = m;
        else if (c->llvm->LinkModules2(c->module, m)) /* which frees it in any case */
            return error_msg(c->err, STATUS_BUILD, "%s does not link with %s", parts[i].name,
                             parts[0].name);
    }
    return STATUS_OK;
}

static bool name_listed(const char *const *names, const char *name)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

static void attributes_add(const struct compiling *c, llvm_value function)
{
    for (size_t i = 0; i < sizeof c->choice->attributes / sizeof c->choice->attributes[0]; i++) {
        const char *key = c->choice->attributes[i].key, *value = c->choice->attributes[i].value;
        if (key)
            c->llvm->AddAttributeAtIndex(
                function, (unsigned)LLVM_FUNCTION_INDEX,
                c->llvm->CreateStringAttribute(c->context, key, (unsigned)strlen(key), value,
                                               (unsigned)strlen(value)));
    }
}

/* What nobody outside calls may be inlined and dropped. */
static void functions_hide(const struct compiling *c, const char *const *keep)
{
    const struct llvm_api *a = c->llvm;
    for (llvm_value f = a->GetFirstFunction(c->module); f; f = a->GetNextFunction(f)) {
        size_t length;
        if (!a->GetFirstBasicBlock(f))
            continue;
        if (name_listed(keep, a->GetValueName2(f, &length)))
            attributes_add(c, f);
        else
            a->SetLinkage(f, LLVM_INTERNAL_LINKAGE);
    }
}

static void module_dump(const struct compiling *c, const char *stage)
{
    const char *folder = getenv("ISOPHOTE_LLVM_DUMP");
    if (!folder || !*folder)
        return;
    char path[1024];
    snprintf(path, sizeof path, "%s/%s-%s.ll", folder, c->choice->cpu, stage);
    char *text = c->llvm->PrintModuleToString(c->module);
    struct error err;
    if (file_write(path, text, strlen(text), &err) != STATUS_OK)
        fprintf(stderr, "llvm: %s\n", err.msg);
    c->llvm->DisposeMessage(text);
}

static enum status module_optimise(const struct compiling *c)
{
    const struct llvm_api *a = c->llvm;
    llvm_passes options = a->CreatePassBuilderOptions();
    llvm_failure failure = a->RunPasses(c->module, "globaldce,default<O3>", c->machine, options);
    a->DisposePassBuilderOptions(options);
    return failure ? llvm_error(c->err, a, STATUS_BUILD, failure, NULL, "LLVM's optimiser")
                   : STATUS_OK;
}

static enum status module_emit(const struct compiling *c, char **out, size_t *size)
{
    const struct llvm_api *a = c->llvm;
    llvm_buffer buffer = NULL;
    char *message = NULL;
    unsigned kind = c->choice->assembly ? LLVM_ASSEMBLY_FILE : LLVM_OBJECT_FILE;
    if (a->TargetMachineEmitToMemoryBuffer(c->machine, c->module, kind, &message, &buffer))
        return llvm_error(c->err, a, STATUS_BUILD, NULL, message, "LLVM's code generator");
    if (c->diagnosis[0]) {
        a->DisposeMemoryBuffer(buffer);
        return error_msg(c->err, STATUS_BUILD, "LLVM's code generator: %s", c->diagnosis);
    }
    *size = a->GetBufferSize(buffer);
    *out = malloc(*size + 1); /* text ends with a NUL */
    if (*out) {
        memcpy(*out, a->GetBufferStart(buffer), *size);
        (*out)[*size] = '\0';
    }
    a->DisposeMemoryBuffer(buffer);
    return *out ? STATUS_OK
                : error_msg(c->err, STATUS_MEMORY, "out of memory for a compiled kernel");
}

enum status llvm_compile(const struct llvm_api *api, const struct llvm_machine_choice *machine,
                         const struct llvm_part *parts, size_t count, const char *const *keep,
                         char **out, size_t *size, struct error *err)
{
    struct compiling c = {.llvm = api, .choice = machine, .err = err};
    *out = NULL;
    c.context = llvm_context_open(api);
    api->ContextSetDiagnosticHandler(c.context, diagnosis_take, &c);
    enum status s = machine_open(&c);
    if (s == STATUS_OK)
        s = parts_link(&c, parts, count);
    if (s == STATUS_OK) {
        module_dump(&c, "1-linked");
        functions_hide(&c, keep);
        s = module_optimise(&c);
    }
    if (s == STATUS_OK) {
        module_dump(&c, "2-optimised");
        s = module_emit(&c, out, size);
    }
    if (c.module)
        api->DisposeModule(c.module);
    if (c.layout)
        api->DisposeTargetData(c.layout);
    if (c.machine)
        api->DisposeTargetMachine(c.machine);
    api->ContextDispose(c.context);
    return s;
}
