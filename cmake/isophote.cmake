# SPDX-License-Identifier: Apache-2.0
# The vocabulary of the CMakeLists.txt files in this project.
option(ISOPHOTE_ASAN "AddressSanitizer and UndefinedBehaviorSanitizer, no recovery" OFF)
option(ISOPHOTE_TSAN "ThreadSanitizer" OFF)
option(ISOPHOTE_FUZZ "libFuzzer targets (clang only)" OFF)
option(ISOPHOTE_WERROR "warnings are errors" ON)
option(BUILD_TESTING "tests; they need more packages than the program does (packages.txt: test)" ON)

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)

# In C++ a function with the name of a struct, as our headers have them, shadows its constructor.
set(ISOPHOTE_WARNINGS -Wall -Wextra -Wpointer-arith -Wwrite-strings -Wformat=2
    $<$<COMPILE_LANGUAGE:C>:-Wshadow;-Wstrict-prototypes;-Wmissing-prototypes;-Wold-style-definition>)
if(ISOPHOTE_WERROR)
    list(APPEND ISOPHOTE_WARNINGS -Werror)
endif()
# No contraction on the host: what is computed here must not depend on the compiler's mood.
add_compile_options(-ffp-contract=off -fno-math-errno)
if(ISOPHOTE_ASAN)
    add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=address,undefined)
endif()
if(ISOPHOTE_TSAN)
    add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
    add_link_options(-fsanitize=thread)
endif()
if(ISOPHOTE_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# isophote_label_rooms(): each test of this folder bears the label room:FOLDER, from the root, as tools/dev asks for it; what has one, as
# isophote_test() gives it, keeps it. Called by the functions below at the end of the folder's CMakeLists.txt.
function(isophote_label_rooms)
    get_property(labelled DIRECTORY PROPERTY ISOPHOTE_ROOMS_LABELLED)
    if(NOT labelled)
        set_property(DIRECTORY PROPERTY ISOPHOTE_ROOMS_LABELLED ON)
        cmake_language(DEFER DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} CALL isophote_label_rooms_now)
    endif()
endfunction()
function(isophote_label_rooms_now)
    get_property(tests DIRECTORY PROPERTY TESTS)
    foreach(test IN LISTS tests)
        get_property(labels TEST ${test} PROPERTY LABELS)
        if(NOT labels MATCHES "(^|;)room:")
            file(RELATIVE_PATH room ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
            set_property(TEST ${test} APPEND PROPERTY LABELS room:${room})
        endif()
    endforeach()
endfunction()

# isophote_library(NAME ROOMS images film SOURCES made.c USES base scenes PRIVATE_USES other)
#   a static library whose public header is include/NAME.h: all C and C++ files of these folders (`.`: its own) but NAME_main.c, and SOURCES.
#   Inside it includes are "file.h" of the same folder or "room/file.h".
function(isophote_library name)
    cmake_parse_arguments(A "" "" "ROOMS;SOURCES;USES;PRIVATE_USES" ${ARGN})
    foreach(room IN LISTS A_ROOMS)
        file(GLOB files CONFIGURE_DEPENDS ${room}/*.c ${room}/*.cc)
        list(FILTER files EXCLUDE REGEX "_main\\.cc?$")
        list(APPEND A_SOURCES ${files})
    endforeach()
    add_library(${name} STATIC ${A_SOURCES})
    target_include_directories(${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/include
                                       PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR})
    target_link_libraries(${name} PUBLIC ${A_USES} PRIVATE ${A_PRIVATE_USES} m)
    target_compile_options(${name} PRIVATE ${ISOPHOTE_WARNINGS})
    isophote_label_rooms()
endfunction()

# isophote_embed(path/kernel.c kernel_source backend_api.h): NAME.c in this build folder, with that file of device/, includes resolved,
#   as the string NAME, and NAME_hash; the header declares both
function(isophote_embed entry name header)
    set(out ${CMAKE_CURRENT_BINARY_DIR}/${name}.c)
    set(script ${CMAKE_SOURCE_DIR}/cmake/embed.cmake)
    add_custom_command(OUTPUT ${out}
        COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR}/device -DENTRY=${entry} -DNAME=${name} -DHEADER=${header} -DOUT=${out} -P ${script}
        DEPENDS ${DEVICE_FILES} ${script} VERBATIM)
endfunction()

# isophote_sources_hash(TARGET reference_sources HEADER truth.h FILES a.c b.h)
#   gives TARGET the constant reference_sources, a hash of these files (paths from the root), which HEADER declares
function(isophote_sources_hash target name)
    cmake_parse_arguments(A "" "HEADER" "FILES" ${ARGN})
    list(TRANSFORM A_FILES PREPEND ${CMAKE_SOURCE_DIR}/ OUTPUT_VARIABLE paths)
    set(out ${CMAKE_CURRENT_BINARY_DIR}/${name}.c)
    set(script ${CMAKE_SOURCE_DIR}/cmake/sources_hash.cmake)
    add_custom_command(OUTPUT ${out}
        COMMAND ${CMAKE_COMMAND} -DROOT=${CMAKE_SOURCE_DIR} "-DFILES=${A_FILES}" -DNAME=${name} -DHEADER=${A_HEADER} -DOUT=${out} -P ${script}
        DEPENDS ${paths} ${script} VERBATIM)
    target_sources(${target} PRIVATE ${out})
endfunction()

# Of the random values with which a test does the same again and again, a sanitizer's run takes one in TEST_THINNING: they hold values
# against an oracle, which the plain run does with all; where memory or threads go wrong does not hang on the tenth thousand. Cases of
# different kind are never thinned.
set(ISOPHOTE_TEST_THINNING 1)
if(ISOPHOTE_ASAN OR ISOPHOTE_TSAN)
    set(ISOPHOTE_TEST_THINNING 10)
endif()

# isophote_test(NAME SOURCES x_test.c USES reference [LABELS slow] [TIMEOUT s] [ARGS ...])
#   a cmocka program in the tests/ of the room it tests; exit status 77 is SKIP. It may include headers of its library, as "room/file.h".
#   Its label room:FOLDER names the folder that the first source, or the folder tests/ with it, lies in.
function(isophote_test name)
    if(NOT BUILD_TESTING)
        return()
    endif()
    cmake_parse_arguments(A "" "TIMEOUT" "SOURCES;USES;LABELS;ARGS" ${ARGN})
    pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
    add_executable(${name} ${A_SOURCES})
    target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(${name} PRIVATE ${A_USES} PkgConfig::CMOCKA m)
    # gcc 12 at -O3 takes strchr's result on a text that a call gave back for a pointer into that call's frame.
    target_compile_options(${name} PRIVATE ${ISOPHOTE_WARNINGS}
        $<$<AND:$<COMPILE_LANGUAGE:C>,$<C_COMPILER_ID:GNU>>:-Wno-dangling-pointer>)
    if(ISOPHOTE_ASAN OR ISOPHOTE_TSAN) # templates take the compiler longer than they run; not -O1 (backends/bvh)
        target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Og>)
    endif()
    target_compile_definitions(${name} PRIVATE SOURCE_DIR="${CMAKE_SOURCE_DIR}" TEST_THINNING=${ISOPHOTE_TEST_THINNING})
    add_test(NAME ${name} COMMAND ${name} ${A_ARGS} WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
    if(NOT A_TIMEOUT)
        set(A_TIMEOUT 120)
    endif()
    math(EXPR cost "${A_TIMEOUT} / 10") # what may take long begins early, so that no core waits for it at the end
    if(ISOPHOTE_ASAN OR ISOPHOTE_TSAN) # which make a program several times slower
        math(EXPR A_TIMEOUT "4 * ${A_TIMEOUT}")
    endif()
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${A_TIMEOUT} COST ${cost})
    list(GET A_SOURCES 0 source)
    cmake_path(ABSOLUTE_PATH source)
    cmake_path(GET source PARENT_PATH folder)
    string(REGEX REPLACE "/tests$" "" folder ${folder})
    file(RELATIVE_PATH room ${CMAKE_SOURCE_DIR} ${folder})
    set_property(TEST ${name} PROPERTY LABELS ${A_LABELS} room:${room})
    isophote_label_rooms()
endfunction()

# isophote_fuzzer(NAME SOURCES x_fuzz.c USES scenes): a libFuzzer program, built only with ISOPHOTE_FUZZ.
#   .ci/run gives it a minute; its first inputs may stand in the folder tests/fuzz/NAME.
function(isophote_fuzzer name)
    set_property(GLOBAL APPEND PROPERTY ISOPHOTE_FUZZERS ${name})
    if(NOT ISOPHOTE_FUZZ)
        return()
    endif()
    cmake_parse_arguments(A "" "" "SOURCES;USES" ${ARGN})
    add_executable(${name} ${A_SOURCES})
    target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(${name} PRIVATE ${A_USES})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
endfunction()
