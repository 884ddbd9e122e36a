/* Our declarations of LLVM's C API against LLVM's own headers, and the library at work. */
#ifdef HAVE_LLVM_HEADERS
#include <llvm-c/Analysis.h>
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
#define llvm_context     LLVMContextRef
#define llvm_module      LLVMModuleRef
#define llvm_value       LLVMValueRef
#define llvm_type        LLVMTypeRef
#define llvm_block       LLVMBasicBlockRef
#define llvm_use         LLVMUseRef
#define llvm_builder     LLVMBuilderRef
#define llvm_buffer      LLVMMemoryBufferRef
#define llvm_attribute   LLVMAttributeRef
#define llvm_metadata    LLVMMetadataRef
#define llvm_layout      LLVMTargetDataRef
#define llvm_target      LLVMTargetRef
#define llvm_machine     LLVMTargetMachineRef
#define llvm_passes      LLVMPassBuilderOptionsRef
#define llvm_failure     LLVMErrorRef
#define llvm_jit         LLVMOrcLLJITRef
#define llvm_jit_builder LLVMOrcLLJITBuilderRef
#define llvm_dylib       LLVMOrcJITDylibRef
#define llvm_unit        LLVMOrcMaterializationUnitRef
#define llvm_symbol_name LLVMOrcSymbolStringPoolEntryRef
#define llvm_symbols     LLVMOrcCSymbolMapPairs
#define llvm_diagnosis   LLVMDiagnosticInfoRef
#define llvm_diagnosis_handler LLVMDiagnosticHandler
#endif

#include "llvm_api.h"

#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

#ifdef HAVE_LLVM_HEADERS
/* Numbers: each pair must be equal. */
#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
SAME(LLVM_RET, LLVMRet);
SAME(LLVM_UNREACHABLE, LLVMUnreachable);
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
SAME(LLVM_INTERNAL_LINKAGE, LLVMInternalLinkage);
SAME(LLVM_RETURN_STATUS, LLVMReturnStatusAction);
SAME(LLVM_DIAGNOSIS_ERROR, LLVMDSError);
SAME(LLVM_FUNCTION_INDEX, LLVMAttributeFunctionIndex);
SAME(LLVM_OPTIMISE_NONE, LLVMCodeGenLevelNone);
SAME(LLVM_OPTIMISE_DEFAULT, LLVMCodeGenLevelDefault);
SAME(LLVM_OPTIMISE_MORE, LLVMCodeGenLevelAggressive);
SAME(LLVM_RELOCATE_PIC, LLVMRelocPIC);
SAME(LLVM_CODE_MODEL_DEFAULT, LLVMCodeModelDefault);
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

static const struct llvm_api *library(void)
{
    const char *problem;
    const struct llvm_api *a = llvm_load(&problem);
    if (!a) {
        print_message("%s\n", problem);
        skip();
    }
    return a;
}

/* Text to machine code to a call. */
static void text_becomes_a_function(void **state)
{
    (void)state;
    const struct llvm_api *a = library();
    char *message = NULL;
    llvm_context context = a->ContextCreate();
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

static void bad_text_is_refused(void **state)
{
    (void)state;
    const struct llvm_api *a = library();
    struct error err = {0};
    char *message = NULL;
    llvm_context context = a->ContextCreate();
    assert_null(module_read(a, context, "define i32 @f( {", &message));
    assert_int_equal(llvm_error(&err, a, STATUS_BUILD, NULL, message, "test"), STATUS_BUILD);
    assert_non_null(strstr(err.msg, "test: "));
    assert_true(strlen(err.msg) > 10);
    a->ContextDispose(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(declarations_are_llvms),
        cmocka_unit_test(text_becomes_a_function),
        cmocka_unit_test(bad_text_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
