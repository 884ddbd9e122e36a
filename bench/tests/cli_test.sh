#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cli_test.sh ISOPHOTE SCENES: bench, sweep, report, compare, export and import as a user types them, on the native device.
set -u
isophote=$1
scenes=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
failures=0

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}
# expect STATUS COMMAND...: the exit status; output in $dir/out and $dir/err
expect() {
    wanted=$1
    shift
    "$@" >"$dir/out" 2>"$dir/err"
    got=$?
    [ "$got" = "$wanted" ] || fail "$* gave $got, expected $wanted: $(tail -n 3 "$dir/err")"
}
says() { grep -q -- "$1" "$dir/out" "$dir/err" || fail "nothing says '$1'"; }

small="--device native --mode strict --width 24 --height 24 --spp 2 --max-depth 3"
s=$dir/a.sqlite

# shellcheck disable=SC2086
{
    expect 0 "$isophote" bench "$scenes/furnace.json" $small --store "$s" --budget 0.2
    says '^PASS  furnace on native, strict'
    expect 0 "$isophote" bench "$scenes/furnace.json" $small --budget 0.2 --json
    says '"samples_per_s": [0-9]'
    says '"work_group": \[0, 0\]'
    expect 1 "$isophote" bench "$scenes/furnace.json" $small --budget 0.2 --unjudged --json
    says '"samples_per_s": null'
    expect 0 "$isophote" bench "$scenes/shaded-wood.json" $small --budget 0.2 --statistics --store "$dir/st.sqlite" --json
    says '"texture_queries": 0'
    says '"mean_run": [0-9]'
    says '"tracing_s": [0-9]'
    expect 0 "$isophote" report --store "$dir/st.sqlite" -o "$dir/st.html"
    grep -q 'id="statistics"' "$dir/st.html" || fail "no statistics in the report"
    expect 0 "$isophote" sweep "$scenes/furnace.json" $small --axis work-group=1x1,8x8,70000x1 --axis bvh --store "$s" --budget 0.2
    says '^SKIP  furnace on native.*70000x1'
    says 'furnace on native, strict: best'
    expect 0 "$isophote" sweep "$scenes/furnace.json" $small --axis work-group=1x1,8x8,70000x1 --axis bvh --store "$s" --resume
    grep -q '^PASS\|^SKIP' "$dir/out" && fail "resume timed what the store has"

    # wrong pictures have no rate, and the exit status says so
    expect 1 "$isophote" bench "$scenes/cornell.json" --device faulty:lost-cosine --mode strict --width 24 --height 24 --spp 4 --budget 0.2 --json
    says '"verdict": "FAIL"'
    says '"samples_per_s": null'
}

# clocks that are held down: a made-up /sys. Too hot: no rate, and it is said why. At a cap all the time: a rate, and it is said.
chip=$dir/sys/class/hwmon/hwmon0
mkdir -p "$chip"
echo coretemp >"$chip/name"
echo 97000 >"$chip/temp1_input"
echo 1 >"$chip/temp1_crit_alarm"
echo 0 >"$chip/power1_cap_alarm"
ISOPHOTE_SYS=$dir/sys
export ISOPHOTE_SYS
# shellcheck disable=SC2086
{
    expect 1 "$isophote" bench "$scenes/furnace.json" $small --store "$dir/hot.sqlite" --repetitions 3 --max-repetitions 4
    says '^ERROR furnace on native, strict.*8 of 8 repetitions were throttled (too hot), and none is left: no rate'
    echo 0 >"$chip/temp1_crit_alarm"
    echo 1 >"$chip/power1_cap_alarm"
    expect 0 "$isophote" sweep "$scenes/furnace.json" $small --axis work-group=8x8 --store "$dir/hot.sqlite" --repetitions 3 --max-repetitions 4
    says '^PASS  furnace on native, strict.* repetitions; all repetitions that count were at a cap (power cap)'
    expect 0 "$isophote" bench "$scenes/furnace.json" $small --store "$dir/hot.sqlite" --repetitions 3 --max-repetitions 4 --json
    says '"notes": "all repetitions that count were at a cap (power cap)'
    says '"hottest_c": 97'
    says '"counted": "at a cap"'
}
unset ISOPHOTE_SYS
for f in html md csv; do
    expect 0 "$isophote" report --store "$dir/hot.sqlite" -o "$dir/hot.$f"
    grep -q 'at a cap (power cap)' "$dir/hot.$f" || fail "hot.$f says nothing of the cap"
done
# a budget that ends a row before the repetitions asked for is said; without one they hold
# shellcheck disable=SC2086
{
    expect 0 "$isophote" bench "$scenes/furnace.json" $small --repetitions 9 --max-repetitions 9 --budget 1e-6
    says 'repetitions; .*the budget of 1e-06 s ended it after [1-3] of 9 repetitions: about '
    expect 0 "$isophote" bench "$scenes/furnace.json" $small --repetitions 9 --max-repetitions 9
    says ', 9 repetitions'
    expect 0 "$isophote" bench "$scenes/furnace.json" $small --max-repetitions 2
    says ', 2 repetitions'
}
expect 2 "$isophote" bench --repetitions 501
says 'repetitions 501: a row has at most 500'
expect 2 "$isophote" sweep --repetitions 5 --max-repetitions 4
expect 2 "$isophote" bench --budget 0

for f in html md csv; do
    expect 0 "$isophote" report --store "$s" -o "$dir/r.$f"
    [ -s "$dir/r.$f" ] || fail "no r.$f"
done
grep -qE '(src|href)="?https?:' "$dir/r.html" && fail "the report links to outside"
expect 2 "$isophote" report --store "$s" -o "$dir/r.xml" # no conformance run in it
says 'no run of kind conform'
expect 2 "$isophote" report --store "$s" -o "$dir/r.pdf"
says 'html, markdown, csv or junit'
[ -e "$dir/r.pdf" ] && fail "a refused format left a file"

expect 0 "$isophote" export --store "$s" -o "$dir/a.jsonl"
expect 0 "$isophote" import "$dir/a.jsonl" --store "$dir/b.sqlite"
expect 0 "$isophote" export --store "$dir/b.sqlite"
cmp -s "$dir/out" "$dir/a.jsonl" || fail "export, import, export is not the same"
expect 0 "$isophote" compare "$s" "$dir/b.sqlite" --threshold 1000
says '^0 regressions'
# a rate a tenth of what it was is a regression
sed -E 's/("samples_per_s"|"interval_low"|"interval_high"):([1-9][0-9]*)[0-9]([.,}])/\1:\2\3/g' "$dir/a.jsonl" >"$dir/slow.jsonl"
expect 0 "$isophote" import "$dir/slow.jsonl" --store "$dir/slow.sqlite"
expect 1 "$isophote" compare "$s" "$dir/slow.sqlite" --threshold 50
says 'slower'
expect 0 "$isophote" compare "$dir/slow.sqlite" "$s" --threshold 50
says 'faster'

head -n 2 "$dir/a.jsonl" >"$dir/cut.jsonl"
printf '{"type":"bench","run":1,' >>"$dir/cut.jsonl"
expect 2 "$isophote" import "$dir/cut.jsonl" --store "$dir/c.sqlite"
says 'cut.jsonl:3:'
[ -e "$dir/c.sqlite" ] && fail "a refused import made a store"
cp "$s" "$dir/c.sqlite"
expect 2 "$isophote" import "$dir/cut.jsonl" --store "$dir/c.sqlite"
expect 0 "$isophote" export --store "$dir/c.sqlite"
cmp -s "$dir/out" "$dir/a.jsonl" || fail "half an import stayed in the store"

expect 2 "$isophote" report --store "$dir/none.sqlite" -o "$dir/x.html"
[ -e "$dir/none.sqlite" ] && fail "reading made a store"
echo 'not a store, but long enough to be looked at as one; so it is a text' >"$dir/text"
expect 2 "$isophote" report --store "$dir/text" -o "$dir/x.html"
expect 2 "$isophote" bench "$dir/text" --device native
says 'text:1:'
expect 77 "$isophote" bench "$scenes/furnace.json" --device no-such-device
expect 2 "$isophote" sweep "$scenes/furnace.json" --axis colour
expect 2 "$isophote" sweep "$scenes/furnace.json" --axis work-group=8
expect 2 "$isophote" sweep "$scenes/furnace.json" --constraint 'items<8'
expect 2 "$isophote" sweep "$scenes/furnace.json" --strategy random:0
expect 2 "$isophote" sweep "$scenes/furnace.json" --resume

[ "$failures" = 0 ] && echo "cli_test: all passed"
exit "$failures"
