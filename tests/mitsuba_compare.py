# SPDX-License-Identifier: Apache-2.0
"""Compares Isophote's pictures with Mitsuba 3's of the same scenes, statistically (docs/explanation/validation.md, Mitsuba 3).

    mitsuba_compare.py --program ISOPHOTE [--scene NAME] [--other SCENE] [--random N] [--power [REGEX]]
                       [--scale X] [--maps DIR] [--json FILE] [--self]

Each scene is exported by `isophote export --mitsuba`, and rendered on both sides in BATCHES independent batches of
other seeds. A pixel, or a block of pixels, then has two lists of means; Welch's t of them becomes a normal deviate z.
Questions that are asked of every scene, device and channel:

  mean    is the picture's mean the same?  (relative bias with its 95 % interval)
  blocks  is any block of BLOCK x BLOCK pixels off?  (largest |z|; Bonferroni)
  strips  in charts, where a row of blocks shares a lobe: is the sum of a row's z off? (Stouffer)
  pixels  are the z of pixels as normal deviates are?  (their spread; Benjamini and Hochberg's discoveries)

All but pixels decide. The chance that a scene without any bias fails is LEVEL for the whole run: each question gets
its share of it. A row that says "differs" must do so: it shows that a known difference is seen.

Before them, in a whole run, the BSDFs of the export's plugins are held against Mitsuba's own (mitsuba_models.py).

Scenes: the library's, those of mitsuba_scenes/, and what mitsuba_generate.py makes: charts, a block of pixels for
each material, and "random-SEED". --other compares any scene file, library scene or such a name, native alone; --random the
seeds 1 to N. --power changes each parameter of the charts' materials by a tenth, in our pictures alone: is it found?
"""
import argparse
import gc
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

import mitsuba_generate
import mitsuba_models
import numpy as np

BATCHES = 12
BLOCK = 8
LEVEL = 1.35e-3  # of the whole run, whose 26 rows have a comparison each for native and reference: 2.6e-5 for one
ROUNDING = 1e-5  # relative: pixels without noise differ by what float32 sums lose
WIDTH, HEIGHT = 64, 48
NOTHING_RAN = 77  # exit status: the device lacks what the scene needs
HERE = os.path.dirname(os.path.abspath(__file__))
SEEDED = 0.01  # the relative bias that every scene must show when it is put in

# scene, options of the export, samples a pixel in all of native, the reference and Mitsuba, what is expected and why
EQUAL, DIFFERS = "equal", "differs"
ROWS = [
    ("furnace", "", 192, 96, 192, EQUAL),
    ("cornell", "", 9216, 384, 9216, EQUAL),
    ("veach-mis", "--plugins", 1536, 192, 12288, EQUAL),
    ("glass", "--plugins", 3072, 384, 3072, EQUAL),
    ("textured", "--plugins", 768, 96, 768, EQUAL),
    ("hdri", "--plugins", 1536, 96, 3072, EQUAL),
    ("thin-lens", "--plugins", 1536, 96, 6144, EQUAL),
    ("blob", "", 384, 48, 384, EQUAL),
    ("blobgloss", "--plugins", 768, 96, 768, EQUAL),
    ("direct-disk", "", 192, 96, 192, EQUAL),
    ("direct-rectangle", "", 192, 96, 192, EQUAL),
    ("direct-sphere", "", 192, 96, 192, EQUAL),
    ("mitsuba_scenes/materials", "--plugins", 768, 384, 1536, EQUAL),
    ("mitsuba_scenes/principled", "--plugins", 1536, 384, 1536, EQUAL),
    ("mitsuba_scenes/camera", "--plugins", 3072, 384, 3072, EQUAL),
    ("mitsuba_scenes/lights", "--plugins", 6144, 768, 6144, EQUAL),
    ("mitsuba_scenes/media", "--plugins", 1536, 384, 3072, EQUAL),
    ("mitsuba_scenes/instances", "", 768, 384, 1536, EQUAL),
    ("mitsuba_scenes/surfaces", "--plugins", 384, 48, 768, EQUAL),
    ("chart-reflecting", "--plugins", 3072, 384, 3072, EQUAL),
    ("chart-transmitting", "--plugins", 768, 192, 1536, EQUAL),
    ("random-1", "--plugins", 768, 0, 1536, EQUAL),
    ("random-2", "--plugins", 768, 0, 1536, EQUAL),
    ("random-3", "--plugins", 768, 0, 1536, EQUAL),
    ("random-4", "--plugins", 768, 0, 1536, EQUAL),
    ("textured", "--lossy", 768, 0, 768, DIFFERS),
]


# ---- statistics -------------------------------------------------------------------------------------------


def normal_deviate(t, freedom):
    """z with the same tail as Student's t (Wallace 1959; within 0.5 % of |z| for 10 degrees and more, |z| < 6)."""
    return np.sign(t) * np.sqrt(freedom * np.log1p(t * t / freedom)) * (8 * freedom + 1) / (8 * freedom + 3)


def welch(a, b):
    """z of the difference of means of two lists of batches (axis 0), and its standard error."""
    va, vb = a.var(0, ddof=1) / len(a), b.var(0, ddof=1) / len(b)
    va, vb = va + (ROUNDING * a.mean(0)) ** 2, vb + (ROUNDING * b.mean(0)) ** 2
    error = np.sqrt(va + vb)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
        z = normal_deviate((a.mean(0) - b.mean(0)) / error, freedom)
    return np.where(error > 0, z, 0), error  # 0: black on both sides


def two_sided(z):
    return np.vectorize(math.erfc)(np.abs(z) / math.sqrt(2))


def deviate_of(p):
    """The z whose two tails hold p."""
    return -statistics.NormalDist().inv_cdf(p / 2)


def discoveries(p, q):
    """How many of the tests Benjamini and Hochberg's rule calls false hypotheses at rate q."""
    p = np.sort(p.ravel())
    below = np.nonzero(p <= q * np.arange(1, len(p) + 1) / len(p))[0]
    return int(below[-1] + 1) if len(below) else 0


def blocks_of(images):
    n, h, w, c = images.shape
    return images.reshape(n, h // BLOCK, BLOCK, w // BLOCK, BLOCK, c).mean((2, 4))


class Comparison:
    """What two lists of pictures (batch, y, x, channel) say of each other. rows: how many comparisons share LEVEL."""

    def __init__(self, ours, theirs, rows, chart=False):
        self.pixel_z, _ = welch(ours, theirs)
        self.block_z, block_error = welch(blocks_of(ours), blocks_of(theirs))
        mean_z, mean_error = welch(ours.mean((1, 2)), theirs.mean((1, 2)))
        base = theirs.mean((0, 1, 2))
        self.bias = (ours.mean((0, 1, 2)) - base) / base
        self.error = mean_error / base
        self.mean_z = mean_z
        share = LEVEL / rows / 2
        self.mean_limit = deviate_of(share / mean_z.size)
        self.strip_z = self.block_z.sum(1) / math.sqrt(self.block_z.shape[1]) if chart else np.zeros((0, 3))
        self.block_limit = deviate_of(share / (self.block_z.size + self.strip_z.size))
        self.worst = int(np.abs(mean_z).argmax())
        # What would be found nine times of ten: the limit and 1.28 standard errors more.
        lit = blocks_of(theirs).mean(0)
        lit_error = block_error[lit > 0.02 * base.mean()] / lit[lit > 0.02 * base.mean()]
        self.sees_mean = (self.mean_limit + 1.2816) * self.error.min()
        self.sees_block = (self.block_limit + 1.2816) * float(np.median(lit_error))

    def largest_z(self):
        """Of blocks and strips, which share a limit."""
        return max(np.abs(self.block_z).max(), np.abs(self.strip_z).max(initial=0))

    def differs(self):
        return bool((np.abs(self.mean_z) > self.mean_limit).any() or self.largest_z() > self.block_limit)


# ---- pictures ---------------------------------------------------------------------------------------------


def read_picture(mi, path):
    return np.array(mi.Bitmap(path), dtype=np.float64)


def write_scene(scene, name, folder):
    path = os.path.join(folder, name + ".json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump(scene, out)
    return path


def scene_path(name, folder):
    """mitsuba_scenes/ stands beside this file, charts and random scenes are written, the others are as they are called."""
    if name.startswith("mitsuba_scenes/"):
        return os.path.join(HERE, name + ".json")
    if name.startswith(("chart-", "random-")):
        return write_scene(mitsuba_generate.generate(name), name, folder)
    return name


def render_ours(mi, options, path, device, spp, folder):
    images = []
    for batch in range(BATCHES):
        out = os.path.join(folder, "ours.pfm")
        result = subprocess.run(
            [options.program, "render", path, "--device", device, "--spp", str(spp // BATCHES), "--seed", str(7000 + batch)]
            + ["--width", str(WIDTH), "--height", str(HEIGHT), "-o", out],
            capture_output=True,
            text=True,
        )
        if result.returncode == NOTHING_RAN:
            return result.stderr.strip()
        if result.returncode:
            raise SystemExit(f"isophote render {path} on {device} ended with {result.returncode}:\n{result.stderr}")
        images.append(read_picture(mi, out))
    return np.stack(images)


def render_theirs(mi, scene, spp, first_seed):
    images = [np.array(mi.render(scene, spp=spp // BATCHES, seed=first_seed + i), np.float64) for i in range(BATCHES)]
    return np.stack(images)


def export(options, path, flags, folder):
    result = subprocess.run(
        [options.program, "export", "--mitsuba", path, "-o", os.path.join(folder, "mitsuba")] + flags.split(),
        capture_output=True,
        text=True,
    )
    if result.returncode:
        raise SystemExit(f"isophote export --mitsuba {path} {flags} ended with {result.returncode}:\n{result.stderr}")
    return result.stdout.strip()


def write_map(mi, path, z):
    """z of pixels, mean over channels times sqrt(3): red where ours is brighter, blue where darker, white at 0, full at 5."""
    s = np.clip(np.nan_to_num(z.sum(2) / math.sqrt(z.shape[2]), posinf=5, neginf=-5) / 5, -1, 1)
    rgb = np.stack([1 - np.clip(-s, 0, 1), 1 - np.abs(s), 1 - np.clip(s, 0, 1)], 2)
    rgb = np.kron(rgb, np.ones((4, 4, 1)))
    mi.Bitmap((rgb * 255).round().astype(np.uint8)).write(path)


# ---- the run ----------------------------------------------------------------------------------------------

HEADER = (
    "scene              device     expected  bias of mean, 95 %       z     largest block z  pixels: sd  |z|>3    FDR"
    "  sees mean, block   since   verdict"
)


def compare(mi, options, row, device, ours, theirs, rows, seconds):
    name, flags, _, _, _, expected = row
    chart = name in mitsuba_generate.CHARTS
    c = Comparison(ours, theirs, rows, chart)
    found = c.differs()
    right = found == (expected == DIFFERS)
    # The test must see what it says it sees, on these very pictures. (The slow reference renders too few samples for that.)
    seeded = Comparison(ours * (1 + SEEDED), theirs, rows, chart).differs()
    blind = expected == EQUAL and not seeded and device == "native" and name not in options.other
    w = c.worst
    z = c.pixel_z[np.isfinite(c.pixel_z)]
    title = name.split("/")[-1] + (" (its own)" if "--lossy" in flags else "")
    verdict = "ok" if right else "DIFFERS" if found else "NOT SEEN"
    if right and blind:
        verdict = f"BLIND to {SEEDED:.0%}"
    print(
        f"{title:18} {device:10} {expected:8} {c.bias[w]:+8.3%} +- {1.96 * c.error[w]:6.3%}   {c.mean_z[w]:+6.2f}"
        f"     {c.largest_z():5.2f} of {c.block_limit:4.2f}        {z.std():4.2f}  {(np.abs(z) > 3).mean():6.3%}"
        f"  {discoveries(two_sided(z), 0.01):5d}    {c.sees_mean:6.2%} {c.sees_block:6.2%}   {seconds:4.0f} s  {verdict}",
        flush=True,
    )
    if options.maps:
        os.makedirs(options.maps, exist_ok=True)
        stem = f"{name.split('/')[-1]}{'-lossy' if '--lossy' in flags else ''}-{device.replace(':', '-')}"
        write_map(mi, os.path.join(options.maps, stem + ".png"), c.pixel_z)
    return right and not blind, {
        "scene": name,
        "export": flags,
        "device": device,
        "expected": expected,
        "bias": c.bias.tolist(),
        "standard_error": c.error.tolist(),
        "mean_z": c.mean_z.tolist(),
        "largest_block_z": float(c.largest_z()),
        "block_limit": c.block_limit,
        "pixel_z_sd": float(z.std()),
        "verdict": verdict,
    }


def load_theirs(mi, options, path, flags, folder):
    if "--plugins" in flags:
        import isophote_bsdfs  # noqa: F401  registers the plugins
    return mi.load_file(export(options, path, flags, folder), width=WIDTH, height=HEIGHT)


def run_row(mi, options, row, rows):
    name, flags, native_spp, reference_spp, mitsuba_spp, _ = row
    good, records, start = True, [], time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        path = scene_path(name, folder)
        scene = load_theirs(mi, options, path, flags, folder)
        scale = options.scale
        theirs = render_theirs(mi, scene, int(mitsuba_spp * scale), 100)
        if options.self:
            sides = [("mitsuba", lambda: render_theirs(mi, scene, int(mitsuba_spp * scale), 900))]
        else:
            sides = [
                (device, lambda d=device, n=spp: render_ours(mi, options, path, d, int(n * scale), folder))
                for device, spp in (("native", native_spp), ("reference", reference_spp))
                if spp
            ]
        for device, render in sides:
            ours = render()
            if isinstance(ours, str):
                print(f"{name.split('/')[-1]:18} {device:10} SKIP: {ours}", flush=True)
                continue
            right, record = compare(mi, options, row, device, ours, theirs, rows, time.monotonic() - start)
            good &= right
            records.append(record)
    return good, records


# ---- power: is a parameter that is off by a tenth found? ----------------------------------------------------

TENTH = 1.1


def off_by_a_tenth(x):
    """Ten per cent more; less where that would leave 0 to 1."""
    if isinstance(x, list):
        return [off_by_a_tenth(c) for c in x]
    return x * TENTH if x > 1 or x * TENTH <= 1 else x / TENTH


def mutants(name):
    """("type.parameter", how many materials have it, the chart with all of them changed)."""
    chart = mitsuba_generate.chart(name)
    keys = {(m["type"], key): 0 for m in chart["materials"].values() for key in m if key != "type" and "emission" not in m and m[key]}
    for kind, key in keys:
        changed = json.loads(json.dumps(chart))
        having = [m for m in changed["materials"].values() if m["type"] == kind and m.get(key) and "emission" not in m]
        for m in having:
            m[key] = off_by_a_tenth(m[key])
        yield f"{kind}.{key}", len(having), changed


def chart_power(mi, options, row):
    """True if blocks or mean find every mutant of a chart, as a whole run would."""
    name, flags, native_spp, _, mitsuba_spp, _ = row
    found_all = True
    with tempfile.TemporaryDirectory() as folder:
        scene = load_theirs(mi, options, scene_path(name, folder), flags, folder)
        theirs = render_theirs(mi, scene, int(mitsuba_spp * options.scale), 100)
        for mutant, count, changed in mutants(name):
            if not re.search(options.power, mutant):
                continue
            path = write_scene(changed, "mutant", folder)
            ours = render_ours(mi, options, path, "native", int(native_spp * options.scale), folder)
            if isinstance(ours, str):
                raise SystemExit(f"native cannot render {name}: {ours}")
            c = Comparison(ours, theirs, 2 * len(ROWS), True)
            found_all &= c.differs()
            z, strip = np.abs(c.block_z), np.abs(c.strip_z)
            print(
                f"{name:20} {mutant:32} {count:9d}     {c.bias[c.worst]:+8.3%}   {z.max():6.2f} {strip.max():6.2f} of {c.block_limit:4.2f}"
                f"  {int((z.max(2) > c.block_limit).sum()):13d}  {'found' if c.differs() else 'NOT FOUND'}",
                flush=True,
            )
    return found_all


def power(mi, options):
    print(f"the charts' parameters times {TENTH:g}, one at a time, on native; limits as in the whole run")
    print(f"{'chart':20} {'parameter':32} {'materials':>9}  bias of mean  largest z of block, strip  blocks beyond  verdict")
    charts = options.scene or mitsuba_generate.CHARTS
    return all([chart_power(mi, options, row) for row in ROWS if row[0] in charts])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="build/release/isophote")
    parser.add_argument("--scene", action="append", help="only these scenes")
    parser.add_argument("--turn", default="0/1", metavar="K/N", help="of the table's scenes every N-th from the K-th on")
    parser.add_argument("--other", action="append", default=[], help="a scene that is not in the table; of these only")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="random scenes of seeds 1 to N; of these only")
    parser.add_argument("--power", nargs="?", const=".", metavar="REGEX", help="only: do the charts find parameters (that match) off by a tenth?")
    parser.add_argument("--scale", type=float, default=1, help="times the samples")
    parser.add_argument("--maps", help="folder for signed maps of significance")
    parser.add_argument("--json", help="file for the numbers")
    parser.add_argument("--self", action="store_true", help="Mitsuba against itself: how often is no bias called one?")
    options = parser.parse_args()
    sys.path.insert(0, os.path.join(HERE, "..", "scenes", "export"))
    import drjit as dr
    import mitsuba as mi

    mi.set_variant("llvm_ad_rgb")
    if options.power:
        return 0 if power(mi, options) else 1
    options.other += [f"random-{seed}" for seed in range(1, options.random + 1)]
    first, step = (int(n) for n in options.turn.split("/"))
    rows = [r for r in ROWS[first::step] if (not options.scene and not options.other) or r[0] in (options.scene or [])]
    rows += [(other, "--plugins", 768, 0, 1536, EQUAL) for other in options.other]
    if options.self:
        rows = [r[:5] + (EQUAL,) for r in rows]
    start = time.monotonic()
    print(f"{WIDTH}x{HEIGHT} pixels, {BATCHES} batches a side, blocks of {BLOCK}x{BLOCK}, level {LEVEL:g} for all of it")
    print(HEADER)
    good, records = True, []
    if not options.scene and not options.other and not options.self:
        import isophote_bsdfs  # noqa: F401  registers the plugins

        good = mitsuba_models.check(mi, dr)
    for row in rows:
        right, more = run_row(mi, options, row, 2 * len(rows))
        good &= right
        records += more
        gc.collect()
        dr.flush_malloc_cache()  # or the memory of all scenes adds up
    print(f"{time.monotonic() - start:.0f} s; {'passed' if good else 'FAILED'}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as out:
            json.dump(records, out, indent=1)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
