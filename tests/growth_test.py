#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""growth_test.py TOOLS/GROWTH ISOPHOTE: tools/growth on small scenes, and its exponents against closed forms."""
import importlib.machinery
import importlib.util
import json
import math
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
tool, isophote = sys.argv[1], sys.argv[2]
loader = importlib.machinery.SourceFileLoader("growth", tool)
spec = importlib.util.spec_from_loader("growth", loader)
growth = importlib.util.module_from_spec(spec)
loader.exec_module(growth)


def rates(axis, power):
    """A sample's time grows as n^power."""
    other = {"load_s": 1, "bvh_s": 1, "bvh_bytes": 1, "peak_host_bytes": 1}
    return growth.with_exponents(axis, [{"n": n, "samples_per_s": 1e6 * n**-power, **other} for n in (1, 10, 1000, 4000)])


for power in (0, 0.3, 1, 2):
    for axis, own in (("lights", 0), ("path-length", 1), ("threads", -1)):
        found = [p["exponent"] for p in rates(axis, power) if "exponent" in p]
        assert len(found) == 3 and all(abs(e - (power - own)) < 1e-9 for e in found), (axis, power, found)
knees = [line for line in growth.table("lights", rates("lights", 0.6), None) if "knee" in line]
assert len(knees) == 3 and not any("knee" in line for line in growth.table("lights", rates("lights", 0.4), None))

# A ball of triangles: V - E + F = 2, each edge has two sides, each corner lies on the unit sphere.
points, faces = growth.sphere_of_triangles(3)
assert len(faces) == 3 * 512 and len(points) == 3 * (512 // 2 + 2)
sides = [tuple(faces[3 * f + k] for k in pair) for f in range(512) for pair in ((0, 1), (1, 2), (2, 0))]
assert len(set(sides)) == len(sides) and all((b, a) in set(sides) for a, b in sides)
assert all(abs(math.hypot(*points[3 * i : 3 * i + 3]) - 1) < 1e-6 for i in range(len(points) // 3))

with tempfile.TemporaryDirectory() as folder:
    out = pathlib.Path(folder)

    def run(*options):
        return subprocess.run([tool, str(out), "--program", isophote, "--seconds", "0.02", *options],
                              capture_output=True, text=True, check=False)  # fmt: skip

    # Every axis, at its first two points; what the program says of a scene is what the axis says it has.
    for axis, (make, values, _) in growth.AXES.items():
        for n in values[:2]:
            scene, options, made = make(n, out)
            (out / "scene.json").write_text(json.dumps(scene))
            said = subprocess.run([isophote, "scenes", "describe", str(out / "scene.json"), "--json"],
                                  capture_output=True, text=True, check=False)  # fmt: skip
            assert said.returncode == 0, (axis, n, said.stderr)
            holds = json.loads(said.stdout)
            if axis in ("triangles", "model"):
                assert holds["triangles"] == made, (axis, n, holds)
            if axis == "instances":
                assert holds["instances"] == made, (axis, n, holds)
            if axis == "texture-bytes":
                assert holds["textures"] == 1 and made == n, (axis, n, holds)
    done = run("--axis", "triangles", "--most", "triangles=10000", "--axis", "path-length", "--most", "path-length=2")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((out / "growth.json").read_text())["axes"]
    assert [p["n"] for p in found["triangles"]["points"]] == [968, 10082]
    assert [p["n"] for p in found["path-length"]["points"]] == [1, 2]
    for p in found["triangles"]["points"]:
        assert p["samples_per_s"] > 0 and p["load_s"] > 0 and p["peak_host_bytes"] > 1 << 20
    assert (out / "growth.md").read_text().count("| 968 |") == 1

    # What the program refuses ends the axis with its sentence; with nothing measured the status is 1.
    done = run("--axis", "triangles", "--device", "nothing:7")
    assert done.returncode == 1 and "nothing was measured" in done.stderr and "nothing:7" in done.stdout, done.stdout
    assert "nothing:7" in json.loads((out / "growth.json").read_text())["axes"]["triangles"]["end"]["reason"]
    done = run("--axis", "triangles", "--budget", "0.001")
    assert done.returncode == 1 and "not finished in 0.001 s" in done.stdout, done.stdout
    assert run("--most", "cows=3").returncode == 2
