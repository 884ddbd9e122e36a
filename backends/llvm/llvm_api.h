/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of LLVM's C API that this project calls, found at run time in libLLVM-15 or
 * libLLVM-19: nothing links to LLVM, so the program builds and runs where there is none. The names,
 * types and numbers are facts of LLVM's documented C interface, the same in both versions;
 * llvm_test.c compares them with LLVM 15's headers where those are installed. */
#ifndef ISOPHOTE_LLVM_API_H
#define ISOPHOTE_LLVM_API_H

#include "base.h"

#ifndef ISOPHOTE_LLVM_TYPES /* llvm_test.c puts LLVM's own names here */
typedef struct llvm_context_s *llvm_context;
typedef struct llvm_module_s *llvm_module;
typedef struct llvm_value_s *llvm_value;
typedef struct llvm_type_s *llvm_type;
typedef struct llvm_block_s *llvm_block;
typedef struct llvm_use_s *llvm_use;
typedef struct llvm_builder_s *llvm_builder;
typedef struct llvm_buffer_s *llvm_buffer;
typedef struct llvm_attribute_s *llvm_attribute;
typedef struct llvm_metadata_s *llvm_metadata;
typedef struct llvm_layout_s *llvm_layout;
typedef struct llvm_target_s *llvm_target;
typedef struct llvm_machine_s *llvm_machine;
typedef struct llvm_passes_s *llvm_passes;
typedef struct llvm_failure_s *llvm_failure; /* LLVMErrorRef: NULL is success */
typedef struct llvm_jit_s *llvm_jit;
typedef struct llvm_jit_builder_s *llvm_jit_builder;
typedef struct llvm_dylib_s *llvm_dylib;
typedef struct llvm_unit_s *llvm_unit; /* LLVMOrcMaterializationUnitRef */
typedef struct llvm_symbol_name_s *llvm_symbol_name;
struct llvm_symbol { /* LLVMJITCSymbolMapPair */
    llvm_symbol_name name;
    struct {
        uint64_t address;
        struct {
            uint8_t generic, target;
        } flags;
    } to;
};
typedef struct llvm_symbol *llvm_symbols;
typedef struct llvm_diagnosis_s *llvm_diagnosis; /* LLVMDiagnosticInfoRef */
typedef void (*llvm_diagnosis_handler)(llvm_diagnosis, void *ctx);
#endif
typedef int llvm_bool;

enum llvm_number { /* opcodes, kinds of types and attributes' places, as the C API numbers them */
                   LLVM_RET = 1,
                   LLVM_UNREACHABLE = 7,
                   LLVM_UDIV = 14,
                   LLVM_SDIV = 15,
                   LLVM_FDIV = 16,
                   LLVM_UREM = 17,
                   LLVM_SREM = 18,
                   LLVM_ALLOCA = 26,
                   LLVM_LOAD = 27,
                   LLVM_STORE = 28,
                   LLVM_GEP = 29,
                   LLVM_TRUNC = 30,
                   LLVM_ZEXT = 31,
                   LLVM_SEXT = 32,
                   LLVM_FP_TO_UI = 33,
                   LLVM_FP_TO_SI = 34,
                   LLVM_UI_TO_FP = 35,
                   LLVM_SI_TO_FP = 36,
                   LLVM_FP_TRUNC = 37,
                   LLVM_FP_EXT = 38,
                   LLVM_INT_TO_PTR = 40,
                   LLVM_BIT_CAST = 41,
                   LLVM_PHI = 44,
                   LLVM_CALL = 45,
                   LLVM_EXTRACT_VALUE = 53,
                   LLVM_ATOMIC_CMPXCHG = 56,
                   LLVM_ATOMIC_RMW = 57,
                   LLVM_ADDRSPACE_CAST = 60,

                   LLVM_TYPE_VOID = 0,
                   LLVM_TYPE_FLOAT = 2,
                   LLVM_TYPE_DOUBLE = 3,
                   LLVM_TYPE_INTEGER = 8,
                   LLVM_TYPE_STRUCT = 10,
                   LLVM_TYPE_ARRAY = 11,
                   LLVM_TYPE_POINTER = 12,
                   LLVM_TYPE_VECTOR = 13,

                   LLVM_EXTERNAL_LINKAGE = 0,
                   LLVM_LINK_ONCE_LINKAGE = 3, /* of one definition */
                   LLVM_INTERNAL_LINKAGE = 8,
                   LLVM_RETURN_STATUS = 2, /* of LLVMVerifyModule */
                   LLVM_DIAGNOSIS_ERROR = 0,
                   LLVM_FUNCTION_INDEX = -1,
                   LLVM_OPTIMISE_NONE = 0,
                   LLVM_OPTIMISE_DEFAULT = 2,
                   LLVM_OPTIMISE_MORE = 3,
                   LLVM_RELOCATE_STATIC = 1,
                   LLVM_RELOCATE_PIC = 2,
                   LLVM_CODE_MODEL_DEFAULT = 0,
                   LLVM_CODE_MODEL_LARGE = 6,
                   /* For code that is linked in this process, which may lie over 2 GiB from its
                    * data and from what it calls: LLVM 15's linker asks mmap for each section
                    * alone, and a GPU's driver leaves holes in the address space. */
                   LLVM_RELOCATE_FAR = LLVM_RELOCATE_STATIC,
                   LLVM_CODE_MODEL_FAR = LLVM_CODE_MODEL_LARGE,
                   LLVM_ASSEMBLY_FILE = 0,
                   LLVM_OBJECT_FILE = 1,
                   LLVM_INT_EQ = 32,
                   LLVM_INT_NE = 33,
                   LLVM_INT_UGT = 34,
                   LLVM_INT_ULT = 36,
                   LLVM_INT_SGT = 38,
                   LLVM_INT_SLT = 40,
                   LLVM_REAL_OGT = 2,
                   LLVM_REAL_OLT = 4,
                   LLVM_ORDER_SEQUENTIAL = 7,
                   LLVM_RMW_XCHG = 0,
                   LLVM_RMW_ADD = 1,
                   LLVM_RMW_SUB = 2,
                   LLVM_RMW_AND = 3,
                   LLVM_RMW_OR = 5,
                   LLVM_RMW_XOR = 6,
                   LLVM_RMW_MAX = 7,
                   LLVM_RMW_MIN = 8,
                   LLVM_RMW_UMAX = 9,
                   LLVM_RMW_UMIN = 10,
                   LLVM_REAL_UNO = 8,
                   LLVM_EXPORTED = 1, /* LLVMJITSymbolGenericFlagsExported */

                   LLVM_CC_C = 0,
                   LLVM_CC_PTX_KERNEL = 71,
                   LLVM_CC_SPIR_FUNC = 75,
                   LLVM_CC_SPIR_KERNEL = 76,
                   LLVM_CC_AMDGPU_KERNEL = 91,
};

/* X(member; the exported name is LLVM<member>, result, parameters) */
#define LLVM_FUNCTIONS(X)                                                                          \
    /* contexts, modules, buffers */                                                               \
    X(ContextCreate, llvm_context, (void))                                                         \
    X(ContextDispose, void, (llvm_context))                                                        \
    X(ContextSetDiagnosticHandler, void, (llvm_context, llvm_diagnosis_handler, void *ctx))        \
    X(GetDiagInfoSeverity, unsigned, (llvm_diagnosis))                                             \
    X(GetDiagInfoDescription, char *, (llvm_diagnosis))                                            \
    X(ParseIRInContext, llvm_bool, (llvm_context, llvm_buffer, llvm_module *, char **message))     \
    X(GetBitcodeModuleInContext2, llvm_bool, (llvm_context, llvm_buffer, llvm_module *))           \
    X(ModuleCreateWithNameInContext, llvm_module, (const char *name, llvm_context))                \
    X(DisposeModule, void, (llvm_module))                                                          \
    X(DisposeMessage, void, (char *))                                                              \
    X(VerifyModule, llvm_bool, (llvm_module, unsigned action, char **message))                     \
    X(PrintModuleToString, char *, (llvm_module))                                                  \
    X(LinkModules2, llvm_bool, (llvm_module to, llvm_module from))                                 \
    X(SetTarget, void, (llvm_module, const char *triple))                                          \
    X(GetTarget, const char *, (llvm_module))                                                      \
    X(SetModuleDataLayout, void, (llvm_module, llvm_layout))                                       \
    X(GetDataLayoutStr, const char *, (llvm_module))                                               \
    X(CreateMemoryBufferWithMemoryRangeCopy, llvm_buffer,                                          \
      (const char *data, size_t size, const char *name))                                           \
    X(GetBufferStart, const char *, (llvm_buffer))                                                 \
    X(GetBufferSize, size_t, (llvm_buffer))                                                        \
    X(DisposeMemoryBuffer, void, (llvm_buffer))                                                    \
    X(WriteBitcodeToMemoryBuffer, llvm_buffer, (llvm_module))                                      \
    /* values */                                                                                   \
    X(GetFirstFunction, llvm_value, (llvm_module))                                                 \
    X(GetNextFunction, llvm_value, (llvm_value))                                                   \
    X(GetNamedFunction, llvm_value, (llvm_module, const char *name))                               \
    X(AddFunction, llvm_value, (llvm_module, const char *name, llvm_type))                         \
    X(DeleteFunction, void, (llvm_value))                                                          \
    X(GetFirstGlobal, llvm_value, (llvm_module))                                                   \
    X(GetNextGlobal, llvm_value, (llvm_value))                                                     \
    X(DeleteGlobal, void, (llvm_value))                                                            \
    X(GetInitializer, llvm_value, (llvm_value))                                                    \
    X(IsGlobalConstant, llvm_bool, (llvm_value))                                                   \
    X(GlobalGetValueType, llvm_type, (llvm_value))                                                 \
    X(GetFunctionCallConv, unsigned, (llvm_value))                                                 \
    X(SetFunctionCallConv, void, (llvm_value, unsigned))                                           \
    X(GetInstructionCallConv, unsigned, (llvm_value))                                              \
    X(SetInstructionCallConv, void, (llvm_value, unsigned))                                        \
    X(CountParams, unsigned, (llvm_value))                                                         \
    X(GetParam, llvm_value, (llvm_value, unsigned))                                                \
    X(GetValueName2, const char *, (llvm_value, size_t * length))                                  \
    X(SetValueName2, void, (llvm_value, const char *name, size_t length))                          \
    X(IsDeclaration, llvm_bool, (llvm_value))                                                      \
    X(SetLinkage, void, (llvm_value, unsigned))                                                    \
    X(GetLinkage, unsigned, (llvm_value))                                                          \
    X(GetIntrinsicID, unsigned, (llvm_value))                                                      \
    X(LookupIntrinsicID, unsigned, (const char *name, size_t length))                              \
    X(GetIntrinsicDeclaration, llvm_value,                                                         \
      (llvm_module, unsigned id, llvm_type *parameters, size_t count))                             \
    X(GetFirstBasicBlock, llvm_block, (llvm_value))                                                \
    X(GetNextBasicBlock, llvm_block, (llvm_block))                                                 \
    X(GetEntryBasicBlock, llvm_block, (llvm_value))                                                \
    X(AppendBasicBlockInContext, llvm_block, (llvm_context, llvm_value, const char *name))         \
    X(GetBasicBlockTerminator, llvm_value, (llvm_block))                                           \
    X(GetInstructionParent, llvm_block, (llvm_value))                                              \
    X(GetBasicBlockParent, llvm_value, (llvm_block))                                               \
    X(GetFirstInstruction, llvm_value, (llvm_block))                                               \
    X(GetNextInstruction, llvm_value, (llvm_value))                                                \
    X(GetInstructionOpcode, unsigned, (llvm_value))                                                \
    X(InstructionEraseFromParent, void, (llvm_value))                                              \
    X(GetOperand, llvm_value, (llvm_value, unsigned))                                              \
    X(SetOperand, void, (llvm_value, unsigned, llvm_value))                                        \
    X(GetNumOperands, int, (llvm_value))                                                           \
    X(GetIncomingBlock, llvm_block, (llvm_value, unsigned))                                        \
    X(GetCalledValue, llvm_value, (llvm_value))                                                    \
    X(GetAllocatedType, llvm_type, (llvm_value))                                                   \
    X(GetNumIndices, unsigned, (llvm_value))                                                       \
    X(GetIndices, const unsigned *, (llvm_value))                                                  \
    X(GetAlignment, unsigned, (llvm_value))                                                        \
    X(SetAlignment, void, (llvm_value, unsigned))                                                  \
    X(GetGEPSourceElementType, llvm_type, (llvm_value))                                            \
    X(GetConstOpcode, unsigned, (llvm_value))                                                      \
    X(IsAConstantExpr, llvm_value, (llvm_value))                                                   \
    X(IsAConstant, llvm_value, (llvm_value))                                                       \
    X(IsAConstantInt, llvm_value, (llvm_value))                                                    \
    X(ConstIntGetZExtValue, unsigned long long, (llvm_value))                                      \
    X(IsAInstruction, llvm_value, (llvm_value))                                                    \
    X(IsAFunction, llvm_value, (llvm_value))                                                       \
    X(GetFirstUse, llvm_use, (llvm_value))                                                         \
    X(GetNextUse, llvm_use, (llvm_use))                                                            \
    X(GetUser, llvm_value, (llvm_use))                                                             \
    X(ReplaceAllUsesWith, void, (llvm_value, llvm_value))                                          \
    X(TypeOf, llvm_type, (llvm_value))                                                             \
    X(GetDebugLocLine, unsigned, (llvm_value))                                                     \
    X(GetDebugLocFilename, const char *, (llvm_value, unsigned *length))                           \
    X(GetNamedMetadataNumOperands, unsigned, (llvm_module, const char *name))                      \
    X(GetNamedMetadataOperands, void, (llvm_module, const char *name, llvm_value *))               \
    X(GetMDNodeNumOperands, unsigned, (llvm_value))                                                \
    X(GetMDNodeOperands, void, (llvm_value, llvm_value *))                                         \
    X(GetMDString, const char *, (llvm_value, unsigned *length))                                   \
    X(GetMetadata, llvm_value, (llvm_value, unsigned kind))                                        \
    X(SetMetadata, void, (llvm_value, unsigned kind, llvm_value node))                             \
    X(GetMDKindIDInContext, unsigned, (llvm_context, const char *name, unsigned length))           \
    /* attributes */                                                                               \
    X(GetEnumAttributeKindForName, unsigned, (const char *name, size_t length))                    \
    X(GetEnumAttributeAtIndex, llvm_attribute, (llvm_value, unsigned index, unsigned kind))        \
    X(GetTypeAttributeValue, llvm_type, (llvm_attribute))                                          \
    X(CreateEnumAttribute, llvm_attribute, (llvm_context, unsigned kind, uint64_t))                \
    X(CreateStringAttribute, llvm_attribute,                                                       \
      (llvm_context, const char *key, unsigned key_length, const char *value, unsigned length))    \
    X(GetStringAttributeAtIndex, llvm_attribute,                                                   \
      (llvm_value, unsigned index, const char *key, unsigned key_length))                          \
    X(AddAttributeAtIndex, void, (llvm_value, unsigned index, llvm_attribute))                     \
    X(RemoveEnumAttributeAtIndex, void, (llvm_value, unsigned index, unsigned kind))               \
    X(RemoveStringAttributeAtIndex, void,                                                          \
      (llvm_value, unsigned index, const char *key, unsigned length))                              \
    X(GetCallSiteEnumAttribute, llvm_attribute, (llvm_value, unsigned index, unsigned kind))       \
    X(RemoveCallSiteEnumAttribute, void, (llvm_value, unsigned index, unsigned kind))              \
    X(SetTailCall, void, (llvm_value call, llvm_bool))                                             \
    /* types and constants */                                                                      \
    X(GetTypeKind, unsigned, (llvm_type))                                                          \
    X(GetIntTypeWidth, unsigned, (llvm_type))                                                      \
    X(GetElementType, llvm_type, (llvm_type))                                                      \
    X(StructGetTypeAtIndex, llvm_type, (llvm_type, unsigned index))                                \
    X(GetVectorSize, unsigned, (llvm_type))                                                        \
    X(GetPointerAddressSpace, unsigned, (llvm_type))                                               \
    X(GetReturnType, llvm_type, (llvm_type))                                                       \
    X(GetParamTypes, void, (llvm_type, llvm_type *))                                               \
    X(CountParamTypes, unsigned, (llvm_type))                                                      \
    X(TypeIsSized, llvm_bool, (llvm_type))                                                         \
    X(VoidTypeInContext, llvm_type, (llvm_context))                                                \
    X(Int1TypeInContext, llvm_type, (llvm_context))                                                \
    X(Int8TypeInContext, llvm_type, (llvm_context))                                                \
    X(Int32TypeInContext, llvm_type, (llvm_context))                                               \
    X(Int64TypeInContext, llvm_type, (llvm_context))                                               \
    X(IntTypeInContext, llvm_type, (llvm_context, unsigned bits))                                  \
    X(FloatTypeInContext, llvm_type, (llvm_context))                                               \
    X(DoubleTypeInContext, llvm_type, (llvm_context))                                              \
    X(PointerTypeInContext, llvm_type, (llvm_context, unsigned space))                             \
    X(FunctionType, llvm_type,                                                                     \
      (llvm_type result, llvm_type * parameters, unsigned count, llvm_bool variadic))              \
    X(ConstInt, llvm_value, (llvm_type, unsigned long long, llvm_bool sign_extend))                \
    X(ConstNull, llvm_value, (llvm_type))                                                          \
    X(GetUndef, llvm_value, (llvm_type))                                                           \
    /* building */                                                                                 \
    X(CreateBuilderInContext, llvm_builder, (llvm_context))                                        \
    X(DisposeBuilder, void, (llvm_builder))                                                        \
    X(PositionBuilderBefore, void, (llvm_builder, llvm_value))                                     \
    X(PositionBuilderAtEnd, void, (llvm_builder, llvm_block))                                      \
    X(SetCurrentDebugLocation2, void, (llvm_builder, llvm_metadata))                               \
    X(GetCurrentDebugLocation2, llvm_metadata, (llvm_builder))                                     \
    X(BuildCall2, llvm_value,                                                                      \
      (llvm_builder, llvm_type, llvm_value, llvm_value *, unsigned count, const char *name))       \
    X(BuildLoad2, llvm_value, (llvm_builder, llvm_type, llvm_value, const char *name))             \
    X(BuildStore, llvm_value, (llvm_builder, llvm_value, llvm_value to))                           \
    X(BuildGEP2, llvm_value,                                                                       \
      (llvm_builder, llvm_type, llvm_value, llvm_value *, unsigned count, const char *name))       \
    X(BuildCast, llvm_value,                                                                       \
      (llvm_builder, unsigned opcode, llvm_value, llvm_type, const char *name))                    \
    X(BuildMul, llvm_value, (llvm_builder, llvm_value, llvm_value, const char *name))              \
    X(BuildFMul, llvm_value, (llvm_builder, llvm_value, llvm_value, const char *name))             \
    X(BuildFDiv, llvm_value, (llvm_builder, llvm_value, llvm_value, const char *name))             \
    X(BuildFAdd, llvm_value, (llvm_builder, llvm_value, llvm_value, const char *name))             \
    X(BuildLShr, llvm_value, (llvm_builder, llvm_value, llvm_value, const char *name))             \
    X(BuildICmp, llvm_value,                                                                       \
      (llvm_builder, unsigned predicate, llvm_value, llvm_value, const char *))                    \
    X(BuildFCmp, llvm_value,                                                                       \
      (llvm_builder, unsigned predicate, llvm_value, llvm_value, const char *))                    \
    X(BuildSelect, llvm_value,                                                                     \
      (llvm_builder, llvm_value condition, llvm_value, llvm_value, const char *name))              \
    X(BuildExtractElement, llvm_value, (llvm_builder, llvm_value, llvm_value index, const char *)) \
    X(BuildInsertElement, llvm_value,                                                              \
      (llvm_builder, llvm_value, llvm_value element, llvm_value index, const char *name))          \
    X(BuildAlloca, llvm_value, (llvm_builder, llvm_type, const char *name))                        \
    X(BuildAtomicRMW, llvm_value,                                                                  \
      (llvm_builder, unsigned operation, llvm_value at, llvm_value, unsigned order,                \
       llvm_bool one_thread))                                                                      \
    X(BuildAtomicCmpXchg, llvm_value,                                                              \
      (llvm_builder, llvm_value at, llvm_value compare, llvm_value, unsigned order,                \
       unsigned failure_order, llvm_bool one_thread))                                              \
    X(BuildExtractValue, llvm_value, (llvm_builder, llvm_value, unsigned index, const char *name)) \
    X(BuildRet, llvm_value, (llvm_builder, llvm_value))                                            \
    X(BuildRetVoid, llvm_value, (llvm_builder))                                                    \
    /* layout */                                                                                   \
    X(CreateTargetData, llvm_layout, (const char *text))                                           \
    X(DisposeTargetData, void, (llvm_layout))                                                      \
    X(ABISizeOfType, unsigned long long, (llvm_layout, llvm_type))                                 \
    X(StoreSizeOfType, unsigned long long, (llvm_layout, llvm_type))                               \
    X(ABIAlignmentOfType, unsigned, (llvm_layout, llvm_type))                                      \
    X(OffsetOfElement, unsigned long long, (llvm_layout, llvm_type, unsigned element))             \
    /* targets and passes */                                                                       \
    X(GetTargetFromTriple, llvm_bool, (const char *triple, llvm_target *, char **message))         \
    X(GetDefaultTargetTriple, char *, (void))                                                      \
    X(GetHostCPUName, char *, (void))                                                              \
    X(GetHostCPUFeatures, char *, (void))                                                          \
    X(CreateTargetMachine, llvm_machine,                                                           \
      (llvm_target, const char *triple, const char *cpu, const char *features, unsigned level,     \
       unsigned relocation, unsigned code_model))                                                  \
    X(DisposeTargetMachine, void, (llvm_machine))                                                  \
    X(CreateTargetDataLayout, llvm_layout, (llvm_machine))                                         \
    X(TargetMachineEmitToMemoryBuffer, llvm_bool,                                                  \
      (llvm_machine, llvm_module, unsigned file_type, char **message, llvm_buffer *))              \
    X(CreatePassBuilderOptions, llvm_passes, (void))                                               \
    X(DisposePassBuilderOptions, void, (llvm_passes))                                              \
    X(RunPasses, llvm_failure, (llvm_module, const char *passes, llvm_machine, llvm_passes))       \
    X(GetErrorMessage, char *, (llvm_failure)) /* frees the failure */                             \
    X(DisposeErrorMessage, void, (char *))                                                         \
    /* linking in memory */                                                                        \
    X(OrcCreateLLJITBuilder, llvm_jit_builder, (void))                                             \
    X(OrcCreateLLJIT, llvm_failure, (llvm_jit *, llvm_jit_builder))                                \
    X(OrcDisposeLLJIT, llvm_failure, (llvm_jit))                                                   \
    X(OrcLLJITGetMainJITDylib, llvm_dylib, (llvm_jit))                                             \
    X(OrcLLJITMangleAndIntern, llvm_symbol_name, (llvm_jit, const char *name))                     \
    X(OrcLLJITAddObjectFile, llvm_failure, (llvm_jit, llvm_dylib, llvm_buffer))                    \
    X(OrcLLJITLookup, llvm_failure, (llvm_jit, uint64_t * address, const char *name))              \
    X(OrcAbsoluteSymbols, llvm_unit, (llvm_symbols, size_t count))                                 \
    X(OrcJITDylibDefine, llvm_failure, (llvm_dylib, llvm_unit))

/* What one version has and the other lacks: NULL there. */
#define LLVM_FUNCTIONS_OF_SOME(X)                                                                  \
    X(ContextSetOpaquePointers, void, (llvm_context, llvm_bool))             /* 15 */              \
    X(GetVersion, void, (unsigned *major, unsigned *minor, unsigned *patch)) /* from 16 on */

struct llvm_api { /* NOLINTBEGIN(bugprone-macro-parentheses): declarators */
#define X(member, result, parameters) result(*member) parameters;
    LLVM_FUNCTIONS(X)
    LLVM_FUNCTIONS_OF_SOME(X)
#undef X
    /* NOLINTEND(bugprone-macro-parentheses) */
    void *library;    /* dlopen's */
    unsigned version; /* 15, 19 */
    char path[256];   /* the library's */
    char host_triple[64], host_cpu[64];
    const char *host_features; /* kept for the life of the process */
};

/* libLLVM, opened at the first call and kept, with this machine's target ready: the one that
 * $ISOPHOTE_LLVM asks for ("15", "19" or a path), else 15, else 19. NULL if it is not here or lacks
 * a function, with *problem saying what and how to get it. Thread-safe. */
const struct llvm_api *llvm_load(const char **problem);
/* Version 15 or 19, whatever $ISOPHOTE_LLVM says. Both may be open at once. */
const struct llvm_api *llvm_load_version(unsigned version, const char **problem);

/* A context whose pointers are opaque, as 15 can have and 19 always has. */
llvm_context llvm_context_open(const struct llvm_api *api);

/* Makes a code generator ready that LLVM calls by this name: "NVPTX", "AMDGPU". This machine's is.
 * UNSUPPORTED where the library has none. */
#if defined(__x86_64__)
#define LLVM_HOST_ARCHITECTURE "X86"
#elif defined(__aarch64__)
#define LLVM_HOST_ARCHITECTURE "AArch64"
#else
#define LLVM_HOST_ARCHITECTURE "none"
#endif
enum status llvm_target_ready(const struct llvm_api *api, const char *architecture,
                              struct error *err);

/* error_msg with LLVM's text, which is freed. Failure and message may be NULL. */
enum status llvm_error(struct error *err, const struct llvm_api *llvm, enum status code,
                       llvm_failure failure, char *message, const char *what);

#endif
