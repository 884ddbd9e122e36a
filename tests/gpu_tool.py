# SPDX-License-Identifier: Apache-2.0
"""gpu_tool.py TOOL PROGRAM ROOT [CASE]...: tools/gpu without a GPU, on the HIP device in software. Exit status 77: that is not here.

The tool is laid out as tools/bundle packs it, beside the program under test.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TOOL, PROGRAM, ROOT = (Path(a).resolve() for a in sys.argv[1:4])
DEVICE = "hip:0"
SCENE = ["--scene", "furnace"]
# No device but native and the one in software.
ENVIRONMENT = {**os.environ, "OCL_ICD_VENDORS": "/nonexistent", "ISOPHOTE_HIP_LIBRARY": "soft"}
ENVIRONMENT.pop("ZE_ENABLE_ALT_DRIVERS", None)


class Bench:
    """A folder with the tool, and what it was last told."""

    def __init__(self, folder):
        self.folder = folder
        shutil.copy(TOOL, folder / "gpu")
        (folder / "isophote").symlink_to(PROGRAM)
        (folder / "share").mkdir()
        (folder / "share/isophote").symlink_to(ROOT)

    def run(self, status, out, *arguments, **environment):
        command = [sys.executable, str(self.folder / "gpu"), str(self.folder / out), "--quick", *arguments]
        told = subprocess.run(command, env={**ENVIRONMENT, **environment}, cwd=self.folder, text=True, capture_output=True)
        said = told.stdout + told.stderr
        assert told.returncode == status, f"{' '.join(command)}\nended with {told.returncode}, expected {status}\n{said}"
        return said

    def text(self, out, name):
        return (self.folder / out / name).read_text()

    def rows(self, out, part):
        return json.loads(self.text(out, f"{part}.json"))

    def commands(self, out):
        return re.findall(r"^\$ \S+ (\S+)", self.text(out, "log.txt"), re.M)


def parts_and_summary(b):
    """Each part has its rows, and summary.md has what they say."""
    parts = ["environment", "strict", "bench", "conform", "report"]
    b.run(0, "whole", *SCENE, "--device", DEVICE, *[a for p in parts for a in ("--part", p)])
    strict = b.rows("whole", "strict")
    assert set(strict) == {"furnace native", f"furnace {DEVICE}"}, strict.keys()
    assert len({row["render"]["film_hash"] for row in strict.values()}) == 1
    bench, conform = (b.rows("whole", p)[DEVICE] for p in ("bench", "conform"))
    assert bench["verdict"] == conform["verdict"] == "PASS" and bench["rows"][0]["samples_per_s"] > 0
    assert conform["summary"]["PASS"] >= 5 and conform["summary"]["resumed"] == 0, conform["summary"]
    summary = b.text("whole", "summary.md")
    assert re.search(rf"^\| `{DEVICE}` \| 1 \| 0 \| 0 \|$", summary, re.M), summary  # strict bits
    s = conform["summary"]
    assert f"| `{DEVICE}` | {s['PASS']} | 0 | 0 | {s['SKIP']} |" in summary, summary
    rate = re.search(rf"^\| device \| furnace \|.*\n\|.*\n\| `{DEVICE}` \| ([0-9.]+) \|", summary, re.M)
    assert rate and abs(float(rate[1]) / (bench["rows"][0]["samples_per_s"] / 1e6) - 1) < 0.006, summary  # three digits
    assert DEVICE in b.text("whole", "report.html")
    assert b.commands("whole").count("conform") == 1  # each device once


def rows_are_resumed(b):
    """What OUT has is not made again, the rest is; conform goes on from its journal; --again forgets."""
    file = b.folder / "whole" / "strict.json"
    rows = b.rows("whole", "strict")
    rows["furnace native"]["mark"] = 1
    del rows[f"furnace {DEVICE}"]
    file.write_text(json.dumps(rows))
    (b.folder / "whole" / "conform.json").unlink()
    before = b.commands("whole")
    asked = [*SCENE, "--device", DEVICE, "--part", "strict", "--part", "conform", "--part", "bench"]
    b.run(0, "whole", *asked)
    made = b.commands("whole")[len(before) :]
    assert made.count("render") == 1 and made.count("bench") == 0 and made.count("conform") == 1, made
    rows = b.rows("whole", "strict")
    assert rows["furnace native"]["mark"] == 1 and rows[f"furnace {DEVICE}"]["verdict"] == "PASS"
    summary = b.rows("whole", "conform")[DEVICE]["summary"]
    assert summary["resumed"] == summary["total"] > 0, summary
    b.run(0, "whole", *SCENE, "--device", DEVICE, "--part", "strict", "--again")
    assert "mark" not in b.rows("whole", "strict")["furnace native"]


def the_limit_leaves_rows(b):
    said = b.run(1, "limit", *SCENE, "--device", DEVICE, "--part", "strict", "--limit", "1e-3")
    assert "2 not reached" in said and not (b.folder / "limit" / "strict.json").exists(), said
    b.run(0, "limit", *SCENE, "--device", DEVICE, "--part", "strict")
    assert len(b.rows("limit", "strict")) == 2


def findings_fail(b):
    """Wrong bits, a wrong picture, a device that is lost: status 1, and the summary says why."""
    wrong = "faulty:doubled-light"
    cornell = ["--scene", "cornell"]  # furnace has no light to sample
    said = b.run(1, "wrong", *cornell, "--device", wrong, "--part", "strict")
    assert f"FAIL strict cornell {wrong}: not native's bits" in said, said
    said = b.run(1, "wrong", *cornell, "--device", wrong, "--part", "bench")
    assert f"FAIL {wrong}: cornell: p = " in said, said
    summary = b.text("wrong", "summary.md")
    assert f"- `{wrong}`, cornell: **other bits**" in summary and f"| `{wrong}` | FAIL | cornell: p = " in summary, summary
    said = b.run(1, "lost", *SCENE, "--device", DEVICE, "--part", "strict", ISOPHOTE_SOFT_FAULT="lost:1")
    assert f"FAIL furnace {DEVICE}: " in said and "the device stopped answering" in said, said
    assert "the device stopped answering" in b.text("lost", "summary.md")
    assert b.rows("lost", "strict")["furnace native"]["verdict"] == "PASS"  # the run went on


def several_devices(b):
    """Bits of devices alone and together, rates, the screen; a device that computes wrongly is named."""
    b.run(0, "several", *SCENE, "--device", DEVICE, "--part", "several")
    rows = b.rows("several", "several")
    kinds = ["strict furnace native", f"strict furnace {DEVICE}", f"strict furnace {DEVICE}+native", f"rate furnace {DEVICE}"]
    assert set(rows) == {*kinds, "screen", f"conform {DEVICE}"}, rows.keys()
    assert len({rows[k]["render"]["film_hash"] for k in kinds[:3]}) == 1 and rows["screen"]["cards"][DEVICE]["pictures"] == 3
    assert f"| `{DEVICE}+native` | 1 | - | - |" in b.text("several", "summary.md"), b.text("several", "summary.md")
    wrong = "faulty:doubled-light"
    said = b.run(1, "sick", "--scene", "cornell", "--device", wrong, "--part", "several")
    assert f"FAIL strict cornell {wrong}: not native's bits" in said and f"{wrong}: 3 of 3 pictures have other bits" in said, said


def absence_is_told(b):
    said = b.run(77, "absent", *SCENE, "--device", "cuda:9", "--part", "strict", "--part", "bench")
    assert "nothing could run on cuda:9: " in said, said
    said = b.run(1, "half", *SCENE, "--device", DEVICE, "--device", "cuda:9", "--part", "strict")
    assert "nothing could run on cuda:9: " in said and f"run on {DEVICE}" not in said, said
    said = b.run(77, "none", *SCENE, "--part", "strict", ISOPHOTE_HIP_LIBRARY="/nonexistent")
    assert "no GPU here" in said, said
    b.run(2, "none", "--part", "nothing")


CASES = (parts_and_summary, rows_are_resumed, the_limit_leaves_rows, findings_fail, several_devices, absence_is_told)


def main():
    devices = subprocess.run([PROGRAM, "devices"], env=ENVIRONMENT, text=True, capture_output=True)
    if not re.search(rf"^{DEVICE} ", devices.stdout, re.M):
        print(f"SKIP: no HIP device in software\n{devices.stdout}{devices.stderr}")
        return 77
    with tempfile.TemporaryDirectory(prefix="isophote-gpu-") as folder:
        b = Bench(Path(folder))
        for case in CASES:
            if sys.argv[4:] and case.__name__ not in sys.argv[4:]:
                continue
            case(b)
            print(f"{case.__name__}: passed", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
