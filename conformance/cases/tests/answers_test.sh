#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# answers_test.sh ISOPHOTE SOURCE: known answers are used, told of, ignored when asked, and never hide a fault.
set -euo pipefail
isophote=$1 source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# judge NAME EXPECTED_STATUS OPTIONS...: the run's JSON in $folder/NAME
judge() {
    local name=$1 expected=$2 status=0
    shift 2
    "$isophote" conform --json "$@" >"$folder/$name" || status=$?
    [ "$status" = "$expected" ] || { cat "$folder/$name"; echo "$name: status $status, expected $expected"; exit 1; }
}
says() { grep -q -- "$2" "$folder/$1" || { cat "$folder/$1"; echo "$1 does not say: $2"; exit 1; }; }
key() { grep -o '"identity": *"[0-9a-f]*"' "$folder/$1" | head -1; }

judge known 0 --device native --filter '^image[.]strict[.]furnace$'
says known "the known answer's bits in 4 launch settings"
says known 'answer[^,]*known'
judge scratch 0 --device native --filter '^image[.]strict[.]furnace$' --from-scratch
says scratch 'in step with the reference'
says scratch 'answer[^,]*ignored'
[ "$(key known)" != "$(key scratch)" ] || { echo "both ways have the identity $(key known)"; exit 1; }
given() { grep -o 'given[^,]*[0-9a-f]\{32\}' "$folder/$1"; }
[ -n "$(given known)" ] && [ "$(given known)" = "$(given scratch)" ] || { echo "films differ: $(given known) $(given scratch)"; exit 1; }

# what the kernel's parts return is hashed too, and judged from scratch it has the same hash
judge part 0 --device native --filter '^kernel[.]hit[.]direct-disk$'
says part "the known answer's bits in"
judge whole 0 --device native --filter '^kernel[.]hit[.]direct-disk$' --from-scratch
says whole 'benign flips against the reference'
[ -n "$(given part)" ] && [ "$(given part)" = "$(given whole)" ] || { echo "words differ: $(given part) $(given whole)"; exit 1; }

# a scene that has the name and other contents has no answer
sed 's/"seed"/"sEed"/' "$source/scenes/library/direct-disk.json" | sed 's/0\.75/0.74/' >"$folder/direct-disk.json"
cmp -s "$folder/direct-disk.json" "$source/scenes/library/direct-disk.json" && { echo "the scene was not changed"; exit 1; }
judge other 0 "$folder/direct-disk.json" --device native --filter '^image[.]strict[.]direct-disk-2$'
says other 'none for these inputs'
judge others 0 "$folder/direct-disk.json" --device native --filter '^kernel[.]hit[.]direct-disk-2$'
says others 'none for these inputs'
says others 'benign flips against the reference'

# a wrong film starts the full search: the stage is blamed
judge fault 1 --device faulty:lost-cosine --filter '^image[.]strict[.]direct-disk$'
says fault 'stage to blame'
says fault 'another than known'
judge tree 1 --device faulty:off-by-one-leaf --filter '^kernel[.]hit[.]direct-disk$'
says tree 'another than known'
says tree 'against brute force'

# every case of the core list that goes by answers has one, but those that have nothing to judge (no environment, no
# texture, shaders alone), and none has two
sed -n 's/^ANSWER("\([^"]*\)".*/\1/p' "$source/conformance/cases/answers.def" >"$folder/answered"
LC_ALL=C sort -cu "$folder/answered"
grep -E '^(kernel[.](hit[.]|values[.]|light[.]|bsdf-(step|chi-square)[.]|math[.]functions)|image[.](strict|lockstep|device|fast|camera|dense|edges|masks)[.]|shader[.]builtins[.])' \
    "$source/conformance/lists/core.txt" | LC_ALL=C sort >"$folder/listed"
grep -Ev '^kernel[.](environment|texture|material|bsdf-furnace)[.]' "$folder/answered" | diff "$folder/listed" -
for kind in environment texture material; do
    grep -q "^kernel[.]$kind[.]textured\$" "$folder/answered" || { echo "kernel.$kind.textured has no answer"; exit 1; }
done
