#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""experiments_test.py TOOLS/EXPERIMENTS ISOPHOTE: every experiment in small on native, what it writes, and bad requests."""
import array
import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

tool, isophote = sys.argv[1], sys.argv[2]
WITHOUT_DEVICE = ("spherelight", "loops", "once-a-grid", "optimiser", "group", "simplified", "derivatives", "c-shaders", "formats")


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
        assert "| native" in (out / f"{name}.md").read_text() or name in WITHOUT_DEVICE, name
        ours = [r for r in rows[name] if not str(next(iter(r.values()))).startswith("published")]
        without = name == "denoised" and "Open Image Denoise" in ours[0].get("reason", "")
        assert ours and (without or any("reason" not in r for r in ours)), (name, ours)
    # the best shape takes its own time, any other at least that
    shapes = [float(v) for k, v in rows["block-size"][0].items() if "x" in k]
    assert len(shapes) == 7 and min(shapes) == 1, shapes
    # published: the slowest is itself; 15:57 over 1:33 minutes
    published = {r["device"]: r for r in rows["devices"] if r["device"].startswith("published")}
    assert published["published: i5-12600, OpenCL"]["times the slowest"] == "1.00"
    assert published["published: 6700 XT, HIP"]["times the slowest"] == f"{(15 * 60 + 57) / (60 + 33):.2f}"
    # a scene is made, its textures are read, and a picture of it is rendered
    session = [r for r in rows["phases"] if r["device"] == "native"]
    assert len(session) == 1 and all(float(session[0][phase]) > 0 for phase in ("textures", "objects", "bvh", "render")), session
    assert "9 textures of 64 x 64" in json.loads((out / "phases.json").read_text())["differs"]
    # textures on demand: the same picture in less memory; without a limit nothing is counted
    demand = [r for r in rows["texture-memory"] if r["device"] == "native"]
    assert len(demand) == 3 and all(r["the same picture"] == "yes" for r in demand), demand
    assert "tiles" not in demand[0] and all(0 < r["tiles"] <= 9 and float(r["peak of texels, MB"]) <= 4 for r in demand[1:]), demand
    # both textures in all four models
    textures = [r for r in rows["procedural"] if r["device"] == "native"]
    assert [(r["texture"], r["occlusion"]) for r in textures] == [("rust", "in place"), ("rust", "a kernel of its own"), ("scratches", "")], textures
    for r in textures:  # occlusion has a kernel of its own where there are several kernels
        models = ("separate", "wavefront") if "own" in r["occlusion"] else ("megakernel", "separate", "wavefront", "restricted")
        assert "reason" not in r and all((m in r) == (m in models) for m in ("megakernel", "separate", "wavefront", "restricted")), r
        assert all(r[m].endswith(" %") for m in models), r
    # work moves from the sample to the point and the grid; no shader runs more for it
    written, moved = rows["loops"][:2]
    assert float(moved["a sample"]) < float(written["a sample"]) and float(moved["a sample, once a grid"]) == 0, rows["loops"]
    assert float(moved["a point, without samples"]) > float(written["a point, without samples"]), rows["loops"]
    counts = [list(map(float, r["a point, its own loops"].split(" -> "))) for r in rows["loops"] if "a point, its own loops" in r]
    assert len(counts) >= 5 and all(after < before for before, after in counts), counts
    # work of a grid: as many operations as values or more, and time that can be told
    assert any(r["shader"] == "bench/disney" for r in rows["once-a-grid"]), rows["once-a-grid"]
    for r in rows["once-a-grid"]:
        assert r["operations"] > 0 and r["values left"] > 0 and 0 < float(r["native"]) < 3, r
    # a point is shaded in every form; compiled ones are faster than the interpreter
    light = [r for r in rows["spherelight"] if not str(r["points of a grid"]).startswith("published")]
    assert len(light) == 6 and len(rows["spherelight"]) == 12, rows["spherelight"]
    for r in light:
        for form in ("compiled for one point", "compiled for rows", "rows, copies where all agree"):
            assert float(r[form].split(", ")[1]) > 1, r
        assert r["interpreter, point by point"].endswith(", 1.00") and "IR, instruction by instruction" in r, r
    # a hit is combined or begins a run, whatever the reason
    for r in rows["hits"][:2]:
        begun = r["rejected: the first"] + r["other shader"] + r["other parameters"]
        assert r["combined"] == f"{100 * (r['hits'] - begun) / r['hits']:.0f} %" and 1 < float(r["points of a run"]) <= 4, r
        assert r["points of a run"] == f"{r['hits'] / begun:.3g}" and float(r["shading over tracing"]) > 0, r
    # a group shrinks as the published ones do; dead code leaves nothing; fast adds no zero
    assert float(rows["group"][0]["gone"].split()[0]) >= 95, rows["group"]
    for r in rows["simplified"]:
        assert r.get("left") == r.get("left where it was never written"), r
    adds = next(r for r in rows["simplified"] if r["what"] == "x + 0")
    assert "reason" in adds or adds["instructions, fast"] < adds["instructions, strict"], adds
    for r in rows["derivatives"]:
        assert "published" in r["shader"] or 0 <= r["with derivatives"] <= r["symbols"], r
    # C by hand computes what the shader does
    for r in rows["c-shaders"]:
        assert "published" in r["shader"] or float(r["sums differ by"]) < 1e-4, r
    # figures: lines of points above 0, ours and the published ones
    for name in ("spherelight", "formats"):
        plot = json.loads((out / f"{name}.json").read_text())["plot"]
        assert plot["series"] and all(x > 0 and y > 0 for s in plot["series"] for x, y in s["points"]), plot
    # no shader is gone whole, none grew
    shaders = [r for r in rows["optimiser"] if "operations" in r and r["shader"] != "all"]
    assert len(shaders) >= 3 and all(0 < r["left"] < r["operations"] for r in shaders), shaders
    total = next(r for r in rows["optimiser"] if r["shader"] == "all")
    assert total["left"] == sum(r["left"] for r in shaders)
    # more bits, less error; double is itself
    errors = {r["format"]: float(r["relMSE"]) for r in rows["formats"] if r.get("scene") == "cornell" and "reason" not in r}
    assert errors["double"] == 0 < errors["fixed16.48"] < errors["float32"] < errors["float16"] < errors["bfloat16"], errors
    # a format by the processor's instructions has the emulated one's picture; posits are told, whether here or not
    for r in rows["formats"]:
        base, by, _ = r["format"].partition("-")
        if by and "reason" not in r:
            same = next(s for s in rows["formats"] if s["format"] == base and s["scene"] == r["scene"])
            assert [r[k] for k in ("RMSE", "relMSE")] == [same[k] for k in ("RMSE", "relMSE")], (r, same)
    posit = next(r for r in rows["formats"] if r["format"] == "posit16")
    assert ("ISOPHOTE_SOFTPOSIT" in posit["reason"]) if "reason" in posit else 0 < errors["posit32"] < errors["posit16"], posit
    # fifty times the samples, a fiftieth of the noise, but for the truth's own; few samples gain by the denoiser
    few, many = (rows["denoised"] * 2)[:2]
    if "reason" in few:
        print("SKIP of denoised:", few["reason"])
    else:
        assert 25 < float(few["as rendered"]) / float(many["as rendered"]) < 100, rows["denoised"]
        assert float(few["denoised"]) < float(few["as rendered"]), few
        assert float(few["denoised, edges"]) > float(few["denoised"]), few
    # the store holds what was timed
    told = subprocess.run([isophote, "export", "--store", str(store)], capture_output=True, text=True, check=True).stdout
    kinds = {json.loads(line).get("kind") for line in told.splitlines() if '"kind"' in line}
    assert {"bench", "sweep"} <= kinds, kinds

    # layers as they were written: the same picture without compression
    loader = importlib.machinery.SourceFileLoader("experiments", tool)
    experiments = importlib.util.module_from_spec(importlib.util.spec_from_loader("experiments", loader))
    loader.exec_module(experiments)
    for name in ("a.exr", "a.pfm"):
        command = [isophote, "render", "cornell", "--device", "native", "--width", "37", "--height", "21", "--spp", "2", "-o", str(out / name)]
        subprocess.run([*command, "--checkpoint", "none"], check=True, capture_output=True)
    width, layers = experiments.exr_layers(out / "a.exr")
    plain = array.array("f", (out / "a.pfm").read_bytes()[-4 * 3 * 37 * 21 :])
    assert width == 37 and set(layers) >= set("RGB")
    for y in range(21):  # PFM counts rows from below
        for c in range(3):
            assert list(layers["RGB"[c]][37 * y : 37 * (y + 1)]) == list(plain[3 * 37 * (20 - y) + c : 3 * 37 * (21 - y) : 3]), y

    # what cannot run is a row with its reason, and nothing measured is no success
    done = run(out, "devices", "--device", "nothing:7")
    assert done.returncode == 1 and "nothing was measured" in done.stderr, done.stderr
    assert "nothing:7" in json.loads((out / "devices.json").read_text())["rows"][0]["reason"]
    done = run(out, "table-9")
    assert done.returncode == 2 and "table-9" in done.stderr, done.stderr
