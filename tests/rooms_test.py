# SPDX-License-Identifier: Apache-2.0
"""rooms_test.py ROOMS: what tools/rooms counts, and what it finds, in trees made here."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

tool = sys.argv.pop(1)


class Rooms(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        for name in ("base", "scenes", "shaders", "reference", "backends"):
            self.file(f"{name}/include/{name}.h")

    def file(self, name, *lines):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(line + "\n" for line in lines))

    def includes(self, name, *others):
        self.file(name, *(f'#include "{other}"' for other in others))

    def run_tool(self, *words):
        return subprocess.run([sys.executable, tool, "--tree", self.root, *words], capture_output=True, text=True)

    def finds(self, *texts):
        done = self.run_tool("--check")
        found = done.stdout.splitlines()
        self.assertEqual((len(found), done.returncode), (len(texts), int(bool(texts))), done)
        for line, text in zip(found, texts):
            self.assertIn(text, line)

    def test_a_sound_house(self):
        self.includes("scenes/load/load.h", "scenes.h", "geometry/box.h")
        self.includes("scenes/load/load.c", "load.h", "base.h", "shaders.h", "made_by_the_build.h")
        self.file("scenes/geometry/box.h")
        self.includes("scenes/load/tests/load_test.c", "load/load.h")
        self.includes("backends/shade/shade.c", "device/asl/host.h")
        self.includes("device/asl/host.h", "math/vec.h")
        self.file("device/math/vec.h")
        self.includes("device/tests/vec_test.c", "backends.h", "math/vec.h")
        self.finds()

    def test_one_face(self):
        """Neighbours include one header of a room; its tests, other libraries' text and tables do not count."""
        for name in ("box.h", "map.h", "offers.h", "names.def"):
            self.file(f"scenes/geometry/{name}")
        self.includes("scenes/load/load.c", "geometry/box.h", "geometry/names.def")
        self.includes("scenes/load/tests/load_test.c", "geometry/map.h")
        self.finds()
        self.includes("scenes/film/film.c", "geometry/map.h")
        self.finds("scenes/geometry: its neighbours include box.h, map.h")
        self.includes("scenes/load/load.c", "geometry/offers.h")
        self.includes("scenes/film/film.c", "geometry/offers.h")
        self.finds()

    def test_full_rooms(self):
        for i in range(30):
            self.file(f"scenes/load/{i}.c")
        self.file("scenes/load/tests/a_test.c")
        self.file("scenes/load/a.json")
        for i in range(31):
            self.file(f"scenes/generate/{i}.c")  # makes scenes; conformance/generate makes programs for cases
            self.file(f"shaders/headers/{i}.h")
        self.finds()
        self.file("conformance/include/conformance.h")
        self.file("scenes/load/30.def")
        self.finds("scenes/load: 31 files")
        for i in range(31):
            self.file(f"conformance/generate/{i}.c")
        self.finds("conformance/generate: 31 files", "scenes/load: 31 files")

    def test_tests_outside(self):
        for name in ("a_test.c", "test_a.h", "fuzz_a.c", "a_fuzz.cc"):
            self.file(f"scenes/load/{name}")
            self.file(f"scenes/load/tests/{name}")
        self.file("scenes/load/latest.c")
        self.finds(*["a test outside"] * 4)

    def test_circles_of_rooms(self):
        self.includes("scenes/a/a.c", "b/b.h")
        self.includes("scenes/b/b.c", "c/c.h")
        self.includes("scenes/c/c.c", "a/a.h")
        for name in "abc":
            self.file(f"scenes/{name}/{name}.h")
        self.finds("scenes/a: a circle between rooms: scenes/a -> scenes/b (scenes/a/a.c:1), "
                   "scenes/b -> scenes/c (scenes/b/b.c:1), scenes/c -> scenes/a (scenes/c/c.c:1)")
        self.includes("scenes/c/c.c", "c.h")
        self.includes("scenes/c/tests/c_test.c", "a/a.h")
        self.finds()

    def test_circles_of_files(self):
        self.includes("scenes/a/a.h", "b.h")
        self.includes("scenes/a/b.h", "c.h")
        self.includes("scenes/a/c.h", "a.h")
        self.finds("scenes/a/a.h: a circle between files: scenes/a/a.h, scenes/a/b.h, scenes/a/c.h")
        self.includes("scenes/a/c.h", "c.h")
        self.finds("scenes/a/c.h: a circle between files: scenes/a/c.h")

    def test_arrows(self):
        self.includes("scenes/load/a.c", "reference.h", "base.h")
        self.finds("scenes/load/a.c:1: scenes/ does not include reference/")
        self.includes("scenes/load/a.c", "base.h")
        self.includes("base/a.c", "scenes.h")
        self.finds("base/a.c:1: base/ does not include scenes/")
        self.file("base/a.c")
        self.includes("device/a.h", "base.h")
        self.finds("device/a.h:1: device/ does not include base/")
        self.file("device/a.h")
        self.includes("reference/a.c", "backends.h")
        self.includes("backends/tests/b_test.c", "reference.h")
        self.finds("reference/a.c:1", "backends/tests/b_test.c:1")
        self.includes("reference/a.c", "device/a.h")  # no text of it for the reference
        self.file("backends/tests/b_test.c")
        self.finds("reference/a.c:1: reference/ does not include device/")

    def test_internal_headers(self):
        self.file("scenes/load/load.h")
        self.includes("reference/path/a.c", "../../scenes/load/load.h")
        self.finds("reference/path/a.c:1: scenes/load/load.h is internal to scenes/")
        self.includes("reference/path/a.c", "load.h")
        self.finds('reference/path/a.c:1: "load.h" is found by a search path only')
        self.file("scenes/tests/shared.def")
        self.file("reference/path/a.c")
        self.includes("reference/path/tests/a_test.c", "shared.def")
        self.finds()
        self.includes("reference/path/a.c", "shared.def", "vec.h")
        self.file("device/math/vec.h")
        self.finds('"shared.def" is found by a search path only', '"vec.h" is found by a search path only')

    def test_comments_include_nothing(self):
        self.file("base/a.c", "/*", '#include "scenes.h"', "*/", '// #include "scenes.h"', 'const char *s = "/*";',
                  '  #  include "scenes.h" // it does')
        self.finds("base/a.c:6")

    def test_what_is_shown(self):
        self.file("scenes/load/a.c", "static int", "of_two_lines(int (*call)(void),", "             int b)", "{", "    if (b) {", "    }",
                  "    return call();", "}", "", "void short_one(void)", "{", "}", "struct s {", "    int a;", "};")
        self.file("scenes/load/tests/a_test.c", "void longest(void)", "{", *["    ;"] * 50, "}")
        done = self.run_tool()
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stdout, r"scenes/load +1 +15\n")
        self.assertRegex(done.stdout, r"    8  of_two_lines  scenes/load/a.c:1\n    3  short_one  scenes/load/a.c:10\n\n0 findings")
        self.assertNotIn("short_one", self.run_tool("--longest", "1").stdout)

    def test_bad_use(self):
        self.root = self.root / "nothing"
        self.assertEqual(self.run_tool().returncode, 2)
        self.assertEqual(self.run_tool("--chek").returncode, 2)


if __name__ == "__main__":
    unittest.main()
