"""scripts/check/draw-modules on a small tree.

usage: draw_modules_test.py
"""
import os
import sys
import unittest

sys.dont_write_bytecode = True
import small_tree  # noqa: E402
from small_tree import TREE  # noqa: E402

PAGE = "# Modules\n\n<!-- modules -->\n{}<!-- /modules -->\n\nMore.\n"
ROWS = """| module | links | what it is for | start with |
|---|---|---|---|
| `ground` | Eigen | what all stand on | `ground/a.h` |
| `simulation` | ground (ODE) | the world | `simulation/s.h` |
| `middle` | ground (simulation) | what is between | `middle/b.h` |
| `methods/one` | middle | a method | `methods/one/m.h` |
| `methods/two` | middle | another method | `methods/two/n.h` |
| `jobs` | one | what is on top | `jobs/c.h` |
| `apps` | (jobs) | the program | `apps/program/main.cpp` |
"""


class DrawModules(small_tree.ScriptTest):
    script = "draw-modules"

    def inspect(self, folder):
        self.written = {}
        for file in ("src/README.md", "data/pictures/modules.svg"):
            path = os.path.join(folder, file)
            if os.path.exists(path):
                with open(path, encoding="utf-8") as stream:
                    self.written[file] = stream.read()

    def test_the_table_and_the_picture_are_written_and_then_hold(self):
        files = {"src/README.md": PAGE.format("old\n"), "data/pictures/modules.svg": ""}
        self.assertEqual(self.run_on(files), (0, []))
        self.assertEqual(self.written["src/README.md"], PAGE.format(ROWS))
        self.assertIn(">methods/one</text>", self.written["data/pictures/modules.svg"])
        self.assertEqual(self.run_on(self.written, "--check"), (0, []))

    def test_a_stale_table_is_found_and_left_alone(self):
        self.run_on({"src/README.md": PAGE.format(""), "data/pictures/modules.svg": ""})
        stale = {**self.written, "src/README.md": PAGE.format(ROWS.replace("the world", "the globe"))}
        self.assertEqual(self.run_on(stale, "--check"),
                         (1, ["src/README.md does not show the modules as they are: run scripts/check/draw-modules"]))
        self.assertEqual(self.written, stale)

    def test_a_purpose_of_two_lines(self):
        build_file = TREE["src/ground/CMakeLists.txt"] + "# PURPOSE: what all\n#   stand on\n# START: `ground/a.h`\n"
        self.run_on({"src/README.md": PAGE.format(""), "data/pictures/modules.svg": "",
                     "src/ground/CMakeLists.txt": build_file})
        self.assertEqual(self.written["src/README.md"], PAGE.format(ROWS))


if __name__ == "__main__":
    unittest.main()
