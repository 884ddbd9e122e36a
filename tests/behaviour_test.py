# SPDX-License-Identifier: Apache-2.0
"""behaviour_test.py BEHAVIOUR PROGRAM SOURCES: what tools/behaviour records of a small tree made here, and what compare says of it."""
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

tool, program, sources = sys.argv[1:4]
del sys.argv[1:4]
RECORD = "# isophote behaviour 1\n# isophote 0.1.0\n"


class Behaviour(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)

    def run_tool(self, *words):
        return subprocess.run([sys.executable, tool, *map(str, words)], capture_output=True, text=True)

    def file(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def compare(self, before, after, status, *says):
        done = self.run_tool("compare", self.file("before", before), self.file("after", after))
        self.assertEqual(done.returncode, status, done)
        for text in says:
            self.assertIn(text, done.stdout + done.stderr)

    def test_the_same(self):
        self.compare(RECORD + "film a 1\nverdict k.a PASS\n", "# isophote behaviour 1\nverdict k.a PASS\nfilm a 1\n", 0,
                     "film: 1 the same, 0 differ", "verdict: 1 the same, 0 differ")

    def test_a_difference(self):
        self.compare(RECORD + "film a 1\nfilm b 2\n", RECORD + "film a 1\nfilm b 3\n", 1, "1 the same, 1 differ", "film b: 2 -> 3")
        self.compare(RECORD + "film a 1\n", RECORD + "film a 1\nfilm b 3\n", 1, "1 only after", "film b: only after")
        self.compare(RECORD + "verdict a PASS\nverdict b SKIP\n", RECORD + "verdict b SKIP\n", 1, "verdict a: only before")
        self.compare(RECORD + "shader tests/a.asl c 1\n", RECORD + "shader tests/a.asl c 2\n", 1, "shader tests/a.asl c: 1 -> 2")

    def test_a_kind_that_one_lacks_is_said(self):
        self.compare(RECORD + "film a 1\n", RECORD + "film a 1\nverdict k PASS\n", 0, "verdict: not compared")
        self.compare(RECORD + "film a 1\n", RECORD + "verdict k PASS\n", 2, "share no kind")

    def test_bad_input(self):
        good = RECORD + "film a 1\n"
        self.compare("film a 1\n", good, 2, "before:1: no record")
        self.compare(good, "", 2, "after:1: no record")
        self.compare(good, RECORD, 2, "after: no facts")
        self.compare(good, good + "film a\n", 2, "after:4: expected film NAME HASH")
        self.compare(good, good + "picture a 1\n", 2, "after:4: expected")
        self.compare(good, good + "film a 2\n", 2, "after:4: film a stands there twice")
        self.assertEqual(self.run_tool("compare", self.root / "none", self.root / "none").returncode, 2)
        self.assertEqual(self.run_tool("compare", self.root / "none").returncode, 2)
        self.assertEqual(self.run_tool().returncode, 2)

    def record(self, name, tree):
        done = self.run_tool("record", self.root / name, "--program", program, "--tree", tree, "--without", "verdict")
        self.assertEqual(done.returncode, 0, done)
        return (self.root / name).read_text()

    def tree(self, name):
        tree = self.root / name
        for file in ("scenes/library/cornell.json", "shaders/tests/arith.asl", "shaders/tests/errors_types.asl",
                     "shaders/tests/headers.asl", "shaders/library/marble.asl"):
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path(sources, file), tree / file)
        return tree

    def test_a_tree_that_moves_is_the_same(self):
        first = self.record("first", self.tree("here"))
        self.assertEqual(sum(line.startswith("film ") for line in first.splitlines()), 1)
        self.assertEqual(sum(line.startswith("shader ") for line in first.splitlines()), 4 * 7)
        self.assertEqual(self.record("second", self.tree("or/over there")), first)

    def test_what_changes_is_found(self):
        self.record("first", self.tree("here"))
        tree = self.tree("there")
        marble, cornell = tree / "shaders/library/marble.asl", tree / "scenes/library/cornell.json"
        marble.write_text(marble.read_text().replace("veins = 5", "veins = 6"))
        scene = cornell.read_text()
        changed = scene.replace('"max_depth": 6', '"max_depth": 2')
        self.assertNotEqual(scene, changed)
        cornell.write_text(changed)
        self.record("second", tree)
        done = self.run_tool("compare", self.root / "first", self.root / "second")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("film cornell: ", done.stdout)
        self.assertIn("shader library/marble.asl run: ", done.stdout)
        self.assertNotIn("arith", done.stdout)

    def test_record_of_what_is_no_program(self):
        old = self.file("record", "as it was")
        for words in (["--program", self.root / "none"], ["--program", shutil.which("false"), "--tree", self.tree("here")],
                      ["--program", program, "--tree", self.root], ["--without", "film", "--without", "shader", "--without", "verdict"]):
            done = self.run_tool("record", old, *words)
            self.assertEqual((done.returncode, old.read_text()), (2, "as it was"), done)
            self.assertTrue(done.stderr.startswith("tools/behaviour: "), done)


if __name__ == "__main__":
    unittest.main()
