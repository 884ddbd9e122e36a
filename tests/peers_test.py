# SPDX-License-Identifier: Apache-2.0
"""peers_test.py PEERS.PY PROGRAM: tools/peers.py with a renderer that plays: honest, wrong, broken, gone.

The player stands in for the Python that a peer would run in. Its honest picture is ours of other random numbers.
"""
import json
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

PEERS, PROGRAM = sys.argv[1:3]
PLAYER = """#!{python}
import json, subprocess, sys
import numpy as np
how = sys.argv[2]
print(json.dumps({{"name": "Player", "version": "1"}}), flush=True)
for line in sys.stdin:
    ask = json.loads(line)
    if how == "dies" and ask["seed"] == 1:
        sys.exit(3)
    if how == "babbles":
        print("Welcome!", flush=True)
        continue
    if how == "refuses":
        print(json.dumps({{"error": "no such BSDF"}}), flush=True)
        continue
    file = ask["out"] + ".pfm"
    size = ["--width", str(ask["width"]), "--height", str(ask["height"]), "--spp", str(ask["spp"])]
    subprocess.run([{program!r}, "render", {scene!r}, "--seed", str(99 + ask["seed"]), *size, "-o", file, "--force"], check=True, stdout=2)
    with open(file, "rb") as f:
        f.readline(); f.readline(); f.readline()
        image = np.frombuffer(f.read(), "<f4").reshape(ask["height"], ask["width"], 3)[::-1].copy()
    if how == "bright":
        image *= 1.03
    if how == "mirrored":
        image = image[:, ::-1]
    if how == "nan":
        image[3, 4, 1] = np.nan
    if how == "small":
        image = image[:-1]
    np.save(ask["out"], image)
    print(json.dumps({{"seconds": 0.5}}), flush=True)
"""
# What the player does: the verdict of its row, and a part of the reason.
ROWS = {
    "honest": ("PASS", "all light"),
    "bright": ("FAIL", "all light +"),
    "mirrored": ("FAIL", "the middle one"),
    "nan": ("FAIL", "not finite"),
    "small": ("FAIL", "64x63"),
    "refuses": ("SKIP", "no such BSDF"),
    "babbles": ("SKIP", "it said 'Welcome!"),
    "dies": ("SKIP", "status 3"),
}


def run(out, players, **env):
    """(status, what was said, records, rows of the store by device) of one run with these peers."""
    peers = [x for how in players for x in ("--peer", f"mitsuba:{how}")]
    command = [sys.executable, PEERS, str(out), "--program", PROGRAM, *peers, "--scene", "cornell"]
    clean = {k: v for k, v in os.environ.items() if k != "PEERS_MITSUBA_PYTHON"}
    result = subprocess.run(
        [*command, "--side", "64", "--spp", "64", "--rounds", "1"], env={**clean, **env}, capture_output=True, text=True
    )
    records = [json.loads(line) for line in (out / "peers.jsonl").read_text().splitlines()]
    exported = subprocess.run([PROGRAM, "export", "--store", str(out / "results.db")], capture_output=True, text=True, check=True)
    kept = [json.loads(x) for x in exported.stdout.splitlines()]
    assert (out / "report.html").exists()
    return result.returncode, result.stdout + result.stderr, records, {x["device"]: x for x in kept if x["type"] == "bench"}


def main():
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        player = folder / "player"
        player.write_text(PLAYER.format(python=sys.executable, program=PROGRAM, scene="cornell"))
        player.chmod(player.stat().st_mode | stat.S_IXUSR)
        there = {"PEERS_MITSUBA_PYTHON": str(player)}

        status, said, records, rows = run(folder / "all", ROWS, **there)
        assert status == 1, said
        for how, (verdict, reason) in ROWS.items():
            row = rows[f"mitsuba:{how}"]
            assert row["verdict"] == verdict and reason in row["reason"], (how, row)
            # 64 x 64 x 64 samples in half a second; only a right picture has a rate
            assert row.get("samples_per_s", 0) == (524288 if verdict == "PASS" else 0), (how, row)
            assert (f"{how}: " in said.split("Not compared")[1]) == (verdict != "PASS"), (how, said)
        assert rows["native"]["verdict"] == "PASS"
        assert len({x["max_depth"] for x in rows.values()}) == 1, rows  # one table of the report
        pictures = {(x["device"], x["kind"]) for x in records if x["type"] == "image"}
        assert ("mitsuba:honest", "picture") in pictures and ("mitsuba:dies", "picture") not in pictures, pictures

        status, said, _, _ = run(folder / "good", ["honest"], **there)
        assert status == 0 and "Not compared" not in said, said
        status, said, _, rows = run(folder / "none", ["honest"])
        assert status == 77 and rows["mitsuba:honest"]["verdict"] == "SKIP" and "not installed" in said, said

        for bad in ["--peer", "arnold:CPU"], ["--side", "3"], ["--peer", "mitsuba:a", "--peer", "mitsuba:a"], ["--rounds", "0"]:
            result = subprocess.run([sys.executable, PEERS, str(folder / "bad"), *bad], capture_output=True, text=True)
            assert result.returncode == 2 and not (folder / "bad").exists(), (bad, result)
    print(f"{len(ROWS)} players")


main()
