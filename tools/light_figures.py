# SPDX-License-Identifier: Apache-2.0
"""light_figures.py ISOPHOTE [options]: what many lights cost. Scenes of 10, 100, ... lights with the same total
power over the same yard are rendered at equal samples by the light tree and by power; a table of Markdown says how
long a sample takes and how far two pictures of other seeds are apart (the variance of a sample, over mean^2): the
median over pairs of pictures, as 1/d^2 beside a wall has no variance and a mean is then that of one firefly."""
import argparse
import array
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile


def yard(count, kind, choice):
    """A yard 20 x 20 with 60 boxes, lit by `count` lights at heights of 0.3 to 0.9, 400 W/sr together: points, or
    disks that face down, so that the camera above sees none of their light."""
    dice = random.Random(7)
    objects = [
        {"type": "rectangle", "material": "ground", "transform": [{"scale": 14}, {"rotate": {"axis": [1, 0, 0], "angle": -90}}]}
    ]
    for _ in range(60):
        x, z, h = dice.uniform(-9, 9), dice.uniform(-9, 9), dice.uniform(0.2, 1.2)
        objects.append(
            {"type": "box", "material": "wall", "min": [-0.3, 0, -0.3], "max": [0.3, h, 0.3],
             "transform": [{"rotate": {"axis": [0, 1, 0], "angle": dice.uniform(0, 90)}}, {"translate": [x, 0, z]}]}
        )
    side, power, radius = max(1, round(count**0.5)), 400 / count, 0.03
    lights = []
    for i in range(count):
        x = -10 + 20 * (i % side + dice.random()) / side
        z = -10 + 20 * (i // side % side + dice.random()) / side
        at = [x, dice.uniform(0.3, 0.9), z]
        if kind == "point":
            lights.append({"type": "point", "position": at, "intensity": power})
        else:
            objects.append({"type": "disk", "center": at, "normal": [0, -1, 0], "radius": radius, "material": "lamp"})
    scene = {
        "isophote": 1,
        "camera": {"origin": [0, 7, 15], "target": [0, 0, 0.5], "fov": 45},
        "render": {"max_depth": 4, "rr_depth": 1000, "light_choice": choice},
        "materials": {
            "ground": {"type": "diffuse", "reflectance": 0.5},
            "wall": {"type": "diffuse", "reflectance": [0.6, 0.5, 0.4]},
            "lamp": {"type": "diffuse", "reflectance": 0, "emission": power / (3.14159265 * radius**2)},
        },
        "objects": objects,
    }
    if lights:
        scene["lights"] = lights
    return scene


def picture(args, scene, seed, folder):
    path, out = os.path.join(folder, "yard.json"), os.path.join(folder, "yard.pfm")
    with open(path, "w", encoding="utf-8") as f:
        json.dump(scene, f)
    run = subprocess.run(
        [args.isophote, "render", path, "--device", args.device, "--mode", args.mode, "--width", str(args.size), "--height",
         str(args.size), "--spp", str(args.spp), "--seed", str(seed), "-o", out],
        capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(run.stderr + run.stdout)
    seconds = float(re.search(r" in ([0-9.e+-]+) s", run.stdout + run.stderr).group(1))
    with open(out, "rb") as f:
        for _ in range(3):
            f.readline()
        values = array.array("f", f.read())
    return seconds, values


def measure(args, count, kind, choice, folder):
    scene = yard(count, kind, choice)
    seconds, pictures = [], []
    for seed in range(args.repeat):
        s, values = picture(args, scene, seed + 1, folder)
        seconds.append(s)
        pictures.append(values)
    level = sum(sum(p) for p in pictures) / sum(len(p) for p in pictures)
    variances = [
        sum((x - y) ** 2 for x, y in zip(a, b)) / (2 * len(a)) * args.spp / level**2
        for a, b in zip(pictures[::2], pictures[1::2])
    ]
    return min(seconds) / (args.size**2 * args.spp) * 1e9, variances, level


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("isophote")
    parser.add_argument("--device", default="native")
    parser.add_argument("--mode", default="fast")
    parser.add_argument("--size", type=int, default=160)
    parser.add_argument("--spp", type=int, default=32)
    parser.add_argument("--repeat", type=int, default=10, help="renders of each, in pairs; the fastest counts")
    parser.add_argument("--counts", type=int, nargs="+", default=[10, 100, 1000, 10000])
    args = parser.parse_args()
    if args.repeat < 2:
        parser.error("--repeat: expected 2 or more")
    print("| lights | choice | ns a sample | variance of a sample / mean^2 | least and most of the pairs | time to equal noise, over 10 lights | mean |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("point", "disk"):
            for choice in ("tree", "power"):
                base = None
                for count in args.counts:
                    ns, variances, level = measure(args, count, kind, choice, folder)
                    variance = statistics.median(variances)
                    base = base or ns * variance
                    print(f"| {count} {kind}s | {choice} | {ns:.0f} | {variance:.3g} | {min(variances):.3g} ... {max(variances):.3g} | "
                          f"{ns * variance / base:.2f} | {level:.4g} |", flush=True)


if __name__ == "__main__":
    main()
