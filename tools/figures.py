"""Measures the figures of the README. Run by tools/figures, which prepares the environment."""
import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build/release/isophote"
SCENES = ["cornell", "blob", "blobgloss"]
BLOB_TRIANGLES = 1_048_352
DEPTH = 6

# What each figure must reach; ratios are medians over medians.
BAR_MITSUBA_LLVM = 0.5  # native over Mitsuba llvm_ad_rgb
BAR_MITSUBA_SCALAR = 1.0  # native over Mitsuba scalar_rgb
BAR_INTEL = 1.0  # Intel's OpenCL over native
BAR_POCL = 0.4  # PoCL over native
BAR_LOAD_S = 3.0  # blob, from file to first ray
BAR_BYTES = 300  # blob, per triangle at peak
BAR_REFERENCE = 0.4  # the reference on cornell, Msamples/s


class Mitsuba:
    """A Mitsuba process that stays: its scenes stay loaded and its kernels compiled, as ours do."""

    def __init__(self, variant, mesh):
        script = ROOT / "tools/figures_mitsuba.py"
        self.process = subprocess.Popen(
            [sys.executable, script, variant, mesh],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.seed = 0

    def render(self, scene, resolution, spp):
        self.seed += 1
        request = dict(scene=scene, resolution=resolution, spp=spp, seed=self.seed)
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit("tools/figures: Mitsuba ended; its message stands above")
        answer = json.loads(answer)
        return resolution * resolution * spp / answer["render_s"] / 1e6, answer["mean"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def isophote(*arguments, allowed=(0,)):
    command = [str(PROGRAM), *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in allowed:
        sys.exit(f"tools/figures: {' '.join(command)} ended with {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def devices():
    """Our names of the devices of interest: {"native": id, "intel": id, "pocl": id}."""
    found = {}
    for device in isophote("devices")["devices"]:
        about = " ".join(str(device[k]) for k in ("name", "vendor", "driver", "version")).lower()
        if device["id"] == "native":
            found["native"] = device["id"]
        elif "pocl" in about or "pthread" in about:
            found.setdefault("pocl", device["id"])
        elif "intel" in about:
            found.setdefault("intel", device["id"])
    return found


def render_rate(device, scene, resolution, spp):
    """One render on one device: Msamples/s of its render phase, and the mean radiance."""
    out = isophote(
        "render", scene, "--device", device, "--mode", "fast", "--spp", spp,
        "--width", resolution, "--height", resolution, "--max-depth", DEPTH,
    )  # fmt: skip
    return out["samples_per_s"] / 1e6, out["mean_radiance"]


def speeds(ours, rounds, resolution, spp, mesh):
    """{(subject, scene): [Msamples/s]}, in rounds: A B C, A B C ... so that drift hits all alike."""
    rates, means = {}, {}
    peers = {v: Mitsuba(v, mesh) for v in ("llvm_ad_rgb", "scalar_rgb")}
    for scene in SCENES:
        for name, peer in peers.items():  # compiles and loads
            peer.render(scene, resolution if name != "scalar_rgb" else 128, 1)
        for device in ours.values():
            render_rate(device, scene, 128, 1)
    for _ in range(rounds):
        for scene in SCENES:
            for name, peer in peers.items():
                # The scalar variant is slow; its rate does not depend on the number of samples.
                small = name == "scalar_rgb"
                rate, mean = peer.render(
                    scene, 256 if small else resolution, spp // 4 if small else spp
                )
                rates.setdefault((name, scene), []).append(rate)
                means[name, scene] = mean
            for name, device in ours.items():
                rate, mean = render_rate(device, scene, resolution, spp)
                rates.setdefault((name, scene), []).append(rate)
                means[name, scene] = mean
    for peer in peers.values():
        peer.close()
    return rates, means


class Table:
    def __init__(self):
        self.missed = 0

    def row(self, what, value, unit, bar=None, at_least=True):
        good = bar is None or (value >= bar if at_least else value <= bar)
        self.missed += not good
        verdict = "" if bar is None else f"{'>=' if at_least else '<='} {bar:g}  {'ok' if good else 'MISSED'}"
        print(f"  {what:<58} {value:>10.3f} {unit:<12} {verdict}", flush=True)


def median_spread(rates):
    return statistics.median(rates), (max(rates) - min(rates)) / statistics.median(rates)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and samples: a noisy first look")
    parser.add_argument("--rounds", type=int, help="interleaved repetitions (default 5)")
    options = parser.parse_args()
    rounds = options.rounds or (2 if options.quick else 5)
    resolution, spp = (256, 16) if options.quick else (512, 64)
    ours = devices()
    for name in ("native", "intel", "pocl"):
        if name not in ours:
            print(f"tools/figures: no {name} device here: {ours}", file=sys.stderr)
            return 2
    table = Table()
    start = time.monotonic()

    print("blob, from file to first ray (native, fast, kernel already compiled)")
    first = ("render", "blob", "--device", "native", "--mode", "fast", "--width", 16, "--height", 16, "--spp", 1)
    isophote(*first)
    runs = []
    for _ in range(3):
        begin = time.monotonic()
        runs.append((isophote(*first), time.monotonic() - begin))
    table.row("whole process, 16x16 pixels, median of 3", statistics.median(s for _, s in runs), "s", BAR_LOAD_S, False)
    for phase, value in runs[-1][0]["phases"].items():
        if value >= 0.001:
            table.row(f"    {phase}", value, "s")
    peak = max(out["peak_host_bytes"] for out, _ in runs)
    table.row("peak memory of the whole process", peak / BLOB_TRIANGLES, "B/triangle", BAR_BYTES, False)

    print("reference on cornell, 256x256, 16 spp, 6 vertices")
    rates = []
    for seed in range(3):
        out = isophote(
            "render", "cornell", "--device", "reference", "--width", 256, "--height", 256,
            "--spp", 16, "--max-depth", DEPTH, "--seed", seed,
        )  # fmt: skip
        rates.append(out["samples_per_s"] / 1e6)
    table.row("median of 3", statistics.median(rates), "Msamples/s", BAR_REFERENCE)

    print(f"speed, {resolution}x{resolution}, {spp} spp, {DEPTH} vertices, mode fast, median of {rounds} interleaved runs")
    mesh = ROOT / "scenes/library/blob.ply"
    rates, means = speeds(ours, rounds, resolution, spp, mesh)
    subjects = list(dict.fromkeys(name for name, _ in rates))
    for scene in SCENES:
        print(f"  {scene}")
        medians = {}
        for name in subjects:
            medians[name], spread = median_spread(rates[name, scene])
            mean = " ".join(f"{c:.4f}" for c in means[name, scene])
            print(f"    {name:<14} {medians[name]:8.3f} Msamples/s  (range {100 * spread:.0f}%)  mean radiance {mean}")
        table.row("    native / Mitsuba llvm_ad_rgb", medians["native"] / medians["llvm_ad_rgb"], "", BAR_MITSUBA_LLVM)
        table.row("    native / Mitsuba scalar_rgb", medians["native"] / medians["scalar_rgb"], "", BAR_MITSUBA_SCALAR)
        table.row("    Intel OpenCL / native", medians["intel"] / medians["native"], "", BAR_INTEL)
        table.row("    PoCL / native", medians["pocl"] / medians["native"], "", BAR_POCL)
    print(f"{table.missed} bars missed; {time.monotonic() - start:.0f} s")
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
