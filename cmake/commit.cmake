# SPDX-License-Identifier: Apache-2.0
# cmake -DROOT=. -DOUT=commit.h -P commit.cmake: the commit that is built, written only when it is another than before.
# From git, with "dirty" when a file that git knows was changed; from cmake/commit.txt, where `git archive` writes it;
# else "unknown". A repository around an unpacked archive is not asked: it knows another project's commits.
cmake_minimum_required(VERSION 3.25)
set(commit "")
set(dirty false)
if(EXISTS ${ROOT}/.git)
    find_program(GIT git)
    if(GIT)
        execute_process(COMMAND ${GIT} --no-optional-locks describe --always --dirty --exclude=* --abbrev=40 WORKING_DIRECTORY ${ROOT}
            OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
        if(commit MATCHES "-dirty$")
            set(dirty true)
            string(REPLACE "-dirty" "" commit ${commit})
        endif()
    endif()
else()
    file(STRINGS ${ROOT}/cmake/commit.txt commit)
endif()
if(NOT commit MATCHES "^[0-9a-f]+$")
    set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define ISOPHOTE_COMMIT \"${commit}\"\n#define ISOPHOTE_DIRTY ${dirty}\n")
