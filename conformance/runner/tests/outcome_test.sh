#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# outcome_test.sh ISOPHOTE: exit status, terminal, JUnit and report of one run say the same of each way in which a case can end.
set -u
isophote=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0
ISOPHOTE_CACHE=$dir/cache
export ISOPHOTE_CACHE
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
says 'something is judged' "$dir/j.xml"
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
[ "$failures" -eq 0 ] || exit 1
