#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""formats_test.py NUMBER_FORMATS ISOPHOTE: the tracer's double against the reference's picture of the same scene, formats
against double, and bad requests."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

tool, isophote = sys.argv[1], sys.argv[2]
scene = str(pathlib.Path(__file__).resolve().parent.parent / "spheres.json")
library = pathlib.Path(__file__).resolve().parents[3] / "scenes/library"


def run(*options):
    return subprocess.run([tool, *options], capture_output=True, text=True, check=False)


def rows(*options, scene=scene):
    done = run(scene, "--width", "48", "--height", "32", "--spp", "64", "--json", *options)
    assert done.returncode == 0, done.stderr
    return {r["format"]: r for r in json.loads(done.stdout)["rows"]}


made = rows("--formats", "float32,float16,bfloat16,fixed4.8,fixed16.32")
# The reference samples lights, this tracer meets them by chance: one expectation. 1 % is three times the noise of both.
with tempfile.TemporaryDirectory() as folder:
    command = [isophote, "render", scene, "--device", "reference", "--width", "48", "--height", "32", "--spp", "64", "--json",
               "-o", folder + "/a.pfm", "--checkpoint", "none"]  # fmt: skip
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
for ours, theirs in zip(made["double"]["mean"], told["mean_radiance"]):
    assert abs(ours / theirs - 1) < 0.01, (made["double"], told["mean_radiance"])
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
assert lost[0] > 4 * abs(lost[1]), lost

# Instructions give the emulation's pictures, bit for bit. Posits are nearest where most of their bits are fraction.
listed = {name: (how, lacks) for name, how, lacks in (line.split("\t") for line in run("--list").stdout.splitlines())}
assert {"float32", "float16", "bfloat16", "fixedM.N", "float16-f16c", "posit16"} <= set(listed), listed
here = [f for f in listed if f != "fixedM.N" and not listed[f][1]]
made = rows("--spp", "16", "--formats", ",".join(here))
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
                      ("fixed1.0", "widths out of range"), ("posit33", "column 1: 'posit33': expected a name that --list has"),
                      ("float32,", "column 9: ''"), ("fixed8.8x", "expected a name")):  # fmt: skip
    done = run(scene, "--formats", formats)
    assert done.returncode == 2 and said in done.stderr and not done.stdout, (formats, done)
done = run(str(library / "glass.json"))
assert done.returncode == 2 and "this tracer has no disks" in done.stderr, done
for bad in ([], [scene, "--spp", "0"], [scene, "--apply", "eyes"], [scene, "--what"]):
    assert run(*bad).returncode == 2, bad
done = run("nowhere.json")
assert done.returncode == 2 and "nowhere.json" in done.stderr, done
