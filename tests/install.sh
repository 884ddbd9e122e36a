#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install.sh CASE BUILD SOURCE: one test of what `cmake --install` makes of the build tree. Every function case_NAME below is a ctest
# test install.NAME (tests/CMakeLists.txt reads the names from here). Exit status 77: skipped.
set -euo pipefail
export LC_ALL=C
build=$2 source=$3
unset ISOPHOTE_DATA_DIR
scratch=$(mktemp -d "${TMPDIR:-/tmp}/isophote-install-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail()
{
    printf 'FAILED: %s\n' "$*"
    [ ! -e log ] || { echo '--- log' && tail -n 40 log; }
    exit 1
}
# runs STATUS COMMAND...: its output goes to the file log.
runs()
{
    local want=$1 status=0
    shift
    "$@" >log 2>&1 </dev/null || status=$?
    [ "$status" = "$want" ] || fail "'$*' ended with $status, expected $want"
}
says() { grep -Fq -- "$1" log || fail "the output does not say: $1"; }
skip()
{
    echo "SKIP: $*"
    exit 77
}
# Leaves $root, an install tree that was moved after it was made, to a path with spaces.
installed()
{
    runs 0 cmake --install "$build" --prefix "$scratch/first/usr"
    mkdir "a place with spaces"
    mv first/usr "a place with spaces/moved"
    root="$scratch/a place with spaces/moved"
    program=$root/bin/isophote
}

# What comes along is found in the moved tree alone: where the system lets us, the source tree and all that was built are out of
# sight meanwhile.
case_moved()
{
    installed
    cat >work.sh <<'E2'
set -eux
program=$1 hide=$2
[ -z "$hide" ] || { mkdir -p empty && mount --bind empty "$hide"; }
[ -z "$hide" ] || [ ! -e "$hide/README.md" ]
"$program" --version
"$program" doctor | grep 'data folder'
"$program" render cornell --width 24 --height 16 --spp 1 -o a.png          # a scene of the library
"$program" render blob --width 24 --height 16 --spp 1 -o b.png             # a generated mesh
"$program" conform --device native --filter '^kernel[.]rng'                # the list of cases
"$program" conform --device native --filter '^shader[.]library[.]wood[.]ir' --store s.db # the library's shaders
"$program" conform --device native --filter '^shader[.]golden[.]control[.]ir'     # and those that tests run
"$program" export cornell --mitsuba m --plugins && [ -s m/isophote_bsdfs.py ]
printf '#include <color2.h>\nshader s(output float x = 0) { color2 c = color2(1, 2); x = c.r; }\n' >s.asl
"$program" aslc s.asl
"$program" sweep cornell --axis number-format=float16,fixed8.8 --width 8 --height 8 --spp 2 --store s.db # a helper
"$program" report --store s.db -o r.html && [ -s r.html ]
ISOPHOTE_HIP_LIBRARY=nvidia "$program" devices
# A helper finds the library beside it, whatever the machine lacks that the library asks for.
helper=$(find "$(dirname "$program")/.." -name isophote-hiprtc)
! ISOPHOTE_HIP_LIBRARY=nvidia "$helper" s.asl object 2>&1 | grep 'comes with Isophote'
E2
    if unshare -m true 2>/dev/null; then
        runs 0 unshare -m bash work.sh "$program" "$source"
    else
        echo "the source tree stays in sight: unshare -m is not allowed here"
        runs 0 bash work.sh "$program" ''
    fi
    says "$root/share/isophote/scenes/library"
}

# Each message says what is missing and where.
case_missing()
{
    installed
    mv "$root/lib/isophote/libisophote_hip_nvidia.so" .
    ISOPHOTE_HIP_LIBRARY=nvidia runs 0 "$program" devices
    says "no $root/lib/isophote/libisophote_hip_nvidia.so"
    mv "$root/share/isophote" data
    for command in "render cornell -o a.png" "conform --device native" "bench cornell --device native" "sweep cornell --axis bvh=bvh2"; do
        # shellcheck disable=SC2086 # words
        runs 2 "$program" $command
        says "there is no folder $root/share/isophote"
        says ISOPHOTE_DATA_DIR
    done
    printf '#include <color2.h>\nshader s() {}\n' >s.asl
    runs 1 "$program" aslc s.asl
    says "there is no folder $root/share/isophote"
    runs 1 "$program" doctor
    says "there is no folder $root/share/isophote"
    ISOPHOTE_DATA_DIR=$scratch/data runs 0 "$program" aslc s.asl
    ISOPHOTE_DATA_DIR=$scratch/absent runs 2 "$program" render cornell -o a.png
    says "ISOPHOTE_DATA_DIR names $scratch/absent, which is no folder"
    [ ! -e a.png ] || fail "a picture was made"
}

# The shader library, as another program's author meets it: header, pkg-config file, example.
case_library()
{
    runs 0 cmake --install "$build" --prefix "$scratch/first"
    mv first moved
    export PKG_CONFIG_PATH=$scratch/moved/lib/pkgconfig LD_LIBRARY_PATH=$scratch/moved/lib
    [ -d "$PKG_CONFIG_PATH" ] || skip "this build installs libraries elsewhere than in lib/"
    example=moved/share/isophote/examples/shade_points.c
    [ "$(wc -l <"$example")" -lt 100 ] || fail "the example has 100 lines or more"
    # shellcheck disable=SC2046 # words
    runs 0 cc -std=c11 -Wall -Wextra -Werror "$example" -o points $(pkg-config --cflags --libs isophote-shaders)
    runs 0 ./points
    # Cs where the stripes' mask is 0; else warmth 1/2 times gray 1/4, and 2, the object's place in y.
    cmp log - <<'E2' || fail "the example prints something else"
0: 0 0 0
1: 0.125 0 0
2: 2.125 2.125 2.125
3: 2.125 2.125 2.125
4: 0.5 0 0
5: 0.625 0 0
6: 2.125 2.125 2.125
the last point: u = 0.9375
7: 2.125 2.125 2.125
E2
    # The library finds its own headers of ASL.
    cat >header.c <<'E2'
#include <isophote/shaders.h>
int main(void)
{
    static const char text[] = "#include <color2.h>\nshader s(output float x = 0) { color2 c = color2(1, 2); x = c.r; }";
    struct arena a = {0};
    struct asl_diags d = {0};
    struct asl_options o = {0};
    struct error e = {0};
    const struct asl_program *p;
    enum status s = asl_compile(&a, "s", text, sizeof text - 1, &o, &d, &p, &e);
    printf("%s\n", s ? e.msg : d.included->path);
    return s != STATUS_OK;
}
E2
    # shellcheck disable=SC2046 # words
    runs 0 cc -std=c11 header.c -o header $(pkg-config --cflags --libs isophote-shaders)
    runs 0 ./header
    says "$scratch/moved/share/isophote/shaders/headers/color2.h"
    # What is visible is what the headers promise.
    readelf -d moved/lib/libisophote-shaders.so >log
    grep -Eq 'SONAME.*libisophote-shaders[.]so[.][0-9.]+\]' log || fail "no soname"
    nm -D --defined-only moved/lib/libisophote-shaders.so | awk '{ print $3 }' >visible
    [ -s visible ] || fail "nothing is visible"
    while read -r name; do
        grep -qw -- "$name" moved/include/isophote/*.h || fail "$name is visible, and in no header"
    done <visible
}

case_unwritable()
{
    for prefix in /proc/isophote "$scratch/file/usr"; do
        : >file
        runs 1 cmake --install "$build" --prefix "$prefix"
        says "$prefix"
        grep -Eiq 'cannot (create|make)|permission|privileges' log || fail "the message does not say what failed"
    done
}

# A second install over the first one changes nothing.
case_twice()
{
    runs 0 cmake --install "$build" --prefix "$scratch/usr"
    (cd usr && find . -type f -exec sha256sum {} + | sort) >once
    runs 0 cmake --install "$build" --prefix "$scratch/usr"
    (cd usr && find . -type f -exec sha256sum {} + | sort) >twice
    cmp once twice || fail "the second install is another"
}

# commit_of FOLDER: what a build there would say.
commit_of()
{
    runs 0 cmake -DROOT="$1" -DOUT="$scratch/commit.h" -P "$source/cmake/commit.cmake"
    commit=$(sed -nE 's/^#define ISOPHOTE_COMMIT "(.*)"$/\1/p' commit.h)$(grep -q 'DIRTY true' commit.h && echo ' dirty' || true)
}
expect() { [ "$commit" = "$1" ] || fail "the commit is '$commit', expected '$1'"; }

# --version in the kinds of trees that people build.
case_version()
{
    runs 0 "$build/isophote" --version
    protocol=$(sed -nE '1s/.*version ([0-9.]+)$/\1/p' "$source/docs/reference/protocol.md")
    says "protocol $protocol"
    grep -Eq '^kernel [0-9a-f]{32}$' log || fail "no identity of the kernel"
    grep -Eq '^commit ([0-9a-f]{40}( \(dirty\))?|unknown)$' log || fail "no commit"
    runs 0 "$build/isophote" --version --json
    python3 -c 'import json, sys; d = json.load(open("log")); sys.exit(sorted(d) != ["commit", "dirty", "kernel", "protocol", "version"])' ||
        fail "not one JSON object of five keys"

    git init -q tree && cd tree
    git config user.name test && git config user.email test@localhost
    mkdir cmake && cp "$source/cmake/commit.txt" cmake/ && cp "$source/.gitattributes" .
    git add . && git commit -qm one && echo two >file && git add . && git commit -qm two
    head=$(git rev-parse HEAD)
    cd ..
    commit_of "$scratch/tree"
    expect "$head"
    touch -d '2001-01-01' commit.h # what is not another commit does not touch the file
    commit_of "$scratch/tree"
    [ "$(date -r commit.h +%Y)" = 2001 ] || fail "the file was written again"
    echo three >tree/file
    commit_of "$scratch/tree"
    expect "$head dirty"
    git clone -q --depth 1 "file://$scratch/tree" shallow
    commit_of "$scratch/shallow"
    expect "$head"
    mkdir tree/archive && git -C tree archive HEAD | tar -x -C tree/archive # inside another repository, which is not asked
    commit_of "$scratch/tree/archive"
    expect "$head"
    mkdir copy && cp -r tree/cmake copy/
    commit_of "$scratch/copy"
    expect unknown
}

"case_$1"
