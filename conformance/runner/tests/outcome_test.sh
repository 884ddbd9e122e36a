#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# outcome_test.sh ISOPHOTE: exit status, terminal, JUnit and report of one run say the same of each way in which a case can end.
set -u
isophote=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0
echo '{"isophote": 1, "objects": 7}' >"$dir/bad.json"
echo '{"skips": []}' >"$dir/none.json"
echo '{"skips": [{"device": "native", "case": "kernel.texture.*", "reason": "the scene has no textures"}]}' >"$dir/textures.json"
echo '{"waivers": [{"device": "native", "case": "kernel.light.bad", "reason": "known", "expires": "2999-01-01"}]}' >"$dir/waivers.json"
echo '{"waivers": [{"device": "native", "case": "kernel.rng.*", "reason": "known", "expires": "2999-01-01"}]}' >"$dir/mended.json"
echo '{"waivers": 3}' >"$dir/broken.json"

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}
says() { grep -q -- "$1" "$2" || fail "$name: no '$1' in $(head -c 1500 "$2")"; }
# ends NAME STATUS WORD TESTS FAILURES ERRORS SKIPPED OPTIONS...: a run, what it says of its cases, and its JUnit file's counts
ends() {
    name=$1 status=$2 word=$3 counts="tests=\"$4\" failures=\"$5\" errors=\"$6\" skipped=\"$7\""
    shift 7
    rm -f "$dir/s.db" "$dir/j.xml"
    "$isophote" conform --device native --store "$dir/s.db" --junit "$dir/j.xml" "$@" >"$dir/out" 2>&1
    got=$?
    [ "$got" = "$status" ] || fail "$name: exit status $got, expected $status: $(cat "$dir/out")"
    says "^$word  *native  *kernel" "$dir/out"
    says "<testsuites name=\"isophote conform\" $counts" "$dir/j.xml"
    "$isophote" report --store "$dir/s.db" -o "$dir/again.xml" || fail "$name: report"
    cmp -s "$dir/j.xml" "$dir/again.xml" || fail "$name: --junit and report differ"
}

skip='^kernel[.]texture[.]cornell$'
pass='^kernel[.]rng'
ends 'a pass' 0 PASS 1 0 0 0 --filter "$pass"
ends 'a skip alone is nothing judged' 77 SKIP 2 0 1 1 --filter "$skip"
says 'something passes' "$dir/j.xml"
ends 'an expected skip alone is nothing judged' 77 SKIP 2 0 1 1 --filter "$skip" --skips "$dir/textures.json"
ends 'an expected skip beside a pass' 0 SKIP 2 0 0 1 --filter "$skip|$pass" --skips "$dir/textures.json"
ends 'an unexpected skip beside a pass' 1 SKIP! 2 1 0 0 --filter "$skip|$pass" --skips "$dir/none.json"
ends 'an error' 1 ERROR 1 0 1 0 "$dir/bad.json" --filter '^kernel[.]light[.]bad$'
ends 'a waived error alone is nothing judged' 77 WAIVED 2 0 1 1 "$dir/bad.json" --filter '^kernel[.]light[.]bad$' --waivers "$dir/waivers.json"
ends 'a waived error beside a pass' 0 WAIVED 2 0 0 1 "$dir/bad.json" --filter "^kernel[.]light[.]bad\$|$pass" --waivers "$dir/waivers.json"
ends 'a waived case that passes' 0 PASS 1 0 0 0 --filter "$pass" --waivers "$dir/mended.json"
says 'remove the waiver' "$dir/j.xml"

# a start that fails leaves what was there before
ends 'an error' 1 ERROR 1 0 1 0 "$dir/bad.json" --filter '^kernel[.]light[.]bad$'
"$isophote" conform --device native --store "$dir/s.db" --filter "$pass" --waivers "$dir/broken.json" >"$dir/out" 2>&1
[ $? = 2 ] || fail "broken waivers are taken"
"$isophote" report --store "$dir/s.db" -o "$dir/again.xml" || fail "report after a start that failed"
cmp -s "$dir/j.xml" "$dir/again.xml" || fail "a start that failed hides the run before it: $(cat "$dir/again.xml")"
# a FAIL is run again, and a waived one is not
ends 'a fail' 1 ERROR 1 0 1 0 "$dir/bad.json" --filter '^kernel[.]light[.]bad$' --reruns 2
says 'ERROR 3 of 3 runs' "$dir/j.xml"

# a full disk under journal or store: said, with what was done, which is kept and gone on with
many='^kernel[.](rng|math)'
disk() { # BLOCKS OF 512 BYTES, OPTIONS...: as much may be written to a file
    blocks=$1
    shift
    (trap '' XFSZ; ulimit -f "$blocks"; exec "$isophote" conform --device native --filter "$many" --canary 0 "$@") >"$dir/out" 2>&1
}
name='a full disk under the journal'
rm -f "$dir/full.journal"
disk unlimited --journal "$dir/full.journal" # now the cache has what workers keep there
size=$(wc -c <"$dir/full.journal")
rm -f "$dir/full.journal"
disk $((size * 3 / 4 / 512)) --journal "$dir/full.journal"
[ $? = 2 ] || fail "$name: $(cat "$dir/out")"
says 'full.journal: File too large' "$dir/out"
says '^[1-9][0-9]* cases: ' "$dir/out"
kept=$(grep -c '"verdict"' "$dir/full.journal")
disk unlimited --journal "$dir/full.journal" --resume || fail "$name: resume: $(cat "$dir/out")"
grep -qE "(^|[^0-9])($kept|$((kept - 1))) taken from the journal" "$dir/out" || fail "$name: $kept lines, $(cat "$dir/out")"
name='a full disk under the store'
rm -f "$dir/s.db"*
disk 60 --store "$dir/s.db" --journal "$dir/s.journal"
[ $? = 2 ] || fail "$name: $(cat "$dir/out")"
says 's.db' "$dir/out"

# a device that turns wrong meanwhile: OpenCL's layer of the tests, where there is PoCL
layer=${2:-}
pocl=$("$isophote" devices 2>/dev/null | grep -o '^opencl:[0-9]* .*Portable Computing Language' | head -n 1)
if [ -n "$pocl" ] && [ -e "$layer" ]; then
    device=${pocl%% *}
    # canaries before and after alone: how many there are between depends on the machine's load
    turns() { # STATUS FAULT SAYS OPTIONS...
        name=$2 status=$1 says=$3
        fault=$2
        shift 3
        rm -f "$dir/n" "$dir/j.xml"
        OPENCL_LAYERS=$layer ISOPHOTE_SOFT_FAULT=$fault ISOPHOTE_SOFT_COUNT=$dir/n "$isophote" conform --device "$device" \
            --filter '^kernel[.]rng|^kernel[.]math[.]exact' --canary 1000 --junit "$dir/j.xml" "$@" >"$dir/out" 2>&1
        got=$?
        [ "$got" = "$status" ] || fail "$name: exit status $got, expected $status: $(cat "$dir/out")"
        says "$says" "$dir/out"
    }
    turns 0 wrong:100000 '2 cases: 2 pass'
    before=$(wc -c <"$dir/n")
    # the last launch of a right run is the last canary's; the case before is judged by it
    turns 1 "wrong:$before" "does not count: $device is sick"
    says '<error ' "$dir/j.xml"
    turns 0 "wrong:$before" '2 cases: 2 pass' --canary 0 # and without one nobody sees it
    # one wrong launch, the last of the first case: not green
    OPENCL_LAYERS=$layer ISOPHOTE_SOFT_COUNT=$dir/m "$isophote" conform --device "$device" --filter '^kernel[.]rng' --canary 0 >"$dir/out"
    turns 1 "once:$(wc -c <"$dir/m")" '^FLAKY' --canary 0
    says 'FAIL 1 of 4 runs, PASS 3: flaky' "$dir/out"
    says '<failure message="FAIL 1 of 4 runs, PASS 3: flaky' "$dir/j.xml"
fi
[ "$failures" -eq 0 ] || exit 1
