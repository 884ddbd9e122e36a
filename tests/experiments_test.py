#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""experiments_test.py TOOLS/EXPERIMENTS ISOPHOTE: every experiment in small on native, what it writes, and bad requests."""
import json
import pathlib
import subprocess
import sys
import tempfile

tool, isophote = sys.argv[1], sys.argv[2]


def run(out, *options):
    command = [tool, str(out), "--program", isophote, "--quick", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


with tempfile.TemporaryDirectory() as folder:
    out = pathlib.Path(folder)
    store = out / "store.db"
    done = run(out, "--device", "native", "--store", str(store))
    assert done.returncode == 0, done.stdout + done.stderr
    listed = subprocess.run([tool, "--list"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.splitlines() if not line.startswith("tools/")]
    rows = {name: json.loads((out / f"{name}.json").read_text())["rows"] for name in names}
    for name in names:
        assert "| native" in (out / f"{name}.md").read_text() or name in ("spherelight", "optimiser"), name
        ours = [r for r in rows[name] if not str(next(iter(r.values()))).startswith("published")]
        assert ours and any("reason" not in r for r in ours), (name, ours)
    # the best shape takes its own time, any other at least that
    shapes = [float(v) for k, v in rows["block-size"][0].items() if "x" in k]
    assert len(shapes) == 7 and min(shapes) == 1, shapes
    # published: the slowest is itself; 15:57 over 1:33 minutes
    published = {r["device"]: r for r in rows["devices"] if r["device"].startswith("published")}
    assert published["published: i5-12600, OpenCL"]["times the slowest"] == "1.00"
    assert published["published: 6700 XT, HIP"]["times the slowest"] == f"{(15 * 60 + 57) / (60 + 33):.2f}"
    # both textures in all three models
    textures = [r for r in rows["procedural"] if r["device"] == "native"]
    assert len(textures) == 2 and all(r[m].endswith(" %") for r in textures for m in ("megakernel", "separate", "wavefront")), textures
    # a point is shaded on every engine; compiled ones are faster than the interpreter
    for r in rows["spherelight"]:
        speed = float(r["compiled C"].split(", ")[1])
        assert speed > 1 and r["interpreter, point by point"].endswith(", 1.00"), r
    # no shader is gone whole, none grew
    shaders = [r for r in rows["optimiser"] if "operations" in r and r["shader"] != "all"]
    assert len(shaders) >= 3 and all(0 < r["left"] < r["operations"] for r in shaders), shaders
    total = next(r for r in rows["optimiser"] if r["shader"] == "all")
    assert total["left"] == sum(r["left"] for r in shaders)
    # the store holds what was timed
    told = subprocess.run([isophote, "export", "--store", str(store)], capture_output=True, text=True, check=True).stdout
    kinds = {json.loads(line).get("kind") for line in told.splitlines() if '"kind"' in line}
    assert {"bench", "sweep"} <= kinds, kinds

    # what cannot run is a row with its reason, and nothing measured is no success
    done = run(out, "devices", "--device", "nothing:7")
    assert done.returncode == 1 and "nothing was measured" in done.stderr, done.stderr
    assert "nothing:7" in json.loads((out / "devices.json").read_text())["rows"][0]["reason"]
    done = run(out, "table-9")
    assert done.returncode == 2 and "table-9" in done.stderr, done.stderr
