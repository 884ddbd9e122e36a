# SPDX-License-Identifier: Apache-2.0
"""Other renderers on our scenes, beside our devices: their pictures judged, their seconds, all in one store and report.

Called by tools/peers, which installs what the peers need. A scene is exported once (`isophote export --mitsuba`, with --plugins where
that is needed; what only --lossy writes is refused), and all contenders render it in turns, at the same size, samples and depth.

A peer is a process that says {"name", "version"} on its first line, then for each line {"folder", "width", "height", "spp", "seed",
"out"} renders the folder's scene.xml to OUT (.npy, float32 [height][width][3], linear, rows from the top) and answers
{"seconds": ...}, rendering alone, or {"error": ...}.
"""
import argparse
import base64
import json
import os
import platform
import shutil
import statistics
import struct
import subprocess
import sys
import time
import zlib
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
COMMON = ["cornell", "blob", "blobgloss"]
SQUARE = 16  # pixels: pictures are compared by means of squares, where noise is small
# The same scene, as far as two renderers mean the same by it: all light, and the middle square.
MOST_OFF, MOST_OFF_SQUARE = 0.02, 0.05
TRUTH_SPP = 4  # times the samples of a contender


class Peer:
    """One renderer's process. `gone` says why there is none."""

    def __init__(self, kind, variant, python, log):
        self.id, self.gone = f"{kind}:{variant}", None
        self.said = {"name": kind, "version": ""}
        self.process = None
        if not python:
            self.gone = f"{kind} is not installed here (tools/peers says why)"
            return
        worker = HERE / f"peers_{kind}.py"
        self.process = subprocess.Popen(
            [python, str(worker), variant], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
        self.said = self.answer() or self.said
        if self.said.get("version") == "" and not self.gone:
            self.gone = "it did not say its version"

    def answer(self):
        line = self.process.stdout.readline()
        try:
            return json.loads(line)
        except json.JSONDecodeError:
            self.gone = f"its process ended with status {self.process.wait()} (peers.log)" if not line else f"it said {line[:80]!r}"
            return None

    def render(self, ask):
        if self.gone:
            return {"error": self.gone}
        try:
            self.process.stdin.write(json.dumps(ask) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        return self.answer() or {"error": self.gone}

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()


def pfm(path):
    with open(path, "rb") as f:
        f.readline()
        width, height = map(int, f.readline().split())
        order = "<f4" if float(f.readline()) < 0 else ">f4"
        return np.frombuffer(f.read(), order).reshape(height, width, 3)[::-1]


def png(image):
    """An sRGB PNG of a linear picture, as base64."""
    x = np.clip(np.nan_to_num(image), 0, 1)
    x = np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055)
    rows = np.round(x * 255).astype(np.uint8)
    raw = b"".join(b"\0" + r.tobytes() for r in rows)
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))  # noqa: E731
    head = struct.pack(">IIBBBBB", image.shape[1], image.shape[0], 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")
    return base64.b64encode(data).decode()


def judge(picture, truth):
    """(verdict, reason, figures) of a peer's picture."""
    if picture.shape != truth.shape:
        return "FAIL", f"the picture is {picture.shape[1]}x{picture.shape[0]}", {}
    if not np.isfinite(picture).all():
        return "FAIL", "the picture has values that are not finite", {}
    h, w = (n // SQUARE * SQUARE for n in truth.shape[:2])
    means = lambda a: a[:h, :w].reshape(h // SQUARE, SQUARE, w // SQUARE, SQUARE, 3).mean((1, 3, 4))  # noqa: E731
    ours = means(truth)
    lit = ours > 1e-3 * ours.mean()
    off = np.abs(means(picture)[lit] / ours[lit] - 1)
    figures = {
        "all_light": float(picture.mean() / truth.mean() - 1),
        "middle_square": float(np.median(off)),
        "squares_95": float(np.quantile(off, 0.95)),
    }
    good = abs(figures["all_light"]) <= MOST_OFF and figures["middle_square"] <= MOST_OFF_SQUARE
    reason = (
        f"all light {figures['all_light']:+.2%} of ours; squares of {SQUARE} pixels: the middle one {figures['middle_square']:.2%} off, "
        f"95 % of them within {figures['squares_95']:.2%}"
    )
    return ("PASS" if good else "FAIL"), reason, figures


class Session:
    def __init__(self, o):
        self.o = o
        self.out = Path(o.out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.store = self.out / "results.db"
        self.log = open(self.out / "peers.log", "w")
        pythons = {"mitsuba": os.environ.get("PEERS_MITSUBA_PYTHON"), "cycles": os.environ.get("PEERS_CYCLES_PYTHON")}
        self.peers = [Peer(*p.split(":", 1), pythons[p.split(":", 1)[0]], self.log) for p in o.peer]
        self.records, self.table = [], []
        self.depth = {}  # by scene, as ours was benched: what makes rows comparable

    def isophote(self, *arguments):
        command = [self.o.program, *map(str, arguments)]
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.log.write(f"$ {' '.join(command)}\n# status {result.returncode}\n{result.stderr[-2000:]}")
        self.log.flush()
        return result

    def picture(self, spp):
        return ["--width", self.o.side, "--height", self.o.side, "--spp", spp]

    def export(self, scene):
        """The folder of the scene as XML; None and the reason."""
        folder = self.out / "scenes" / Path(scene).stem
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for options in [], ["--plugins"]:
            result = self.isophote("export", "--mitsuba", scene, *options, "-o", folder)
            if result.returncode == 0:
                return folder, None
        return None, "not exported: " + (result.stderr.strip().splitlines() or ["?"])[-1].removeprefix("isophote: error: ")

    def row(self, peer, scene, verdict, reason, seconds=(), detail=None):
        samples = self.o.side**2 * self.o.spp
        passed = verdict == "PASS"
        rates = sorted(samples / s for s in seconds) if passed else []
        self.records.append(
            dict(
                type="bench", scene=Path(scene).stem, device=peer.id, mode="fast", model="its own", width=self.o.side, height=self.o.side,
                spp=self.o.spp, max_depth=self.depth.get(Path(scene).stem, 0), verdict=verdict, reason=reason, repetitions=len(seconds), command=self.o.said,
                samples_per_s=statistics.median(rates) if rates else 0, interval_low=rates[0] if rates else 0,
                interval_high=rates[-1] if rates else 0, detail={"seconds": list(seconds), **(detail or {})},
            )
        )  # fmt: skip

    def image(self, device, scene, kind, picture, caption):
        self.records.append(
            dict(type="image", scene=Path(scene).stem, device=device, mode="fast", kind=kind, width=picture.shape[1], height=picture.shape[0],
                 caption=caption, png=png(picture))
        )  # fmt: skip

    def scene(self, scene):
        """All contenders on one scene, in turns."""
        o = self.o
        truth_file = self.out / "truth.pfm"
        made = self.isophote("render", scene, "--device", "native", "--mode", "strict", *self.picture(TRUTH_SPP * o.spp), "-o", truth_file, "--force")
        if made.returncode:
            print(f"{scene}: no truth: {made.stderr.strip()}", file=sys.stderr)
            return False
        truth = pfm(truth_file)
        folder, why = self.export(scene)
        seconds = {c: [] for c in [*o.device, *(p.id for p in self.peers)]}
        failed = {}
        for turn in range(o.rounds + 1):  # the first loads, compiles and fills caches: it does not count
            for device in o.device:
                if device in failed:
                    continue
                result = self.isophote("render", scene, "--device", device, "--mode", "fast", *self.picture(o.spp), "--json")
                if result.returncode:
                    failed[device] = (result.stderr.strip().splitlines() or ["?"])[-1].removeprefix("isophote: error: ")
                elif turn:
                    seconds[device].append(o.side**2 * o.spp / json.loads(result.stdout)["samples_per_s"])
            for peer in self.peers:
                if peer.id in failed:
                    continue
                out = self.out / "peer.npy"
                ask = dict(folder=str(folder.resolve()) if folder else "", width=o.side, height=o.side, spp=o.spp, seed=turn, out=str(out.resolve()))
                answer = peer.render(ask) if folder else {"error": why}
                if "error" in answer:
                    failed[peer.id] = answer["error"]
                elif turn:
                    seconds[peer.id].append(answer["seconds"])
                    if turn == o.rounds:
                        picture = np.load(out)
                        verdict, reason, figures = judge(picture, truth)
                        self.image(peer.id, scene, "picture", picture, f"{peer.said['name']} {peer.said['version']}: {verdict}, {reason}")
                        self.row(peer, scene, verdict, reason, seconds[peer.id], {"judgement": {"verdict": verdict, "reason": reason, **figures}})
                        if verdict != "PASS":
                            failed[peer.id] = reason
        for peer in self.peers:
            if peer.id in failed and not seconds[peer.id]:
                self.row(peer, scene, "SKIP", failed[peer.id])
            if not peer.gone:
                self.image(peer.id, scene, "reference", truth, f"native, strict, {TRUTH_SPP * o.spp} samples a pixel")
        self.table.append((Path(scene).stem, seconds, failed))
        return True

    def import_records(self):
        """Adds the peers' rows to the store, as one run of kind bench."""
        host = {"utc": datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "os": platform.platform()}
        run = dict(type="run", kind="bench", started_utc=host["utc"], command=self.o.said, environment=host)
        devices = [dict(type="device", id=p.id, api="peer", name=p.said["name"], version=f"{p.said['version']} {p.id.split(':')[1]}", kind="other")
                   for p in self.peers if not p.gone or p.said["version"]]  # fmt: skip
        lines = [{"type": "isophote-store", "schema": 4}, *({**r, "run": 1} for r in [run, *devices, *self.records])]
        file = self.out / "peers.jsonl"
        file.write_text("".join(json.dumps(x) + "\n" for x in lines))
        result = self.isophote("import", file, "--store", self.store)
        if result.returncode:
            sys.exit(f"tools/peers: the store does not take the rows: {result.stderr.strip()}")

    def summary(self):
        o = self.o
        columns = [*o.device, *(p.id for p in self.peers)]
        names = {p.id: f"{p.said['name']} {p.said['version']} {p.id.split(':')[1]}".strip() for p in self.peers}
        head = ["scene", *(f"{names.get(c, c)}, s" for c in columns), *(f"{d} over {names[p.id]}" for d in o.device for p in self.peers)]
        rows, notes = [], []
        for scene, seconds, failed in self.table:
            middle = {c: statistics.median(s) for c, s in seconds.items() if s and c not in failed}
            cells = [f"{middle[c]:.3g}" if c in middle else "-" for c in columns]
            ratios = [f"{middle[p.id] / middle[d]:.2f}" if p.id in middle and d in middle else "-" for d in o.device for p in self.peers]
            rows.append([scene, *cells, *ratios])
            notes += [f"- {scene}, {names.get(c, c)}: {why}" for c, why in failed.items()]
        lines = ["| " + " | ".join(r) + " |" for r in [head, *rows]]
        lines.insert(1, "|" + "---|" * len(head))
        text = f"# Peers, {time.strftime('%Y-%m-%d')}\n\n`{o.said}`\n\n{o.side}x{o.side}, {o.spp} samples a pixel, the scenes' own depth; the middle of {o.rounds} renders in turns. "
        text += "Above 1: ours is so many times as fast.\n\n" + "\n".join(lines) + "\n"
        text += "\n## Not compared\n\n" + "\n".join(notes) + "\n" if notes else ""
        (self.out / "peers.md").write_text(text)
        print(text, end="")


def main():
    parser = argparse.ArgumentParser(prog="tools/peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", nargs="?", default="out/peers", help="folder: results.db, report.html, peers.md (default: out/peers)")
    parser.add_argument("--peer", action="append", help="mitsuba:VARIANT or cycles:CPU, CUDA, OPTIX (default: mitsuba:llvm_ad_rgb and cycles:CPU)")
    parser.add_argument("--device", action="append", help="of ours (default: native)")
    parser.add_argument("--scene", action="append", help=f"a name or a file (default: {' '.join(COMMON)})")
    parser.add_argument("--side", type=int, default=512, help="pixels")
    parser.add_argument("--spp", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--program", default=str(HERE.parent / "build/release/isophote"))
    o = parser.parse_args()
    o.peer, o.device, o.scene = o.peer or ["mitsuba:llvm_ad_rgb", "cycles:CPU"], o.device or ["native"], o.scene or COMMON
    if any(p.partition(":")[0] not in ("mitsuba", "cycles") or not p.partition(":")[2] for p in o.peer):
        parser.error("--peer is mitsuba:VARIANT or cycles:DEVICE")
    if o.side < SQUARE or o.spp < 1 or o.rounds < 1:
        parser.error(f"--side is at least {SQUARE}, --spp and --rounds are at least 1")
    if len(set(o.peer)) < len(o.peer) or len(set(o.device)) < len(o.device):
        parser.error("a contender is named twice")
    o.said = "tools/peers " + " ".join(sys.argv[1:])
    session = Session(o)
    for device in o.device:  # judged, and into the store as any other benchmark
        told = session.isophote("bench", *o.scene, "--device", device, "--mode", "fast", *session.picture(o.spp), "--store", session.store, "--json")
        for row in json.loads(told.stdout or "{}").get("rows", []):
            session.depth[row["scene"]] = row["max_depth"]
    good = [session.scene(scene) for scene in o.scene]
    for peer in session.peers:
        peer.close()
    session.import_records()
    session.isophote("report", "--store", session.store, "-o", session.out / "report.html", "--force")
    session.summary()
    compared = any(seconds[p.id] and p.id not in failed for _, seconds, failed in session.table for p in session.peers)
    if not all(good) or any(r["type"] == "bench" and r["verdict"] == "FAIL" for r in session.records):
        return 1
    return 0 if compared else 77


if __name__ == "__main__":
    sys.exit(main())
