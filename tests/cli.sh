#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cli.sh CASE PROGRAM JSON_QUERY: one end-to-end test of the command line. Every function case_NAME below is
# a ctest test cli.NAME (tests/CMakeLists.txt reads the names from here). Exit status 77: skipped.
set -euo pipefail
export LC_ALL=C
program=$2 query=$3 here=$(realpath "${BASH_SOURCE[0]%/*}")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/isophote-cli-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir out
small=(--width 24 --height 16 --spp 2)
thinning=${TEST_THINNING:-1} # more than 1 under a sanitizer: one in so many of what is the same again and again

fail()
{
    printf 'FAILED: %s\n' "$*"
    printf -- '--- stdout\n%s\n--- stderr\n%s\n' "$(head -c 3000 stdout)" "$(head -c 3000 stderr)"
    exit 1
}
# run STATUS ARGUMENTS...: runs the program and expects its exit status.
run()
{
    local want=$1 status=0
    shift
    "$program" "$@" >stdout 2>stderr </dev/null || status=$?
    [ "$status" = "$want" ] || fail "isophote $* ended with $status, expected $want"
}
says() { grep -Eq -- "$1" stderr || fail "the message does not say: $1"; }
prints() { grep -Eq -- "$1" stdout || fail "the output does not say: $1"; }
one_line() { [ "$(wc -l <stderr)" -le "${1:-2}" ] || fail "the message is longer than ${1:-2} lines"; }
# Nothing was written: not the result, not a part of it.
nothing_in() { [ -z "$(find "$1" -mindepth 1)" ] || fail "left behind: $(find "$1" -mindepth 1)"; }
json() { "$query" stdout "$@" || fail "no $* in the JSON output"; }
skip()
{
    echo "SKIP: $*"
    exit 77
}

# ---- use ------------------------------------------------------------------------------------------------

# run_on DEVICE ARGUMENTS: run 0. An OpenCL driver leaks what its compiler makes; where a sanitizer looks for leaks,
# those are not ours.
run_on()
{
    local leaks=1
    case $1 in opencl:*) leaks=0 ;; esac
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=$leaks run 0 "${@:2}"
}

# A procedure in C gives the film of the same shader written in ASL, on every device.
case_procedures()
{
    local library=$here/../shaders/library device film want=
    cat >twin.asl <<'END'
int mixed(int h) { return (h ^ (h >> 7)) * 271 & 65535; }
float scatter(int n)
{
    int h = mixed((n * 7919) & 65535);
    return (h ^ (h >> 9)) / 65536.0;
}
float wave(float x)
{
    float low = floor(x), t = x - low;
    t = t * t * (3.0 - 2.0 * t);
    return scatter((int)low) * (1 - t) + scatter((int)low + 1) * t;
}
shader twin(float scale = 6, float wobble = 0.3, color early = color(0.75, 0.5, 0.28),
            color late = color(0.35, 0.17, 0.07), output color Cout = 0, output float roughness = 0)
{
    float bend = 0, size = wobble;
    for (int i = 0; i < 3; i++, size *= 0.5)
        bend += size * wave(P[1] * (1 << i) + P[0]);
    float r = (sqrt(P[0] * P[0] + P[2] * P[2]) + bend) * scale, t = r - floor(r);
    t = t < 0.8 ? t / 0.8 : (1 - t) / 0.2;
    Cout = early * (1 - t) + late * t;
    roughness = max(0.2, 0.6 - 0.3 * t);
}
END
    scene()
    {
        cat >"$1.json" <<END
{"isophote": 1, "camera": {"origin": [0, 1.2, 4], "target": [0, 0.5, 0], "fov": 35},
 "materials": {"m": {"type": "shader", "shader": "$2", "parameters": {"scale": 4}, "base": {"type": "principled"},
                     "drive": {"base_color": "Cout", "roughness": "roughness"}}},
 "objects": [{"type": "sphere", "material": "m", "center": [0, 0.6, 0], "radius": 0.9}], "environment": {"radiance": 1}}
END
    }
    cp "$library/rings.c" .
    scene procedure rings.c
    scene twin twin.asl
    for device in native opencl:0; do
        "$program" devices 2>/dev/null | grep -q "^$device" || continue
        for name in procedure twin; do
            run_on "$device" render "$name.json" --device "$device" "${small[@]}" -o "out/$name.exr"
            film=$(grep -Eo 'film[ :]+[0-9a-f]{16,}' stdout stderr -h | head -n 1)
            [ -n "$film" ] || fail "no film is named"
            [ "${want:=$film}" = "$film" ] || fail "$name on $device: $film, not $want"
        done
    done
    sed 's/0\.28f/0.29f/' "$library/rings.c" >rings.c # another procedure, another picture
    run 0 render procedure.json --device native "${small[@]}" -o out/other.exr
    film=$(grep -Eo 'film[ :]+[0-9a-f]{16,}' stdout stderr -h | head -n 1)
    [ -n "$film" ] && [ "$film" != "$want" ] || fail "another procedure gave the same film"
    rm out/*
    printf 'void rings(const procedure_point *at, color *Cout, float *roughness)\n{\n    system("true");\n}\n' >rings.c
    run 2 render procedure.json --device native "${small[@]}" -o out/bad.exr
    says 'rings.c:3:5: .*system'
    nothing_in out
    run 1 aslc rings.c
    says 'rings.c:3:5: error: .*system'
    cp "$library/rings.c" .
    run 0 aslc rings.c
    run 0 shade --print -g 1 1 rings.aso -o Cout null
    run 0 conform rings.c --level shader --device native --filter 'file[.]rings[.]'
    prints '5 pass, 0 fail'
}

# A module of LLVM gives the film of the same procedure in C, on every device.
case_modules()
{
    local library=$here/../shaders/library device film want=
    cat >tiles.c <<'END'
#include "procedure.h"
PROCEDURE(tiles, const procedure_point *at, float scale DEFAULT(5.0f), color ink DEFAULT(0.1f, 0.4f, 0.8f),
          color *Cout, float *roughness)
{
    float x = at->P.x * scale, y = at->P.y * scale;
    int cell = (int)floorf(x) + 3 * (int)floorf(y), k = 0;
    color c = {0.9f, 0.9f, 0.8f};
    for (int i = cell & 7; i > 0; i = (i - 1) & cell)
        k += i;
    if (k & 2)
        c = ink;
    *roughness = 0.1f + 0.1f * (float)(k & 7);
    *Cout = c;
}
END
    cat >tiles.ll <<'END'
@isophote_procedure = constant [127 x i8] c"tiles(const procedure_point *at, float scale DEFAULT(5.0f), color ink DEFAULT(0.1f, 0.4f, 0.8f), color *Cout, float *roughness)"
define void @tiles(ptr %at, float %scale, <2 x float> %ink.coerce0, float %ink.coerce1, ptr %Cout, ptr %roughness) {
entry:
  %Px = load float, ptr %at
  %Pyp = getelementptr i8, ptr %at, i64 4
  %Py = load float, ptr %Pyp
  %x = fmul float %Px, %scale
  %y = fmul float %Py, %scale
  %fx = call float @llvm.floor.f32(float %x)
  %fy = call float @llvm.floor.f32(float %y)
  %ix = fptosi float %fx to i32
  %iy = fptosi float %fy to i32
  %iy3 = mul i32 %iy, 3
  %cell = add i32 %iy3, %ix
  %first = and i32 %cell, 7
  %some = icmp sgt i32 %first, 0
  br i1 %some, label %loop, label %end
loop:
  %i = phi i32 [ %first, %entry ], [ %in, %loop ]
  %k0 = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %k1 = add i32 %k0, %i
  %i1 = add i32 %i, -1
  %in = and i32 %i1, %cell
  %go = icmp sgt i32 %in, 0
  br i1 %go, label %loop, label %end
end:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %k2 = and i32 %k, 2
  %is = icmp eq i32 %k2, 0
  %rg = select i1 %is, <2 x float> <float 0x3FECCCCCC0000000, float 0x3FECCCCCC0000000>, <2 x float> %ink.coerce0
  %b = select i1 %is, float 0x3FE99999A0000000, float %ink.coerce1
  %k7 = and i32 %k, 7
  %kf = sitofp i32 %k7 to float
  %kt = fmul float %kf, 0x3FB99999A0000000
  %rough = fadd float %kt, 0x3FB99999A0000000
  store float %rough, ptr %roughness
  store <2 x float> %rg, ptr %Cout
  %bp = getelementptr { float, float, float }, ptr %Cout, i32 0, i32 2
  store float %b, ptr %bp
  ret void
}
declare float @llvm.floor.f32(float)
END
    scene()
    {
        cat >"$1.json" <<END
{"isophote": 1, "camera": {"origin": [0, 1.2, 4], "target": [0, 0.5, 0], "fov": 35},
 "materials": {"m": {"type": "shader", "shader": "$2", "parameters": {"scale": 4}, "base": {"type": "principled"},
                     "drive": {"base_color": "Cout", "roughness": "roughness"}}},
 "objects": [{"type": "sphere", "material": "m", "center": [0, 0.6, 0], "radius": 0.9}], "environment": {"radiance": 1}}
END
    }
    scene module tiles.ll
    scene procedure tiles.c
    for device in native opencl:0; do
        "$program" devices 2>/dev/null | grep -q "^$device" || continue
        for name in procedure module; do
            run_on "$device" render "$name.json" --device "$device" "${small[@]}" -o "out/$name.exr"
            film=$(grep -Eo 'film[ :]+[0-9a-f]{16,}' stdout stderr -h | head -n 1)
            [ -n "$film" ] || fail "no film is named"
            [ "${want:=$film}" = "$film" ] || fail "$name on $device: $film, not $want"
        done
    done
    cp tiles.ll same.ll
    sed 's/%iy, 3/%iy, 5/' same.ll >tiles.ll # another module, another picture
    run 0 render module.json --device native "${small[@]}" -o out/other.exr
    film=$(grep -Eo 'film[ :]+[0-9a-f]{16,}' stdout stderr -h | head -n 1)
    [ -n "$film" ] && [ "$film" != "$want" ] || fail "another module gave the same film"
    rm out/*
    printf 'declare i32 @system(ptr)\ndefine void @s(ptr %%at, ptr %%Cout) {\n  %%x = call i32 @system(ptr %%at)\n  ret void\n}\n' >tiles.ll
    run 2 render module.json --device native "${small[@]}" -o out/bad.exr
    says 'tiles.ll:3:[0-9]*: .*@system'
    nothing_in out
    run 1 aslc tiles.ll
    says 'tiles.ll:3:[0-9]*: error: .*@system'
    cp "$library/hilbert.ll" .
    run 0 aslc hilbert.ll
    run 0 shade --print -g 1 1 hilbert.aso -o Cout null
    run 0 conform hilbert.ll --level shader --device native --filter 'file[.]hilbert[.](ir|device|llvm)$'
    prints '3 pass, 0 fail'
}

# ambient_occlusion() is the closure of light that is not blocked.
case_open_light()
{
    local text device film first=
    cat >scene.json <<'END'
{"isophote": 1, "camera": {"origin": [0, 1.2, 4], "target": [0, 0.5, 0], "fov": 35},
 "materials": {"m": {"type": "shader", "shader": "m.asl"}},
 "objects": [{"type": "rectangle", "material": "m", "transform": [{"scale": 9}, {"rotate": {"axis": [1, 0, 0], "angle": -90}}]},
             {"type": "sphere", "material": "m", "center": [0, 0.6, 0], "radius": 0.5}]}
END
    for device in reference native opencl:0; do
        [ "$device" = reference ] || "$program" devices 2>/dev/null | grep -q "^$device" || continue
        first=
        for text in '0.5 * ambient_occlusion("maxdist", 2, "samples", 8)' \
            '0.5 * ((1 - occlusion("maxdist", 2, "samples", 8)) * emission())'; do
            echo "surface m() { Ci = $text; }" >m.asl
            run_on "$device" render scene.json --device "$device" "${small[@]}" -o out/light.pfm
            film=$(sha256sum <out/light.pfm)
            [ "${first:=$film}" = "$film" ] || fail "$device: another picture for $text"
        done
        echo 'surface m() { Ci = 0.5 * emission(); }' >m.asl
        run_on "$device" render scene.json --device "$device" "${small[@]}" -o out/light.pfm
        [ "$first" != "$(sha256sum <out/light.pfm)" ] || fail "$device: nothing is blocked"
    done
    echo 'surface m() { Ci = ambient_occlusion("reach", 2); }' >m.asl
    run 2 render scene.json --device native "${small[@]}" -o out/bad.exr
    says 'm.asl:1:38: .*occlusion.*"reach"'
}

case_help()
{
    local command
    for command in $commands; do
        run 0 "$command" --help
        prints "^usage: isophote $command"
        [ ! -s stderr ] || fail "$command --help writes to standard error"
        mv stdout help
        run 0 help "$command"
        cmp help stdout || fail "help $command is not what $command --help prints"
    done
    run 0 help
    for command in devices scenes render conform replay bench sweep report compare export import doctor aslc shade version help; do
        prints "^  $command "
    done
}

case_bad_use()
{
    local command
    run 2
    says "usage|command"
    run 2 nonsense
    says nonsense
    one_line
    run 2 help nonsense
    says "unknown command 'nonsense'"
    run 2 rendr cornell
    says "unknown command 'rendr'; is render meant\\?"
    run 2 render cornell --with 3
    says "unknown option '--with'; is --width meant\\?"
    run 2 aslc -O3 s.osl
    says "is -O0, -O1, -O2 or -O meant\\?"
    run 2 shade --print:type=float s.osl # no such hint
    says "unknown option '--print:type=float'"
    run 2 shade -g 4 s.osl
    says "no value for '-g': expected W H|expected two whole numbers"
    run 2 shade --iters=2 --print=3
    says "this option takes no value: '--print=3'"
    for command in $commands; do
        run 2 "$command" --no-such-option
        says "no-such-option"
        [ ! -s stdout ] || fail "$command writes a result after bad use"
    done
    run 2 render
    run 2 render cornell veach-mis
}

case_bad_values()
{
    local bad
    for bad in "--spp x" "--spp -1" "--spp 1.5" "--spp 99999999999" "--width 0x10" "--width" "--max-depth x" \
        "--seed -1" "--seed 99999999999999999999999" "--mode quick" "--work-group 8" "--work-group 8x" \
        "--work-group 0x4" "--work-group 8x8x8" "--tile 0x0" "--bvh bvh3" "--model gigakernel" "--batch x" \
        "--spp 0" "--width 0" "--height 0" "--width 32769" "--max-depth 0" "--rr-depth 0" "--exposure 0" \
        "--exposure -1" "--timeout -1"; do
        # shellcheck disable=SC2086 # option and value
        run 2 render cornell -o out/a.exr $bad
        says "${bad%% *}"
        one_line
    done
    for bad in "--iters 0" "-t -1" "--budget 0"; do
        # shellcheck disable=SC2086
        run 2 shade $bad --expr 'result = u'
        says "${bad}: expected a whole number"
    done
    run 2 render cornell -o out/a.exr --device native+
    says "native\+: no device is named behind a '\+'"
    run 2 render cornell -o out/a.exr --device +native
    says "\+native: no device is named before a '\+'"
    for bad in bench sweep; do
        run 2 "$bad" --device native --repetitions 5 --max-repetitions 2
        says "max-repetitions 2"
        run 2 "$bad" --device native --precision -1
        says "--precision -1: expected a number above 0"
    done
    run 2 render cornell -o out/a.exr --light-choice bush
    says "expected power or tree"
    run 2 replay cornell --pixel 0,0 --mis none
    says "expected power or balance"
    run 2 render cornell -o out/a.jpg "${small[@]}"
    says "a.jpg"
    nothing_in out
}

# An output that is one file with what is read, or with another output: said, and what stands there stays.
case_output_is_input()
{
    printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' >m.obj
    printf 'shader s(output color c = 0) { c = u; }\n' >s.osl
    run 0 bench cornell --device native "${small[@]}" --repetitions 1 --max-repetitions 1 --store s.db
    ln -s s.db s.html
    ln m.obj m.json
    md5sum m.obj s.osl s.db >sums
    local command
    for command in "import m.obj -o m.obj" "import m.obj -o m.json" "aslc s.osl -o ./s.osl" \
        "aslc s.osl -o out/s.aso --witness s.osl" "aslc s.osl -o out/s.aso -MD -MF s.osl" \
        "report --store s.db -o s.html" "export --store s.db -o $PWD/s.db" \
        "conform --device native --filter rng --store s.db --junit s.db" \
        "conform --device native --filter rng --store s.db --journal s.db" \
        "conform --device native --filter rng --store out/n.db --junit out/n.db" \
        "render cornell --spp 1 -o out/a.png --preview out/a.png"; do
        # shellcheck disable=SC2086 # words
        run 2 $command
        says "one file"
        md5sum --quiet -c sums || fail "$command harmed a file"
        nothing_in out
    done
    [ ! -s stdout ] || fail "work was done before"
    run 0 export --store s.db -o /dev/null
}

# argument_of COMMAND: what it needs besides options.
argument_of()
{
    case $1 in
    render | replay) echo cornell ;;
    import) echo none.jsonl ;;
    compare) echo none.db ;;
    esac
}

# Every output of every command against every input of it and every other output, by the rows of the commands: under
# its own name, another spelling, a link and a hard link.
case_output_matrix()
{
    local command option does rest out in pairs=0 name words
    run 0 help --files
    mv stdout rows
    printf 'something of mine\n' >mine
    ln mine hard
    ln -s mine soft
    mkdir folder
    while read -r command out does rest; do
        [ "$does" = writes ] || continue
        while read -r in does rest; do
            [ "$in" != "$out" ] || continue
            for name in mine ./folder/../mine hard soft; do
                words="$command $out"
                [ "$words" != "shade -o" ] || words="shade -o Cout"
                words="$words $name"
                case $in in
                --param | --fparam) words="$words $in texture mine" ;;
                -*) words="$words $in mine $(argument_of "$command")" ;;
                *) words="$words mine" ;;
                esac
                # shellcheck disable=SC2086 # words
                run 2 $words
                says "cannot write .* over .*: they are one file"
                [ "$(cat mine)" = "something of mine" ] || fail "$words harmed what was there"
                # shellcheck disable=SC2086 # words
                run 2 $words --force
                says "they are one file"
                pairs=$((pairs + 1))
            done
        done < <(sed -nE "s/^$command //p" rows)
    done <rows
    # Two outputs that are not there yet.
    run 2 render cornell -o out/a.png --preview out/../out/a.png
    says "they are one file"
    run 2 conform --store out/a.db --junit out/a.db.journal
    says "they are one file"
    nothing_in out
    [ $pairs -ge 100 ] || fail "only $pairs pairs were tried"
}

# What an input names is an input too: models and what they name, textures, shaders and their headers.
case_output_is_named()
{
    mkdir sub
    printf 'mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' >sub/m.obj
    printf 'newmtl a\nmap_Kd -s 1 1 1 wood grain.png\n' >sub/m.mtl
    printf '#include "color.h"\nshader s(string map = "inner.png", output color Cout = 0) { Cout = texture(map, u, v); }\n' >sub/s.asl
    printf '{"scenes":[],"buffers":[{"uri":"geo%%20metry.bin"}]}\n' >sub/g.gltf
    printf '%s\n' '{"isophote": 1, "about": "sub/m.obj", "list": ["sub/s.asl", {"x": "sub\/g.gltf"}], "map": "sub/sky.exr"}' >scene.json
    local file name words
    for file in "wood grain.png" color.h inner.png "geo metry.bin" sky.exr; do
        echo "text of $file" >"sub/$file"
    done
    for file in scene.json sub/m.obj sub/m.mtl sub/s.asl sub/color.h sub/g.gltf "sub/wood grain.png" sub/inner.png \
        "sub/geo metry.bin" sub/sky.exr; do
        cp "$file" before
        rm -f link hard
        ln -s "$file" link
        ln "$file" hard
        for name in "$file" link hard; do
            for words in "render scene.json -o" "render scene.json --preview" "conform --scene scene.json --junit" \
                "bench scene.json --store" "conform scene.json --journal" "scenes thumbnail scene.json -o" \
                "export --mitsuba scene.json -o"; do
                # shellcheck disable=SC2086 # words
                run 2 $words "$name" --force
                says "they are one file"
                cmp -s "$file" before || fail "$words $name harmed it"
            done
        done
    done
    run 2 shade sub/s -o Cout sub/inner.png --force
    says "they are one file"
    run 2 shade -I sub s.asl -o Cout sub/color.h --force
    says "they are one file"
    run 2 conform sub --junit sub/color.h --force
    says "they are one file"
}

# A file of another kind is replaced with --force alone.
case_output_kinds()
{
    local command out kind does words
    run 0 help --files
    mv stdout rows
    printf 'my notes, and nothing else\n' >notes.txt
    printf 'shader s(output color Cout = 0) { Cout = u; }\n' >s.osl
    printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' >m.obj
    while read -r command out does kind; do
        [ "$does" = writes ] || continue
        case "$command $out" in
        "shade -o") words="shade s.osl -o Cout" ;;
        "import -o") words="import m.obj -o" ;;
        *) words="$command $(argument_of "$command") $out" ;;
        esac
        # shellcheck disable=SC2086 # words
        run 2 $words notes.txt
        says "notes.txt is there and is not .*--force"
        one_line 1
        [ "$(cat notes.txt)" = "my notes, and nothing else" ] || fail "$words replaced the notes ($kind)"
    done <rows
    run 2 conform --device native --filter '^kernel[.]rng' --journal notes.txt
    says "not a journal of conform"

    # its own kind is replaced as ever; another with --force; what is empty too
    local render=(render cornell "${small[@]}" -o)
    run 0 "${render[@]}" a.png
    run 0 "${render[@]}" a.exr
    cp a.exr b.png
    : >c.png
    local name
    for name in a.png a.exr b.png c.png; do run 0 "${render[@]}" $name; done
    cp notes.txt d.png
    local film
    run 0 "${render[@]}" a.png
    film=$(sed -n 's/.*film //p' stdout)
    run 0 "${render[@]}" d.png --force
    prints "film $film" # the files differ: each holds its own command
    head -c 4 d.png | grep -q PNG || fail "--force wrote no picture"
    local round
    for round in 1 2; do
        run 0 conform --device native --filter '^kernel[.]rng' --store k.db --journal k.journal --junit k.xml
        run 0 report --store k.db -o k.html
        run 0 report --store k.db -o k.md
        run 2 report --store k.db -o k.md --table t.json
        says "error: --table needs HTML"
        run 2 report --store k.db -o k.md --page p.html
        says "error: --page needs HTML"
        run 0 report --store k.db -o k.csv
        run 0 report --store k.db -o k2.xml
        run 0 export --store k.db -o k.jsonl
        run 0 export --mitsuba cornell -o m.xml
        run 0 import m.obj -o m.json
        run 0 aslc s.osl -o s.aso --witness s.witness -MD -MF s.d
        run 0 shade s.osl -o Cout s.tif
    done
    # names that the command line does not hold
    cp notes.txt s.aso
    run 2 aslc s.osl
    says "s.aso is there and is not a compiled shader"
    cmp notes.txt s.aso || fail "the notes were replaced"
    run 0 aslc s.osl --force
    cp notes.txt s.d
    run 2 aslc -MD s.osl
    says "s.d is there and is not a rule of make"
    cmp notes.txt s.d || fail "the notes were replaced"
    run 2 report --store k.db -o s.aso --format csv
    says "not .*a report"
}

# A link to nowhere is no name for an output: neither is it replaced, nor does a file appear where it points. Nor is a link that
# another user may have planted. Of every output of every command.
case_output_links()
{
    local command option kinds n=0 words file
    run 0 help --files
    mv stdout rows
    mkdir elsewhere
    while read -r command option _ kinds; do
        file=out/link-$n.${kinds%% *}
        case $kinds in picture*) file=out/link-$n.pfm ;; mitsuba*) file=out/link-$n.xml ;; esac
        ln -s ../elsewhere/new-$n "$file"
        words=$(argument_of "$command")
        [ "$command $option" != "shade -o" ] || option="-o result"
        # shellcheck disable=SC2086 # words
        run 2 $command $words $option "$file"
        says "$file is a link to ../elsewhere/new-$n, which cannot be opened: No such file or directory; remove the link"
        [ -h "$file" ] || fail "the link was replaced"
        n=$((n + 1))
    done < <(grep ' writes' rows)
    nothing_in elsewhere
    [ $n -ge 15 ] || fail "only $n outputs were looked at"
    ln -s loop out/loop
    run 2 render cornell "${small[@]}" -o out/loop
    says "cannot be opened: Too many levels of symbolic links"
    # to a file that is there: it is written, the link stays
    run 0 render cornell "${small[@]}" -o elsewhere/a.pfm
    ln -s ../elsewhere/a.pfm out/good.pfm
    run 0 render cornell "${small[@]}" --seed 1 -o out/good.pfm
    [ -h out/good.pfm ] || fail "the link was replaced"
    [ "$(id -u)" = 0 ] || skip "what another user owns takes root to make"
    mkdir shared
    chmod 1777 shared
    ln -s ../elsewhere/a.pfm shared/a.pfm
    chown -h 65534 shared/a.pfm
    md5sum elsewhere/a.pfm >sum
    run 2 render cornell "${small[@]}" --seed 2 -o shared/a.pfm
    says "shared/a.pfm is a link of another user to ../elsewhere/a.pfm, in a folder that all can write"
    md5sum -c --quiet sum || fail "what it points to was replaced"
}

# Names that the command line does not hold: images of an imported model, what stands beside a scene for Mitsuba.
case_output_beside()
{
    local file image scene
    run 0 render cornell "${small[@]}" -o image.png
    image=$(base64 -w 0 image.png)
    printf '%s' '{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],
        "meshes":[{"primitives":[{"attributes":{"POSITION":0,"TEXCOORD_0":1},"material":0}]}],
        "materials":[{"pbrMetallicRoughness":{"baseColorTexture":{"index":0}}}],"textures":[{"source":0}],
        "images":[{"uri":"data:image/png;base64,'"$image"'"}],
        "accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]},
        {"bufferView":1,"componentType":5126,"count":3,"type":"VEC2"}],
        "bufferViews":[{"buffer":0,"byteLength":36},{"buffer":0,"byteOffset":36,"byteLength":24}],
        "buffers":[{"byteLength":60,"uri":"data:application/octet-stream;base64,'"$(
        printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\200\77\0\0\0\0\0\0\0\0\0\0\0\0\0\0\200\77\0\0\0\0\0\0\0\0\0\0\0\0\0\0\200\77\0\0\0\0\0\0\0\0\0\0\200\77' |
            base64 -w 0)"'"}]}' >model.gltf
    run 0 import model.gltf -o out/model.json
    file=$(find out/model.textures -type f)
    [ "$(wc -l <<<"$file")" = 1 ] || fail "not one image: $file"
    run 0 import model.gltf -o out/model.json # its own kind
    beside() # FILE COMMAND...: notes and a link under the name are left alone, unless forced
    {
        local file=$1
        shift
        echo "my notes" >"$file"
        run 2 "$@"
        says "${file##*/} is there and is of another kind"
        [ "$(cat "$file")" = "my notes" ] || fail "$* replaced notes"
        echo "more notes" >aside
        ln -sf "$PWD/aside" "$file"
        run 2 "$@"
        says "${file##*/} is there and is a link"
        [ "$(cat aside)" = "more notes" ] || fail "$* wrote through a link"
        rm "$file"
        echo "my notes" >"$file"
        run 0 "$@" --force
        run 0 "$@"
        ! grep -q notes "$file" || fail "$*: --force wrote nothing"
    }
    beside "$file" import model.gltf -o out/model.json
    for scene in textured hdri; do
        run 0 export --mitsuba $scene --lossy --plugins -o out/$scene
        while read -r file; do
            beside "$file" export --mitsuba $scene --lossy --plugins -o out/$scene
        done < <(find out/$scene -type f | sort | awk -F. '!seen[$NF]++')
    done
}

# Each option of the tables stands in all that is made of them.
case_options_everywhere()
{
    local command option count=0
    run 0 help --write out
    for command in $commands; do
        run 0 "$command" --help
        grep -oE '^  -[^ ]+(, -[^ ]+)*' stdout | tr -d ' ' | tr ',' '\n' | grep -vxE -- '-h|--help|' >names || continue
        run 0 help "$command" --man
        sed 's/\\-/-/g' stdout >page.man
        cmp -s stdout "out/man/isophote-$command.1" || fail "another page of $command is written"
        run 0 help --markdown
        sed -n "/^## $command\$/,/^## /p; /^## Common options/,/^## /p" stdout >page
        while read -r option; do
            count=$((count + 1))
            run 2 "$command" "$option" --no-such --no-such --no-such --no-such --no-such
            ! grep -qF "unknown option '$option'" stderr || fail "$command does not take its $option"
            grep -qF -- "\\fB$option\\fR" page.man || fail "no $option in the manual page of $command"
            grep -qE -- "[\` ]${option}[,\` ]" page || fail "no $option in the page of options of $command"
            [[ " $(complete "$program" "$command" "$option") " = *" $option "* ]] || fail "bash does not complete $command $option"
            grep -qF -- "'*$option" out/completion/zsh/site-functions/_isophote || fail "no $option for zsh"
            grep -qE -- "_is $command' -(l|s|o) ${option##*-} |_is $command' -l ${option#--}[ ]" out/completion/fish/vendor_completions.d/isophote.fish ||
                fail "no $option of $command for fish"
        done <names
    done
    [ "$count" -gt 150 ] || fail "$count options were looked at: --help is not read right"
    run 0 help --man
    for command in $commands; do grep -q "^.BR isophote..$command (1)" stdout || fail "isophote.1 does not name $command"; done
    run 2 help --man --markdown
    run 2 help render --completion bash
    run 2 help --completion tcsh
    says "expected bash, zsh or fish"
    run 2 help --write /sys/kernel
    says "/sys/kernel/man"
}

# docs/reference/options.md is what the program prints.
case_options_page()
{
    local page
    page=$(dirname "${BASH_SOURCE[0]}")/../docs/reference/options.md
    run 0 help --markdown
    diff "$page" stdout >difference || {
        cp difference stdout
        fail "docs/reference/options.md is stale: build/release/isophote help --markdown >docs/reference/options.md"
    }
}

case_man_pages()
{
    command -v groff >/dev/null || skip "no groff"
    local page section
    run 0 help --write out
    for page in out/man/*.1; do
        groff -man -ww -Tutf8 "$page" >stdout 2>stderr || fail "groff does not take $page"
        [ ! -s stderr ] || fail "groff warns of $page"
        [ "$(grep -c . stdout)" -gt 15 ] || fail "$page is empty"
        sed 's/\x1b\[[0-9;]*m//g; s/.\x08//g' stdout >plain
        for section in NAME SYNOPSIS DESCRIPTION "EXIT STATUS"; do
            grep -qx "$section" plain || fail "$page has no $section"
        done
    done
}

# complete WORD...: what bash offers for the last.
complete()
{
    bash -c 'source "$0"; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _isophote; printf "%s\\n" "${COMPREPLY[*]}"' \
        "$scratch/out/completion/bash-completion/completions/isophote" "$@"
}
offers() # WHAT WORD...
{
    local want=$1
    shift
    [ "$(complete "$program" "$@")" = "$want" ] || fail "bash offers '$(complete "$program" "$@")' for '$*', not '$want'"
}

case_completion_bash()
{
    run 0 help --write out
    mkdir "fol der"
    touch "fol der/pic ture.png"
    offers "render replay report" re
    offers "--mode --model" render --mo
    offers "strict device fast" render --mode ""
    offers "device" render --mode = d
    offers "strict device fast" render --mode =
    offers "cornell" render corn
    offers "native" render --device nat
    offers "fol der/pic ture.png" render -o "fol der/p"
    offers "fol der/pic ture.png" shade -o Cout "fol der/p"
    offers "fol der" aslc -I f
    offers "" shade -g 4 ""
    offers "describe" scenes d
    offers "blob blobgloss" scenes describe blob
    offers "compare" help comp
    offers "-O0 -O1 -O2" shade -O
    offers "bash zsh fish" help --completion ""
    if "$program" devices | grep -q '^opencl:0'; then offers "0" render --device opencl : 0; fi
}

# The other shells take their files; where they are here, fish completes too.
case_completion_others()
{
    local seen=0
    run 0 help --write out
    if command -v zsh >/dev/null; then
        zsh -f -n out/completion/zsh/site-functions/_isophote || fail "zsh does not take its file"
        seen=1
    fi
    if command -v fish >/dev/null; then
        PATH=$(dirname "$program"):$PATH HOME=$scratch fish -c "source out/completion/fish/vendor_completions.d/isophote.fish
            complete -C 'isophote render --mo'; complete -C 'isophote render corn'" >stdout 2>stderr || fail "fish does not take its file"
        prints '^--model'
        prints '^cornell'
        seen=1
    fi
    [ $seen = 1 ] || skip "neither zsh nor fish"
}

# What the library holds, what one scene holds, and a picture of it.
case_scenes()
{
    local i what
    run 0 scenes
    prints '^cornell +The Cornell box'
    prints '^bunny-glass '
    cp stdout list
    run 0 scenes --json
    for ((i = 0; i < $("$query" stdout scenes); i++)); do
        what=$(json "scenes[$i].name")
        grep -q "^$what " list || fail "$what is in the JSON list alone"
        [ -f "$(json "scenes[$i].file")" ] || fail "no file of $what"
        [ -n "$(json "scenes[$i].about")" ] || fail "nothing is said of $what"
    done
    [ "$i" = "$(grep -c '^[^ ]' list)" ] || fail "$i scenes in JSON, $(grep -c '^[^ ]' list) in text"
    run 0 scenes describe cornell
    prints '^triangles +36$'
    prints '^diffuse materials +4$'
    prints '^emitting materials +1$'
    run 0 scenes describe shaded-rings --json
    [ "$(json shader_materials) $(json spheres) $(json emitting_materials)" = "2 2 0" ] ||
        fail "shaded-rings holds something else"
    [ "$(json width)x$(json height)" = 384x288 ] || fail "the picture's size"
    run 0 scenes thumbnail cornell -o out/c.png --spp 2 --width 20
    prints '^wrote out/c.png'
    run 0 scenes thumbnail cornell -o out/r.png --spp 2 --width 20 --device reference --json
    [ "$(json width)x$(json height) $(json mode)" = "20x20 reference" ] || fail "another picture"
    rm out/*
    run 0 scenes random 7-12 -o out/12.json
    prints '^wrote out/12.json$'
    run 0 scenes random 7-12 -o out/again.json --json
    [ "$(json scene)" = out/again.json ] || fail "another file"
    cmp out/12.json out/again.json
    run 0 scenes describe out/12.json
    prints 'random scene 12 of seed 7'
    run 0 scenes random 18446744073709551615-0 -o out/last.json
    rm out/*
    printf '{"isophote": 1, "camera": {}}' >s.json
    run 2 scenes describe s.json
    says 's.json:1:[0-9]+: error'
    for what in "describe" "list cornell" "describe cornell blob" "thumbnail cornell" "describe cornell -o out/a.png" \
        "paint cornell" "describe no-such-scene" "thumbnail cornell -o out/a.png --width x" "thumbnail no-such-scene -o out/a.png" \
        "random" "random 7-12" "random 7 -o out/a.json" "random -7-12 -o out/a.json" "random 7-12x -o out/a.json" \
        "random +7-12 -o out/a.json" "random 18446744073709551616-0 -o out/a.json" "random 7--1 -o out/a.json"; do
        # shellcheck disable=SC2086 # words
        run 2 scenes $what
        [ ! -s stdout ] || fail "scenes $what prints a result"
    done
    nothing_in out
}

# ---- bad scenes --------------------------------------------------------------------------------------------

case_missing_scene()
{
    run 2 render no-such-scene -o out/a.exr
    says "no-such-scene"
    run 2 render ./no-such.json -o out/a.exr
    says "no-such.json"
    run 2 render / -o out/a.exr
    mkdir cornell folder
    run 0 scenes describe cornell # a folder is no scene: it hides none of the library's
    prints '^triangles +36$'
    run 2 render folder -o out/a.exr
    says "'folder' is neither a file nor a scene of the library"
    run 2 render cornell/ -o out/a.exr
    says 'cornell/: Is a directory'
    cp "$here/../scenes/library/furnace.json" bunny-glass # a file does, as it always did
    run 0 scenes describe bunny-glass
    prints '^triangles +0$'
    nothing_in out
    for name in no-such-scene ./no-such.json; do # bad input, whatever the command
        run 2 bench $name --device native
        says "${name#./}"
        run 2 sweep $name --device native --axis tile=8x8
        says "${name#./}"
        [ ! -s stdout ] || fail "a row for a scene that is not there"
        run 77 bench $name --device no-such-card
    done
}

case_malformed_scene()
{
    printf '{\n  "isophote": 1,\n  "camera": {,\n' >s.json
    run 2 render s.json -o out/a.exr
    says "s.json:3:14: error: "
    printf '' >s.json
    run 2 render s.json -o out/a.exr
    says "s.json:1:1: error: "
    head -c 300 /dev/urandom >s.json
    run 2 render s.json -o out/a.exr
    says "s.json:[0-9]+:[0-9]+: error: "
    printf '[1]' >s.json
    run 2 render s.json -o out/a.exr
    says "s.json:1:1: error: .*object"
    nothing_in out
}

# Vertices that a shader moves: what cannot be is said with its place, and nothing is written.
case_displacement()
{
    local head='{"isophote": 1, "camera": {"origin": [0,0,5], "target": [0,0,0]}, "materials": {"a": {"type": "diffuse"}}, "objects": ['
    local moves='"source": "displacement d() { P += 0.1 * N; }"' bad=0 displacement words device mean
    while IFS='|' read -r displacement words; do
        printf '%s\n{"type": "rectangle", "material": "a",\n "displacement": {%s}}]}\n' "$head" "$displacement" >s.json
        run 2 render s.json --spp 1 -o out/a.exr
        says "^isophote: s.json:3:[0-9]+: error: .*$words"
        one_line
        nothing_in out
        bad=$((bad + 1))
    done <<END
"source": "displacement d() { P += 1e38 * 1e38 * N; }", "edge": 1|vertex 0 at \\(-1, -1, 0\\): .*expected finite numbers
$moves, "edge": 0|found 0, expected
$moves, "edge": NaN|
$moves, "edge": 1e-7|at least .* triangles .*expected at most
$moves|"edge" is missing
"edge": 1|neither "shader" and "source"
"shader": "absent.osl", "edge": 1|absent.osl
"source": "surface s() { Ci = diffuse(N); }", "edge": 1|moves no vertex
END
    [ $bad = 8 ] || fail "$bad cases, expected 8"
    # A floor that is tilted by 30 degrees under light from straight above: 0.5/pi * 3 cos(30). A picture of what is
    # not moved is that of the rectangle.
    local sun='"lights": [{"type": "directional", "direction": [0,0,-1], "irradiance": 3}]'
    head=${head/'"target": [0,0,0]'/'"target": [0,0,0], "type": "orthographic", "height": 1'}
    for displacement in "P[2] += P[0] * 0.57735027|0.41350" "P[2] += 0|0.47746"; do
        printf '%s{"type": "rectangle", "material": "a", "displacement": {"source": "displacement d() { %s; }", "edge": 0.1}}], %s}' \
            "$head" "${displacement%|*}" "$sun" >s.json
        for device in native opencl:0; do
            "$program" devices | grep -q "^$device " || continue
            run_on $device render s.json --device $device --spp 4 --width 16 --height 16 --max-depth 2
            mean=$(sed -n 's/^mean radiance \([0-9.]*\).*/\1/p' stdout)
            awk -v a="$mean" -v b="${displacement#*|}" 'BEGIN { exit !(a > b - 2e-5 && a < b + 2e-5) }' ||
                fail "the mean on $device is $mean, expected ${displacement#*|}"
        done
    done
    # However many threads move the vertices.
    local hash threads
    run 0 scenes describe displaced --json
    hash=$(json hash)
    for threads in 1 3; do
        ISOPHOTE_THREADS=$threads run 0 scenes describe displaced --json
        [ "$(json hash)" = "$hash" ] || fail "$threads threads make another scene"
    done
    printf '%s{"type": "rectangle", "material": "a", "displacement": {%s, "edge": 0.5}}]}' "$head" "$moves" >s.json
    run 0 scenes describe s.json --json
    run 0 export --mitsuba s.json -o out/mitsuba
    grep -q '<shape type="ply"' out/mitsuba/scene.xml || fail "no mesh was exported"
}

# What cannot be drawn is left out, and said; a model that lies about its size is no crash.
case_odd_models()
{
    local camera='"camera": {"type": "perspective", "origin": [0,0,5], "target": [0,0,0], "up": [0,1,0], "fov": 40}'
    local rest='"film": {"width": 8, "height": 8}, "materials": {"a": {"type": "diffuse", "reflectance": 0.5}}'
    printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv nan 0 1\nf 1 2 3\nf 1 2 4\nf 1 1 2\n' >m.obj
    printf '{"isophote": 1, %s, %s, "objects": [{"type": "mesh", "file": "m.obj", "material": "a"}]}\n' \
        "$camera" "$rest" >s.json
    run 0 render s.json --spp 1
    prints '^2 triangles without an area or with a vertex that is not finite were left out'
    run 0 render s.json --spp 1 --json
    [ "$(json dropped_degenerate)" = 2 ] || fail "the count of triangles left out is wrong"
    printf 'ply\nformat ascii 1.0\nelement vertex 1000000000\nproperty float x\nproperty float y\nproperty float z\n%s\n%s\n' \
        'element face 1' 'property list uchar int vertex_indices' >m.obj.ply
    printf 'end_header\n0 0 0\n' >>m.obj.ply
    sed -i 's/m.obj/m.obj.ply/' s.json
    run 2 render s.json --spp 1 -o out/a.exr
    # AddressSanitizer's operator new does not throw: it ends the child that imports.
    says 's.json:1:[0-9]+: error: (cannot read the model m.obj.ply: |the importer gave up on m.obj.ply )'
    ! grep -q 'std::' stderr || fail "the message speaks C++"
    nothing_in out
}

# ---- outputs --------------------------------------------------------------------------------------------------

case_render()
{
    run 0 render cornell "${small[@]}" --json -o out/a.exr
    [ "$(json width)x$(json height)x$(json spp)" = 24x16x2 ] || fail "the summary's size is wrong"
    local hash
    hash=$(json film_hash)
    [ -s out/a.exr ] || fail "no out/a.exr"
    [ "$(head -c 4 out/a.exr | od -An -tx1 | tr -d ' ')" = 762f3101 ] || fail "out/a.exr is no EXR file"
    run 0 render cornell "${small[@]}" --json
    [ "$(json film_hash)" = "$hash" ] || fail "two runs differ"
    run 0 render cornell "${small[@]}" --seed 7 --json
    [ "$(json film_hash)" != "$hash" ] || fail "the seed does not matter"
    run 0 render cornell "${small[@]}" --mis balance --json
    [ "$(json film_hash)" != "$hash" ] || fail "the heuristic does not matter"
    run 0 render cornell "${small[@]}" --mis power --light-choice power --json
    [ "$(json film_hash)" = "$hash" ] || fail "the scene's own choices give another picture"
    run 0 render cornell "${small[@]}" -o out/a.png
    [ "$(head -c 8 out/a.png | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] || fail "out/a.png is no PNG file"
    prints "24x16, 2 spp"
    [ ! -s stderr ] || fail "a quiet run writes to standard error"
    run 0 render cornell "${small[@]}" --device reference -o out/r.exr
    [ "$(find out -type f | wc -l)" = 3 ] || fail "more files than asked for: $(ls -A out)"
}

case_passes()
{
    local small=(--width 24 --height 16 --spp 2)
    run 0 render cornell "${small[@]}" --passes all -o out/all.exr --preview out/all.png --tone agx --exposure 2 --json
    [ "$(json phases.passes_s)" != 0 ] || fail "the passes took no time"
    [ "$(json preview)" = out/all.png ] || fail "the summary does not name the preview"
    for layer in direct.R indirect.G variance.B albedo.R N.X tangent.Y bitangent.Z P.X uv.U materialID shaderID samples; do
        grep -qa "$layer" out/all.exr || fail "no layer $layer"
    done
    [ "$(head -c 8 out/all.png | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a ] || fail "out/all.png is no PNG file"
    run 0 render cornell "${small[@]}" --passes depth,uv -o out/some.exr --preview out/all.png
    prints "^wrote out/some.exr"
    prints "^wrote out/all.png"
    if grep -qa albedo.R out/some.exr || ! grep -qa uv.V out/some.exr; then fail "not the layers that were asked for"; fi
    run 0 render cornell --width 16 --height 16 --spp 64 --device reference --error-target 0.9 --passes beauty,samples -o out/r.exr --json
    json spp_mean >/dev/null
    rm out/*
    run 2 render cornell "${small[@]}" --passes albedos -o out/a.exr
    says 'no pass "albedos".*bitangent'
    run 2 render cornell "${small[@]}" --passes uv -o out/a.png
    says "ends in .exr"
    run 2 render cornell "${small[@]}" --tone aces -o out/a.png
    says "reinhard"
    run 2 render cornell "${small[@]}" --error-target 0.1
    says "reference"
    run 2 render cornell "${small[@]}" --preview out/a.exr
    says ".png"
    ISOPHOTE_OIDN=/nowhere/oidn.so run 77 render cornell "${small[@]}" --passes denoised -o out/a.exr
    says "no Open Image Denoise.*pyoidn"
    nothing_in out
}

case_statistics()
{
    run 2 render cornell "${small[@]}" --statistics --device reference
    says 'error: --statistics needs a device: the reference interprets shaders'
    run 0 render cornell "${small[@]}" --statistics
    prints '^shading: no material runs a shader'
    run 0 render shaded-bricks "${small[@]}" --statistics
    prints '^shading: [0-9]+ masters, 3 groups in [0-9]+ programs; 6 instances, of which 6 run and 0 are skipped'
    prints 'operations -> [0-9]+'
    prints '^rays: [1-9][0-9]* to the closest hit, [1-9][0-9]* to any; [1-9][0-9]* nodes'
    prints '^  0 texture queries of shaders'
    prints '^  wall: [1-9][0-9]* hits'
    run 0 render shaded-triplanar "${small[@]}" --statistics
    prints '^  [1-9][0-9]* texture queries of shaders'
    run 0 render shaded-bricks "${small[@]}" --json
    [ "$(json shading.groups)/$(json shading.masters)/$(json shading.instances)" = 3/4/6 ] || fail "the groups are miscounted"
    [ "$(json shading.operations_after)" -lt "$(json shading.operations_before)" ] || fail "nothing was optimised"
}

# tiled_tiff FILE SIDE SEED LEVELS: noise of three bytes a texel in tiles of 64 x 64, deflated; all levels, or one.
tiled_tiff()
{
    python3 - "$@" <<'END'
import random, struct, sys, zlib
path, side, seed, levels = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
dice, out, link = random.Random(seed), bytearray(b"II*\0\0\0\0\0"), 4
def put(data):
    at = len(out)
    out.extend(data + b"\0" * (len(data) % 2))
    return at
while True:
    blocks = [zlib.compress(dice.randbytes(64 * 64 * 3), 1) for _ in range(((side + 63) // 64) ** 2)]
    places, count = [put(b) for b in blocks], len(blocks)
    def longs(values):
        return values[0] if count == 1 else put(struct.pack(f"<{count}I", *values))
    rows = [(256, 4, 1, side), (257, 4, 1, side), (258, 3, 3, put(struct.pack("<3H", 8, 8, 8))), (259, 3, 1, 8), (262, 3, 1, 2),
            (277, 3, 1, 3), (322, 4, 1, 64), (323, 4, 1, 64), (324, 4, count, longs(places)),
            (325, 4, count, longs([len(b) for b in blocks]))]
    struct.pack_into("<I", out, link, len(out))
    out += struct.pack("<H", len(rows)) + b"".join(struct.pack("<HHII", *r) for r in rows)
    link = len(out)
    out += bytes(4)
    if levels == "one" or side == 1:
        break
    side //= 2
open(path, "wb").write(out)
END
}

# Textures that take six times what is allowed give the same film; what cannot be read is told, and nothing is written.
case_texture_memory()
{
    local device film want='' i at materials='' objects='' textures=''
    command -v python3 >python || skip "there is no python3"
    export ISOPHOTE_THREADS=2 # the least limit depends on it
    for i in 0 1 2 3; do
        tiled_tiff "a$i.tif" 512 "$i" one
        tiled_tiff "s$i.tx" 512 "9$i" all
        textures+="\"t$i\": {\"file\": \"a$i.tif\"}, "
        materials+="\"m$i\": {\"type\": \"diffuse\", \"reflectance\": {\"texture\": \"t$i\"}}, \"s$i\": {\"type\": \"shader\",
            \"source\": \"shader s(output color Cout = 0) { Cout = texture(\\\"s$i.tx\\\", u, v, \\\"width\\\", 0); }\",
            \"base\": {\"type\": \"diffuse\"}, \"drive\": {\"reflectance\": \"Cout\"}}, "
        objects+="{\"type\": \"box\", \"min\": [$((2 * i)), 0, 0], \"max\": [$((2 * i + 1)), 1, 1], \"material\": \"m$i\"},
            {\"type\": \"sphere\", \"center\": [$((2 * i)), 2, 0], \"radius\": 0.8, \"material\": \"s$i\"}, "
    done
    cat >s.json <<END
{"isophote": 1, "camera": {"origin": [3, 1.5, 9], "target": [3, 1.5, 0], "fov": 50}, "environment": {"radiance": 1},
 "textures": {${textures%, }}, "materials": {${materials%, }}, "objects": [${objects%, }]}
END
    local size=(--width 96 --height 64 --spp 4 --checkpoint none)
    for device in "native --code-path source" "native --code-path llvm" native reference; do
        # shellcheck disable=SC2086
        run 0 render s.json --device $device "${size[@]}" -o whole.pfm --force
        # shellcheck disable=SC2086
        run 0 render s.json --device $device "${size[@]}" --texture-memory 3M -o parts.pfm --force
        cmp whole.pfm parts.pfm || fail "$device renders another picture"
    done
    run 0 render textured "${size[@]}" --texture-memory 3M
    says 'note: --texture-memory: [0-9]+ of the textures can be read whole only, beside the limit: .*tile.png'
    ISOPHOTE_TEXTURE_MEMORY=3M run 0 render s.json "${size[@]}" --statistics --json
    [ "$(json statistics.texture_cache.limit_bytes)" = 3145728 ] || fail "the limit is another"
    [ "$(json statistics.texture_cache.peak_bytes)" -le 3145728 ] || fail "more stood in memory"
    [ "$(json statistics.texture_cache.texel_bytes)" -gt $((6 * 3145728)) ] || fail "there are too few texels for a test"
    [ "$(json statistics.texture_cache.tiles)" -gt 64 ] || fail "few tiles were read"
    [ "$(json statistics.texture_cache.tiles_again)" -gt 0 ] || fail "no tile was read again"
    [ "$(json statistics.texture_cache.file_bytes)" -gt 100000 ] || fail "few bytes were read"
    run 0 render s.json "${size[@]}" --statistics --texture-memory 200M
    prints '^texture cache: [1-9][0-9]* tiles read, 0 of them again; '
    run 0 bench s.json --device native "${size[@]:0:6}" --texture-memory 3M --statistics --repetitions 1 --max-repetitions 1 --json
    [ "$(json "rows[0].verdict")" = PASS ] || fail "bench does not pass"
    [ "$(json "rows[0].detail.statistics.texture_cache.limit_bytes")" = 3145728 ] || fail "bench has another limit"
    run 2 render s.json "${size[@]}" --texture-memory 100K -o out/a.pfm
    says 'expected at least --texture-memory 2359296, given 102400'
    nothing_in out
    run 2 render s.json --texture-memory much
    says 'expected bytes, or a number with K, M, G or T'
    # a tile that is damaged, looked at while the picture is made
    at=$(python3 -c 'd = open("a1.tif", "rb").read(); print(len(d) // 2)')
    cp a1.tif whole.tif
    printf 'damaged damaged damaged damaged' | dd of=a1.tif bs=1 seek="$at" conv=notrunc 2>dd
    for device in native reference; do
        run 2 render s.json --device $device "${size[@]}" --texture-memory 4M -o out/a.pfm
        says 'error: cannot read the image .*a1.tif: its pixels at column [0-9]+, row [0-9]+: .*expected a whole TIFF file'
        one_line
        nothing_in out
    done
    # files that change, or go, while it is made
    for i in 'touch a1.tif' 'rm a1.tif'; do
        cp whole.tif a1.tif
        (sleep 1 && eval "$i") &
        run 2 render s.json "${size[@]:0:4}" --spp 100000 --texture-memory 3M -o out/a.pfm
        wait
        says "error: cannot read the image .*a1.tif: .*since the scene was loaded"
        nothing_in out
    done
}

case_crop()
{
    cat >s.json <<'SCENE'
{"isophote": 1, "camera": {"type": "orthographic", "height": 4, "origin": [0, 0, 5], "target": [0, 0, 0]},
 "film": {"width": 30, "height": 20, "crop": [3, 4, 10, 5], "filter": {"type": "tent"}}, "materials": {"m": {"type": "diffuse"}},
 "objects": [{"type": "sphere", "material": "m"}], "environment": {"radiance": 1}}
SCENE
    run 0 render s.json --spp 2 --json -o out/a.exr
    [ "$(json width)x$(json height)" = 10x5 ] || fail "the picture is not the crop"
    run 0 render s.json --spp 2 --width 60 --height 40 --device reference --json -o out/b.exr
    [ "$(json width)x$(json height)" = 20x10 ] || fail "the crop does not grow with the picture"
    run 0 render s.json --spp 2 --width 60 --json -o out/c.exr
    [ "$(json width)x$(json height)" = 20x10 ] || fail "--width alone does not keep the picture's shape"
    sed -i 's/"crop": \[3, 4, 10, 5\], //' s.json
    run 0 render s.json --spp 2 --height 7 --json -o out/d.exr
    [ "$(json width)x$(json height)" = 11x7 ] || fail "--height alone does not keep the picture's shape" # 30/20 of 7 is 10.5
    run 0 render s.json --spp 2 --width 1 --height 3 --json -o out/e.exr
    [ "$(json width)x$(json height)" = 1x3 ] || fail "both sides are not what was asked for"
    run 1 bench s.json --device null --spp 2 --width 15 --json # null is judged wrong
    grep -q '"height": *10\b' stdout || fail "bench does not keep the picture's shape"
}

case_unwritable_folder()
{
    # /sys takes no files, whoever asks.
    run 2 render cornell "${small[@]}" -o /sys/kernel/a.exr
    says "/sys/kernel/a.exr"
    run 2 render cornell "${small[@]}" -o out/none/a.exr
    says "out/none/a.exr"
    run 2 render cornell "${small[@]}" -o /dev/null/a.png
    mkdir out/a.exr
    run 2 render cornell "${small[@]}" -o out/a.exr
    says "directory"
    rmdir out/a.exr
    nothing_in out
    # Said before the work, which would take hours here.
    local huge=(--width 4096 --height 4096 --spp 100000)
    run 2 render cornell "${huge[@]}" -o out/none/a.exr
    run 2 render cornell "${huge[@]}" -o out/a.exr --preview out/none/a.png
    says "out/none/a.png"
    run 2 conform --device native --junit out/none/a.xml
    says "out/none/a.xml"
    run 2 shade --expr 'result = u' -o result out/none/a.png
    says "out/none/a.png"
    run 2 shade --expr 'result = u; printf("ran\n");' -od uint8 -o result out/x.exr
    says "x.exr cannot hold uint8"
    [ ! -s stdout ] || fail "the shader ran before the type was looked at"
    run 2 shade --expr 'result = u; printf("ran\n");' -o result out/x.jpg
    says "out/x.jpg.*\.png"
    [ ! -s stdout ] || fail "cases were judged before the folder was looked at"
    nothing_in out
}

# Debian's models of the formats that are tested: each is imported and gives a picture, or is refused with a reason.
case_import_testmodels()
{
    local cache=${ISOPHOTE_CACHE-${XDG_CACHE_HOME-$HOME/.cache}/isophote} folder
    folder=${ISOPHOTE_DATA-$cache/data}/assimp-testmodels/usr/share/assimp/models
    [ -d "$folder" ] || skip "no assimp-testmodels; get them with: scenes/real/fetch assimp-testmodels"
    run 0 import --check "$folder"/{OBJ,PLY,STL,3DS,Collada,FBX,glTF,glTF2,invalid}
    prints '^149 models: 114 imported and rendered, 35 refused, 0 failed$'
    ! grep -Eq 'refused +0  [^ ]+ *$' stdout || fail "a model is refused without a reason"
    prints '^gltf +imported +24  glTF2/textureTransform/TextureTransformTest.gltf'
    prints '^ply +imported +12  PLY/cube_binary.ply'
    # its textures go by the second of one set of coordinates
    prints '^dae +imported +12  Collada/kwxport_test_vcolors.dae *$'
    prints '^gltf +imported +110322  glTF2/draco/2CylinderEngine.gltf'
}

# All of a file or none, and no empty store for it.
# A model as a scene: what is made, what is said, and that it renders.
case_import_model()
{
    mkdir models
    cat >models/roof.obj <<'EOF'
mtllib roof.mtl
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
vt 0 0
usemtl tiles
f 1/1 3/1 2/1
f 1/1 2/1 4/1
f 1/1 4/1 3/1
usemtl wood
f 2/1 3/1 4/1
EOF
    printf 'newmtl tiles\nKd 0.8 0.2 0.1\nmap_Kd tiles.png\nnewmtl wood\nKd 0.3 0.2 0.1\n' >models/roof.mtl
    run 0 import models/roof.obj -o out/roof.json
    prints '^wrote out/roof.json: 4 triangles, 2 materials, 0 textures, 0 lights without surface; camera made here, light made here$'
    prints '^not carried over: texture tiles: .*tiles.png'
    grep -q '"file": "../models/roof.obj"' out/roof.json || fail "the model is not named from the scene's folder"
    run 0 render out/roof.json "${small[@]}" -o out/roof.png
    run 0 import models/roof.obj -o out/roof.json --up z --json
    [ "$(json triangles) $(json camera) $(json not_carried_over)" = "4 made 1" ] || fail "the summary is wrong"
    # what cannot be
    # a camera that looks away gives way, unless it is asked for; beside the file's light stands a dim sky
    cat > models/away.gltf <<'END'
{"asset": {"version": "2.0"}, "buffers": [{"byteLength": 36, "uri": "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA"}],
 "bufferViews": [{"buffer": 0, "byteLength": 36}], "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
 "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}], "cameras": [{"name": "blind", "type": "perspective", "perspective": {"yfov": 0.7, "znear": 0.1}}],
 "extensionsUsed": ["KHR_lights_punctual"], "extensions": {"KHR_lights_punctual": {"lights": [{"type": "directional", "intensity": 2}]}},
 "nodes": [{"mesh": 0}, {"camera": 0, "translation": [0, 0, 5], "rotation": [0, 1, 0, 0], "name": "blind"}, {"extensions": {"KHR_lights_punctual": {"light": 0}}}],
 "scenes": [{"nodes": [0, 1, 2]}], "scene": 0}
END
    run 0 import models/away.gltf -o out/away.json
    prints 'camera made here, light of the model and a dim sky$' && prints "^added: a camera: the model's own sees none of it"
    grep -q '"environment": {"radiance": 0.05}' out/away.json || fail "no sky stands beside the light"
    run 0 import models/away.gltf -o out/away.json --camera blind
    prints 'camera of the model'
    # one to which it is a speck, too: 2 pixels of 1200 at a distance of 20; here the light is faint as well, and both are said
    sed -i 's/"intensity": 2/"intensity": 0.002/; s/"translation": \[0, 0, 5\], "rotation": \[0, 1, 0, 0\]/"translation": [0, 0, 20]/' models/away.gltf
    run 0 import models/away.gltf -o out/away.json
    prints 'camera made here' && prints "^added: a camera: the model is a speck to its own; the model's lights times"
    rm models/away.gltf
    run 2 import models/roof.obj
    says 'import needs -o scene.json for a model'
    one_line
    run 2 import models/roof.obj models/roof.obj -o out/two.json
    says 'one model, found 2'
    run 2 import models/roof.obj -o out/two.json --camera main
    says 'has no camera "main"'
    run 2 import models/roof.obj -o out/two.json --up x
    says 'expected y or z'
    run 2 import models/roof.mtl -o out/two.json
    says 'cannot read the model models/roof.mtl'
    run 2 import models/none.obj -o out/two.json
    says 'none.obj'
    run 2 import models/roof.obj -o out/none/two.json
    says 'out/none'
    [ ! -e out/two.json ] || fail "a scene was written all the same"
    # many
    printf 'v 0 0 0\nv 1 1 1\nl 1 2\n' >models/line.obj
    run 0 import --check models --store out/models.db
    prints '^obj +imported +4  roof.obj'
    prints '^obj +refused +0  line.obj .*has no triangles'
    prints '^2 models: 1 imported and rendered, 1 refused, 0 failed$'
    run 0 report --store out/models.db -o out/models.html
    grep -q 'Model files' out/models.html && grep -q 'roof.obj' out/models.html || fail "the report has no table of models"
    run 0 import --check models/roof.obj --json
    [ "$(json '[0].verdict')" = imported ] || fail "the table is wrong"
    run 2 import --check out/none
    says 'out/none'
    run 2 import --check out --store out/models.db -o x.json
    says 'go with one model'
}

case_bad_import()
{
    printf '{"type":"isophote-store","schema":1}\n{"type":"run"' >j.jsonl
    run 2 import j.jsonl --store out/new.db
    says 'j.jsonl:2:'
    nothing_in out
    printf '{"type":"isophote-store","schema":1}\n' >good.jsonl
    run 2 import good.jsonl j.jsonl --store out/new.db
    [ -s out/new.db ] || fail "what was taken before is gone"
}

case_export_mitsuba()
{
    run 0 export --mitsuba cornell -o out/box
    prints '^out/box/scene.xml$'
    [ -s out/box/scene.xml ] || fail "no out/box/scene.xml"
    grep -q 'type="twosided"' out/box/scene.xml || fail "no BSDF in out/box/scene.xml"
    [ ! -s stderr ] || fail "a scene that means the same has notes"
    run 0 export --mitsuba cornell -o out/named.xml
    [ -s out/named.xml ] || fail "no out/named.xml"
    grep -oE 'named-mesh[0-9-]*.ply' out/named.xml | while read -r mesh; do [ -s "out/$mesh" ] || fail "no out/$mesh"; done
    rm -r out && mkdir out
    run 2 export --mitsuba enclosure -o out/refused
    says 'material "wall": .*one side'
    nothing_in out
    run 2 export --mitsuba cornell
    says "-o"
    run 2 export --store out/x.db --mitsuba cornell -o out/a
    says "one of them"
    run 2 export --store out/x.db --lossy
    says "--mitsuba"
    run 2 export --mitsuba cornell -o /dev/null/box
    says "/dev/null/box"
    nothing_in out
}

# What OSL's testshade answers about spaces, camera and names, from every engine of the processor.
case_shade_world()
{
    local engine
    cat >world.asl <<'E2'
shader world(output float f = 0)
{
    float x[4];
    int r[2];
    string s;
    printf("%g\n", transform("shader", "common", point(1, 0, 0)));
    printf("%g\n", transform("object", "common", point(1, 0, 0)));
    printf("%g\n", transform("common", "myspace", vector(1, 1, 1)));
    printf("%g\n", transform("raster", point(0.5, 0.25, 2)));
    printf("%d %g\n", getattribute("options", "blahblah", f), f);
    printf("%d %g\n", getattribute("blahblah", f), f);
    printf("%d %d\n", getattribute("camera:resolution", r), r);
    printf("%d %g\n", getattribute("camera:screen_window", x), x);
    printf("%d %g\n", getattribute("camera:clip_far", f), f);
    printf("%d %s\n", getattribute("camera:projection", s), s);
    printf("%d %s\n", getattribute("shader:layername", s), s);
    printf("%d %g\n", getattribute("s", f), f);
}
E2
    # raster of (0.5, 0.25, 2): NDC (x/z + 1)/2 times the width 1; depth yon (z - hither)/((yon - hither) z)
    cat >wanted <<'E2'
1.70711 0.707107 0
-4.37114e-08 2 0
1 0.5 1
0.625 0.5625 0.950095
1 3.14159
0 3.14159
1 1 1
1 -1 -1 1 1
1 1000
1 perspective
1 here
1 0.5

E2
    for engine in interp ir native; do
        run 0 shade --engine $engine --layer here world.asl
        diff wanted stdout || fail "engine $engine says something else"
    done
}

# Standard output is testshade's, line by line, from every engine of the processor.
case_shade_testshade()
{
    local engine option
    cat >node.asl <<'E2'
shader node(string name = "", float in = 0, output float out = 0)
{
    int i = -1;
    getattribute("shading:index", i);
    out = in + 1;
    printf("%s: %d %g %g\n", name, i, in, out);
    if (name == "B") error("no %s\n", name);
}
E2
    cat >entries <<'E2'
Connect A.out to C.in

Entry layers: C(2) B(1)
Output out to out.tif
A: 0 0 1
C: 0 1 2
B: 0 5 6
A: 1 0 1
C: 1 1 2
B: 1 5 6
E2
    cat >repeats <<'E2'
ERROR: Shader error [node]: no B

ERROR: Shader error [node]: no B

E2
    cat >iterations <<'E2'
A: 0 1 2
A: 0 7 8
A: 0 7 8

E2
    echo 'shader writer() { P = 1; printf("wrote\n"); }' >writer.osl
    run 0 aslc writer.osl
    # aslc warns, or what silences it does; whoever reads what it wrote hears nothing of that.
    printf '%s\n' 'shader doubted() {' 'int a = (1, 2);' '#pragma osl nowarn' 'int b = (3, 4);' 'printf("%d\n", a + b);' '}' >doubted.osl
    run 0 shade doubted.osl
    [ "$(grep -c warning: stderr)" = 1 ] || fail "a source's warnings"
    run 0 aslc doubted.osl
    [ "$(grep -c warning: stderr)" = 1 ] || fail "aslc's warnings"
    run 0 shade doubted.aso
    prints '^6$'
    [ ! -s stderr ] || fail "a compiled file warns"
    local layers=(--param name A --layer A node --param name B --param in 5.0 --layer B node
        --param name C --layer C node --connect A out C in)
    for engine in interp ir native; do
        run 0 shade --engine $engine -g 2 1 "${layers[@]}" --entry C --entry B -od uint8 -o out out.tif
        diff entries stdout || fail "engine $engine: entries"
        [ "$(head -c 3 out.tif)" = 'II*' ] || fail "no out.tif"
        [ "$(grep -c 'Shader error' stderr)" = 1 ] || fail "engine $engine: a text came twice"
        run 0 shade --engine $engine -g 2 1 "${layers[@]}" --entryoutput B.out --options error_repeats=1
        diff repeats stderr || fail "engine $engine: repeats"
        ! grep -q '^[AC]:' stdout || fail "engine $engine: layers that nobody asked for ran"
        run 0 shade --engine $engine "${layers[@]}" --options lazylayers=0
        [ "$(grep -c : stdout)" = 3 ] || fail "engine $engine: not every layer ran"
        run 0 shade --engine $engine --layer A writer --layer B node --options lazyglobals=0
        [ "$(grep -c : stdout)$(grep -c wrote stdout)" = 11 ] || fail "engine $engine: layers that write globals"
        run 0 shade --engine $engine --layer A writer --layer B node
        ! grep -q wrote stdout || fail "engine $engine: a layer that nobody pulls ran"
        run 0 shade --engine $engine --layer W writer "${layers[@]}" --layer V writer --options lazyerror=0
        [ "$(grep -cE '^[ABC]:' stdout)$(grep -c wrote stdout)" = 31 ] || fail "engine $engine: layers that call error()"
        for option in lazylayers=0 lazyglobals=0 lazyerror=0; do
            run 0 shade --engine $engine --layer W writer "${layers[@]}" --entry B --options $option
            [ "$(grep -cE '^(wrote|[AC]:)' stdout)$(grep -c '^B:' stdout)" = 01 ] || fail "engine $engine: $option runs more than the entry"
        done
        run 0 shade --engine $engine --param name A --param in 1.0 --layer A node --reparam A in 7.0 --iters 3
        diff iterations stdout || fail "engine $engine: iterations"
        run 0 shade --engine $engine --expr 'result = color(s, t, 0); alpha = 0.25; printf("%g %g\n", s, t)' -o alpha null
        prints '^0.5 0.5$'
    done
    run 0 shade --param name A node --param name B
    says "'name' is set behind the last shader"
    prints '^A: 0'
    run 2 shade "${layers[@]}" --entry Z
    says "'Z'"
    run 2 shade "${layers[@]}" --connect Y out C in
    says "'Y'"
}

# What shade writes as TIFF, texture() reads: floats and bytes come back as they were, on every engine.
case_shade_tiff()
{
    local engine type
    cat >ramp.asl <<'E2'
shader ramp(output color c = 0) { c = color(u, v * v, u * v); }
E2
    cat >back.asl <<'E2'
shader back(string file = "", output color c = 0)
{
    int size[2], channels = 0;
    int known = gettextureinfo(file, "resolution", size) + gettextureinfo(file, "channels", channels);
    if (u == 0 && v == 0) printf("%d: %d x %d, %d channels\n", known, size[0], size[1], channels);
    c = texture(file, u, v, "interp", "closest", "wrap", "clamp");
}
E2
    for type in float uint8; do
        run 0 shade -g 13 7 -od $type -o c $type.tif ramp
        for engine in interp ir native; do
            run 0 shade --engine $engine -g 13 7 -od $type -o c again.tif --param file $type.tif back
            prints '^2: 13 x 7, 3 channels$'
            cmp $type.tif again.tif || fail "engine $engine: texels of $type.tif"
        done
    done
}

# Why a name is no image: the file is missing, is of no known format, or the name is made while the shader runs.
case_shade_missing_images()
{
    local engine
    echo "no picture" >words.png
    cat >look.asl <<'E2'
shader look(string file = "words.png", output color c = 0)
{
    string made = concat("ma", "de.png");
    if (u > 0) made = concat(made, format("%g", v)); // known to nobody before it runs
    c = texture(file, u, v) + texture("none.png", u, v) + texture(made, u, v);
}
E2
    for engine in interp ir native; do
        run 0 shade --engine $engine -g 2 1 look
        says 'there is no image "words.png": cannot read the image words.png: its format is not known'
        says 'there is no image "none.png": cannot open none.png: No such file or directory'
        says 'there is no image "made.png0.5": its name stands neither in'
        [ "$(grep -c words.png stderr)" = 1 ] || fail "engine $engine: said more than once"
    done
}

# Options of look-ups that are known only when a shader runs, or when a scene gives its parameters: every engine and device reports
# those that there are not, each text once, and no image that is there.
case_shade_unknown_pairs()
{
    local opencl engine device
    opencl=$("$program" devices | grep -o '^opencl:[0-9]*' | head -n 1)
    cp "$here/../scenes/library/textures/tile.png" p.png
    cat >look.asl <<'E2'
surface look(string wrap = "clamp", string key = "width", int image = 0, output color c = 0)
{
    string k = key;
    c = texture("p.png", 3 * u, v, "wrap", wrap);
    c = c + texture("none.png", u, v, "missingalpha", 1, k, wrap);
    c = c + texture("p.png", u, v, "subimage", image + 0 * int(4 * u));
    Ci = c * diffuse(N);
}
E2
    for engine in interp ir llvm native $opencl; do
        run_on "$engine" shade --engine "$engine" -g 3 3 --param wrap repeat --param key blurr --param image 1 look
        sort stderr | grep . >"said.${engine%:*}"
        cmp said.interp "said.${engine%:*}" || fail "$engine reports other things than interp"
    done
    [ "$(cat said.interp)" = 'ERROR: texture: "wrap" has no value "repeat"
ERROR: texture: the image "p.png" has no such subimage: its file has 1
ERROR: texture: there is no option "blurr"' ] || fail "interp reports other things"
    cat >look.json <<'E2'
{"isophote": 1, "camera": {"origin": [0, 0, 3], "target": [0, 0, 0], "up": [0, 1, 0], "fov": 40}, "environment": {"radiance": 1},
 "materials": {"m": {"type": "shader", "shader": "look.asl", "parameters": {"wrap": "repeat", "key": "blurr", "image": -3}}},
 "objects": [{"type": "sphere", "center": [0, 0, 0], "radius": 1, "material": "m"}]}
E2
    for device in reference native $opencl; do
        run_on "$device" render look.json --device "$device" --width 8 --height 8 --spp 1 -o look.pfm
        cat stdout stderr | grep '^material' >"said.${device%:*}"
        [ "$(cat "said.${device%:*}")" = "material 'm', layer 'm', look.asl:4: error: texture: \"wrap\" has no value \"repeat\"
material 'm', layer 'm', look.asl:5: error: texture: there is no option \"blurr\"
material 'm', layer 'm', look.asl:6: error: texture: the image \"p.png\" has no such subimage: its file has 1" ] || fail "$device reports other things"
    done
}

# A texture whose second directory is no level of the first: the file and the level are named, once.
case_shade_levels()
{
    python3 - >odd.tif <<'E2'
import struct, sys
SIDE, ENTRIES = 16, 11
texels = struct.pack("<256f", *([0.5] * 256))
def directory(at, data, following, height):
    rows = [(256, SIDE), (257, height), (258, 32), (259, 1), (262, 1), (277, 1), (322, SIDE), (323, SIDE),
            (324, data), (325, len(texels)), (339, 3)]
    return struct.pack("<H", len(rows)) + b"".join(
        struct.pack("<HHII", tag, 4 if tag in (324, 325) else 3, 1, value) for tag, value in rows
    ) + struct.pack("<I", following)
size = 2 + 12 * ENTRIES + 4
first, second, data = 8, 8 + size, 8 + 2 * size
sys.stdout.buffer.write(b"II*\0" + struct.pack("<I", first) + directory(first, data, second, SIDE) +
                        directory(second, data, 0, 12) + texels)
E2
    echo 'shader look(output color c = 0) { c = texture("odd.tif", u, v); }' >look.asl
    run 0 shade -g 2 1 look
    says "warning: odd.tif: level 1 has 16x12 pixels, expected half of 16x16: the file's levels end before it"
    [ "$(grep -c odd.tif stderr)" = 1 ] || fail "said more than once"
}

# An XML file beside the shader, on every engine that has the interpreter; devices refuse with the place.
case_shade_dictionary()
{
    local engine
    echo '<set><cam name="left" at="1 2 3"/><cam name="right" at="4,5"/></set>' >cams.xml
    cat >cams.asl <<'E2'
shader cams(string file = "cams.xml", output point at = 9)
{
    for (int n = dict_find(file, "//cam"); n > 0; n = dict_next(n)) {
        string name = "";
        dict_value(n, "name", name);
        dict_value(n, "at", at);
        printf("%s %g\n", name, at);
    }
    printf("%d\n", dict_find("absent.xml", "//cam"));
}
E2
    printf '%s\n' "left 1 2 3" "right 4 5 0" -1 "left 1 2 3" "right 4 5 0" -1 "" >cams
    for engine in interp ir native llvm; do
        run 0 shade --engine $engine -g 2 1 cams.asl
        diff cams stdout || fail "engine $engine"
        [ ! -s stderr ] || fail "engine $engine: something on standard error"
    done
    echo '<set>' >cams.xml
    run 0 shade cams.asl
    says "XML parsed with errors"
}

# How testshade's users write networks and parameters.
case_shade_networks()
{
    local engine
    echo 'shader a(float Kd = 0.5, color c = 0, output float out = 0) { out = Kd; printf("a %g %g\n", Kd, c); }' >a.asl
    echo 'shader b(float in = 41) { string g; getattribute("shader:groupname", g); printf("b %g %s\n", in, g); }' >b.asl
    for engine in interp native; do
        run 0 shade --engine $engine -v --oslquery -groupname Beatles \
            -group 'param color c 1, 2, 3, shader a one, shader b two, connect one.out two.in'
        [ "$(cat stdout)" = "a 0.5 1 2 3
b 0.5 Beatles" ] || fail "a group with commas"
        run 0 shade --engine $engine --userdata Kd 9 -param:type=float:lockgeom=0 Kd 2 a.asl
        prints '^a 9 0 0 0$'
        run 0 shade --engine $engine --userdata Kd 9 -param:interactive=1 Kd 2 a.asl
        prints '^a 2 0 0 0$'
        run 0 shade --engine $engine --userdata Kd 9 -group 'param float Kd 2 [[ int lockgeom = 0 ]]; shader a l'
        prints '^a 9 0 0 0$'
    done
    run 2 shade -param:typ=float Kd 2 a.asl
    says "lockgeom"
    run 0 shade -od half -o out f.exr a.asl
    [ -s f.exr ] || fail "no f.exr"
}

case_full_disk()
{
    leaks_of_others # devices asks LLVM for its version
    local status=0 sink
    # A file may grow to 2 KiB here, as on a disk that fills up half way.
    echo before >out/a.exr
    (
        trap '' XFSZ
        ulimit -f 2
        exec "$program" render cornell --width 128 --height 128 --spp 1 -o out/a.exr --force
    ) >stdout 2>stderr || status=$?
    [ "$status" = 2 ] || fail "status $status, expected 2"
    says "out/a.exr.*too large"
    [ "$(cat out/a.exr)" = before ] || fail "the old file was harmed"
    [ "$(ls -A out)" = a.exr ] || fail "left behind: $(ls -A out)"

    status=0
    "$program" devices --json >/dev/full 2>stderr || status=$?
    [ "$status" = 2 ] || fail "a full standard output: status $status, expected 2"
    local words
    for words in "--help" "--version" "conform --list" "devices" "render --help" "aslc --builtins"; do
        # shellcheck disable=SC2086 # words
        for sink in /dev/full closed; do
            status=0
            if [ "$sink" = closed ]; then
                "$program" $words 2>stderr >&- || status=$?
            else
                "$program" $words 2>stderr >"$sink" || status=$?
            fi
            [ "$status" = 2 ] || fail "$words to $sink standard output: status $status, expected 2"
            says "standard output could not be written"
        done
    done
    # A picture is not opened in a closed stream's place.
    "$program" render cornell "${small[@]}" -o out/b.pfm >stdout 2>stderr
    "$program" render cornell "${small[@]}" -o out/c.pfm <&- >&- 2>&- || true
    cmp out/b.pfm out/c.pfm || fail "a closed stream's words stand in a picture"
}

# A disk that is really full: needs root and the right to mount.
case_full_tmpfs()
{
    mkdir disk
    mount -t tmpfs -o size=64k tmpfs disk 2>/dev/null || skip "cannot mount a small tmpfs here"
    trap 'umount "$scratch/disk"; rm -rf "$scratch"' EXIT
    run 2 render cornell --width 256 --height 256 --spp 1 -o disk/a.exr
    says "disk/a.exr.*(No space|full)"
    nothing_in disk
}

# Temporary files have no names that a process number foretells: what stands there is neither taken nor removed, and
# what a run that was killed left is gone after the next.
case_temporary_files()
{
    export TMPDIR=$scratch/out
    local planted
    (
        planted=/tmp/isophote-junit-$BASHPID.sqlite
        ln -s "$scratch/victim" "$planted"
        echo "$planted" >planted
        exec "$program" conform --device native --filter '^kernel[.]rng' --junit a.xml
    ) >stdout 2>stderr
    planted=$(cat planted)
    [ -L "$planted" ] || fail "a link in /tmp was removed"
    rm "$planted"
    [ ! -e victim ] || fail "a link in /tmp was followed"
    nothing_in out

    "$program" conform --device native --filter image --junit a.xml >stdout 2>stderr &
    local pid=$!
    until [ -n "$(find out -name run.sqlite)" ]; do sleep 0.05; done
    [ "$(stat -c %a out/.isophote-*)" = 700 ] || fail "others can look into a scratch folder"
    # The guardian, which would clear away, goes first.
    kill -KILL "$(grep -l '^isophote-guard$' /proc/[0-9]*/comm 2>/dev/null | cut -d / -f 3 | xargs -I {} grep -l "^PPid:	$pid$" /proc/{}/status | cut -d / -f 3)"
    kill -KILL $pid
    wait $pid 2>/dev/null || true
    [ -n "$(find out -name run.sqlite)" ] || fail "who removed the folder?"
    run 0 conform --device native --filter '^kernel[.]rng' --junit a.xml
    nothing_in out
}

# What is printed may be pasted: commands are quoted, no control character reaches a terminal, no cell is a formula.
case_printed_safely()
{
    local esc=$'\033' scene=$'my \033[31mscene\'s.json'
    cp "$(dirname "$0")/../scenes/library/cornell.json" "$scene"
    run 1 conform --device faulty:lost-cosine --scene "$scene" --filter 'image[.]lockstep[.]my' --reruns 1 --store s.db --junit s.xml
    grep -q "$esc" stdout stderr && fail "a control character"
    grep -oE "isophote replay .*" stdout >replay
    [ -s replay ] || fail "no replay command"
    # it is one command whose words come back
    program=$program bash -c 'isophote() { "$program" "$@"; }; . ./replay' >stdout 2>stderr </dev/null && fail "the replay shows no difference"
    prints "^vertex 1 "
    command -v script >/dev/null || skip "no script(1) to make a terminal"
    local words
    for words in "render $esc[31mnone.json" "$esc[5mcommand" "conform --suite x$esc]0;title.txt" "bench cornell --device x$esc[31m" \
        "shade --expr result=color($esc)"; do
        # shellcheck disable=SC2086 # words
        (
            set -f
            printf '"$program"' >command
            printf ' %q' $words >>command
        )
        program=$program script -qec "bash ./command" /dev/null </dev/null >terminal 2>&1 || true
        [ -s terminal ] || fail "$words said nothing"
        ! grep -q "$esc" terminal || fail "$words: a control character reaches the terminal: $(cat -v terminal)"
        case $words in *command) grep -qF '\x1b[5m' terminal || fail "it is not shown: $(cat -v terminal)" ;; esac
    done
}

case_lists_refused()
{
    printf 'kernel.rng.philox\n# more\nker\0nel.rng.uniform\n' >list.txt
    run 2 conform --device native --suite ./list.txt
    says "list.txt:3:4: error: a NUL byte"
    run 2 conform --device native --device native --filter rng
    says "device native and --device native both name native"
    run 2 bench cornell --device native --device native
    says "both name native"
    run 2 sweep cornell --device native --device native --axis work-group=8x8
    says "both name native"
    [ ! -s stdout ] || fail "work was done before"
}

# damaged CACHED_FILE PICTURE COMMAND...: a bit is flipped at each of 24 places of a file of the cache, or at those
# of them that $places names; each time the command gives the same picture, and the file is made again.
damaged()
{
    local file=$1 picture=$2 size i at byte
    shift 2
    size=$(stat -c %s "$file")
    cp "$picture" want.picture
    for i in ${places:-$(seq 0 23)}; do
        at=$((i < 12 ? i * 11 : (size - 1) * (i - 11) / 12)) # the header, then all of the file
        byte=$(od -An -tu1 -j $at -N1 "$file")
        printf "%b" "\\0$(printf %o $((byte ^ 1 << i % 8)))" | dd of="$file" bs=1 seek=$at conv=notrunc status=none
        cp "$file" spoilt
        rm "$picture"
        run 0 "$@"
        cmp "$picture" want.picture || fail "$*: another picture after byte $at of $file was spoilt"
        ! cmp -s "$file" spoilt || fail "$*: $file was not made again"
    done
}

case_cache_damaged()
{
    local engine
    echo 'shader wave(output color Cout = 0) { Cout = color(u, v, sin(u * 8)); }' >wave.asl
    for engine in native llvm; do
        export ISOPHOTE_CACHE=$scratch/cache-$engine
        local shade=(shade wave.asl -g 16 16 --engine "$engine" -o Cout "out/$engine.pfm") ending=so
        "$program" "${shade[@]}" >stdout 2>stderr || continue # no compiler, or no LLVM
        [ "$engine" = native ] || ending=o
        damaged "$(find "$ISOPHOTE_CACHE/kernels" -name "*.$ending")" "out/$engine.pfm" "${shade[@]}"
    done
}

# The same for what drivers compiled. PoCL loads what lies in its own folder of files without a checksum: it gets an
# empty one for each run, and leaves nothing there.
case_cache_damaged_drivers()
{
    leaks_of_others
    local engine places="4 18" ending tried=
    export ISOPHOTE_HIP_LIBRARY=soft ZE_ENABLE_ALT_DRIVERS=$(dirname "$program")/backends/soft/libze_soft.so
    unset POCL_CACHE_DIR
    echo 'shader wave(output color Cout = 0) { Cout = color(u, v, sin(u * 8)); }' >wave.asl
    echo 'shader deep(output color Cout = 0) { float a[1024]; for (int i = 0; i < 1024; i += 1) { a[i] = u * i; } Cout = a[int(v * 1023)]; }' >deep.asl
    for engine in opencl:0:clbin level_zero:0:zebin hip:0:hsaco; do
        ending=${engine##*:} engine=${engine%:*}
        export ISOPHOTE_CACHE=$scratch/cache-$ending
        local shade=(shade wave.asl -g 16 16 --engine "$engine" -o Cout "out/$ending.pfm")
        "$program" "${shade[@]}" >stdout 2>stderr || continue
        damaged "$(find "$ISOPHOTE_CACHE/kernels" -name "*.$ending")" "out/$ending.pfm" "${shade[@]}"
        [ ! -e "$ISOPHOTE_CACHE/pocl" ] || nothing_in "$ISOPHOTE_CACHE/pocl"
        # PoCL holds the private memory of a group on a thread's stack, and would choose groups of 4096
        run 0 shade deep.asl -g 512 512 --engine "$engine" -o Cout "out/$ending.deep.pfm"
        tried+=" $engine"
    done
    [ "$tried" ] || skip "no driver whose programs are kept"
    echo "kept:$tried"
}

case_cache_of_others()
{
    # What others own or could have written is not run, and that is said.
    export ISOPHOTE_CACHE=$scratch/cache
    echo 'shader wave(output color Cout = 0) { Cout = color(u, v, 1); }' >wave.asl
    local shade=(shade wave.asl -g 16 16 --engine native -o Cout out/a.pfm) file before
    "$program" "${shade[@]}" >stdout 2>stderr || skip "no C compiler"
    cp out/a.pfm want.pfm
    file=$(find "$ISOPHOTE_CACHE/kernels" -name '*.so')
    printf '#include <stdio.h>\n__attribute__((constructor)) static void run(void) { fclose(fopen("%s/ran", "w")); }\n' \
        "$scratch" >evil.c
    cc -shared -fPIC -o evil.so evil.c
    cp evil.so "$file"
    run 0 "${shade[@]}"
    [ ! -e ran ] || fail "a planted library ran"
    cmp out/a.pfm want.pfm || fail "another picture"

    chmod 666 "$file"
    run 0 "${shade[@]}"
    says "note: the cache is not used: .*\.so can be written by others"
    one_line 1
    chmod 777 "$ISOPHOTE_CACHE/kernels"
    before=$(find "$ISOPHOTE_CACHE" -ls)
    run 0 "${shade[@]}"
    says "note: the cache is not used: .*/kernels can be written by others"
    cmp out/a.pfm want.pfm || fail "another picture"
    [ "$before" = "$(find "$ISOPHOTE_CACHE" -ls)" ] || fail "a folder that others can write was used"
    [ "$(id -u)" = 0 ] || skip "what another user owns takes root to make"
    chmod 755 "$ISOPHOTE_CACHE/kernels"
    chown -R 65534 "$ISOPHOTE_CACHE"
    run 0 "${shade[@]}"
    says "note: the cache is not used: .*belongs to somebody else"
    [ ! -e ran ] || fail "another user's library ran"
}

# A cache without room costs time, not the picture.
case_cache_full()
{
    leaks_of_others # a driver that finds the disk full
    local device want=
    mkdir disk
    mount -t tmpfs -o size=64k,mode=700 tmpfs disk 2>/dev/null || skip "cannot mount a small tmpfs here"
    trap 'umount "$scratch/disk"; rm -rf "$scratch"' EXIT
    head -c 60000 /dev/zero >disk/filler
    export ISOPHOTE_CACHE=$scratch/disk TMPDIR=$scratch/out
    unset POCL_CACHE_DIR
    for device in native source; do
        [ $device = native ] || export ISOPHOTE_CC=cc
        run 0 render cornell --device native "${small[@]}" -o a.pfm
        [ "${want:=$(md5sum <a.pfm)}" = "$(md5sum <a.pfm)" ] || fail "$device: another picture with a full cache"
        nothing_in out
    done
    for device in $([ "$thinning" -gt 1 ] || "$program" devices | grep -o '^opencl:[0-9]*'); do
        run 0 conform --device "$device" --filter 'image[.]strict[.]cornell$'
        prints "1 pass"
        nothing_in out
    done
}

# Work of every kind that takes much longer than a test may, a line each: it loads, builds trees, compiles by every compiler, renders,
# measures, judges, waits. A store that is locked stands for a large one.
long_work()
{
    local engine huge="--width 2048 --height 2048 --spp 100000 --checkpoint none"
    local head='{"isophote": 1, "camera": {"origin": [0, 0, 3], "target": [0, 0, 0], "up": [0, 1, 0], "fov": 40}'
    printf 'shader turns(output float x = 0) { for (int i = 0; i < 100000000; i++) x = sin(x + i); }' >turns.asl
    awk 'BEGIN { print "shader lengthy(output float x = 0) { float y = x;"
        for (i = 0; i < 60000; i++) printf "y = sin(y) * %d.5 + cos(y - %d); if (y > %d) y -= noise(y);\n", i, i, i
        print "x = y; }" }' >lengthy.asl
    awk 'BEGIN { for (i = 1; i < 1500000; i++) printf "v %d %d %d\nf %d %d %d\n", i, i % 7, i % 3, i, (i > 1 ? i - 1 : 1), (i > 3 ? i - 3 : 1) }' >large.obj
    echo "$head, \"materials\": {\"m\": {\"type\": \"diffuse\"}}, \"objects\": [{\"type\": \"terrain\", \"cells\": 2048, \"material\": \"m\"}]}" >terrain.json
    printf 'BM\066\000\000\006\000\000\000\000\066\000\000\000\050\000\000\000\000\040\000\000\000\020\000\000\001\000\030\000\000\000\000\000\000\000\000\006\023\013\000\000\023\013\000\000\000\000\000\000\000\000\000\000' >large.bmp # its header, of 8192 x 4096 pixels
    truncate -s 100663350 large.bmp
    echo "$head, \"textures\": {\"t\": {\"file\": \"large.bmp\"}}, \"materials\": {\"m\": {\"type\": \"diffuse\", \"reflectance\": {\"texture\": \"t\"}}},
        \"objects\": [{\"type\": \"sphere\", \"center\": [0, 0, 0], \"radius\": 1, \"material\": \"m\"}]}" >textured.json
    echo '{}' >a.jsonl
    for engine in native reference $opencl; do
        echo "render cornell $huge --device $engine -o out/a.exr"
    done
    for engine in native reference; do
        echo "render terrain.json $huge --device $engine -o out/a.exr"
    done
    echo "render textured.json $huge --device native -o out/a.exr"
    for engine in interp ir llvm native $opencl; do
        echo "shade turns.asl -g 64 64 --engine $engine -o x out/a.png"
    done
    for engine in llvm native $opencl; do
        echo "shade lengthy.asl -g 64 64 --engine $engine -o x out/a.png"
    done
    echo "aslc lengthy.asl -o out/a.aso"
    echo "import large.obj -o out/a.json"
    echo "bench cornell --device native --width 512 --height 512 --spp 64 --repetitions 500 --budget 600"
    echo "sweep cornell --device native --axis tile=8x8,16x16,32x32 --width 512 --height 512 --spp 64 --repetitions 500 --budget 600"
    echo "conform --device native --journal a.journal"
    echo "conform --device native --scenes 100000 --journal a.journal"
    [ -z "$opencl" ] || echo "conform --device $opencl --journal a.journal"
    echo "report --store locked.db -o out/a.html"
    echo "import a.jsonl --store locked.db"
}

# Each is told to stop at a moment of its own, by a signal or by --timeout, and does within one second, whatever its libraries do
# just then. stops.py tells the machine's lateness from the program's.
case_stops_within_a_second()
{
    local opencl how
    opencl=$("$program" devices | grep -o '^opencl:[0-9]*' | head -n 1)
    mkdir tmp
    export TMPDIR=$PWD/tmp
    run 0 conform --device native --filter '^kernel.rng' --store locked.db
    python3 -c 'import sqlite3, time; c = sqlite3.connect("locked.db", isolation_level=None)
c.execute("begin exclusive"); print("locked", flush=True); time.sleep(280)' >locked 2>/dev/null &
    holder=$!
    trap 'kill $holder; rm -rf "$scratch"' EXIT
    until [ -s locked ]; do sleep 0.05; done
    long_work >work
    for how in TERM LIMIT INT HUP; do
        # the same way of ending, but for its number: some of them
        if [ $how = TERM ] && [ "$thinning" = 1 ]; then cp work some; else shuf -n $([[ $how =~ LIMIT|TERM ]] && echo 5 || echo 2) work >some; fi
        python3 "$here/stops.py" "$program" some $how || fail "it did not stop in time"
        nothing_in out
        [ -z "$(find . -name '.isophote-*')" ] || fail "left behind: $(find . -name '.isophote-*')"
    done
    nothing_in tmp
}

# However the program ends, in the middle of a compile: what it had started ends too, and no file stays. The compiler is one that
# has started another, and has a file open in $TMPDIR.
case_ends_what_it_started()
{
    local signal words pid i all alive status
    local -a work=("render cornell --device native --checkpoint none -o out/a.exr" "bench cornell --device native --budget 1"
        "conform --device native --journal a.journal --filter ^image.strict.cornell"
        "sweep cornell --device native --axis tile=8x8,16x16 --budget 1"
        "shade ${BASH_SOURCE[0]%/*}/../shaders/library/marble.asl --engine native -o Cout out/a.png")
    mkdir tmp
    printf '%s\n' '#!/bin/bash' 'case "$*" in *--version*) echo "cc 1"; exit ;; esac' 'mktemp >>"$FOLDER/files"' \
        'sleep 60 &' 'echo $$ $! >"$FOLDER/processes.$$"' wait >cc
    chmod +x cc
    export FOLDER=$PWD TMPDIR=$PWD/tmp ISOPHOTE_CC=$PWD/cc
    for signal in KILL TERM; do
        all=()
        rm -f processes.* files
        for words in "${work[@]}"; do
            # each has a cache of its own, or all but one would wait for the one that compiles
            # shellcheck disable=SC2086 # words
            ISOPHOTE_CACHE=$PWD/cache${#all[@]} "$program" $words >stdout 2>stderr </dev/null &
            all+=($!)
        done
        for ((i = 0; i < 400; i++)); do
            [ "$(find . -name 'processes.*' -size +0 | wc -l)" -lt ${#work[@]} ] || break
            sleep 0.05
        done
        [ "$(find . -name 'processes.*' | wc -l)" -ge ${#work[@]} ] || fail "only $(find . -name 'processes.*' | wc -l) compilers began"
        [ "$(grep -c "^$TMPDIR/.isophote-" files)" -ge ${#work[@]} ] || fail "compilers' files lie elsewhere: $(cat files)"
        kill -$signal "${all[@]}"
        for pid in "${all[@]}"; do
            status=0
            wait "$pid" || status=$?
            [ $status = $([ $signal = KILL ] && echo 137 || echo 143) ] || fail "SIG$signal: status $status"
        done
        for ((i = 0; i < 60; i++)); do
            alive=$(for pid in $(cat processes.*); do grep -s '^State:' "/proc/$pid/status" | grep -v Z || true; done)
            [ -n "$alive$(find tmp out -mindepth 1)" ] || break
            sleep 0.05
        done
        [ -z "$alive" ] || fail "SIG$signal: compilers live on"
        nothing_in tmp
        nothing_in out
    done
}

# A signature's tool, which may be waiting for a passphrase, ends too.
case_ends_its_signer()
{
    local signal i alive pid
    run 0 conform --device native --filter '^kernel.rng' --store s.db
    mkdir bin tmp
    echo key >key
    printf '%s\n' '#!/bin/bash' 'mktemp >>"$FOLDER/files"' 'sleep 60 &' 'echo $$ $! >"$FOLDER/processes"' wait >bin/ssh-keygen
    chmod +x bin/ssh-keygen
    export FOLDER=$PWD TMPDIR=$PWD/tmp
    for signal in KILL TERM; do
        rm -f processes
        PATH=$PWD/bin:$PATH "$program" submit --store s.db -o out/a.tar --sign key >stdout 2>stderr </dev/null &
        pid=$!
        for ((i = 0; i < 400; i++)); do [ -s processes ] && break || sleep 0.05; done
        [ -s processes ] || fail "the tool did not start"
        kill -$signal $pid
        wait $pid || true
        for ((i = 0; i < 60; i++)); do
            alive=$(for pid in $(cat processes); do grep -s '^State:' "/proc/$pid/status" | grep -v Z || true; done)
            [ -n "$alive$(find tmp -name '.isophote-*')" ] || break
            sleep 0.05
        done
        [ -z "$alive" ] || fail "SIG$signal: the tool lives on"
        [ -z "$(find tmp out -name '.isophote-*')" ] || fail "left behind: $(find tmp out -name '.isophote-*')"
        [ ! -e out/a.tar ] || fail "an archive without its signature"
    done
}

# stopped SIGNAL ARGUMENTS...: a render into out/a.pfm that gets the signal some moments after it has kept something.
# False: it was done before.
stopped()
{
    local signal=$1 pid status=0
    shift
    : >stamp
    set -m # else the shell starts it with SIGINT ignored
    "$program" render "$@" -o out/a.pfm --checkpoint-interval 0 --resume >stdout 2>stderr </dev/null &
    pid=$!
    set +m
    until [ ! -e /proc/$pid/exe ] || [ out/a.pfm.checkpoint -nt stamp ]; do sleep 0.01; done
    sleep "0.0$((RANDOM % 10))"
    kill -"$signal" $pid 2>kill || true
    wait $pid || status=$?
    [ $status = 0 ] || [ $status = $((128 + $(kill -l "$signal"))) ] || fail "status $status after SIG$signal"
    [ $status != 0 ]
}
# The same picture as one that nobody ended, from any device after any other.
case_checkpoint_killed()
{
    leaks_of_others
    local native=native other=native devices
    devices=$("$program" devices | grep -o '^opencl:[0-9]*' | head -1) && other=$devices
    local scene=(cornell --width 48 --height 40 --max-depth 5) n=128 film kills=0 device
    run 0 render "${scene[@]}" --spp $n -o want.pfm
    film=$(sed -n 's/.*film //p' stdout)
    for device in $native $other "$native" $other; do
        if stopped KILL "${scene[@]}" --spp $n --device "$device"; then kills=$((kills + 1)); fi
        [ ! -e out/a.pfm ] || rm out/a.pfm
    done
    [ $kills -gt 0 ] || fail "no render was killed"
    run 0 render "${scene[@]}" --spp $n --device $other --work-group 5x3 -o out/a.pfm --resume --json
    [ "$(json film_hash)" = "$film" ] || fail "another film"
    cmp want.pfm out/a.pfm || fail "another picture"
    [ "$(ls -A out)" = a.pfm ] || fail "left behind: $(ls -A out)"

    scene+=(--device reference --error-target 0.03)
    run 0 render "${scene[@]}" --spp $n -o want.pfm
    rm out/a.pfm
    stopped KILL "${scene[@]}" --spp $n || fail "the reference was not killed"
    run 0 render "${scene[@]}" --spp $n -o out/a.pfm --resume
    prints "^resumed: [0-9.]+ of $n samples a pixel were there"
    cmp want.pfm out/a.pfm || fail "another picture of the reference"
    [ "$(ls -A out)" = a.pfm ] || fail "left behind: $(ls -A out)"
}

# A device in software, and what stands beside the beauty: all layers, by the byte.
case_checkpoint_passes()
{
    soft_hip
    leaks_of_others
    local scene=(cornell --width 20 --height 16 --spp 24 --passes all) dir pid kept=
    mkdir want got
    for dir in want got; do
        cd "$scratch/$dir"
        if [ $dir = got ]; then
            "$program" render "${scene[@]}" -o a.exr --checkpoint-interval 0 --device hip:0 >stdout 2>stderr &
            pid=$!
            until [ ! -e /proc/$pid/exe ] || [ -e a.exr.checkpoint ]; do sleep 0.01; done
            sleep "0.$((RANDOM % 3))"
            kill -9 $pid 2>kill || true
            wait $pid || true
            [ ! -e a.exr.checkpoint ] || kept=yes # else it was done, and about to end
        fi
        run 0 render "${scene[@]}" -o a.exr --resume
        [ -z "$kept" ] || prints "^resumed: "
    done
    cmp ../want/a.exr a.exr || fail "another file"
}

# What is damaged, of others or of another render is not believed, and stays as it is.
case_checkpoint_refused()
{
    local scene=(cornell --width 48 --height 40 --spp 100000) at size words
    stopped INT "${scene[@]}" || fail "it was done"
    says "% of the samples are kept in out/a.pfm.checkpoint; to go on: .* --resume$"
    [ "$(ls -A out)" = a.pfm.checkpoint ] || fail "there is $(ls -A out)"
    cp out/a.pfm.checkpoint good
    refused() # MESSAGE ARGUMENTS...
    {
        local message=$1
        shift
        md5sum out/a.pfm.checkpoint >sum
        run 2 render "$@" -o out/a.pfm --resume
        says "$message"
        one_line 1
        md5sum -c --quiet sum || fail "the file was changed"
        [ ! -e out/a.pfm ] || fail "a picture was written"
    }
    refused "is of another render: seed was 0, is 7$" "${scene[@]}" --seed 7
    refused "is of another render: size was 48x40, is 48x41$" "${scene[@]}" --height 41
    refused "is of another render: max-depth was 6, is 3$" "${scene[@]}" --max-depth 3
    refused "is of another render: mode was strict, is fast; device .*" "${scene[@]}" --mode fast
    refused "is of another render: renderer was kernel, is reference" "${scene[@]}" --device reference
    refused "is of another render: .*inputs .*cornell.json was" glass "${scene[@]:1}"
    refused "holds [0-9]+ samples, which are more than 1$" "${scene[@]}" --spp 1
    size=$(stat -c %s good)
    for at in 3 9 17 40 70 119 150 1000 $((size / 2)) $((size - 1)); do
        cp good out/a.pfm.checkpoint
        printf '\xa5' | dd of=out/a.pfm.checkpoint bs=1 seek="$at" conv=notrunc status=none
        cmp -s good out/a.pfm.checkpoint || refused "is damaged|not of the kind" "${scene[@]}" --force
    done
    for at in 1 119 120 5000 $((size - 1)); do
        head -c "$at" good >out/a.pfm.checkpoint
        refused "was cut short|not of the kind" "${scene[@]}" --force
    done
    cp good out/a.pfm.checkpoint
    chmod 660 out/a.pfm.checkpoint
    refused "can be written by others" "${scene[@]}"
    rm out/a.pfm.checkpoint
    ln -s ../good out/a.pfm.checkpoint
    refused "is a link" "${scene[@]}"
    rm out/a.pfm.checkpoint
    if [ "$(id -u)" = 0 ]; then
        cp good out/a.pfm.checkpoint
        chown 65534 out/a.pfm.checkpoint
        refused "belongs to somebody else" "${scene[@]}"
        rm out/a.pfm.checkpoint
    fi
    for words in "--count-rays --resume" "--resume" "--update 1" "--checkpoint none --resume -o out/a.pfm" "--update 1 -o /dev/null"; do
        # shellcheck disable=SC2086 # words
        run 2 render "${scene[@]}" $words
        one_line 1
    done
    nothing_in out
}

# The picture so far is whole whenever it is looked at; a signal writes it, and what is needed to go on, at once.
case_checkpoint_update()
{
    local scene=(cornell --width 48 --height 40) pid status=0 want seen=0 start
    want=$((48 * 40 * 12 + $(printf 'PF\n48 40\n-1.0\n' | wc -c)))
    "$program" render "${scene[@]}" --spp 100000 -o out/a.pfm --update 0.001 --checkpoint-interval 0 >stdout 2>stderr </dev/null &
    pid=$!
    while [ $seen -lt 60 ] && [ -e /proc/$pid/exe ]; do
        if cat out/a.pfm >copy 2>/dev/null; then
            [ "$(stat -c %s copy)" = $want ] || fail "a picture of $(stat -c %s copy) bytes"
            seen=$((seen + 1))
        fi
    done
    start=$(date +%s%N)
    kill -TERM $pid
    wait $pid || status=$?
    [ $status = 143 ] || fail "status $status"
    [ $((($(date +%s%N) - start) / 1000000)) -lt 3000 ] || fail "it took too long to stop"
    says "samples are kept in out/a.pfm.checkpoint; to go on: .* --resume$"
    [ "$(ls -A out | tr '\n' ' ')" = "a.pfm a.pfm.checkpoint " ] || fail "there is $(ls -A out)"
    [ "$(stat -c %s out/a.pfm)" = $want ] || fail "no whole picture"
    # a new start says what it replaces
    timeout -s INT 20 "$program" render "${scene[@]}" --spp 2 -o out/a.pfm >stdout 2>stderr
    says "note: out/a.pfm.checkpoint is of a render that was not finished, and will be replaced; --resume goes on"
    [ "$(ls -A out)" = a.pfm ] || fail "left behind: $(ls -A out)"
}

# A full disk costs the checkpoint, not the picture.
case_checkpoint_full()
{
    local scene=(cornell --width 64 --height 64 --spp 100 --max-depth 4)
    run 0 render "${scene[@]}" -o want.pfm
    (
        trap '' XFSZ
        ulimit -f 100 # the picture has 48 KiB, the checkpoint 128
        exec "$program" render "${scene[@]}" -o out/a.pfm --checkpoint-interval 0
    ) >stdout 2>stderr || fail "the render failed"
    says "note: no checkpoint: cannot write out/a.pfm.checkpoint: .*; the render goes on"
    one_line 1
    cmp want.pfm out/a.pfm || fail "another picture"
    [ "$(ls -A out)" = a.pfm ] || fail "left behind: $(ls -A out)"

    # Room for the one or the other.
    mkdir disk
    mount -t tmpfs -o size=164k tmpfs disk 2>/dev/null || skip "cannot mount a small tmpfs here"
    trap 'umount "$scratch/disk"; rm -rf "$scratch"' EXIT
    run 0 render "${scene[@]}" -o disk/a.pfm --checkpoint-interval 0
    cmp want.pfm disk/a.pfm || fail "another picture"
    [ "$(ls -A disk)" = a.pfm ] || fail "left behind: $(ls -A disk)"
}

# What would take more memory than is allowed is refused before it is taken, with how much it would be.
case_memory()
{
    local words start=$SECONDS
    printf '{"isophote": 1, "camera": {"origin": [0, 0, 3], "target": [0, 0, 0], "up": [0, 1, 0], "fov": 40}, "materials": {"m": {"type": "diffuse"}},\n' >t.json
    printf '"groups": {"g": [{"type": "terrain", "cells": 8192, "material": "m"}]},\n"objects": [' >>t.json
    for i in {1..50}; do printf '%s{"type": "instance", "group": "g", "transform": [{"translate": [%d, 0, 0]}]}' "$([ $i = 1 ] || echo ,)" $i >>t.json; done
    printf ']}' >>t.json
    printf 'PF\n4096 4096\n-1.0\n' >t.pfm
    printf '{"isophote": 1, "camera": {"origin": [0, 0, 3], "target": [0, 0, 0], "up": [0, 1, 0], "fov": 40}, "textures": {"t": {"file": "t.pfm"}},
"materials": {"m": {"type": "diffuse", "reflectance": "t"}}, "objects": [{"type": "sphere", "center": [0, 0, 0], "radius": 1, "material": "m"}]}' >p.json
    truncate -s 201326609 t.pfm
    printf 'shader s(output color x = 0, output float y = 0) { x = u; y = v; }' >s.asl
    for words in "render cornell --device native --width 32768 --height 32768 -o out/a.exr|a film of 32768x32768 pixels: 32.0 GiB" \
        "render cornell --device reference --width 32768 --height 32768 -o out/a.exr|32768x32768 pixels in double precision: [0-9.]+ GiB" \
        "render t.json --device native -o out/a.exr|t.json:2:[0-9]+: error: a terrain of 8192x8192 cells, in the scene and its tree: 1[0-9].[0-9] GiB" \
        "shade s.asl -g 16384 16384 -o x out/a.png|the outputs of 268435456 points: [0-9.]+ GiB"; do
        # shellcheck disable=SC2086 # words
        run 2 ${words%%|*} --memory 2G
        says "${words#*|}"
        says "the limit is 2.0 GiB"
        nothing_in out
    done
    run 2 render p.json --device native --memory 150M -o out/a.exr
    says "t.pfm: 192.0 MiB beside"
    # what libraries take, and what stands for a device
    sed 's/8192/2048/; s/"objects".*/"objects": [{"type": "instance", "group": "g", "transform": []}]}/' t.json >r.json
    run 2 render r.json --device reference --memory 1200M -o out/a.exr
    says "Embree's tree of 838860[89] boxes: 1.0 GiB beside"
    for n in {1..600}; do printf 'float a%d[16384]; a%d[int(u)] = u; x += a%d[int(v)];\n' $n $n $n; done >many
    { echo 'shader s(output color x = 0) {'; cat many; echo '}'; } >m.asl
    for words in interp ir; do
        run 2 shade m.asl --engine $words -g 4 4 --memory 40M -o x out/a.png
        says "the variables of .*: [4-9][0-9.]+ MiB beside"
    done
    printf 'shader s(output color x = 0) { string a = "a"; for (int i = 0; i < 24; i++) a = concat(a, a); x = strlen(a); }' >g.asl
    run 2 shade g.asl --engine interp -g 4 4 --memory 100M -o x out/a.png
    says "one point needs more than [0-9]+ bytes of memory"
    nothing_in out
    for words in 0 -1 x 5Q 1e99 ""; do
        run 2 scenes --memory "$words"
        says "bytes, or a number with K, M, G or T"
    done
    run 0 render cornell "${small[@]}" --memory 1.5GiB
    ISOPHOTE_MEMORY=1M run 2 render cornell --width 1024 --height 1024 --spp 1
    says "the limit is 1.0 MiB"
    [ $((SECONDS - start)) -le 60 ] || fail "it took $((SECONDS - start)) s"
}

# The largest arrays compile in seconds, zeroed and copied as a whole, by all lanes or by some; every engine has the same bits.
case_large_arrays()
{
    leaks_of_others
    local engine n start=$SECONDS
    for n in 40 5461; do
        printf 'shader s(output color x = 0) { color a[%d]; int text[%d]; for (int i = 0; i < %d; i += 3) { a[i] = color(u * i, v, i); text[i] = i; }
color b[%d] = a; x = Dx(b[int(u * %d)]) + a[int(v * 5)] + text[int(u * 9)]; a[3] = u;
' $n $n $n $n $((n - 1)) >s.asl
        printf 'for (int j = 0; j < 3; j++) { if (u * j > 0.7) break; color c[%d]; c[int(v * 9)] = u; color d[%d] = c; c = a; x += Dx(d[j]) + c[3 * j]; }' $n $n >>s.asl
        echo '}' >>s.asl
        run 0 shade s.asl -g 16 16 --engine interp -o x want.pfm
        for engine in ir native llvm $("$program" devices | grep -o '^opencl:[0-9]*' | head -n 1); do
            run 0 shade s.asl -g 16 16 --engine "$engine" -o x got.pfm
            cmp want.pfm got.pfm || fail "$engine: other bits"
        done
    done
    [ $((SECONDS - start)) -le 60 ] || fail "it took $((SECONDS - start)) s"
    { echo 'shader s(output color x = 0) {'; for n in {1..40}; do echo "color a$n[5461]; a$n[0] = u; x += Dx(a$n[int(v)]);"; done; echo '}'; } >s.asl
    for engine in native llvm; do
        run 2 shade s.asl -g 16 16 --engine "$engine" -o x got.pfm
        says 'there is room for'
    done
    run 0 shade s.asl -g 16 16 --engine interp -o x want.pfm
}

case_inputs_are_files()
{
    local words start
    mkfifo pipe.json pipe.png pipe.asl pipe.txt pipe.obj
    ln -s /dev/zero zero.json
    ln -s /dev/zero zero.png
    scene() # TEXTURE
    {
        printf '{"isophote": 1, "camera": {"origin": [0, 0, 3], "target": [0, 0, 0], "up": [0, 1, 0], "fov": 40},'
        printf ' "textures": {"t": {"file": "%s"}},' "$1"
        printf ' "materials": {"m": {"type": "diffuse", "reflectance": "t"}},'
        printf ' "objects": [{"type": "sphere", "center": [0, 0, 0], "radius": 1, "material": "m"}]}'
    }
    scene pipe.png >with-pipe.json
    scene zero.png >with-zero.json
    start=$SECONDS
    for words in "render pipe.json -o out/a.png" "render zero.json -o out/a.png" "render with-pipe.json -o out/a.png" \
        "render with-zero.json -o out/a.png" "import pipe.obj -o out/a.json" "shade pipe.asl -o Cout out/a.png" \
        "conform --suite ./pipe.txt" "conform --waivers pipe.json --device native --filter rng" \
        "conform --skips zero.json --device native --filter rng" "report --store pipe.json -o out/a.html" \
        "import pipe.txt --store out/a.db" "compare pipe.json zero.json"; do
        # shellcheck disable=SC2086 # words
        run 2 $words
        says "it is a (pipe|device)|not a regular file|is not a file"
    done
    run 2 aslc pipe.asl
    [ $((SECONDS - start)) -le 10 ] || fail "it took $((SECONDS - start)) s"
}

# ---- devices ----------------------------------------------------------------------------------------------------

case_devices()
{
    run 0 devices --json
    [ "$(json 'devices[0].id')" = native ] || fail "native is not the first device"
    run 0 devices --test-devices
    prints "^null"
    prints "^faulty:"
    run 1 conform --device native+faulty:lost-cosine --filter '^image.fast.cornell$' --reruns 0 --canary 0
    prints "made by faulty:lost-cosine$" # which member
    run 77 render cornell "${small[@]}" --device opencl:99
    says "opencl:99"
    run 77 render cornell "${small[@]}" --device no-such-card
    says "no-such-card"
}

# clamped.json: a light tree and a clamp. The mean of clamped samples goes with the chances of lights, of which mode fast has its
# own in a light tree: judged without the clamp, so that a right device passes, and a wrong one does not.
clamped_tree()
{
    local lights=() i
    for i in {0..23}; do
        lights+=("{\"type\": \"point\", \"position\": [$((i * 7 % 5 - 2)), 0.$((i * 37 % 89 + 10)), $((i * 11 % 7 - 3))], \"intensity\": 0.$((i * 53 % 97 + 2))}")
    done
    cat >clamped.json <<EOF
{"isophote": 1, "camera": {"origin": [0, 2, 5], "target": [0, 0.5, 0], "fov": 40},
 "render": {"max_depth": 2, "light_choice": "tree", "clamp": 0.5}, "materials": {"w": {"type": "diffuse"}},
 "objects": [{"type": "rectangle", "material": "w", "transform": [{"scale": 3}, {"rotate": {"axis": [1, 0, 0], "angle": -90}}]}],
 "lights": [$(IFS=,; echo "${lights[*]}")]}
EOF
}

case_conform_clamped_tree()
{
    clamped_tree
    run 0 conform clamped.json --device native --filter '^image.fast.clamped$'
    prints "1 pass"
    run 1 conform clamped.json --device faulty:lost-cosine --filter '^image.fast.clamped$' --reruns 0
}

# Scenes at random in place of the list: the first ones of a seed, which are those of a name.
case_conform_random_scenes()
{
    run 0 conform --scenes 3 --seed 18446744073709551615 --list
    prints "image.random.18446744073709551615-2 "
    run 0 conform --device native --scenes 3 --seed 7 --filter '7-[02]$'
    prints "PASS  native     image.random.7-0"
    prints "2 cases: 2 pass"
    run 2 conform --scenes 3 --seed 18446744073709551616
    says "expected a whole number"
    for words in "--scenes 0" "--scenes -1" "--scenes 4294967296" "--scenes 2 --seed -1" "--scenes 2 --seed x"; do
        run 2 conform --device native $words
    done
    run 2 conform --device native --seed 7
    says "belongs to --scenes"
}

# The best seconds of the list: what they are worth is said, and never that a device conforms.
case_conform_budget()
{
    run 0 conform --device native --filter '^kernel[.](rng|math.exact)' --budget 600s
    prints "native: 2 of 2 cases judged"
    prints "this is not the whole list"
    # Names that the run makes, and not the program's text.
    run 0 conform --device native --filter '^kernel[.]light[.](cornell|stage)$' --budget 600
    prints "native: 2 of 2 cases judged"
    run 0 conform --device native --filter '^kernel[.](rng|math.exact)' --budget 600 --json
    [ "$(json 'budget.devices[0].judged')" = 2 ] || fail "two cases were to be judged"
    [ "$(json 'budget.devices[0].mutants')" -gt 0 ] || fail "no mutants say what it is worth"
    run 77 conform --device native --filter '^kernel[.]rng' --budget 1e-9
    prints "native: 0 of 1 cases judged"
    prints "they notice 0 of"
    for words in "--budget 0" "--budget -1" "--budget 60m" "--budget s" "--budget nan" "--budget 60 --self-test"; do
        run 2 conform --device native $words
    done
    run 0 conform --list --filter '^image[.]fast[.]cornell$'
    prints "kept for:"
}

# The suite on a fault of its own: with --until-caught the first case that fails ends it.
case_conform_self_test()
{
    local wrong=(--self-test --device faulty:swapped-uv --filter '^kernel.(texture|material).textured$')
    run 0 conform "${wrong[@]}" --json
    [ "$(json cases)" = 2 ] || fail "two cases were asked for"
    [ "$(json faults)" = 1 ] || fail "one fault was asked for"
    run 0 conform "${wrong[@]}" --until-caught --json
    [ "$(json cases)" = 1 ] || fail "a fault that was caught was judged again"
    [[ "$(json 'faults[0].cases')" =~ ^kernel[.](texture|material)[.]textured$ ]] || fail "another case caught it"
    run 1 conform --self-test --until-caught --device faulty:swapped-uv --filter '^kernel.rng'
    prints "NOT CAUGHT"
    run 2 conform --self-test --device native
    says "expected faulty:NAME"
    run 2 conform --until-caught
    says "belongs to --self-test"
    run 2 conform --mutants 3
    says "--mutants belongs to --self-test"
    run 2 conform --self-test --mutants 3 --device native
    says "--mutants takes no --device"
    run 2 conform --self-test --mutants-of asl/noise.h
    says "--mutants-of belongs to --mutants N"
    run 77 conform --device native --mutants-search 1 --filter '^image'
    run 2 conform --device native --mutants-search -1
    run 2 conform --device native --mutants-search 1 --store s.db
    says "it takes no --store"
    run 2 conform --self-test --mutants 3 --mutants-of asl/none.h
    says "no mutant is of asl/none.h"
    for words in "--mutants 0" "--mutants -1" "--mutants 3 --seed x" "--mutants 3 --seed 18446744073709551616"; do
        run 2 conform --self-test $words
    done
}

# What is known of mutants is in the journal, and is not asked again. Which mutants come, and so the status, is the text's matter.
case_conform_mutants_journal()
{
    local two=(--self-test --mutants 2 --mutants-search 1 --seed 4 --filter '^image[.]strict[.]cornell$' --jobs 2 --journal m.jsonl --json)
    ! command -v clang-15 >/dev/null || export ISOPHOTE_CC=clang-15 # the journal is what is tested: gcc takes twice as long
    mutants()
    {
        local status=0
        "$program" conform "${two[@]}" "$@" >stdout 2>stderr </dev/null || status=$?
        [[ $status =~ ^(0|1|77)$ ]] || fail "mutants ended with $status: $(cat stderr)"
        for i in 0 1; do
            for key in id class asked searched shown_by spent_s; do json "mutants[$i].$key"; done
        done
    }
    mutants >first.txt
    cp m.jsonl all.jsonl
    mutants --mutants-of asl/noise.h --mutants-of light/light.h --mutants-search 0 >of.txt
    for i in 0 1; do
        [[ $(json "mutants[$i].file") =~ ^(asl/noise|light/light)[.]h$ ]] || fail "a mutant of another file"
    done
    run 2 conform "${two[@]}" --resume
    says "the journal of another run of mutants"
    cp all.jsonl m.jsonl
    cp m.jsonl whole.jsonl
    printf '{"mutant":"mutant:none","case":"image.str' >>m.jsonl # the machine stopped while it was written
    mutants --resume >again.txt
    cmp first.txt again.txt || fail "the journal says something else than the run did"
    cmp whole.jsonl m.jsonl || fail "what was known was asked again"
    run 2 conform "${two[@]}" --resume --seed 5
    says "the journal of another run of mutants"
    run 2 conform "${two[@]}" --resume --mutants-search 2
    says "the journal of another run of mutants"
    printf '{"mutant":"mutant:99999999","compiles":true}\n' >>m.jsonl
    run 2 conform "${two[@]}" --resume
    says 'm.jsonl:[0-9]+:1: error: not what was written behind the line before'
    sed 's/"class":"[a-z]*"/"class":"killed"/; s/"compiles":true/"compiles":false/' whole.jsonl >m.jsonl # by hand
    cp m.jsonl edited.jsonl
    cmp -s whole.jsonl m.jsonl && fail "nothing was edited"
    run 2 conform "${two[@]}" --resume
    says "m.jsonl:$(diff whole.jsonl m.jsonl | sed -n '1s/[^0-9].*//p'):1: error: not what was written behind the line before"
    cmp edited.jsonl m.jsonl || fail "what was edited is gone"
}

case_bench_clamped_tree()
{
    local once=(--mode fast --width 128 --height 128 --spp 8 --warmup 0 --repetitions 1 --max-repetitions 1 --json)
    clamped_tree
    run 0 bench clamped.json --device native "${once[@]}"
    prints "rendered again without the clamp: p = "
    run 1 bench clamped.json --device faulty:lost-cosine "${once[@]}"
    prints "rendered again without the clamp: p = "
    sed 's/"tree"/"power"/' clamped.json >power.json
    run 0 bench power.json --device native "${once[@]}"
    ! grep -q "without the clamp" stdout || fail "a scene without a tree is judged without its clamp"
}

case_no_opencl()
{
    leaks_of_others # devices asks LLVM for its version
    export OCL_ICD_VENDORS=/nonexistent
    run 0 devices
    prints "native"
    ! grep -q '^opencl' stdout || fail "lists an OpenCL device that cannot be there"
    run 77 render cornell "${small[@]}" --device opencl:0 -o out/a.exr
    says "opencl:0"
    nothing_in out
    run 0 render cornell "${small[@]}" --device native
}

case_no_compiler()
{
    # The kernel of the native device is compiled at run time.
    export ISOPHOTE_CACHE=$scratch/cache
    local status=0
    ISOPHOTE_CC=/bin/false "$program" render cornell "${small[@]}" -o out/a.exr >stdout 2>stderr || status=$?
    case $status in 1 | 77) ;; *) fail "status $status, expected 1 or 77" ;; esac
    [ -s stderr ] || fail "no message"
    nothing_in out
    # Without any, LLVM makes the same picture, where this program holds the kernel's bitcode.
    run 0 render cornell "${small[@]}" -o out/source.pfm --code-path source
    if ISOPHOTE_CC= PATH=/nonexistent "$program" render cornell "${small[@]}" -o out/llvm.pfm >stdout 2>stderr; then
        cmp out/source.pfm out/llvm.pfm || fail "LLVM's picture differs"
        for version in 15 19; do # either library alone
            ISOPHOTE_LLVM=$version "$program" render cornell "${small[@]}" -o out/$version.pfm --code-path llvm >stdout 2>stderr || continue
            cmp out/source.pfm out/$version.pfm || fail "LLVM $version's picture differs"
        done
    else
        says "LLVM\|clang-15"
    fi
}

# What a layer writes of a global stands for those behind it, though it pulls another one.
case_layers_write_globals()
{
    local engine
    echo 'shader L0(float f = 1, output float of = f) { }' >L0.asl
    echo 'shader L1(float pl = 1, output int acc = 1) { if (v < 1) acc = (int) pl; N = 0; }' >L1.asl
    echo 'shader L2(output color o = 0) { o = color(N); }' >L2.asl
    for engine in "interp" "ir -O0" "ir -O1" "ir -O2"; do
        # shellcheck disable=SC2086 # two words
        run 0 shade -g 2 1 --engine $engine --print --shader L0.asl a0 --shader L1.asl a1 --connect a0 of a1 pl \
            --shader L2.asl a2 --entry a1 --entry a2 -o o out/o.pfm
        [ "$(grep -c 'o : 0 0 0' stdout)" = 2 ] || fail "$engine: N is not what L1 made it: $(cat stdout)"
    done
}

# A NaN has one hash, whichever it is: operations give other ones on other machines.
case_hash_of_nan()
{
    local engine
    echo 'shader s(output color o = 0) { float i = (u + 10) * 1e38 * 1e38, n = i - i, m = -n;
        o = color(hash(n) == hash(m), hash(n, u) == hash(m, u) && noise("hash", n) == noise("hash", m), isnan(n)); }' >s.asl
    for engine in interp ir native llvm; do
        "$program" shade s.asl -g 20 1 --engine $engine --print -o o out/o.pfm >stdout 2>stderr || { [ $engine = llvm ] && continue; }
        [ "$(grep -c 'o : 1 1 1' stdout)" = 20 ] || fail "$engine: $(head -n 2 stdout stderr)"
    done
}

# LLVM's linker in this process maps each section alone, and a GPU's driver may push them over 2 GiB apart.
case_far_sections()
{
    local shim version scene libraries= size=(--width 16 --height 12 --spp 1 --mode strict --code-path llvm)
    export ISOPHOTE_CACHE=$scratch/near
    shim=$(dirname "$program")/tests/libfar_mappings.so
    [ -e "$shim" ] || skip "not for this processor, or not with a sanitizer"
    far() # ARGUMENTS...: the program with its mappings apart, nothing kept from before
    {
        local status=0
        rm -rf cache far.log
        ISOPHOTE_CACHE=$scratch/cache FAR_MAPPINGS_LOG=$scratch/far.log LD_PRELOAD=$shim \
            "$program" "$@" >stdout 2>stderr </dev/null || status=$?
        [ "$status" = 0 ] || fail "isophote $* with its sections apart ended with $status"
        # LLVM 19 asks for one piece, far from the program alone
        [ "$(cat far.log)" -ge "$((version == 15 ? 2 : 1))" ] || fail "no mapping was moved"
    }
    echo 'shader s(output color Cout = 0) { Cout = noise(P * 9) * spline("catmull-rom", u, 0, 0, 1, 3, 2) + sin(v); }' >s.asl
    for version in 15 19; do # either library alone
        export ISOPHOTE_LLVM=$version
        "$program" render cornell "${size[@]}" -o out/near.pfm >stdout 2>stderr || continue
        libraries+=" $version"
        for scene in cornell shaded-wood; do
            run 0 render $scene "${size[@]}" -o out/near.pfm
            far render $scene "${size[@]}" -o out/far.pfm
            cmp out/near.pfm out/far.pfm || fail "LLVM $version, $scene: another picture"
        done
        run 0 shade s.asl --engine llvm -g 16 16 -o Cout out/near.pfm
        far shade s.asl --engine llvm -g 16 16 -o Cout out/far.pfm
        cmp out/near.pfm out/far.pfm || fail "LLVM $version, a shader: another picture"
    done
    [ "$libraries" ] || skip "no LLVM, or no bitcode of the kernel"
    unset ISOPHOTE_LLVM
    export version=15 ISOPHOTE_HIP_LIBRARY=soft # which takes its LLVM 15 alone
    "$program" shade s.asl --engine hip:0 -g 16 16 -o Cout out/near.pfm >stdout 2>stderr || return 0
    far shade s.asl --engine hip:0 -g 16 16 -o Cout out/far.pfm
    cmp out/near.pfm out/far.pfm || fail "the HIP device in software, a shader: another picture"
}

# Drivers and their loaders keep what they took.
leaks_of_others() { export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0; }

# Skips where the HIP runtime in software, or the compiler that it calls, is not here.
soft_hip()
{
    [ -e "$(dirname "$program")/libisophote_hip_soft.so" ] && command -v clang-15 >/dev/null || skip "no HIP runtime in software"
    export ISOPHOTE_HIP_LIBRARY=soft
}

# Skips where the Level Zero driver in software, the real loader, or the kernel's SPIR-V is not here.
soft_level_zero()
{
    export ZE_ENABLE_ALT_DRIVERS=$(dirname "$program")/backends/soft/libze_soft.so
    leaks_of_others
    "$program" devices | grep -q '^level_zero:0' || skip "no Level Zero driver in software"
}

# The device's kernels take MOST work-items, fewer than it says: defaults fit them, and what was asked for does not.
kernels_small() # DEVICE MOST
{
    local device=$1 most=$2 tiny=(cornell --width 13 --height 11 --spp 1 --mode strict)
    local refused="work-group 8x8 has 64 work-items; .* takes at most [0-9]+, this kernel( .*)? $most\$"
    run 0 render "${tiny[@]}" --device native -o out/native.pfm
    run 0 render "${tiny[@]}" --bvh bvh2 --device "$device" -o out/device.pfm
    cmp out/native.pfm out/device.pfm || fail "$device: another picture"
    run 77 render "${tiny[@]}" --bvh bvh2 --device "$device" --work-group 8x8 -o out/none.pfm
    says "$refused"
    [ ! -e out/none.pfm ] || fail "a picture that was refused"
    echo 'shader s(output color Cout = 0) { Cout = noise(P * 9) * u; }' >s.osl
    run 0 shade s.osl --engine interp -g 33 31 -o Cout out/interp.pfm
    run 0 shade s.osl --engine "$device" -g 33 31 -o Cout out/shade.pfm
    cmp out/interp.pfm out/shade.pfm || fail "$device: another picture of a shader"
}

case_small_kernels_level_zero()
{
    soft_level_zero
    export ISOPHOTE_SOFT_KERNEL_GROUP=6
    kernels_small level_zero:0 6
    run 0 sweep cornell --width 8 --height 8 --spp 1 --mode strict --bvh bvh2 --device level_zero:0 \
        --axis work-group=2x2,8x8 --repetitions 1 --max-repetitions 1 --budget 0.1
    prints "SKIP +cornell on level_zero:0, .*work-group 8x8: work-group 8x8 has 64 .*, this kernel 6$"
    prints "PASS +cornell on level_zero:0, .*work-group 2x2"
    run 0 conform --device level_zero:0 --filter '^image.strict.cornell$' # which asks for 7x3 where that fits
}

case_small_kernels_hip()
{
    soft_hip
    leaks_of_others
    ISOPHOTE_SOFT_KERNEL_GROUP=6 kernels_small hip:0 6
}

# Mode device lets a compiler fuse a product with a sum at one place and not at another, and clang does: the text has to
# be right all the same. A ray once went between the two triangles of a box's end.
case_contracted_unevenly()
{
    command -v clang-15 >/dev/null || skip "no clang-15"
    grep -qw fma /proc/cpuinfo || skip "the processor does not fuse"
    for flags in '-O0 -march=native' '-O2 -march=native -ffp-contract=fast'; do
        ISOPHOTE_CC=clang-15 ISOPHOTE_CFLAGS=$flags run 0 conform --device native --from-scratch --filter '^kernel[.]trees[.]device$'
        prints "^PASS +native +kernel.trees.device"
    done
}

# clang at -O0 fuses where it has to select a whole block anew, and leaves a lone x * y + x as it is: strict asks in the forms
# that the kernel's text has.
case_contracted_in_places()
{
    command -v clang-15 >/dev/null || skip "no clang-15"
    grep -qw fma /proc/cpuinfo || skip "the processor does not fuse"
    export ISOPHOTE_CC=clang-15
    ISOPHOTE_CFLAGS='-O0 -march=native -ffp-contract=fast' run 77 conform --device native --from-scratch --filter '^kernel[.]math[.]exact$'
    prints "^SKIP +native +kernel.math.exact"
    prints "native lacks a .* without contraction, which strict needs"
    ISOPHOTE_CFLAGS='-O0 -march=native -ffp-contract=off' run 0 conform --device native --from-scratch --filter '^kernel[.]math[.]exact$'
    prints "^PASS +native +kernel.math.exact"
}

# Mesa's rusticl on llvmpipe says 1024 and takes 32. A sample of the core list: of a program without shaders it
# compiles for 15 s, but the small kernel of random numbers and one scene with the smallest tree are quick.
case_rusticl()
{
    local vendors=/etc/OpenCL/vendors/rusticl.icd
    [ -e $vendors ] || skip "no rusticl: it comes with mesa-opencl-icd"
    leaks_of_others
    export OCL_ICD_VENDORS=$vendors RUSTICL_ENABLE=llvmpipe
    run 0 devices
    prints "^opencl:0 +llvmpipe .*rusticl"
    run 0 conform --device opencl:0 --filter 'kernel[.]rng'
    prints "^PASS +opencl:0 +kernel.rng.philox"
    kernels_small opencl:0 32
}

# What a driver does to one worker costs that case a verdict with a reason; the other device is judged all the same.
device_faults() # DEVICE, what it says when it is lost, and when the watchdog ends a launch
{
    local device=$1
    fault() # FAULT MESSAGE [RUN BUDGET]
    {
        ISOPHOTE_SOFT_FAULT=$1 run 1 conform --device "$device" --device native --filter '^kernel.rng' --jobs 2 --run-budget "${3:-120}" \
            --canary 0 --reruns 0 # the case itself is asked for
        prints "ERROR +$device +kernel.rng.philox"
        prints "$2"
        prints "PASS +native +kernel.rng.philox"
    }
    run 0 conform --device "$device" --filter '^kernel.rng' # compiled and kept
    fault lost:1 "$2"
    fault trap:1 "the worker crashed: SIGILL"
    fault hang:1 "hung or too slow: the run budget of 3 s ran out" 3
    ISOPHOTE_SOFT_WATCHDOG=1e-6 run 1 conform --device "$device" --device native --filter '^kernel.rng'
    prints "$3"
    prints "PASS +native"
    ISOPHOTE_SOFT_MEMORY=5000 run 2 render cornell "${small[@]}" --device "$device" -o out/a.pfm
    says "[0-9]+ bytes.*5000"
    nothing_in out
    [[ "$device" != opencl:* ]] || return 0
    # its memory is this machine's, and its checks note eleven times as much
    ISOPHOTE_SOFT_CHECKS=all run 2 render cornell --width 1024 --height 1024 --spp 1 --device "$device" --memory 400M -o out/a.pfm
    says "[0-9]+ bytes"
    nothing_in out
}

case_device_memory()
{
    # A scene that is larger than the device, on whatever device: both numbers, status 2, and nothing is written.
    local device
    for device in native null $(grep -o '^opencl:[0-9]*' <<<"$("$program" devices)"); do
        ISOPHOTE_DEVICE_MEMORY=5000 run 2 render cornell "${small[@]}" --mode fast --device "$device" -o out/a.pfm
        says "the scene takes [0-9]+ bytes; $device has 5000"
    done
    nothing_in out
    ISOPHOTE_DEVICE_MEMORY=5k run 2 render cornell "${small[@]}"
    says 'ISOPHOTE_DEVICE_MEMORY is "5k": expected bytes'
}

case_driver_that_aborts()
{
    leaks_of_others # devices asks LLVM for its version
    # A driver that ends whoever asks for its devices: a problem with its last words, and the others are listed.
    cat >abort.c <<'C'
#include <stdio.h>
#include <stdlib.h>
__attribute__((constructor)) static void loaded(void)
{
    fputs("no processors found\n", stderr);
    abort();
}
C
    cc -shared -fPIC -o abort.so abort.c || exit 77
    export ISOPHOTE_HIP_LIBRARY=$PWD/abort.so
    run 0 devices
    prints "not here: hip: its driver ends the process that asks for devices .SIGABRT.: no processors found"
    prints "^native"
    run 0 doctor
    prints "SIGABRT"
    run 77 render cornell "${small[@]}" --device nobody -o out/a.pfm
    says "SIGABRT"
}

case_device_faults()
{
    soft_hip
    device_faults hip:0 "hipErrorLaunchFailure .719.: the device stopped answering" "hipErrorLaunchTimeOut .702."
}

case_device_faults_level_zero()
{
    soft_level_zero
    device_faults level_zero:0 "ze[A-Za-z]+Synchronize: ZE_RESULT_ERROR_DEVICE_LOST" "ZE_RESULT_ERROR_DEVICE_LOST"
}

# PoCL with a layer over it, which takes ISOPHOTE_SOFT_FAULT's words, and some of its own: tests/cl_faults.c.
case_device_faults_opencl()
{
    local fault name layer
    layer=$(dirname "$program")/tests/libcl_faults.so
    [ -e "$layer" ] || skip "no header of OpenCL's layers"
    grep -q OPENCL_LAYERS "$(ldconfig -p | sed -nE 's/.*libOpenCL\.so\.1 .*=> (.*)/\1/p' | head -n 1)" || skip "an OpenCL loader without layers"
    leaks_of_others
    run 0 devices
    name=$(grep -o '^opencl:0 .*Portable Computing Language' stdout) || skip "no PoCL"
    name=${name#opencl:0 }
    export OPENCL_LAYERS=$layer
    local lost="CL_OUT_OF_RESOURCES .-5.; .*watchdog.*--tile.*faulted.*lost device"
    device_faults opencl:0 "clFinish failed: $lost" "clFinish failed: $lost"
    local fast=(render cornell "${small[@]}" --mode fast --device opencl:0 -o out/a.pfm)
    ISOPHOTE_SOFT_FAULT=lost:1 run 1 "${fast[@]}"
    says "a launch failed: $lost"
    ISOPHOTE_SOFT_FAULT=lost:2 run 1 "${fast[@]}" --batch 1 # seen by the launch after it
    says "clEnqueueWriteBuffer failed: CL_INVALID_COMMAND_QUEUE .-36.; the device is lost.*watchdog.*--tile"
    ISOPHOTE_SOFT_FAULT=memory:4 run 2 "${fast[@]}"
    says "no memory for .*: [0-9]+ bytes; .* has [0-9]+ in all .CL_MEM_OBJECT_ALLOCATION_FAILURE"
    echo 'shader s(output color Cout = 0) { Cout = noise(P * 9); }' >s.asl
    ISOPHOTE_SOFT_FAULT=lost:1 run 1 shade s.asl --engine opencl:0 -g 4 4 -o Cout out/a.pfm
    says "clFinish failed: $lost"
    nothing_in out
    # What it says of itself: not listed, or a SKIP that says why.
    for fault in "platform=too old: its platform is .OpenCL 1.1 old., and 1.2" "device=too old: it is .OpenCL 1.1 old., and 1.2" \
        "gone=not available" "compiler=without a compiler"; do
        export ISOPHOTE_SOFT_CL_FAULT=${fault%%=*}
        run 0 devices
        prints "^native"
        ! grep -q "^opencl:" stdout || fail "lists a device that is $fault"
        prints "^not here: opencl: opencl:0 .* is ${fault#*=}"
        run 77 "${fast[@]}"
        says "opencl:0"
    done
    ISOPHOTE_SOFT_CL_FAULT=none run 0 devices
    prints "^not here: opencl: the platform .* has no devices: CL_DEVICE_NOT_FOUND"
    for fault in "endian=big-endian" "embedded=no 64-bit integers"; do
        ISOPHOTE_SOFT_CL_FAULT=${fault%%=*} run 0 conform --device opencl:0 --device native --filter '^kernel.rng'
        prints "SKIP +opencl:0 +kernel.rng.philox"
        prints "${fault#*=}"
        prints "PASS +native +kernel.rng.philox"
    done
    nothing_in out
}

# On the driver that tests the host code (backends/cuda/tests/cuda_mock.c): its pictures are right of nothing.
case_device_faults_cuda()
{
    local fault mock
    mock=$(dirname "$program")/backends/cuda/mock
    [ -e "$mock/libcuda.so.1" ] || skip "no CUDA driver of the tests"
    export LD_LIBRARY_PATH=$mock${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} ISOPHOTE_NVRTC=$mock/libcuda.so.1
    export ISOPHOTE_CACHE=$scratch/cache CUDA_MOCK_LOCK=$scratch/lock
    local fast=(render cornell "${small[@]}" --mode fast --device cuda:0)
    judged() # FAULT MESSAGE
    {
        CUDA_MOCK=$1 run 1 conform --device cuda:0 --device native --filter '^kernel.rng' --jobs 2 --canary 0 --reruns 0
        prints "ERROR +cuda:0 +kernel.rng.philox"
        prints "$2"
        prints "PASS +native +kernel.rng.philox"
        CUDA_MOCK=$1 run 1 "${fast[@]}" -o out/a.pfm
        says "$2"
        nothing_in out
    }
    judged timeout "CUDA_ERROR_LAUNCH_TIMEOUT .702.: .*watchdog.*--tile"
    judged fault "CUDA_ERROR_ILLEGAL_ADDRESS .700.: .*the device is lost to this process"
    # Two processes on one device: with one cache, and where another has the device to itself.
    "$program" "${fast[@]}" -o out/1.pfm >stdout 2>stderr &
    local other=$!
    "$program" "${fast[@]}" -o out/2.pfm >stdout 2>stderr || fail "one of two at once ends with $?"
    wait $other || fail "the other of two at once ends with $?"
    cmp out/1.pfm out/2.pfm || fail "two at once differ"
    rm out/*
    exec 9>"$CUDA_MOCK_LOCK"
    flock -n 9
    judged exclusive "CUDA_ERROR_DEVICE_UNAVAILABLE .46.: .*another process.*nvidia-smi"
    exec 9>&-
    CUDA_MOCK=exclusive run 0 "${fast[@]}" -o out/a.pfm
}

# A library that is absent, none, or another's, a driver that is too old, and no device: each is said, and the rest goes on.
case_broken_drivers()
{
    local other
    other=$(ldconfig -p 2>/dev/null | sed -nE 's/.*libm\.so\.6 .*=> (.*)/\1/p' | head -n 1)
    [ -n "$other" ] || skip "no libm.so.6 to stand for a driver"
    echo "no library" >text.so
    leaks_of_others
    broken() # DEVICE, what is said of it
    {
        run 0 devices
        prints "^native"
        prints "^not here: $2"
        ! grep -q "^$1:" stdout || fail "lists a device of a driver that does not work"
        run 77 render cornell "${small[@]}" --device "$1:0" -o out/a.pfm
        says "$1:0"
        nothing_in out
    }
    mkdir icd lib
    for library in "$scratch/text.so" "$other" /nonexistent.so; do
        echo "$library" >icd/broken.icd
        OCL_ICD_VENDORS=$scratch/icd broken opencl "opencl: "
        ISOPHOTE_HIP_LIBRARY=$library broken hip "hip: "
        ZE_ENABLE_ALT_DRIVERS=$library broken level_zero "level_zero: .*driver"
    done
    for library in "$scratch/text.so" "$other"; do
        cp "$library" lib/libcuda.so.1
        LD_LIBRARY_PATH=$scratch/lib broken cuda "cuda: .*libcuda.so.1"
    done
    if [ -e "$(dirname "$program")/backends/soft/libze_soft.so" ]; then
        export ZE_ENABLE_ALT_DRIVERS=$(dirname "$program")/backends/soft/libze_soft.so
        ISOPHOTE_SOFT_ZE_FAULT=driver broken level_zero "level_zero: "
        ISOPHOTE_SOFT_ZE_FAULT=none broken level_zero "level_zero: the drivers that are here find no device"
    fi
    soft_hip
    ISOPHOTE_SOFT_HIP_FAULT=driver broken hip "hip: .*hipErrorInsufficientDriver"
    ISOPHOTE_SOFT_HIP_FAULT=none broken hip "hip: .*hipErrorNoDevice"
}

case_two_processes()
{
    # Two at once on one device, which do not disturb each other: the bits of one alone.
    soft_hip
    hashes() # DEVICE: of two runs side by side
    {
        local i pids=()
        for i in 1 2; do
            "$program" render cornell "${small[@]}" --device "$1" -o "out/$i.pfm" >"stdout.$i" 2>stderr &
            pids+=($!)
        done
        for i in "${pids[@]}"; do wait "$i" || fail "one of two at once on $1 ends with $?"; done
        for i in 1 2; do cmp "out/$i.pfm" out/alone.pfm || fail "$1: picture $i differs"; done
    }
    run 0 render cornell "${small[@]}" --device native -o out/alone.pfm
    export ISOPHOTE_CACHE=$scratch/cache # empty: both compile and write it
    hashes native
    hashes hip:0
    hashes hip:0 # and now read it
    leaks_of_others
    local level_zero
    level_zero=$(dirname "$program")/backends/soft/libze_soft.so
    if ZE_ENABLE_ALT_DRIVERS=$level_zero "$program" devices | grep -q '^level_zero:0'; then
        rm -rf "$ISOPHOTE_CACHE"
        ZE_ENABLE_ALT_DRIVERS=$level_zero hashes level_zero:0
        ZE_ENABLE_ALT_DRIVERS=$level_zero hashes level_zero:0
    fi
    if "$program" devices | grep -q '^opencl.*Portable Computing Language'; then
        POCL_CACHE_DIR=$scratch/pocl hashes "Portable Computing Language"
    fi
}

case_doctor()
{
    local status=0
    "$program" doctor >stdout 2>stderr </dev/null || status=$?
    case $status in 0 | 1) ;; *) fail "status $status" ;; esac
    prints "[Ee]mbree"
    prints "OpenCL"
    # an absent device is named, with why
    ! grep -E '^absent   device ( |.*to get it)' stdout || fail "a device that is not here has no name"
    "$program" doctor --json >stdout 2>stderr </dev/null || true
    # by their own field: as many devices as are named, and the libraries of their drivers are none
    local i what device
    for ((i = 0; i < $("$query" stdout findings); i++)); do
        what=$("$query" stdout "findings[$i].what")
        device=$("$query" stdout "findings[$i].device")
        case $what in device*) [ "$device" = true ] ;; *) [ "$device" = false ] ;; esac || fail "$what: device is $device"
    done
    [ "$i" -gt 0 ] || fail "no findings"
}

# What a shader becomes can be read at each step.
case_aslc_dump()
{
    cat >s.asl <<'EOF'
shader s(float k = 2, output float twice = 0, output string name = "")
{
    for (int i = 0; i < 3; i++)
        twice += k * u;
    name = format("%g", twice);
}
EOF
    run 0 aslc -q -o - --dump=ir s.asl
    cp stdout ir
    run 0 aslc -q -o - --dump=c s.asl
    cp stdout c
    prints "^#line [0-9]+ \"s.asl\""
    prints "^for \(;;\)"
    prints "^#define A_OUT_WORDS 3u" # twice, name, Ci
    run 0 aslc -q -o - --dump=c-rows s.asl
    cp stdout rows
    prints "a_any\(m[0-9]+\)"
    prints "^K_FN void a_uniform\(struct a_state \*s, K_GLOBAL uint \*out\)"
    run 0 aslc -q -o - --dump=llvm s.asl
    cp stdout llvm
    prints "^define void @al_shade"
    prints "^define void @al_uniform"
    for as in llvm-as-15 llvm-as-19; do # both versions read it
        ! command -v $as >/dev/null || $as -o /dev/null llvm || fail "$as refuses it"
    done
    run 0 aslc -q -o - --dump=c-rows,ir,c s.asl
    cat ir c rows | cmp - stdout || fail "a list is not its parts one after another"
    run 0 aslc -q -o - -O0 --dump=c s.asl
    [ "$(wc -l <stdout)" -gt "$(wc -l <c)" ] || fail "-O0 is no longer than -O2"
    for list in cc "" c,x; do
        run 2 aslc -q -o - "--dump=$list" s.asl
        says "expected some of ast, types, ir, c, c-rows and llvm"
        one_line
    done
    for level in -O3 -O9 -O22 -Ofast; do
        run 2 aslc -q -o - $level s.asl
        says "unknown option '$level'"
        one_line
    done
}

# What oslinfo says of a shader: kind, parameters, defaults, metadata.
case_aslc_info()
{
    cat >p.asl <<'E2'
struct lens { float f; color tint; };
surface p [[ string help = "a \"p\"" ]] (int n = 3 [[ int min = -1, float range[2] = {0, .5} ]],
    float list[] = {1, 2.5}, lens l = {35, color(1, 0.5, 0)}, float two = sqrt(4), string s[2] = {"a", "b"},
    output color c = color(.25)) {}
E2
    cat >verbose <<'E2'
surface "p"
		metadata: string help = "a \"p\""
    "n" "int"
		Default value: 3
		metadata: int min = -1
		metadata: float[2] range = 0 0.5
    "list" "float[]"
		Default value: [ 1 2.5 ]
    "l" "struct lens"
		fields: {float f, color tint}
    "l.f" "float"
		Default value: 35
    "l.tint" "color"
		Default value: [ 1 0.5 0 ]
    "two" "float"
		Unknown default value
    "s" "string[2]"
		Default value: "a"
		Default value: "b"
    "c" "output color"
		Default value: [ 0.25 0.25 0.25 ]
E2
    run 0 aslc p.asl
    run 0 aslc --info -v p
    diff verbose stdout || fail "with -v"
    run 0 aslc --info --json p p.asl
    [ "$(json 'files[0].parameters[0].metadata[1].value[1]')" = 0.5 ] || fail "metadata as JSON"
    [ "$(json 'files[1].shader')" = p ] || fail "the second file as JSON"
    [ "$(json 'files[0].parameters[5].default')" = null ] || fail "a default that is computed"
    run 2 aslc --info --json nothing
    [ "$(json 'files[0].file')" = nothing ] || fail "what is not there as JSON"
    run 2 aslc --check --json p.aso
    says "--json is of compiling and of --info"
    printf 'shader p() { printf("source\\n"); }' >p.asl # a compiled one beside it is what a name means
    run 0 shade -g 1 1 p
    ! grep -q source stdout || fail "the source shadows what was compiled"
    run 0 shade -g 1 1 p.asl
    grep -q source stdout || fail "the source by its own name"
    mkdir there
    mv p.aso there
    rm p.asl
    run 0 aslc --info -p there --param n p
    [ "$(cat stdout)" = "int n  3" ] || fail "one parameter"
    run 2 aslc --info p
    says "there is no shader 'p'"
}

# Folders as OSL's testsuite has them: what only the compilers warn of is told apart from another answer.
case_osl_testsuite()
{
    local tool folder
    command -v python3 >python || skip "there is no python3"
    tool=$(dirname "${BASH_SOURCE[0]}")/../tools/osl_testsuite
    for folder in plain warned wrong; do
        mkdir -p suite/$folder/ref
        echo 'command = testshade("test")' >suite/$folder/run.py
        printf '%s\n' 'int f() { return 1; }' 'int f() { return 2; }' \
            'shader test() { int a[2]; a[2] = 3; printf("%d\n", f()); }' >suite/$folder/test.osl
        printf '%s\n' 'test.osl:2: warning: f once more' '  Before:' '    test.osl:1' 'Compiled test.osl -> test.oso' \
            'ERROR: Index [2] out of range a[0..1]: test.osl:3 (group unnamed_group_1, layer 0 test_0, shader test)' \
            2 '' >suite/$folder/ref/out.txt
    done
    echo 'shader test() { printf("2\n"); }' >suite/plain/test.osl
    printf '%s\n' 'Compiled test.osl -> test.oso' 2 '' >suite/plain/ref/out.txt
    sed -i 's/return 2/return 3/' suite/wrong/test.osl
    mkdir -p suite/newer suite/grouped
    echo 'command = testshade(not_a_name_of_ours)' >suite/newer/run.py
    cp -r suite/plain/. suite/grouped # runtest.py has a link, data, to the folder itself
    echo 'command = testshade("-group data/one.group")' >suite/grouped/run.py
    echo 'shader test one ;' >suite/grouped/one.group
    mkdir -p suite/noref suite/unsteady suite/broken # no ref/: two engines are compared
    echo 'command = testshade("-g 3 2 -od uint8 -o c out.tif test"); outputs.append("out.tif")' | tee suite/noref/run.py >suite/unsteady/run.py
    echo 'shader test(output color c = 0) { c = color(u, v, noise(9 * u)); printf("%g\n", c); }' |
        tee suite/noref/test.osl >suite/unsteady/test.osl
    echo 'command += "date +%N >>out.txt;"' >>suite/unsteady/run.py
    cp suite/noref/run.py suite/broken
    echo 'shader test() { missing(); }' >suite/broken/test.osl
    "$tool" --isophote "$program" suite >stdout 2>stderr && fail "a folder differs, and the tool is content"
    prints '^plain +same$'
    prints '^grouped +same$'
    prints '^noref +same$'
    prints '^unsteady +differs$'
    prints '^broken +differs$'
    prints '^warned +warned$'
    prints '^wrong +differs$'
    prints '^newer +not run'
    "$tool" --isophote "$program" suite newer >stdout 2>stderr || true
    prints "NameError: name 'not_a_name_of_ours' is not defined"
}

# What a compiled file depends on, as a rule of make.
case_aslc_depend()
{
    mkdir sub
    echo '#define ONE 1' >sub/one.h
    echo '#include "one.h"' >sub/two.h
    printf '%s\n' '#include "stdosl.h"' '#include <color2.h>' '#include "sub/two.h"' '#include "sub/one.h"' \
        'shader d(output float f = ONE) {}' >d.osl
    printf '%s\n' 'd.aso: d.osl \' '  sub/two.h \' '  sub/one.h' >rule
    run 0 aslc -MM d.osl
    diff rule stdout || fail "-MM"
    [ ! -e d.aso ] || fail "-MM compiles"
    run 0 aslc -q -MMD d.osl
    [ -e d.aso ] || fail "-MMD does not compile"
    diff rule d.d || fail "-MMD"
    run 0 aslc -q -MMD -MFother.d -MT target d.osl
    sed 's/^d.aso/target/' rule | diff - other.d || fail "-MF, -MT"
    run 0 aslc -M d.osl
    prints 'color2.h'
    echo 'shader inner() {}' >outer.osl
    run 0 aslc outer.osl
    [ "$(cat stdout)" = "Compiled outer.osl -> inner.aso" ] || fail "a compiled file is named as its shader"
    run 1 aslc -MM "$(echo '#include "none.h"' >e.osl; echo e.osl)"
    says "none.h"
    # A header that the source does not name: lines keep their numbers, a compiled file holds it.
    echo 'shader first(output float f = ONE) {}' >first.osl
    run 1 aslc first.osl
    says "first.osl:1:31: error: 'ONE' is not declared"
    run 0 aslc -q -MMD -include sub/two.h first.osl
    printf '%s\n' 'first.aso: first.osl \' '  sub/two.h \' '  sub/one.h' | diff - first.d || fail "-MMD of -include"
    run 0 shade --print -o f x.pfm first.aso
    prints 'f : 1'
    echo 'shader second(output float f = TWO) {}' >second.osl
    run 1 aslc -include two.h -I sub second.osl
    says "second.osl:1:32: error: 'TWO' is not declared"
    run 1 aslc -include none.h first.osl
    says "cannot open the include file 'none.h'"
}

declare -F "case_$1" >/dev/null || {
    echo "cli.sh: no case $1" >&2
    exit 2
}
touch stdout stderr
commands=$("$program" --help | sed -nE 's/^  ([a-z]+) .*/\1/p')
[ -n "$commands" ] || fail "isophote --help lists no commands"
"case_$1"
