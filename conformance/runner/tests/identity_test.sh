#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# identity_test.sh ISOPHOTE LIBRARY [OTHER_COMPILER]: what --resume takes over of a real case, and what it runs again, when one of
# the files that a scene names has other bytes, or the device another compiler.
set -u
isophote=$1
library=$2
compiler=${3:-}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0
unset ISOPHOTE_CC

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}
run() { "$isophote" conform "$dir/$at/seal.json" --device native --filter '^kernel[.]light[.]seal$' --journal "$dir/journal" --resume; }
# expect WORDS: the case runs, and the program says WORDS of why it is not taken over
expect() {
    run >"$dir/out" 2>&1 || fail "$1: exit status $?: $(cat "$dir/out")"
    grep -q '^PASS  native     kernel.light.seal$' "$dir/out" || fail "$1: no PASS: $(cat "$dir/out")"
    grep -q "^kernel.light.seal on native: run again: .*$1" "$dir/out" || fail "nothing says '$1': $(cat "$dir/out")"
    grep -q 'taken from the journal' "$dir/out" && fail "$1: taken from the journal"
    taken "after $1"
}
# taken WHEN: nothing runs
taken() {
    run >"$dir/out" 2>&1 || fail "$1: exit status $?"
    grep -q '; 1 taken from the journal$' "$dir/out" || fail "$1: not taken from the journal: $(cat "$dir/out")"
}

at=here
mkdir -p "$dir/here/sub"
cp "$library/textures/tile.png" "$dir/here/paint.png"
cp "$library/textures/veins.jpg" "$dir/here/sub/cloth.jpg"
cp "$library/textures/blocks.exr" "$dir/here/leaf.exr"
printf 'mtllib sub.mtl\nv -1 0 -1\nv 1 0 -1\nv 0 2 -1\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl cloth\nf 1/1 2/2 3/3\n' >"$dir/here/tri.obj"
printf 'newmtl cloth\nKd 0.5 0.5 0.5\nmap_Kd sub/cloth.jpg\n' >"$dir/here/sub.mtl"
printf '#define GREY 0.5\n' >"$dir/here/grey.h"
cat >"$dir/here/paint.asl" <<'END'
#include "grey.h"
surface paint(output color Cout = 0) { Cout = GREY * (color)texture("paint.png", u, v); }
END
cat >"$dir/here/seal.json" <<'END'
{
  "isophote": 1,
  "camera": {"origin": [0, 1, 4], "target": [0, 1, 0], "fov": 40},
  "film": {"width": 16, "height": 16},
  "render": {"spp": 1, "max_depth": 3},
  "textures": {"leaf": {"file": "leaf.exr"}},
  "materials": {
    "paint": {"type": "shader", "shader": "paint.asl", "base": {"type": "principled"}, "drive": {"base_color": "Cout"}},
    "leaf": {"type": "diffuse", "reflectance": {"texture": "leaf"}},
    "lamp": {"type": "diffuse", "reflectance": 0, "emission": [5, 5, 5]}
  },
  "objects": [
    {"type": "mesh", "file": "tri.obj", "material": "paint"},
    {"type": "sphere", "center": [0, 3, 0], "radius": 0.4, "material": "lamp"},
    {"type": "sphere", "center": [0, 0, 0], "radius": 0.4, "material": "leaf"}
  ]
}
END

run >"$dir/out" 2>&1 || fail "the first run: $(cat "$dir/out")"
grep -q '^PASS  native     kernel.light.seal$' "$dir/out" || fail "the first run: $(cat "$dir/out")"
taken "nothing has changed"
touch "$dir/here/"*
taken "files are newer and hold what they held"
mv "$dir/here" "$dir/there"
at=there
taken "the folder has another name"

printf 'surface paint(output color Cout = 0) { Cout = 0.25 * (color)texture("paint.png", u, v); }\n' >"$dir/new.asl"
{ echo '#include "grey.h"'; cat "$dir/new.asl"; } >"$dir/there/paint.asl"
expect 'inputs paint.asl was [0-9a-f]*, is [0-9a-f]*$'
echo '#define GREY 0.75' >"$dir/there/grey.h"
expect 'inputs grey.h was [0-9a-f]*, is [0-9a-f]*$'
cp "$library/textures/town-gloss.png" "$dir/there/paint.png"
expect 'inputs paint.png was'
cp "$library/textures/leaf.exr" "$dir/there/leaf.exr"
expect 'inputs leaf.exr was'
echo 'newmtl cloth' >"$dir/there/sub.mtl"
expect 'inputs sub.mtl was'
sed -i 's/v 0 2 -1/v 0 2 -1.5/' "$dir/there/tri.obj"
expect 'inputs tri.obj was'
sed -i 's/\[5, 5, 5\]/[5, 5, 6]/' "$dir/there/seal.json"
expect 'inputs seal.json was'
ISOPHOTE_THREADS=1
export ISOPHOTE_THREADS
expect 'environment ISOPHOTE_THREADS was .*, is 1$'
if [ -n "$compiler" ]; then
    ISOPHOTE_CC=$compiler
    export ISOPHOTE_CC
    expect 'device compiler was .*, is .*clang.*; environment ISOPHOTE_CC was not there, is '
    unset ISOPHOTE_CC
    taken "the first compiler again"
fi

# pictures: the same key in the document and in the files, another one for another texture
picture() { # FILE
    "$isophote" render "$dir/there/seal.json" --width 8 --height 8 --spp 1 -o "$1" --json >"$dir/out" || fail "render $1"
    key=$(sed -n '/"identity"/,/"key"/s/.*"key": "\([0-9a-f]*\)".*/\1/p' "$dir/out")
    [ ${#key} = 32 ] || fail "render has no key: $(head -n 6 "$dir/out")"
    grep -q -a "$key" "$1" || fail "$1 does not hold its key"
    grep -q -a 'paint.png' "$1" || fail "$1 does not name the files that it was made of"
}
picture "$dir/a.png"
first=$key
picture "$dir/a.exr"
[ "$key" = "$first" ] || fail "a PNG and an EXR of one picture have two keys"
cp "$library/textures/tile.png" "$dir/there/paint.png"
picture "$dir/b.png"
[ "$key" != "$first" ] || fail "another texture, the same key"
[ "$failures" -eq 0 ] || exit 1
