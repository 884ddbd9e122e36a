# SPDX-License-Identifier: Apache-2.0
"""false_alarms_test.py TOOL ISOPHOTE: what tools/false_alarms reckons, counts and refuses."""
import importlib.machinery
import importlib.util
import json
import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

program, tool = sys.argv.pop(2), sys.argv.pop(1)
loader = importlib.machinery.SourceFileLoader("false_alarms", tool)
false_alarms = importlib.util.module_from_spec(importlib.util.spec_from_loader("false_alarms", loader))
loader.exec_module(false_alarms)

# A program that stands for isophote: `compare` says what the next word of a file says, by the names of the stores' folder.
FAKE = """#!{python}
import json, sys
from pathlib import Path
folder = Path(__file__).parent
words = sys.argv[1:]
with open(folder / "calls", "a") as f:
    f.write(json.dumps(words) + "\\n")
if words[0] == "scenes":
    print(json.dumps({{"scenes": [{{"name": "cornell", "file": str(folder / "cornell.json")}}]}}))
elif words[0] == "export":
    rows = [{{"type": "run", "run": 1}}, {{"type": "bench", "run": 1, "scene": "one"}}, {{"type": "bench", "run": 1, "scene": "two"}}]
    for r in [{{"type": "isophote-store", "schema": 3, "records": len(rows)}}, *rows]:
        print(json.dumps(r))
elif words[0] == "import":
    lines = Path(words[1]).read_text().splitlines()
    with open(folder / "imported", "a") as f:
        f.write(json.dumps([json.loads(line) for line in lines]) + "\\n")
elif words[0] == "compare":
    said = (folder / "says").read_text().split()
    (folder / "says").write_text(" ".join(said[1:]))
    if said[0] == "nothing":
        sys.exit(77)
    if said[0] == "breaks":
        print("the store is gone", file=sys.stderr)
        sys.exit(2)
    if said[0] == "cut":
        print('{{"counts": ')
        sys.exit(0)
    print(json.dumps({{"counts": {{"rates": {{said[0]: 1}}}}}}))
    sys.exit(said[0] == "slower")
"""


class Arithmetic(unittest.TestCase):
    def test_closed_forms(self):
        # none of n: 1 - (a/2)^(1/n); all of n: (a/2)^(1/n)
        for n in (1, 7, 20, 300):
            edge = 0.025 ** (1 / n)
            self.assertEqual(false_alarms.interval(0, n)[0], 0)
            self.assertAlmostEqual(false_alarms.interval(0, n)[1], 1 - edge, 9)
            self.assertAlmostEqual(false_alarms.interval(n, n)[0], edge, 9)
            self.assertEqual(false_alarms.interval(n, n)[1], 1)

    def test_published(self):
        # R: binom.test(k, n)$conf.int
        for k, n, low, high in ((5, 10, 0.1870860, 0.8129140), (1, 2, 0.0125791, 0.9874209), (3, 100, 0.0062300, 0.0851760)):
            got = false_alarms.interval(k, n)
            self.assertAlmostEqual(got[0], low, 4)
            self.assertAlmostEqual(got[1], high, 4)

    def test_it_holds_what_it_says(self):
        for n in (5, 13):
            ends = [false_alarms.interval(k, n) for k in range(n + 1)]
            for p in (i / 97 for i in range(1, 97)):
                held = sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1) if ends[k][0] <= p <= ends[k][1])
                self.assertGreaterEqual(held, 0.95)


class Counting(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "cornell.json").write_text("{}")
        self.fake = self.folder / "isophote"
        self.fake.write_text(FAKE.format(python=sys.executable))
        self.fake.chmod(0o755)

    def run_tool(self, says, *words):
        (self.folder / "says").write_text(says)
        return subprocess.run([sys.executable, tool, "--program", self.fake, *words], capture_output=True, text=True)

    def lines(self, name):
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]

    def test_counts(self):
        # of each pair: runs at 3, runs at 5; rows at 3, rows at 5
        done = self.run_tool("slower same faster ambiguous  same same same same  nothing nothing same same  same same faster same",
                             "--pairs", "4", "--threshold", "3", "--threshold", "5", "--json", "--", "--spp", "7")
        self.assertEqual(done.returncode, 0, done)
        results = {(r["compared"], r["threshold_percent"]): r for r in json.loads(done.stdout)["results"]}
        wanted = {("runs", 3): (3, 1, 0, 1), ("runs", 5): (3, 0, 0, 1), ("rows", 3): (4, 0, 2, 0), ("rows", 5): (4, 0, 0, 0)}
        for key, (pairs, slower, faster, left_out) in wanted.items():
            r = results[key]
            self.assertEqual((r["pairs"], r["slower"], r["faster"], r["left_out"]), (pairs, slower, faster, left_out), key)
            self.assertEqual(r["false_alarms"], slower + faster)
            self.assertAlmostEqual(r["share"], (slower + faster) / pairs)
            self.assertEqual(tuple(r["interval"]), false_alarms.interval(slower + faster, pairs))
        calls = self.lines("calls")
        benches = [c for c in calls if c[0] == "bench"]
        self.assertEqual([len([w for w in c if w.endswith(".json")]) for c in benches], [1, 1, 2] * 4)
        self.assertTrue(all(c[-2:] == ["--spp", "7"] for c in benches))
        self.assertEqual(len({c[c.index("--store") + 1] for c in benches}), 12)
        for old, new in ([c[1:3] for c in calls if c[0] == "compare"]):
            self.assertNotEqual(old, new)
        # each half has one row, of the same name in both
        for lines in self.lines("imported"):
            self.assertEqual([r["scene"] for r in lines if r["type"] == "bench"], ["pair"])
            self.assertEqual(lines[0]["records"], len(lines) - 1)

    def test_nothing_to_compare(self):
        done = self.run_tool("nothing nothing", "--pairs", "1", "--threshold", "3")
        self.assertEqual(done.returncode, 1, done)
        self.assertEqual(done.stdout.count("no pair with two rates"), 2)

    def test_failures(self):
        for words, says in ((("--pairs", "0"), "--pairs"), (("--threshold", "-1"), "--threshold"), (("--threshold", "nan"), "--threshold"),
                            (("--scene", "none.json"), "none.json: no such scene")):
            done = self.run_tool("", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(says, done.stderr)
        done = self.run_tool("breaks", "--pairs", "1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("the store is gone", done.stderr)
        self.assertEqual(self.run_tool("cut", "--pairs", "1").returncode, 2)


class Measuring(unittest.TestCase):
    def test_one_pair(self):
        done = subprocess.run([sys.executable, tool, "--program", program, "--pairs", "1", "--threshold", "1000", "--json", "--",
                               "--width", "16", "--height", "16", "--spp", "2", "--budget", "0.05"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done)
        for r in json.loads(done.stdout)["results"]: # no rate is eleven times another here
            self.assertEqual((r["pairs"], r["false_alarms"], r["left_out"]), (1, 0, 0), done)


unittest.main()
