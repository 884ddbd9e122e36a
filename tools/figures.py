# SPDX-License-Identifier: Apache-2.0
"""Measures the figures of the README. Run by tools/figures, which prepares the environment."""
import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
program = ROOT / "build/release/isophote"  # or --program
NATIVE_CC = "native by cc"  # --code-path source; native itself prefers LLVM
SCENES = ["cornell", "blob", "blobgloss"]
BLOB_TRIANGLES = 1_048_352
DEPTH = 6

# What each figure must reach; ratios are medians over medians.
BAR_MITSUBA_LLVM = 0.5  # native over Mitsuba llvm_ad_rgb
BAR_MITSUBA_SCALAR = 1.0  # native over Mitsuba scalar_rgb
BAR_INTEL = 1.0  # Intel's OpenCL over native by the C compiler, for which the bar was set; LLVM's native is faster
BAR_POCL = 0.4  # PoCL over native
BAR_LOAD_S = 3.0  # blob, from file to first ray
BAR_BYTES = 300  # blob, per triangle at peak
BAR_REFERENCE = 0.4  # the reference on cornell, Msamples/s
BAR_FEATURES = 1 / 1.15  # a kernel with all features over one with none, on a scene that uses none of them
BAR_INSTANCES = 1 << 30  # 1,000 blobs as instances: bytes at peak

BAR_BEFORE = 1.15  # seconds inside the kernel, today over an earlier program, on scenes that both know

PARTS = ["load", "reference", "speed", "features", "instances", "library"]
PLAIN = ("direct-", "furnace", "enclosure")  # closed forms: nothing to time


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
        return resolution * resolution * spp / json.loads(answer)["render_s"] / 1e6

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def isophote(*arguments, allowed=(0,)):
    command = [str(program), *map(str, arguments), "--json"]
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


def bench_rates(ours, scene, resolution, spp, code_path="auto"):
    """{our name: Msamples/s} of one judged `isophote bench` over our devices; a row without PASS has no rate."""
    chosen = [word for device in ours.values() for word in ("--device", device)]
    out = isophote(
        "bench", scene, *chosen, "--mode", "fast", "--spp", spp, "--width", resolution, "--height", resolution,
        "--max-depth", DEPTH, "--repetitions", 2, "--max-repetitions", 2,
        "--code-path", code_path,
        allowed=(0, 1),
    )  # fmt: skip
    rates = {}
    for row in out["rows"]:
        name = next(n for n, device in ours.items() if device == row["device"])
        if row["verdict"] == "PASS":
            rates[name] = row["samples_per_s"] / 1e6
        else:
            print(f"  {scene} on {row['device']}: {row['verdict']}: {row.get('reason')}")
    return rates


def speeds(ours, rounds, resolution, spp, mesh):
    """{(subject, scene): [Msamples/s]}, in rounds: A B C, A B C ... so that drift hits all alike."""
    rates = {}
    peers = {v: Mitsuba(v, mesh) for v in ("llvm_ad_rgb", "scalar_rgb")}
    # The scalar variant is slow, and its rate does not depend on how many samples are taken.
    sizes = {"llvm_ad_rgb": (resolution, spp), "scalar_rgb": (256, 16)}
    for scene in SCENES:
        for name, peer in peers.items():
            peer.render(scene, *sizes[name])  # loads and compiles; bench has a warm-up of its own
    for _ in range(rounds):
        for scene in SCENES:
            for name, peer in peers.items():
                rates.setdefault((name, scene), []).append(peer.render(scene, *sizes[name]))
            for name, rate in bench_rates(ours, scene, resolution, spp).items():
                rates.setdefault((name, scene), []).append(rate)
            for rate in bench_rates({NATIVE_CC: "native"}, scene, resolution, spp, "source").values():
                rates.setdefault((NATIVE_CC, scene), []).append(rate)
    for peer in peers.values():
        peer.close()
    return rates


def with_features(scene, folder):
    """The scene with a grain of sheen behind the camera: on CPUs one feature brings the kernel that has them all."""
    path = ROOT / f"scenes/library/{scene}.json"
    text = json.loads(path.read_text())
    eye, target = text["camera"]["origin"], text["camera"]["target"]
    back = [e + 0.01 * (e - t) for e, t in zip(eye, target)]
    text["materials"]["grain"] = {"type": "sheen"}
    text["objects"].append({"type": "sphere", "center": back, "radius": 1e-4, "material": "grain"})
    for item in text["objects"]:
        if "file" in item:
            item["file"] = str(path.parent / item["file"])
    out = Path(folder) / f"{scene}-features.json"
    out.write_text(json.dumps(text))
    return out


def feature_cost(table, device, rounds, resolution, spp):
    print(f"features that a scene does not use, {resolution}x{resolution}, {spp} spp, native, fast, {rounds} interleaved runs")
    with tempfile.TemporaryDirectory() as folder:
        for scene in ("cornell", "blob"):
            both = {"none": scene, "all": with_features(scene, folder)}
            rates = {kind: [] for kind in both}
            for _ in range(rounds):
                for kind, path in both.items():
                    rates[kind] += bench_rates({"native": device}, path, resolution, spp).values()
            medians = {kind: median_spread(list(r) or [0.0])[0] for kind, r in rates.items()}
            for kind, rate in medians.items():
                table.row(f"  {scene}, {kind} compiled in", rate, "Msamples/s")
            table.row(f"    {scene}: all / none", medians["all"] / medians["none"] if medians["none"] else 0, "", BAR_FEATURES)


def instance_cost(table, device, resolution, spp):
    print(f"1,000 instances of blob (scenes/large/blobs.json) beside one, {resolution}x{resolution}, {spp} spp, native, fast")
    rates = {}
    for scene in ("blob", str(ROOT / "scenes/large/blobs.json")):
        out = isophote(
            "render", scene, "--device", device, "--mode", "fast", "--width", resolution, "--height", resolution,
            "--spp", spp, "--max-depth", DEPTH,
        )  # fmt: skip
        rates[scene] = out["samples_per_s"] / 1e6
        table.row(f"  {Path(scene).stem}", rates[scene], "Msamples/s")
    table.row("    blobs / blob", rates[scene] / rates["blob"], "")
    table.row("    peak memory of blobs", out["peak_host_bytes"] / 2**20, "MiB", BAR_INSTANCES / 2**20, False)


def library_rates(table, ours, scenes, resolution, spp):
    print(f"the scene library, {resolution}x{resolution}, {spp} spp, {DEPTH} vertices, mode fast, judged")
    for path in sorted((ROOT / "scenes/library").glob("*.json")):
        if path.stem.startswith(PLAIN) or (scenes and path.stem not in scenes):
            continue
        for name, rate in bench_rates(ours, path.stem, resolution, spp).items():
            table.row(f"  {path.stem}, {name}", rate, "Msamples/s")


def kernel_seconds(binary, scene, options, resolution, spp, folder):
    """Processor seconds inside native's kernel (a library of the compiler cache, or LLVM's), by perf's samples of a clock.

    Loading, trees and compiling do not count, nor does waiting for a processor: a machine that does other work bends it little."""
    data, rate = Path(folder) / "perf.data", 4999
    command = [
        binary, "render", scene, "--device", "native", "--mode", "fast", "--width", resolution, "--height", resolution,
        "--spp", spp, "--max-depth", DEPTH, "--threads", 1, *options,
    ]  # fmt: skip
    record = ["perf", "record", "-q", "-e", "cpu-clock:u", "-F", rate, "-o", data, *command]
    done = subprocess.run(list(map(str, record)), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"tools/figures: {' '.join(map(str, record))} ended with {done.returncode}\n{done.stderr}")
    report = ["perf", "report", "-i", str(data), "--sort", "dso", "--stdio", "-n", "-q"]
    rows = subprocess.run(report, capture_output=True, text=True, check=True).stdout.splitlines()
    found = [re.match(r"\s*[\d.]+%\s+(\d+)\s+([0-9a-f]{32}\.so|\[JIT\])", row) for row in rows]
    return sum(int(row[1]) for row in found if row) / rate


def kernel_cost(table, before, rounds, resolution, spp):
    """Today's kernel against an earlier program's (a build of an earlier commit), in turns."""
    if not shutil.which("perf"):
        sys.exit("tools/figures: the part kernel needs perf (Debian: linux-perf)")
    print(f"seconds inside native's kernel over those of {before}, {resolution}x{resolution}, {spp} spp, fast, {rounds} rounds")
    subjects = {"before": (before, []), "gcc": (program, ["--code-path", "source"]), "default": (program, [])}
    with tempfile.TemporaryDirectory() as folder:
        for scene in ("cornell", "blob"):
            seconds = {name: [] for name in subjects}
            for turn in range(-1, rounds):  # the first compiles, and does not count
                for name in list(subjects)[:: -1 if turn % 2 else 1]:
                    took = kernel_seconds(subjects[name][0], scene, subjects[name][1], resolution, spp if turn >= 0 else 1, folder)
                    seconds[name] += [took] if turn >= 0 else []
            for name in ("gcc", "default"):
                ratios = sorted(a / b for a, b in zip(seconds[name], seconds["before"]))
                spread = f"{scene}: {name} over before ({ratios[len(ratios) // 4]:.3f} to {ratios[3 * len(ratios) // 4]:.3f})"
                table.row(spread, statistics.median(ratios), "", BAR_BEFORE, False)


class Table:
    def __init__(self):
        self.missed = 0

    def row(self, what, value, unit, bar=None, at_least=True):
        good = bar is None or (value >= bar if at_least else value <= bar)
        self.missed += not good
        verdict = "" if bar is None else f"{'>=' if at_least else '<='} {bar:g}  {'ok' if good else 'MISSED'}"
        print(f"  {what:<58} {value:>10.3f} {unit:<12} {verdict}", flush=True)


def median_spread(rates):
    """The median, and the whole range as a share of it."""
    median = statistics.median(rates)
    return median, (max(rates) - min(rates)) / median if median else 0


def load_time(table):
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


def reference_speed(table):
    print("reference on cornell, 256x256, 16 spp, 6 vertices")
    rates = []
    for seed in range(3):
        out = isophote(
            "render", "cornell", "--device", "reference", "--width", 256, "--height", 256,
            "--spp", 16, "--max-depth", DEPTH, "--seed", seed,
        )  # fmt: skip
        rates.append(out["samples_per_s"] / 1e6)
    table.row("median of 3", statistics.median(rates), "Msamples/s", BAR_REFERENCE)


def speed(table, ours, rounds, resolution, spp):
    print(f"speed, {resolution}x{resolution}, {spp} spp, {DEPTH} vertices, mode fast, median of {rounds} interleaved runs")
    mesh = ROOT / "scenes/library/blob.ply"
    rates = speeds(ours, rounds, resolution, spp, mesh)
    for scene in SCENES:
        print(f"  {scene}")
        medians = {}
        for name in ("llvm_ad_rgb", "scalar_rgb", *ours, NATIVE_CC):
            medians[name], spread = median_spread(rates.get((name, scene), [0.0]))
            print(f"    {name:<14} {medians[name]:8.3f} Msamples/s  (range {100 * spread:.0f}%)")
        native, native_cc = medians["native"], medians[NATIVE_CC]
        table.row("    native / Mitsuba llvm_ad_rgb", native / medians["llvm_ad_rgb"], "", BAR_MITSUBA_LLVM)
        table.row("    native / Mitsuba scalar_rgb", native / medians["scalar_rgb"], "", BAR_MITSUBA_SCALAR)
        # Without a judged rate of native there is nothing to divide by: missed.
        table.row("    native / native by cc", native / native_cc if native_cc else 0, "")
        table.row("    Intel OpenCL / native by cc", medians["intel"] / native_cc if native_cc else 0, "", BAR_INTEL)
        table.row("    Intel OpenCL / native", medians["intel"] / native if native else 0, "")
        table.row("    PoCL / native", medians["pocl"] / native if native else 0, "", BAR_POCL)


def main():
    global program
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds and samples: a noisy first look")
    parser.add_argument("--rounds", type=int, help="interleaved repetitions (default 3)")
    parser.add_argument("--spp", type=int, help="samples a pixel (default 64)")
    parser.add_argument("--part", action="append", choices=[*PARTS, "kernel"], help="only this (more than once: only these)")
    parser.add_argument("--scene", action="append", help="of the part library: only this")
    parser.add_argument("--before", type=Path, metavar="ISOPHOTE", help="an earlier program: adds the part kernel, today's kernel against its")
    parser.add_argument("--program", type=Path, default=program, help="the isophote to measure (default: ./run's)")
    options = parser.parse_args()
    program = options.program
    if not program.is_file():
        print(f"tools/figures: {program} is not built (./run builds build/release/isophote)", file=sys.stderr)
        return 2
    if "kernel" in (options.part or []) and not options.before:
        parser.error("the part kernel compares with an earlier program: --before ISOPHOTE")
    rounds = options.rounds or (1 if options.quick else 3)
    resolution, spp = (256, 16) if options.quick else (512, 64)
    spp = options.spp or spp
    ours = devices()
    for name in ("native", "intel", "pocl"):
        if name not in ours:
            print(f"tools/figures: no {name} device here: {ours}", file=sys.stderr)
            return 2
    table = Table()
    start = time.monotonic()

    parts = options.part or PARTS
    if "load" in parts:
        load_time(table)
    if "reference" in parts:
        reference_speed(table)
    if "speed" in parts:
        speed(table, ours, rounds, resolution, spp)
    if "features" in parts:
        feature_cost(table, ours["native"], rounds, resolution, spp)
    if "instances" in parts:
        instance_cost(table, ours["native"], 256, 16)
    if options.before and (not options.part or "kernel" in parts):
        kernel_cost(table, options.before, 4 * rounds, 128, min(spp, 24))
    if "library" in parts:
        library_rates(table, {"native": ours["native"]}, options.scene, 256, 16)
    print(f"{table.missed} bars missed; {time.monotonic() - start:.0f} s")
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
