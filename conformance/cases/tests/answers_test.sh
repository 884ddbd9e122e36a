#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# answers_test.sh ISOPHOTE SOURCE: known answers of strict pictures are used, told of, ignored when asked, and never hide a fault.
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
film() { grep -o 'film[^,]*[0-9a-f]\{32\}' "$folder/$1"; }
[ -n "$(film known)" ] && [ "$(film known)" = "$(film scratch)" ] || { echo "films differ: $(film known) $(film scratch)"; exit 1; }

# a scene that has the name and other contents has no answer
sed 's/"seed"/"sEed"/' "$source/scenes/library/direct-disk.json" | sed 's/0\.75/0.74/' >"$folder/direct-disk.json"
cmp -s "$folder/direct-disk.json" "$source/scenes/library/direct-disk.json" && { echo "the scene was not changed"; exit 1; }
judge other 0 "$folder/direct-disk.json" --device native --filter '^image[.]strict[.]direct-disk-2$'
says other 'none for these inputs'

# a wrong film starts the full search: the stage is blamed
judge fault 1 --device faulty:lost-cosine --filter '^image[.]strict[.]direct-disk$'
says fault 'stage to blame'
says fault 'another film than known'

# every strict picture of the core list has an answer, once
grep '^image[.]strict[.]' "$source/conformance/lists/core.txt" | LC_ALL=C sort >"$folder/listed"
sed -n 's/^ANSWER("\([^"]*\)".*/\1/p' "$source/conformance/cases/answers.def" >"$folder/answered"
diff "$folder/listed" "$folder/answered"
