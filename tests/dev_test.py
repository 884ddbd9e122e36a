# SPDX-License-Identifier: Apache-2.0
"""dev_test.py SOURCES BUILD: tools/dev in a small project made here, with this project's own CMake functions, .ci/check and styles;
then what tools/dev reads of BUILD, and what editors read of SOURCES."""
import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sources, build = Path(sys.argv[1]), Path(sys.argv[2])
del sys.argv[1:3]

TOP = """cmake_minimum_required(VERSION 3.25)
project(small C)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_SOURCE_DIR}/cmake)
include(isophote)
enable_testing()
add_subdirectory(base)
"""
BASE = """isophote_library(base SOURCES sum/sum.c names/names.c)
isophote_test(sum_test SOURCES sum/tests/sum_test.c USES base)
isophote_test(names_test SOURCES names/tests/names_test.c USES base LABELS slow)
add_test(NAME plain COMMAND true)
"""
TEST = """#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base.h"

static void test_it(void **state)
{
    (void)state;
    assert_int_equal(%s, %d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
"""
PRESETS = {"version": 6, "configurePresets": [
    {"name": n, "generator": "Ninja", "binaryDir": "${sourceDir}/build/${presetName}"} for n in ("release", "dev")]}


class Small(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = Path(cls.folder.name).resolve() / "a project"
        for name in ("tools/dev", "tools/setup.sh", ".ci/check", ".ci/analyzer.h", ".clang-format", ".clang-tidy", "cmake/isophote.cmake"):
            (cls.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(sources / name, cls.root / name)
        cls.file("CMakePresets.json", json.dumps(PRESETS))
        cls.file("CMakeLists.txt", TOP)
        cls.file("base/CMakeLists.txt", BASE)
        cls.file("base/include/base.h", "int sum(int a, int b);\nint names(void);\n")
        cls.file("base/sum/sum.c", '#include "base.h"\n\nint sum(int a, int b) { return a + b; }\n')
        cls.file("base/sum/tests/sum_test.c", TEST % ("sum(1, 2)", 3))
        cls.file("base/names/names.c", '#include "base.h"\n\nint names(void) { return 7; }\n')
        cls.file("base/names/tests/names_test.c", TEST % ("names()", 7))
        cls.file("base/old.c", "int   old;\n")  # not in good form, and nobody's doing
        cls.file(".gitignore", "/build\n")
        cls.git("init", "-q", "-b", "main")
        cls.commit()

    @classmethod
    def file(cls, name, text):
        (cls.root / name).parent.mkdir(parents=True, exist_ok=True)
        (cls.root / name).write_text(text)

    @classmethod
    def git(cls, *words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=cls.root, check=True)

    @classmethod
    def commit(cls):
        cls.git("add", "-A")
        cls.git("commit", "-qm", "so far")

    def setUp(self):
        self.git("checkout", "-q", "main")
        self.git("reset", "-q", "--hard")
        self.git("clean", "-qfd")

    def dev(self, *words, status=0, says=(), folder="."):
        environment = dict(os.environ, CMAKE_BUILD_PARALLEL_LEVEL="1")
        done = subprocess.run([sys.executable, self.root / "tools/dev", *words], cwd=self.root / folder, env=environment,
                              capture_output=True, text=True)
        text = done.stdout + done.stderr
        self.assertEqual(done.returncode, status, text)
        for part in says:
            self.assertIn(part, text)
        return text

    def test_bad_use(self):
        self.dev("--help", says=["tools/dev test [ROOM...]", "Exit status"])
        for words, says in ((["brew"], "brew"), (["--preset", "debug"], "there are release, dev"), (["test", "nowhere"], "nowhere: no such"),
                            (["test", "cmake"], "cmake has no tests; tools/dev list"), (["format", "/etc/passwd"], "is not in"),
                            (["test", "base/include"], "near it: base, base/names, base/sum"), (["--preset", "dev", "tidy"], "build/release"),
                            (["test", "--since", "never"], "git knows no commit never"), (["list", "--loud"], "--loud")):
            self.dev(*words, status=2, says=[says])

    def test_rooms(self):
        self.assertEqual(self.dev("list").splitlines()[-3:], ["base        plain", "base/names  names_test (slow)", "base/sum    sum_test"])
        text = self.dev("test", "base/sum", says=["sum_test", "100% tests passed, 0 tests failed out of 1"])
        self.assertNotIn("names_test", text)
        for words, folder in ((["tests"], "base/sum"), ([str(self.root / "base/sum/sum.c")], "."), (["base/sum/"], "tools")):
            self.dev("test", *words, folder=folder, says=["sum_test", "out of 1"])
        self.dev("test", "base", says=["not run without --slow: names_test", "out of 2"])
        self.dev("test", "base", "--slow", says=["names_test", "out of 3"])
        self.dev("test", "base/names", says=["no tests to run in base/names"])

    def test_what_changed(self):
        self.dev("test", says=["no tests to run in what changed: nothing did"])
        self.git("checkout", "-qb", "branch")
        try:
            self.file("base/sum/sum.c", '#include "base.h"\n\nint sum(int a, int b) { return a - b; }\n')
            self.commit()
            self.dev("test", status=1, says=["sum_test", "out of 1", "!= 0x3"])
            self.dev("test", "--since", "HEAD", says=["nothing did"])
            self.file("base/include/more.h", "int more;\n")
            self.dev("test", "--since", "HEAD", status=1, says=["plain", "sum_test", "out of 2"])  # those of base
            self.file("base/sum/sum.c", '#include "base.h"\n\nint sum(int a, int b) { return a + b }\n')
            self.dev("test", status=1, says=["error:"])
            self.dev(status=1, says=["error:"])
        finally:
            self.git("checkout", "-qf", "main")
            self.git("branch", "-qD", "branch")
        self.dev(says=["names_test"])  # everything
        self.assertTrue((self.root / "build/release/base/names_test").exists())
        self.dev("build", "sum_test")

    @unittest.skipUnless(shutil.which("clang-format"), "no clang-format")
    def test_format(self):
        self.dev("format", "--check", says=["no C files changed"])
        bad = '#include "base.h"\n\nint sum(int a,int b) { return a+b; }\n'
        good = (self.root / "base/sum/sum.c").read_text()
        self.file("base/sum/sum.c", bad)
        self.file("base/sum/new.h", "int    fresh;\n")
        self.file("base/sum/note.txt", "int    text;\n")
        self.dev("format", "--check", status=1, says=["sum.c:3:", "new.h:1:", "2 files looked at"])
        self.dev("format", "base/sum/new.h", says=["1 files formatted"])
        self.assertEqual((self.root / "base/sum/sum.c").read_text(), bad)
        self.dev("format", says=["2 files formatted"])
        self.assertEqual((self.root / "base/sum/sum.c").read_text(), good)
        self.assertEqual((self.root / "base/sum/new.h").read_text(), "int fresh;\n")
        self.assertEqual((self.root / "base/old.c").read_text(), "int   old;\n")
        self.dev("format", "--check", says=["1 files looked at"])

    @unittest.skipUnless(shutil.which("clang-tidy"), "no clang-tidy")
    def test_tidy(self):
        self.dev("tidy", says=["no compiled C files changed"])
        self.file("base/names/names.c", '#include "base.h"\n\nint names(void)\n{\n    int *p = 0;\n    return *p;\n}\n')
        self.dev("tidy", status=1, says=["null", "1 files looked at: base/names/names.c"])
        self.git("checkout", "-q", ".")
        self.file("base/include/base.h", "int sum(int a, int b);\nint names(void);\nint more(void);\n")
        self.dev("tidy", says=["1 files looked at: base/"])
        self.git("checkout", "-q", ".")
        self.file("base/sum/text.h", "int text;\n")
        self.dev("tidy", says=["base/sum/text.h: not looked at", "no compiled C files changed"])


class House(unittest.TestCase):
    def test_every_test_has_a_room(self):
        with tempfile.TemporaryDirectory() as apart:  # as tools/dev does
            Path(apart, "CTestTestfile.cmake").write_text(f"subdirs([==[{build}]==])\n")
            shown = subprocess.run(["ctest", "--test-dir", apart, "--show-only=json-v1"], capture_output=True, text=True, check=True)
        tests = json.loads(shown.stdout)["tests"]
        self.assertGreater(len(tests), 100)
        for test in tests:
            labels = {p["name"]: p["value"] for p in test["properties"]}.get("LABELS", [])
            rooms = [label[5:] for label in labels if label.startswith("room:")]
            self.assertEqual(len(rooms), 1, test["name"])
            self.assertTrue((sources / rooms[0]).is_dir(), f"{test['name']}: {rooms[0]}")

    def test_editors_get_the_style(self):
        style = dict(line.split(": ") for line in (sources / ".clang-format").read_text().splitlines())
        editor = configparser.ConfigParser(delimiters="=")
        editor.read_string("[preamble]\n" + (sources / ".editorconfig").read_text())
        for extension in ("c", "h", "cc"):
            said = {}
            for section in editor.sections():
                if section == "*" or re.search(rf"^\*\.\{{(.*,)?{extension}[,}}]", section):
                    said.update(editor[section])
            self.assertEqual((said["indent_size"], said["max_line_length"]), (style["IndentWidth"], style["ColumnLimit"]), extension)

    def test_clangd_finds_the_commands(self):
        folder = re.search(r"CompilationDatabase: (\S+)", (sources / ".clangd").read_text())[1]
        preset = json.loads((sources / "CMakePresets.json").read_text())["configurePresets"]
        self.assertIn(folder, [f"build/{p['name']}" for p in preset])
        self.assertTrue((build / "compile_commands.json").exists())


if __name__ == "__main__":
    unittest.main()
