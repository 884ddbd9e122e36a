# SPDX-License-Identifier: Apache-2.0
# cmake -DROOT=device/ -DENTRY=path/kernel.c -DNAME=kernel_source -DHEADER=backend_api.h -DOUT=kernel_source.c -P embed.cmake: the entry
# file with its quoted includes resolved (from ROOT), as the C string NAME, and its hash NAME_hash; HEADER declares both. Headers (.h) are
# taken once, tables (.def) each time. #line keeps a compiler's complaints pointing at our files, behind an include too.
cmake_minimum_required(VERSION 3.25)

# BODY of the file NAME with a #line behind each include.
function(mark_returns name body out)
    set(marked "")
    set(line 1)
    while(TRUE)
        string(REGEX MATCH "#include \"[a-z0-9_./]+\"\n" directive "${body}")
        if(directive STREQUAL "")
            break()
        endif()
        string(FIND "${body}" "${directive}" at)
        string(LENGTH "${directive}" length)
        math(EXPR rest "${at} + ${length}")
        string(SUBSTRING "${body}" 0 ${rest} before)
        string(SUBSTRING "${body}" ${rest} -1 body)
        string(REGEX MATCHALL "\n" ends "${before}")
        list(LENGTH ends count)
        math(EXPR line "${line} + ${count}")
        string(APPEND marked "${before}#line ${line} \"${name}\"\n")
    endwhile()
    set(${out} "${marked}${body}" PARENT_SCOPE)
endfunction()

set(text "#include \"${ENTRY}\"\n")
set(done "")
while(TRUE)
    string(REGEX MATCH "#include \"([a-z0-9_./]+)\"\n" directive "${text}")
    if(directive STREQUAL "")
        break()
    endif()
    set(name "${CMAKE_MATCH_1}")
    string(FIND "${text}" "${directive}" at)
    string(LENGTH "${directive}" length)
    string(SUBSTRING "${text}" 0 ${at} before)
    math(EXPR rest "${at} + ${length}")
    string(SUBSTRING "${text}" ${rest} -1 after)
    set(body "\n") # a header that stands above already: its line stays
    string(FIND "${done}" "|${name}|" seen)
    if(name MATCHES "\\.def$" OR seen EQUAL -1)
        file(READ "${ROOT}/${name}" body)
        mark_returns(${name} "${body}" body)
        string(APPEND done "|${name}|")
        set(body "#line 1 \"${name}\"\n${body}")
    endif()
    set(text "${before}${body}${after}")
endwhile()
string(SHA256 hash "${text}")
string(SUBSTRING "${hash}" 0 32 hash)
file(WRITE "${OUT}.tmp" "${text}")
file(READ "${OUT}.tmp" hex HEX)
file(REMOVE "${OUT}.tmp")
string(REGEX REPLACE "(................................................................)" "\\1\n" hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE "${OUT}" "/* Made of ${ENTRY} by embed.cmake. */
#include \"${HEADER}\"

const char ${NAME}[] = {
${bytes} 0};
const char ${NAME}_hash[33] = \"${hash}\";
")
