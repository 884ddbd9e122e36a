# SPDX-License-Identifier: Apache-2.0
# cmake -DROOT=. "-DFILES=a.c;b/c.h" -DNAME=reference_sources -DHEADER=truth.h -DOUT=sources.c -P sources_hash.cmake: the constant NAME, a hash of
# the files' paths (from ROOT) and bytes, which HEADER declares. A comment changes it too: better a picture rendered again than one that is stale.
cmake_minimum_required(VERSION 3.25)
set(all "")
list(SORT FILES)
foreach(file IN LISTS FILES)
    file(SHA256 "${ROOT}/${file}" hash)
    string(APPEND all "${hash} ${file}\n")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING "${hash}" 0 32 hash)
file(WRITE "${OUT}" "/* Made by sources_hash.cmake. */
#include \"${HEADER}\"

const char ${NAME}[33] = \"${hash}\";
")
