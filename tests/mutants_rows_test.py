#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutants_rows_test.py SOURCE: what tools/mutants --rows makes of worth.json, in a copy of it: a row that was taken out comes back as
it was, from a run that has it beside others; a run of other mutants is refused, and leaves the file as it is."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(sys.argv[1])


def noticed(row, count):
    return {i for i in range(count) if int(row["notices"][i // 4], 16) >> i % 4 & 1}


def ordered(worth):
    """The cases that stand where they do because each notices a mutant of those that make the order."""
    left = set().union(*(noticed(c, worth["mutants"]) for c in worth["cases"]))
    left = {i for i in left if i % 2 == 0}
    for k, c in enumerate(worth["cases"]):
        if not left:
            return worth["cases"][:k]
        left -= noticed(c, worth["mutants"])
    return worth["cases"]


def rows_run(folder, run, journal):
    (folder / "more.json").write_text(json.dumps(run))
    (folder / "more.jsonl").write_text("".join(json.dumps(row) + "\n" for row in journal))
    return subprocess.run([sys.executable, folder / "tools/mutants", "--rows", folder / "more.json", folder / "more.jsonl"],
                          capture_output=True, text=True)


def check(folder):
    worth = folder / "conformance/lists/worth.json"
    whole = json.loads(worth.read_text())
    rows = {c["case"]: c for c in whole["cases"]}
    first = ordered(whole)
    gone, beside = first[len(first) // 2]["case"], [c["case"] for c in first[:3]]
    without = {**whole, "cases": [c for c in whole["cases"] if c["case"] != gone]}
    worth.write_text(json.dumps(without))
    asked = [rows[c] for c in (gone, *beside)]
    # two that do not live stand among them, and count nothing
    live = [{"id": f"mutant:{i}", "class": "alive", "cases": [c["case"] for c in asked if i in noticed(c, whole["mutants"])]}
            for i in range(whole["mutants"])]
    mutants = live[:30] + [{"id": "a", "class": "does not compile", "cases": []}] + live[30:] + [{"id": "b", "class": "same code", "cases": []}]
    run = {"text": whole["text"], "seed": whole["seed"], "list": "core", "until_caught": False, "mutants": mutants}
    # a machine that is half as fast, as the cases that both had tell
    journal = [{"mutant": "mutant:marked", "case": c["case"], "class": "alive", "s": 2 * c["s"], "reached": "f"} for c in asked]
    for c in asked:
        quiet = [i for i in range(whole["mutants"]) if i not in noticed(c, whole["mutants"])]
        for i in [*noticed(c, whole["mutants"]), *quiet][:c["asked"]]:
            journal.append({"mutant": f"mutant:{i}", "case": c["case"], "class": "killed", "s": 2 * c["s"]})

    other = json.loads(json.dumps(run))
    at = next(i for i, m in enumerate(other["mutants"]) if beside[0] in m["cases"])
    other["mutants"][at]["cases"].remove(beside[0])
    for name, wrong, said in (("fewer mutants", {**run, "mutants": mutants[1:]}, "is of other mutants than"),
                              ("another text", {**run, "text": "0"}, "or of another text"),
                              ("one not noticed", other, f"{beside[0]} noticed {mutants[at]['id']} for worth.json, and not in")):
        done = rows_run(folder, wrong, journal)
        assert done.returncode == 1 and said in done.stderr, (name, done.stderr)
        assert json.loads(worth.read_text()) == without, name

    done = rows_run(folder, run, journal)
    assert done.returncode == 0, done.stderr
    assert json.loads(worth.read_text())["cases"][: len(first)] == first, "the order of the first ones is another"
    back = {c["case"]: c for c in json.loads(worth.read_text())["cases"]}
    assert back == rows, back[gone]


with tempfile.TemporaryDirectory() as name:
    top = pathlib.Path(name)
    shutil.copytree(SOURCE / "conformance/lists", top / "conformance/lists")
    (top / "tools").mkdir()
    for tool in ("mutants", "device_calls.py"):
        shutil.copy(SOURCE / "tools" / tool, top / "tools")
    check(top)
