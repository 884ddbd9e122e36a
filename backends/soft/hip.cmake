# SPDX-License-Identifier: Apache-2.0
# The HIP runtime in software; beside the program, for ISOPHOTE_HIP_LIBRARY=soft.
set(prelude ${CMAKE_SOURCE_DIR}/device/prelude.h)
add_library(isophote_hip_soft MODULE hip_runtime.c hip_compile.c hip_prelude.c)
set_source_files_properties(hip_prelude.c PROPERTIES OBJECT_DEPENDS ${prelude} COMPILE_DEFINITIONS PRELUDE="${prelude}")
target_link_libraries(isophote_hip_soft PRIVATE soft_executor hip)
target_compile_options(isophote_hip_soft PRIVATE ${ISOPHOTE_WARNINGS} -fvisibility=hidden)
target_link_options(isophote_hip_soft PRIVATE -Wl,--exclude-libs,ALL -Wl,-Bsymbolic)
set_target_properties(isophote_hip_soft PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

isophote_test(hip_runtime_test SOURCES tests/hip_runtime_test.c USES backends_test_scenes hip TIMEOUT 300)
add_dependencies(hip_runtime_test isophote_hip_soft isophote-hiprtc)
# LLVM's pools stay.
set_tests_properties(hip_runtime_test PROPERTIES ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0")
