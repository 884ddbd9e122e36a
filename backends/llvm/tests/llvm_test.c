/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of LLVM's C API against LLVM's own headers, and the library at work. */
#ifdef HAVE_LLVM_HEADERS
#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Error.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

/* Our names stand for their types, so that signatures can be compared. */
#define ISOPHOTE_LLVM_TYPES
#define llvm_context           LLVMContextRef
#define llvm_module            LLVMModuleRef
#define llvm_value             LLVMValueRef
#define llvm_type              LLVMTypeRef
#define llvm_block             LLVMBasicBlockRef
#define llvm_use               LLVMUseRef
#define llvm_builder           LLVMBuilderRef
#define llvm_buffer            LLVMMemoryBufferRef
#define llvm_attribute         LLVMAttributeRef
#define llvm_metadata          LLVMMetadataRef
#define llvm_layout            LLVMTargetDataRef
#define llvm_target            LLVMTargetRef
#define llvm_machine           LLVMTargetMachineRef
#define llvm_passes            LLVMPassBuilderOptionsRef
#define llvm_failure           LLVMErrorRef
#define llvm_jit               LLVMOrcLLJITRef
#define llvm_jit_builder       LLVMOrcLLJITBuilderRef
#define llvm_dylib             LLVMOrcJITDylibRef
#define llvm_unit              LLVMOrcMaterializationUnitRef
#define llvm_symbol_name       LLVMOrcSymbolStringPoolEntryRef
#define llvm_symbols           LLVMOrcCSymbolMapPairs
#define llvm_diagnosis         LLVMDiagnosticInfoRef
#define llvm_diagnosis_handler LLVMDiagnosticHandler
#endif

#include "llvm/kernel_modules.h"
#include "llvm/llvm_compile.h"

#include <elf.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef HAVE_LLVM_HEADERS
/* Numbers: each pair must be equal. */
#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
SAME(LLVM_RET, LLVMRet);
SAME(LLVM_UNREACHABLE, LLVMUnreachable);
SAME(LLVM_UDIV, LLVMUDiv);
SAME(LLVM_SDIV, LLVMSDiv);
SAME(LLVM_FDIV, LLVMFDiv);
SAME(LLVM_UREM, LLVMURem);
SAME(LLVM_SREM, LLVMSRem);
SAME(LLVM_ALLOCA, LLVMAlloca);
SAME(LLVM_LOAD, LLVMLoad);
SAME(LLVM_STORE, LLVMStore);
SAME(LLVM_GEP, LLVMGetElementPtr);
SAME(LLVM_TRUNC, LLVMTrunc);
SAME(LLVM_ZEXT, LLVMZExt);
SAME(LLVM_SEXT, LLVMSExt);
SAME(LLVM_FP_TO_UI, LLVMFPToUI);
SAME(LLVM_FP_TO_SI, LLVMFPToSI);
SAME(LLVM_UI_TO_FP, LLVMUIToFP);
SAME(LLVM_SI_TO_FP, LLVMSIToFP);
SAME(LLVM_FP_TRUNC, LLVMFPTrunc);
SAME(LLVM_FP_EXT, LLVMFPExt);
SAME(LLVM_INT_TO_PTR, LLVMIntToPtr);
SAME(LLVM_BIT_CAST, LLVMBitCast);
SAME(LLVM_PHI, LLVMPHI);
SAME(LLVM_CALL, LLVMCall);
SAME(LLVM_EXTRACT_VALUE, LLVMExtractValue);
SAME(LLVM_ATOMIC_CMPXCHG, LLVMAtomicCmpXchg);
SAME(LLVM_ATOMIC_RMW, LLVMAtomicRMW);
SAME(LLVM_ADDRSPACE_CAST, LLVMAddrSpaceCast);
SAME(LLVM_TYPE_VOID, LLVMVoidTypeKind);
SAME(LLVM_TYPE_FLOAT, LLVMFloatTypeKind);
SAME(LLVM_TYPE_DOUBLE, LLVMDoubleTypeKind);
SAME(LLVM_TYPE_INTEGER, LLVMIntegerTypeKind);
SAME(LLVM_TYPE_STRUCT, LLVMStructTypeKind);
SAME(LLVM_TYPE_ARRAY, LLVMArrayTypeKind);
SAME(LLVM_TYPE_POINTER, LLVMPointerTypeKind);
SAME(LLVM_TYPE_VECTOR, LLVMVectorTypeKind);
SAME(LLVM_EXTERNAL_LINKAGE, LLVMExternalLinkage);
SAME(LLVM_LINK_ONCE_LINKAGE, LLVMLinkOnceODRLinkage);
SAME(LLVM_INTERNAL_LINKAGE, LLVMInternalLinkage);
SAME(LLVM_RETURN_STATUS, LLVMReturnStatusAction);
SAME(LLVM_DIAGNOSIS_ERROR, LLVMDSError);
SAME(LLVM_FUNCTION_INDEX, LLVMAttributeFunctionIndex);
SAME(LLVM_OPTIMISE_NONE, LLVMCodeGenLevelNone);
SAME(LLVM_OPTIMISE_DEFAULT, LLVMCodeGenLevelDefault);
SAME(LLVM_OPTIMISE_MORE, LLVMCodeGenLevelAggressive);
SAME(LLVM_RELOCATE_STATIC, LLVMRelocStatic);
SAME(LLVM_RELOCATE_PIC, LLVMRelocPIC);
SAME(LLVM_CODE_MODEL_DEFAULT, LLVMCodeModelDefault);
SAME(LLVM_CODE_MODEL_LARGE, LLVMCodeModelLarge);
SAME(LLVM_ASSEMBLY_FILE, LLVMAssemblyFile);
SAME(LLVM_OBJECT_FILE, LLVMObjectFile);
SAME(LLVM_INT_EQ, LLVMIntEQ);
SAME(LLVM_INT_NE, LLVMIntNE);
SAME(LLVM_INT_UGT, LLVMIntUGT);
SAME(LLVM_INT_ULT, LLVMIntULT);
SAME(LLVM_INT_SGT, LLVMIntSGT);
SAME(LLVM_INT_SLT, LLVMIntSLT);
SAME(LLVM_REAL_OGT, LLVMRealOGT);
SAME(LLVM_REAL_OLT, LLVMRealOLT);
SAME(LLVM_ORDER_SEQUENTIAL, LLVMAtomicOrderingSequentiallyConsistent);
SAME(LLVM_RMW_XCHG, LLVMAtomicRMWBinOpXchg);
SAME(LLVM_RMW_ADD, LLVMAtomicRMWBinOpAdd);
SAME(LLVM_RMW_SUB, LLVMAtomicRMWBinOpSub);
SAME(LLVM_RMW_AND, LLVMAtomicRMWBinOpAnd);
SAME(LLVM_RMW_OR, LLVMAtomicRMWBinOpOr);
SAME(LLVM_RMW_XOR, LLVMAtomicRMWBinOpXor);
SAME(LLVM_RMW_MAX, LLVMAtomicRMWBinOpMax);
SAME(LLVM_RMW_MIN, LLVMAtomicRMWBinOpMin);
SAME(LLVM_RMW_UMAX, LLVMAtomicRMWBinOpUMax);
SAME(LLVM_RMW_UMIN, LLVMAtomicRMWBinOpUMin);
SAME(LLVM_REAL_UNO, LLVMRealUNO);
SAME(LLVM_EXPORTED, LLVMJITSymbolGenericFlagsExported);
SAME(LLVM_CC_C, LLVMCCallConv);
SAME(LLVM_CC_PTX_KERNEL, LLVMPTXKernelCallConv);
SAME(LLVM_CC_SPIR_FUNC, LLVMSPIRFUNCCallConv);
SAME(LLVM_CC_SPIR_KERNEL, LLVMSPIRKERNELCallConv);
SAME(LLVM_CC_AMDGPU_KERNEL, LLVMAMDGPUKERNELCallConv);

/* Signatures: an incompatible pointer is an error of this file's compilation. */
static const struct llvm_api theirs = {
#define X(member, result, parameters) .member = LLVM##member,
    LLVM_FUNCTIONS(X)
#undef X
        .ContextSetOpaquePointers = LLVMContextSetOpaquePointers,
};
#endif

static void declarations_are_llvms(void **state)
{
    (void)state;
#ifdef HAVE_LLVM_HEADERS
    (void)theirs; /* that it compiled is the test */
#else
    print_message("no LLVM headers here (llvm-15-dev): declarations were not compared\n");
    skip();
#endif
}

static const char add_text[] = "define i32 @add(i32 %a, i32 %b) {\n"
                               "  %c = add i32 %a, %b\n"
                               "  ret i32 %c\n}\n";

static llvm_module module_read(const struct llvm_api *a, llvm_context context, const char *text,
                               char **message)
{
    llvm_module m = NULL;
    llvm_buffer buffer = a->CreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "test");
    return a->ParseIRInContext(context, buffer, &m, message) ? NULL : m;
}

/* What a test does with each library that is here; SKIP where there is none. */
static void with_each(void (*test)(const struct llvm_api *))
{
    static const unsigned versions[] = {15, 19};
    int done = 0;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        const char *problem;
        const struct llvm_api *a = llvm_load_version(versions[i], &problem);
        if (!a) {
            print_message("SKIP %s\n", problem);
            continue;
        }
        assert_int_equal(a->version, versions[i]);
        test(a);
        done++;
    }
    if (!done)
        skip();
}

/* Text to machine code to a call. */
static void function_made(const struct llvm_api *a)
{
    char *message = NULL;
    llvm_context context = llvm_context_open(a);
    llvm_module m = module_read(a, context, add_text, &message);
    assert_non_null(m);
    assert_false(a->VerifyModule(m, LLVM_RETURN_STATUS, &message));
    llvm_target target;
    assert_false(a->GetTargetFromTriple(a->host_triple, &target, &message));
    llvm_machine machine =
        a->CreateTargetMachine(target, a->host_triple, a->host_cpu, a->host_features,
                               LLVM_OPTIMISE_DEFAULT, LLVM_RELOCATE_PIC, LLVM_CODE_MODEL_DEFAULT);
    llvm_buffer object = NULL;
    assert_false(
        a->TargetMachineEmitToMemoryBuffer(machine, m, LLVM_OBJECT_FILE, &message, &object));
    llvm_jit jit = NULL;
    assert_null(a->OrcCreateLLJIT(&jit, NULL));
    assert_null(a->OrcLLJITAddObjectFile(jit, a->OrcLLJITGetMainJITDylib(jit), object));
    uint64_t address = 0;
    assert_null(a->OrcLLJITLookup(jit, &address, "add"));
    int (*add)(int, int) = (int (*)(int, int))(uintptr_t)address;
    assert_int_equal(add(40, 2), 42);
    assert_null(a->OrcDisposeLLJIT(jit));
    a->DisposeTargetMachine(machine);
    a->DisposeModule(m);
    a->ContextDispose(context);
}
static void text_becomes_a_function(void **state)
{
    (void)state;
    with_each(function_made);
}

static void text_refused(const struct llvm_api *a)
{
    struct error err = {0};
    char *message = NULL;
    llvm_context context = llvm_context_open(a);
    assert_null(module_read(a, context, "define i32 @f( {", &message));
    assert_int_equal(llvm_error(&err, a, STATUS_BUILD, NULL, message, "test"), STATUS_BUILD);
    assert_non_null(strstr(err.msg, "test: "));
    assert_true(strlen(err.msg) > 10);
    a->ContextDispose(context);
}
static void bad_text_is_refused(void **state)
{
    (void)state;
    with_each(text_refused);
}

/* What a target cannot have is an error with LLVM's words; without a handler it ended the process.
 */
static void target_refused(const struct llvm_api *a)
{
    static const char text[] = "define amdgpu_kernel void @k(ptr addrspace(1) %p) {\n"
                               "  %a = call i32 asm sideeffect \"\", \"={f9}\"()\n"
                               "  store i32 %a, ptr addrspace(1) %p\n"
                               "  ret void\n}\n";
    static const char *const keep[] = {"k", NULL};
    const struct llvm_part part = {
        .name = "a register of another machine", .data = text, .size = strlen(text)};
    struct llvm_machine_choice machine;
    struct error err = {0};
    char *out = NULL;
    size_t size;
    assert_int_equal(llvm_amdgpu_machine(a, "gfx1030:xnack-", 0, &machine, &err), STATUS_OK);
    assert_int_equal(llvm_compile(a, &machine, &part, 1, keep, &out, &size, &err), STATUS_BUILD);
    assert_non_null(strstr(err.msg, "code generator: "));
    assert_null(out);
}
static void what_a_target_lacks_is_told(void **state)
{
    (void)state;
    with_each(target_refused);
}

/* Text names no memory and no convention of calls: stack slots and calls become the target's. LLVM
 * verifies the result; what is read here is that nothing of the old form is left. */
static const char slots_text[] = "declare void @fill(ptr, i32)\n"
                                 "define i32 @k(i32 %n) {\n"
                                 "  %a = alloca [5 x i32], align 4\n"
                                 "  %b = getelementptr i32, ptr %a, i64 3\n"
                                 "  call void @fill(ptr %b, i32 %n)\n"
                                 "  %r = load i32, ptr %b, align 4\n"
                                 "  ret i32 %r\n}\n";
static const char fill_text[] = "define void @fill(ptr %p, i32 %n) {\n"
                                "  store volatile i32 %n, ptr %p, align 4\n"
                                "  ret void\n}\n";

/* The module as bitcode, read again and printed; freed by DisposeMessage. */
static char *adapted(const struct llvm_api *a, const struct llvm_machine_choice *machine)
{
    static const char *const keep[] = {"k", NULL};
    const struct llvm_part parts[] = {
        {.name = "slots", .data = slots_text, .size = strlen(slots_text)},
        {.name = "fill", .data = fill_text, .size = strlen(fill_text)}};
    struct error err = {0};
    char *out = NULL, *message = NULL;
    size_t size;
    if (llvm_compile(a, machine, parts, 2, keep, &out, &size, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    llvm_context context = llvm_context_open(a);
    llvm_module m = NULL;
    llvm_buffer buffer = a->CreateMemoryBufferWithMemoryRangeCopy(out, size, "adapted");
    assert_false(a->ParseIRInContext(context, buffer, &m, &message));
    char *text = a->PrintModuleToString(m);
    a->DisposeModule(m);
    a->ContextDispose(context);
    free(out);
    return text;
}

static void text_adapted(const struct llvm_api *a)
{
    struct llvm_machine_choice machine = llvm_spir_machine();
    char *spir = adapted(a, &machine);
    assert_non_null(strstr(spir, "define spir_func i32 @k("));
    assert_non_null(strstr(spir, "define internal spir_func void @fill("));
    assert_non_null(strstr(spir, "call spir_func void @fill("));
    assert_non_null(strstr(spir, "alloca [5 x i32], align 4\n"));
    a->DisposeMessage(spir);
    struct error err = {0};
    assert_int_equal(llvm_amdgpu_machine(a, "gfx1030", 0, &machine, &err), STATUS_OK);
    machine.makes = LLVM_MAKES_BITCODE; /* to look at what would be optimised */
    char *amd = adapted(a, &machine);
    assert_non_null(strstr(amd, "alloca [5 x i32], align 4, addrspace(5)\n"));
    assert_non_null(strstr(amd, "addrspacecast ptr addrspace(5) %"));
    assert_null(strstr(amd, "align 4\n  %b"));
    a->DisposeMessage(amd);
}
static void text_becomes_the_targets(void **state)
{
    (void)state;
    with_each(text_adapted);
}

/* Pointers that functions hand each other: where all calls agree, the machine's loads say which
 * memory it is; where they differ, one decides at run time. */
static const char spaces_text[] =
    "define internal float @near(ptr %p) noinline {\n  %v = load float, ptr %p\n"
    "  ret float %v\n}\n"
    "define internal ptr @later(ptr %p, i64 %i) noinline {\n"
    "  %q = getelementptr float, ptr %p, i64 %i\n  store float 1.0, ptr %q\n  ret ptr %q\n}\n"
    "define internal float @buffer(ptr %p) noinline {\n  %v = load float, ptr %p\n"
    "  ret float %v\n}\n"
    "define internal float @either(ptr %p) noinline {\n  %v = load float, ptr %p\n"
    "  ret float %v\n}\n"
    "define void @k(ptr %out, i64 %i) {\n  %a = alloca [8 x float]\n"
    "  %q = call ptr @later(ptr %a, i64 %i)\n  %n = call float @near(ptr %q)\n"
    "  %b = call float @buffer(ptr %out)\n  %x = call float @either(ptr %q)\n"
    "  %y = call float @either(ptr %out)\n  %s = fadd float %n, %b\n"
    "  %t = fadd float %x, %y\n  %u = fadd float %s, %t\n  store float %u, ptr %out\n"
    "  ret void\n}\n";

static unsigned occurrences(const char *text, const char *word)
{
    unsigned n = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        n++;
    return n;
}

/* Its assembly: loads from the stack, from buffers, and from what is known at run time alone. */
static void check_spaces(const struct llvm_api *a, struct llvm_machine_choice machine,
                         const char *const loads[3])
{
    static const char *const keep[] = {"k", NULL};
    const struct llvm_part part = {
        .name = "pointers", .data = spaces_text, .size = strlen(spaces_text)};
    struct error err = {0};
    char *out = NULL;
    size_t size;
    machine.makes = LLVM_MAKES_ASSEMBLY;
    if (llvm_compile(a, &machine, &part, 1, keep, &out, &size, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    for (int i = 0; i < 3; i++)
        if (occurrences(out, loads[i]) != 1)
            fail_msg("LLVM %u, %s: %u of %s in %s", a->version, machine.cpu,
                     occurrences(out, loads[i]), loads[i], out);
    free(out);
}

static void spaces_told(const struct llvm_api *a)
{
    struct llvm_machine_choice amd;
    struct error err = {0};
    check_spaces(a, llvm_nvptx_machine(a, 80),
                 (const char *const[]){"ld.local.f32", "ld.global.f32", "ld.f32"});
    assert_int_equal(llvm_amdgpu_machine(a, "gfx1030", 0, &amd, &err), STATUS_OK);
    check_spaces(a, amd,
                 (const char *const[]){"buffer_load_dword v0, v", "global_load_dword v0",
                                       "flat_load_dword v0"});
}
static void memory_is_told_across_calls(void **state)
{
    (void)state;
    with_each(spaces_told);
}

static void machines_chosen(const struct llvm_api *a)
{
    struct llvm_machine_choice m;
    struct error err = {0};
    const bool new = a->version >= 19;
    assert_string_equal(llvm_nvptx_machine(a, 90).cpu, new ? "sm_90" : "sm_86");
    assert_string_equal(llvm_nvptx_machine(a, 89).cpu, "sm_86");
    assert_string_equal(llvm_nvptx_machine(a, 30).cpu, "sm_50");
    assert_int_equal(llvm_amdgpu_machine(a, "gfx942", 0, &m, &err),
                     new ? STATUS_OK : STATUS_UNSUPPORTED);
    assert_int_equal(llvm_amdgpu_machine(a, "gfx90", 0, &m, &err), STATUS_UNSUPPORTED);
    assert_int_equal(llvm_amdgpu_machine(a, "", 0, &m, &err), STATUS_UNSUPPORTED);
    assert_int_equal(llvm_amdgpu_machine(a, "gfx90a:sramecc+", 96, &m, &err), STATUS_OK);
    assert_string_equal(m.cpu, "gfx90a");
    assert_string_equal(m.attributes[0].value, "96");
    assert_string_equal(m.attributes[1].value, "1,256");
}
static void only_known_processors_are_named(void **state)
{
    (void)state;
    with_each(machines_chosen);
}

/* The bitcode that clang 15 wrote, of every kind, in the strict mode. */
static void modules_parsed(const struct llvm_api *a)
{
    static const enum kernel_format formats[] = {
        KERNEL_X86_64,     KERNEL_NVPTX,   KERNEL_AMDGCN, KERNEL_SHADERS_8,
        KERNEL_SHADERS_16, ABREAST_X86_64, LANES_X86_64};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const bool parts = formats[i] <= KERNEL_AMDGCN && formats[i] != ABREAST_X86_64;
        for (int part = 0; part <= (parts ? PART_COUNT : 0); part++) { /* the last: stages */
            struct program_request request = program_request_make(MODE_STRICT);
            struct error err = {0};
            char *message = NULL;
            const void *data;
            size_t size;
            request.part = (enum program_part)(part % PART_COUNT);
            request.staged = part == PART_COUNT;
            if (kernel_module_find(formats[i], &request, &data, &size, &err) != STATUS_OK) {
                print_message("SKIP %s\n", err.msg);
                return;
            }
            llvm_context context = llvm_context_open(a);
            llvm_module m = NULL;
            llvm_buffer buffer = a->CreateMemoryBufferWithMemoryRangeCopy(data, size, "module");
            if (a->ParseIRInContext(context, buffer, &m, &message))
                fail_msg("LLVM %u, format %zu, part %d: %s", a->version, i, part, message);
            if (a->VerifyModule(m, LLVM_RETURN_STATUS, &message))
                fail_msg("LLVM %u, format %zu, part %d: %s", a->version, i, part, message);
            a->DisposeMessage(message);
            a->DisposeModule(m);
            a->ContextDispose(context);
        }
    }
}
static void kernel_modules_are_read_by_both(void **state)
{
    (void)state;
    with_each(modules_parsed);
}

/* Does a function's text have the root of sixteen numbers at once? */
static bool is_wide(const char *module, const char *name)
{
    char head[64];
    snprintf(head, sizeof head, "@%s(", name);
    const char *at = module;
    while ((at = strstr(at, "define ")) != NULL) {
        const char *line = strchr(at, '\n'), *end = strstr(at, "\n}"), *named = strstr(at, head);
        assert_non_null(line);
        assert_non_null(end);
        if (named && named < line) {
            const char *root = strstr(line, "@llvm.sqrt.v16f32(");
            return root && root < end;
        }
        at = end;
    }
    return false;
}

/* Stages of paths become code of sixteen lanes, whatever such a scene may have. */
static void lanes_made(const struct llvm_api *a)
{
    static const struct {
        enum math_mode mode;
        uint32_t features;
    } of[] = {{MODE_STRICT, K_FEATURES_ABREAST}, {MODE_FAST, 0}};
    static const char *const keep[] = {"k_slots_start", "k_slots_shade", NULL};
    char folder[] = "/tmp/lanes.XXXXXX", path[128];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(setenv("ISOPHOTE_LLVM_DUMP", folder, 1), 0);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct program_request request = program_request_make(of[i].mode);
        struct kernel_parts parts = {0};
        struct llvm_machine_choice machine = llvm_host_machine(a);
        struct arena arena = {0};
        struct error err = {0};
        char *object = NULL, *module;
        size_t size;
        request.features = of[i].features;
        if (kernel_parts_find(LANES_X86_64, &request, &parts, &err) != STATUS_OK) {
            print_message("SKIP %s\n", err.msg);
            break;
        }
        machine.lanes = true;
        machine.cpu = "skylake-avx512";
        machine.features = "";
        if (llvm_compile(a, &machine, parts.at, parts.count, keep, &object, &size, &err) !=
            STATUS_OK)
            fail_msg("LLVM %u: %s", a->version, err.msg);
        snprintf(path, sizeof path, "%s/skylake-avx512-k_slots_start-2-optimised.ll", folder);
        assert_int_equal(file_read(&arena, path, (size_t)1 << 26, &module, &size, &err), STATUS_OK);
        assert_true(is_wide(module, keep[0]));
        assert_true(is_wide(module, keep[1]));
        free(object);
        arena_free(&arena);
        kernel_parts_free(&parts);
    }
    assert_int_equal(unsetenv("ISOPHOTE_LLVM_DUMP"), 0);
}
static void stages_become_lanes(void **state)
{
    (void)state;
    with_each(lanes_made);
}

/* Turns abreast would share what a turn keeps in an array. */
static void slot_refused(const struct llvm_api *a)
{
    static const char text[] = "define i32 @loop(ptr %to, i64 %n, i32 %x) {\n"
                               "  %own = alloca [4 x i32]\n"
                               "  store [4 x i32] [i32 1, i32 2, i32 3, i32 4], ptr %own\n"
                               "  %at = getelementptr i32, ptr %own, i64 %n\n"
                               "  store i32 %x, ptr %at\n"
                               "  %p = getelementptr i32, ptr %own, i64 2\n"
                               "  %y = load i32, ptr %p\n"
                               "  ret i32 %y\n"
                               "}\n";
    const struct llvm_part part = {.name = "a loop", .data = text, .size = sizeof text - 1};
    static const char *const keep[] = {"loop", NULL};
    struct llvm_machine_choice machine = llvm_host_machine(a);
    struct error err = {0};
    char *object = NULL;
    size_t size;
    machine.lanes = true;
    assert_int_equal(llvm_compile(a, &machine, &part, 1, keep, &object, &size, &err), STATUS_BUILD);
    assert_non_null(strstr(err.msg, "loop keeps memory of its own"));
    free(object);
}
static void a_turn_with_memory_is_refused(void **state)
{
    (void)state;
    with_each(slot_refused);
}

/* Fields of 32 bits that an object's code has for places outside itself: what the linker puts there
 * is wrong where they lie over 2 GiB away. */
static size_t near_fields(const char *object)
{
    const Elf64_Ehdr *e = (const void *)object;
    const Elf64_Shdr *sections = (const void *)(object + e->e_shoff);
    size_t found = 0;
    assert_memory_equal(e->e_ident, ELFMAG, SELFMAG);
    for (size_t i = 0; i < e->e_shnum; i++) {
        const Elf64_Shdr *s = &sections[i];
        if (s->sh_type != SHT_RELA || !(sections[s->sh_info].sh_flags & SHF_EXECINSTR))
            continue;
        const Elf64_Rela *fields = (const void *)(object + s->sh_offset);
        const Elf64_Sym *symbols = (const void *)(object + sections[s->sh_link].sh_offset);
        for (size_t k = 0; k < s->sh_size / sizeof *fields; k++) {
            const Elf64_Sym *to = &symbols[ELF64_R_SYM(fields[k].r_info)];
            const bool own = to->st_shndx != SHN_UNDEF && to->st_shndx < e->e_shnum &&
                             sections[to->st_shndx].sh_flags & SHF_EXECINSTR;
            found += !own && ELF64_R_TYPE(fields[k].r_info) != R_X86_64_64;
        }
    }
    return found;
}

/* LLVM's linker maps sections one by one: beside a GPU's driver, gigabytes apart. */
static void far_compiled(const struct llvm_api *a)
{
    static const char text[] =
        "@table = internal constant [4 x float] [float 1.5, float 2.5, float 3.5, float 4.5]\n"
        "declare float @sinf(float)\n"
        "define float @mix(float %a, i64 %i) {\n"
        "  %p = getelementptr [4 x float], ptr @table, i64 0, i64 %i\n"
        "  %t = load float, ptr %p\n"
        "  %b = fmul float %a, 0x3FB99999A0000000\n"
        "  %c = fadd float %b, %t\n"
        "  %d = call float @sinf(float %c)\n"
        "  ret float %d\n}\n";
    if (strncmp(a->host_triple, "x86_64", 6) != 0)
        return;
    const char *const keep[] = {"mix", NULL};
    const struct llvm_part part = {.name = "mix", .data = text, .size = sizeof text - 1};
    struct error err = {0};
    char *object = NULL;
    size_t size = 0, near_ones;
    struct llvm_machine_choice machine = llvm_host_machine(a);
    assert_int_equal(llvm_compile(a, &machine, &part, 1, keep, &object, &size, &err), STATUS_OK);
    near_ones = near_fields(object);
    free(object);
    assert_int_equal(near_ones, 0);
    machine.far = false; /* the test sees them */
    assert_int_equal(llvm_compile(a, &machine, &part, 1, keep, &object, &size, &err), STATUS_OK);
    near_ones = near_fields(object);
    free(object);
    assert_int_not_equal(near_ones, 0);
}
static void data_may_lie_far_from_code(void **state)
{
    (void)state;
    with_each(far_compiled);
}

/* A group of shaders that does nothing, for rows of so many lanes. */
static char *group_compile(const struct llvm_api *a, unsigned lanes, size_t *size)
{
    static const char *const keep[] = {"al_shade", "al_uniform", "al_out_words", NULL};
    const struct llvm_machine_choice machine = llvm_host_machine(a);
    char text[512], *object = NULL;
    struct error err = {0};
    snprintf(text, sizeof text,
             "@al_point_used = constant i64 0\n"
             "define i32 @al_out_words() {\n  ret i32 0\n}\n"
             "define void @al_uniform(ptr %%run, ptr %%out) {\n  ret void\n}\n"
             "define void @al_shade(ptr %%run, <%u x i32> %%m, i32 %%n, ptr %%out) {\n"
             "  ret void\n}\n",
             lanes);
    const struct llvm_part part = {.name = "group", .data = text, .size = strlen(text)};
    if (llvm_compile(a, &machine, &part, 1, keep, &object, size, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    return object;
}

/* What is much of the shaders' library is machine code, with the entries: it needs nothing but the
 * group, and may lie far from its tables. The bitcode beside it has none of it. */
static void shade_code_linked(const struct llvm_api *a)
{
    static const enum kernel_format formats[][2] = {{KERNEL_SHADERS_8, KERNEL_SHADERS_CODE_8},
                                                    {KERNEL_SHADERS_16, KERNEL_SHADERS_CODE_16}};
    static const char *const much[] = {"al_noise_0_3_0_3_1",
                                       "al_noise_3_4_0_1_0",
                                       "al_noise_5_1_1_3_0",
                                       "al_gabor_1_3_1",
                                       "al_sin",
                                       "al_pow_d",
                                       "asl_points",
                                       "asl_uniform"};
    if (strncmp(a->host_triple, "x86_64", 6) != 0)
        return;
    for (int i = 0; i < 6; i++) {
        struct program_request request = program_request_make((enum math_mode)(i % 3));
        struct llvm_object objects[2] = {0};
        struct llvm_program *p = NULL;
        struct error err = {0};
        const void *bitcode;
        size_t size;
        if (kernel_module_find(formats[i / 3][0], &request, &bitcode, &size, &err) != STATUS_OK) {
            print_message("SKIP %s\n", err.msg);
            return;
        }
        assert_int_equal(kernel_module_find(formats[i / 3][1], &request, &objects[0].data,
                                            &objects[0].size, &err),
                         0);
        assert_int_equal(near_fields(objects[0].data), 0);
        char *group = group_compile(a, i / 3 ? 16 : 8, &objects[1].size);
        objects[1].data = group;
        if (llvm_program_load(a, objects, 2, &p, &err) != STATUS_OK)
            fail_msg("%s", err.msg);
        free(group);
        llvm_context context = llvm_context_open(a);
        llvm_module m = NULL;
        char *message = NULL;
        assert_false(a->ParseIRInContext(
            context, a->CreateMemoryBufferWithMemoryRangeCopy(bitcode, size, "library"), &m,
            &message));
        for (size_t k = 0; k < sizeof much / sizeof *much; k++) {
            assert_non_null(llvm_program_symbol(p, much[k]));
            assert_null(a->GetNamedFunction(m, much[k]));
        }
        assert_non_null(a->GetNamedFunction(m, "al_floor"));
        a->DisposeModule(m);
        a->ContextDispose(context);
        llvm_program_free(p);
    }
}
static void much_of_the_shaders_library_is_machine_code(void **state)
{
    (void)state;
    with_each(shade_code_linked);
}

/* What nobody calls of a library is not there: `unused` would ask for a symbol that no one has. */
static const char library_text[] =
    "@two = internal constant float 2.0\n"
    "declare float @missing(float)\n"
    "declare float @user(float)\n"
    "define internal float @inner(float %x) noinline {\n  %t = load float, ptr @two\n"
    "  %r = fmul float %x, %t\n  ret float %r\n}\n"
    "define float @used(float %x) {\n  %r = call float @inner(float %x)\n  ret float %r\n}\n"
    "define float @unused(float %x) {\n  %r = call float @missing(float %x)\n"
    "  ret float %r\n}\n"
    "define float @entry(float %x) {\n  %y = call float @user(float %x)\n"
    "  %r = fadd float %y, 1.0\n  ret float %r\n}\n";
static const char user_text[] = "declare float @used(float)\n"
                                "define float @user(float %x) {\n"
                                "  %r = call float @used(float %x)\n  ret float %r\n}\n";

static void library_linked(const struct llvm_api *a)
{
    static const char *const keep[] = {"entry", NULL};
    const struct llvm_machine_choice machine = llvm_host_machine(a);
    llvm_context context = llvm_context_open(a);
    llvm_module m = NULL;
    char *message = NULL, *object = NULL;
    size_t size = 0;
    struct error err = {0};
    llvm_buffer text =
        a->CreateMemoryBufferWithMemoryRangeCopy(library_text, sizeof library_text - 1, "library");
    assert_false(a->ParseIRInContext(context, text, &m, &message));
    llvm_buffer bitcode = a->WriteBitcodeToMemoryBuffer(m);
    struct llvm_part parts[] = {{.name = "the library",
                                 .data = a->GetBufferStart(bitcode),
                                 .size = a->GetBufferSize(bitcode),
                                 .library = true},
                                {.name = "user", .data = user_text, .size = sizeof user_text - 1}};
    if (llvm_compile(a, &machine, parts, 2, keep, &object, &size, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    const struct llvm_object made = {object, size};
    struct llvm_program *p = NULL;
    if (llvm_program_load(a, &made, 1, &p, &err) != STATUS_OK)
        fail_msg("%s", err.msg);
    float (*entry)(float);
    void *address = llvm_program_symbol(p, "entry");
    memcpy(&entry, &address, sizeof entry);
    assert_true(entry(3.0f) == 7.0f);
    assert_null(llvm_program_symbol(p, "used"));
    llvm_program_free(p);
    free(object);
    object = NULL;
    const size_t whole = parts[0].size;
    for (parts[0].size = 0; parts[0].size + 4 < whole; parts[0].size += whole / 8 & ~(size_t)3) {
        assert_int_equal(llvm_compile(a, &machine, parts, 2, keep, &object, &size, &err),
                         STATUS_BUILD);
        assert_non_null(strstr(err.msg, "the library"));
        assert_null(object);
    }
    a->DisposeMemoryBuffer(bitcode);
    a->DisposeModule(m);
    a->ContextDispose(context);
}
static void a_library_gives_what_is_called(void **state)
{
    (void)state;
    with_each(library_linked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_gives_what_is_called),
        cmocka_unit_test(declarations_are_llvms),
        cmocka_unit_test(text_becomes_a_function),
        cmocka_unit_test(bad_text_is_refused),
        cmocka_unit_test(what_a_target_lacks_is_told),
        cmocka_unit_test(text_becomes_the_targets),
        cmocka_unit_test(memory_is_told_across_calls),
        cmocka_unit_test(only_known_processors_are_named),
        cmocka_unit_test(data_may_lie_far_from_code),
        cmocka_unit_test(much_of_the_shaders_library_is_machine_code),
        cmocka_unit_test(kernel_modules_are_read_by_both),
        cmocka_unit_test(stages_become_lanes),
        cmocka_unit_test(a_turn_with_memory_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
