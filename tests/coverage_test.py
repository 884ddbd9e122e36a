#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/coverage on one small case. Usage: coverage_test.py TOOL PROGRAM. 77 where clang's tools are not here."""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

tool, program = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    data, page, again = Path(folder, "a.json"), Path(folder, "a.html"), Path(folder, "b.html")

    def run(*arguments):
        return subprocess.run([tool, "--program", program, *arguments], capture_output=True, text=True)

    done = run("--json", str(data), "-o", str(page), "--", "--filter", "kernel[.]rng")
    if done.returncode == 2 and "are not here" in done.stderr:
        print(done.stderr.strip())
        sys.exit(77)
    assert done.returncode == 0, done.stdout + done.stderr
    files = json.loads(data.read_text())
    # the generator of random numbers ran, camera rays did not
    random, camera = files["math/random.h"], files["scene/camera.h"]
    assert random["run"] > 10 and random["run"] <= random["lines"], random
    assert camera["run"] == 0 and len(camera["never"]) == camera["lines"], camera
    text = (Path(tool).resolve().parent.parent / "device/math/random.h").read_text().splitlines()
    rounds = next(n for n, row in enumerate(text, 1) if "0xD2511F53" in row.replace("d2511f53u", "D2511F53"))
    assert rounds not in random["never"], f"line {rounds} of math/random.h ran"
    # mode device alone was compiled; a mode whose programs have a file and do not run it says so, where another's did
    apart = random["apart"]
    assert set(apart) == {"device"} and apart["device"] == {"lines": random["lines"], "run": random["run"], "others": []}, apart
    assert re.search(r"^device +\d+ +\d+[.]\d %$", done.stdout, re.M), done.stdout
    # what one tree alone has is told of each tree, and no ray was traced here
    trees = {tree for f in files.values() for tree in f.get("trees", {})}
    assert trees == {"bvh2", "bvh8", "bvh8c", "none"}, trees
    own = files["trace/traverse8c.h"]["trees"]["bvh8c"]
    assert own["all"] == own["device"] and own["all"]["lines"] > 50 and own["all"]["run"] == 0, own
    assert set(files["trace/traverse2.h"]["trees"]) == {"bvh2"} and files["trace/traverse2.h"]["trees"]["bvh2"]["all"]["lines"] < files["trace/traverse2.h"]["lines"]
    assert re.search(r"^bvh8c +\d+ +0[.]0 %", done.stdout, re.M), done.stdout
    two = json.loads(data.read_text())
    two["math/random.h"]["apart"]["fast"] = {"lines": random["lines"], "run": 0, "others": [rounds]}
    Path(folder, "two.json").write_text(json.dumps(two))
    shown = run("--again", str(Path(folder, "two.json")), "-o", str(again))
    assert re.search(r"^fast +\d+ +0[.]0 %$", shown.stdout, re.M), shown.stdout
    assert re.search(rf"class='apart'> *{rounds} .*/[*] not in fast [*]/", again.read_text()), "the page names no mode"
    assert "class='never'" in page.read_text() and "scene/camera.h" in page.read_text()
    assert run("--again", str(data), "-o", str(again)).returncode == 0 and again.read_text() == page.read_text()
    # a list of what nothing runs: whole it is agreed with; a line less, one that runs, and bad rows are told
    listed = Path(folder, "list.txt")

    def check(*more):
        return run("--again", str(data), "--list", str(listed), *more)

    assert check("--update").returncode == 0
    whole = listed.read_text()
    assert "= no reason yet" in whole and "scene/camera.h: never " in whole and check("--check").returncode == 0
    entry = next(row for row in whole.splitlines() if row.startswith("scene/camera.h: never "))
    listed.write_text(whole.replace(entry + "\n", "", 1))
    less = check("--check")
    assert less.returncode == 1 and "device/scene/camera.h:" in less.stdout and " 1 differ" in less.stdout, less.stdout
    listed.write_text(whole + "math/random.h: never 3: what runs\n")
    more = check("--check")
    assert more.returncode == 1 and "math/random.h: never 3: what runs: is run" in more.stdout, more.stdout
    listed.write_text(whole + "= Sometimes: by the weather\nmath/random.h: never 3: what runs\n")
    assert check("--check").returncode == 0, check("--check").stdout
    assert check("--update").returncode == 0 and "= Sometimes: by the weather\nmath/random.h" in listed.read_text()
    listed.write_text("# kept\n\n= cameras are tried elsewhere\n" + entry + "\n")
    assert check("--update").returncode == 0
    assert listed.read_text().startswith("# kept\n\n= cameras are tried elsewhere\n" + entry + "\n")
    listed.write_text("= why\nno entry\n")
    assert check("--check").returncode == 2
    # nothing to measure, and no such case
    assert run("--", "--filter", "^none$").returncode == 2
    assert run("--again", str(page)).returncode == 2
