#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""formats_test.py NUMBER_FORMATS ISOPHOTE THINNING: the tracer's double against the reference's picture of the same scene, formats
against double, and bad requests. THINNING: what part of the samples is taken (under a sanitizer: cmake/isophote.cmake)."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

tool, isophote, thinning = sys.argv[1], sys.argv[2], int(sys.argv[3])
spp = str(64 // thinning)
scene = str(pathlib.Path(__file__).resolve().parent.parent / "spheres.json")
library = pathlib.Path(__file__).resolve().parents[3] / "scenes/library"


def run(*options):
    return subprocess.run([tool, *options], capture_output=True, text=True, check=False)


def rows(*options, scene=scene):
    done = run(scene, "--width", "48", "--height", "32", "--spp", spp, "--json", *options)
    assert done.returncode == 0, done.stderr
    return {r["format"]: r for r in json.loads(done.stdout)["rows"]}


made = rows("--formats", "float32,float16,bfloat16,fixed4.8,fixed16.32")
# The reference samples lights, this tracer meets them by chance: one expectation. 1 % is three times the noise of both at 64 samples.
with tempfile.TemporaryDirectory() as folder:
    command = [isophote, "render", scene, "--device", "reference", "--width", "48", "--height", "32", "--spp", spp, "--json",
               "-o", folder + "/a.pfm", "--checkpoint", "none"]  # fmt: skip
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
for ours, theirs in zip(made["double"]["mean"], told["mean_radiance"]):
    assert abs(ours / theirs - 1) < 0.01 * thinning**0.5, (made["double"], told["mean_radiance"])
# Edges of a path are counted as scenes count them: emission alone, then light once reflected.
with tempfile.TemporaryDirectory() as folder:
    for depth in ("1", "2"):
        ours = rows("--formats", "float32", "--max-depth", depth)["double"]["mean"]
        told = subprocess.run([*command[:-3], folder + "/b.pfm", "--checkpoint", "none", "--max-depth", depth], capture_output=True, text=True, check=True)
        for a, b in zip(ours, json.loads(told.stdout)["mean_radiance"]):
            assert abs(a / b - 1) < 0.02 * thinning**0.5, (depth, ours, told.stdout)
# More bits are nearer to double, and none but double is it.
errors = [made[f]["rmse"] for f in ("double", "fixed16.32", "float16", "bfloat16")]
assert errors == sorted(set(errors)) and errors[0] == 0, errors
assert made["float32"]["rmse"] < 1e-3 < made["float16"]["rmse"], made
assert made["fixed4.8"]["rmse"] > made["fixed16.32"]["rmse"], made
# Directions and distances cost float16 its light, sums do not; hits of the surface that a ray leaves are why.
alone = {q: rows("--formats", "float16", "--apply", q)["float16"]["rmse"] for q in ("geometry", "light", "film")}
assert alone["geometry"] > 4 * max(alone["light"], alone["film"]), alone
box = [rows("--formats", "float16", "--apply", "geometry", "--offset", o, scene=str(library / "cornell.json")) for o in ("0.001", "0.01")]
lost = [1 - r["float16"]["mean"][1] / r["double"]["mean"][1] for r in box]
assert thinning > 1 or lost[0] > 4 * abs(lost[1]), lost  # few samples tell nothing of means

# Instructions give the emulation's pictures, bit for bit. Posits are nearest where most of their bits are fraction.
listed = {name: (how, lacks) for name, bits, how, lacks in (line.split("\t") for line in run("--list").stdout.splitlines())}
assert {"float32", "float16", "bfloat16", "fixedM.N", "float16-f16c", "posit16"} <= set(listed), listed
here = [f for f in listed if f != "fixedM.N" and not listed[f][1]]
made = rows("--spp", str(-(-16 // thinning)), "--formats", ",".join(here))
for name in here:
    if "-" in name:
        same = ("mean", "rmse", "relmse")
        assert [made[name][k] for k in same] == [made[name.split("-")[0]][k] for k in same], (name, made)
posits = [f for f in here if f.startswith("posit")]
assert posits in ([], ["posit8", "posit16", "posit32"]), listed
if posits:
    assert made["posit32"]["rmse"] < made["posit16"]["rmse"] < made["posit8"]["rmse"], made
    assert made["posit16"]["rmse"] < made["bfloat16"]["rmse"], made
else:
    print("SKIP of posits:", listed["posit16"][1])
for name, file in (("nowhere", "/nowhere/libsoftposit.so"), ("lacks SoftPosit's functions", "libm.so.6")):
    done = subprocess.run([tool, scene, "--formats", "float32,posit16"], capture_output=True, text=True, check=False,
                          env={**os.environ, "ISOPHOTE_SOFTPOSIT": file})  # fmt: skip
    assert done.returncode == 2 and "column 9: 'posit16'" in done.stderr and name in done.stderr, done
absent = [f for f in listed if "built for a processor" in listed[f][1]]
for name in absent:
    done = run(scene, "--formats", name)
    assert done.returncode == 2 and "built for a processor without it" in done.stderr, done

for formats, said in (("float16,fixed70.2", "column 9: 'fixed70.2': widths out of range"), ("fixed0.8", "widths out of range"),
                      ("fixed1.0", "widths out of range"), ("posit33", "column 1: 'posit33': expected double, float32, "),
                      ("float32,", "column 9: ''"), ("fixed8.8x", "or fixedM.N with widths of 1 <= M")):  # fmt: skip
    done = run(scene, "--formats", formats)
    assert done.returncode == 2 and said in done.stderr and not done.stdout, (formats, done)
done = run(str(library / "glass.json"))
assert done.returncode == 77 and "this tracer has no disks" in done.stderr, done
for bad in ([], [scene, "--spp", "0"], [scene, "--apply", "eyes"], [scene, "--what"], [scene, "--seed", "-1"], [scene, "--max-depth", "0"]):
    assert run(*bad).returncode == 2, bad
done = run("nowhere.json")
assert done.returncode == 2 and "nowhere.json" in done.stderr, done


# ---- the axis of `isophote sweep` -----------------------------------------------------------------------------------------


def program(*arguments, env=None):
    return subprocess.run([isophote, *arguments], capture_output=True, text=True, check=False, env={**os.environ, **(env or {})})


with tempfile.TemporaryDirectory() as folder:
    store, small = folder + "/a.db", ["--width", "24", "--height", "16", "--spp", "8"]
    done = program("sweep", scene, str(library / "glass.json"), "--axis", "number-format=float16,fixed16.16,posit16", *small, "--json", "--store", store,
                   env={"ISOPHOTE_SOFTPOSIT": "/nowhere/libsoftposit.so"})  # fmt: skip
    assert done.returncode == 0, done.stderr
    swept = json.loads(done.stdout)["rows"]
    assert [(r["scene"], r["format"], bool(r["reason"])) for r in swept] == [
        ("spheres", "float16", False), ("spheres", "fixed16.16", False), ("spheres", "posit16", True),
        ("glass", "float16", True), ("glass", "fixed16.16", True), ("glass", "posit16", True)], swept  # fmt: skip
    assert "nowhere" in swept[2]["reason"] and "this tracer has no disks" in swept[3]["reason"], swept
    # its figures are those of the tool, by the scene's seed and depth or by others
    for more in ((), ("--seed", "7", "--max-depth", "3")):
        again = json.loads(program("sweep", scene, "--axis", "number-format=fixed16.16", *small, *more, "--json").stdout)["rows"][0]
        alone = json.loads(run(scene, "--formats", "fixed16.16", *small, *more, "--json").stdout)["rows"][1]
        assert all(again[k] == alone[k] for k in ("mean", "rmse", "relmse", "bits", "how")), (again, alone)
        assert (again["relmse"] == swept[1]["relmse"]) == (not more), (again, swept)
        assert again["max_depth"] == (3 if more else 8), again
    # double in double's place is no other picture, at no other cost
    itself = json.loads(program("sweep", scene, "--axis", "number-format=double", *small, "--json").stdout)["rows"][0]
    assert itself["relmse"] == 0 and itself["bits"] == 64 and 0.2 < itself["times_double"] < 5, itself
    # float16 ends at 65504: what is brighter in all has no finite picture, and the next format has its row
    bright = json.loads(pathlib.Path(scene).read_text())
    bright["environment"]["radiance"] = 20000
    pathlib.Path(folder + "/bright.json").write_text(json.dumps(bright))
    ended = json.loads(program("sweep", folder + "/bright.json", "--axis", "number-format=float16,bfloat16", *small, "--json").stdout)["rows"]
    assert "not finite" in ended[0]["reason"] and not ended[1]["reason"] and ended[1]["relmse"] > 0, ended
    # a scene that is none ends the whole, with the place
    pathlib.Path(folder + "/bad.json").write_text(pathlib.Path(scene).read_text().replace('"material": "floor"', '"material": "flor"'))
    done = program("sweep", folder + "/bad.json", "--axis", "number-format=float16", *small, "--json")
    assert done.returncode == 2 and re.search(r"bad[.]json:16:\d+: no material", done.stderr) and not done.stdout, done
    # the command of a row gives it again
    words = swept[1]["command"].split()[1:]
    assert json.loads(program(*words, "--json").stdout)["rows"][0]["relmse"] == swept[1]["relmse"], words
    # through JSON Lines and back; then a newer row takes an older one's place in the report
    lines = folder + "/a.jsonl"
    assert program("export", "--store", store, "-o", lines).returncode == 0
    assert program("import", lines, "--store", folder + "/b.db").returncode == 0
    program("export", "--store", folder + "/b.db", "-o", folder + "/b.jsonl")
    text = pathlib.Path(lines).read_text()
    assert text == pathlib.Path(folder + "/b.jsonl").read_text() and text.count('"type":"number_format"') == 6, text
    forged = text.replace('"reason":null', '"reason":"because"', 1)
    pathlib.Path(folder + "/c.jsonl").write_text(forged)
    done = program("import", folder + "/c.jsonl", "--store", folder + "/c.db")
    assert forged != text and done.returncode == 2 and "has figures and a reason why not" in done.stderr, done
    program("sweep", scene, "--axis", "number-format=float16", *small, "--store", store)
    for name, wanted in (("a.html", ('<section id="formats">', ">float16</td>", "bits of a number", "spheres 24x16, 8 spp: fixed</li>",
                                     "spheres 24x16, 8 spp: fixed, emulated</li>")),
                         ("a.md", ("## Number formats", "| spheres | 24x16, 8 spp | float16 | emulated |"))):  # fmt: skip
        assert program("report", "--store", store, "-o", f"{folder}/{name}").returncode == 0
        page = pathlib.Path(folder, name).read_text()
        assert all(w in page for w in wanted), [w for w in wanted if w not in page]
    assert page.count("| spheres | 24x16, 8 spp | float16 |") == 1, page

    # what it is stored as, no sweep goes on with
    assert text.count('"type":"run"') == 1 and '"kind":"number-format"' in text, text

    for axis, said in (("number-format=fixed:99", "column 1: 'fixed:99': expected double, float32, "), ("number-format=float16,fixed70.2", "column 9: 'fixed70.2': widths out of range"),
                       ("number-format=", "column 1: ''"), ("number-formats", "number-format")):  # fmt: skip
        done = program("sweep", scene, "--axis", axis, "--store", folder + "/d.db")
        assert done.returncode == 2 and said in done.stderr and not done.stdout and not os.path.exists(folder + "/d.db"), done
    for more in (["--axis", "bvh"], ["--device", "native"], ["--bvh", "bvh2"], ["--mode", "fast"], ["--work-group", "8x8"], ["--resume"],
                 ["--strategy", "halving"], ["--constraint", "square"], ["--budget", "1"], ["--rr-depth", "3"], ["--bake"]):  # fmt: skip
        done = program("sweep", scene, "--axis", "number-format=float16", *more)
        assert done.returncode == 2 and "axis number-format: its tracer has" in done.stderr, done
    done = program("sweep", scene, "--axis", "number-format=float32", *small, "--bvh", "none")
    assert done.returncode == 0, done
    assert program("sweep", str(library / "glass.json"), "--axis", "number-format=float32", *small).returncode == 77
    done = program("sweep", "nowhere.json", "--axis", "number-format=float32")
    assert done.returncode == 2 and "nowhere.json" in done.stderr, done
