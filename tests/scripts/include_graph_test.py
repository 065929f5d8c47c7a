"""scripts/check/include-graph on a small tree.

usage: include_graph_test.py
"""
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import small_tree  # noqa: E402

FILES = {"include/retrace/runs/top.h": '#include "retrace/runs/low.h"\n', "src/runs/top.cpp": '#include "helper.h"\n',
         "src/runs/helper.h": "\n\n\n", "include/retrace/runs/low.h": "", "include/retrace/other/x.h": ""}


class IncludeGraph(unittest.TestCase):
    def draw(self, changes, *folders):
        with tempfile.TemporaryDirectory() as folder:
            for file, text in {**FILES, **changes}.items():
                path = os.path.join(folder, file)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as stream:
                    stream.write(text)
            done = subprocess.run([sys.executable, os.path.join(small_tree.SCRIPTS, "include-graph"), "--root", folder, "--output",
                                   os.path.join(folder, "out.svg"), *folders], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                return done.returncode, done.stderr, "", ""
            with open(os.path.join(folder, "out.svg"), encoding="utf-8") as svg, \
                    open(os.path.join(folder, "out.dot"), encoding="utf-8") as dot:
                return done.returncode, done.stderr, dot.read(), svg.read()

    def test_arrows_lead_down(self):
        code, counted, dot, svg = self.draw({}, "runs")
        self.assertEqual((code, counted),
                         (0, "runs: 3 units, 2 levels, 2 arrows, 0 of them back up; units in circles: none\n"))
        self.assertEqual([line.strip() for line in dot.splitlines() if "->" in line],
                         ['"runs/top" -> "runs/helper";', '"runs/top" -> "runs/low";'])
        self.assertIn("runs, 3 lines", svg)
        self.assertNotIn("other", dot)
        self.assertEqual(svg.count("url(#upwards)"), 1)  # of the legend

    def test_a_circle_has_one_arrow_up(self):
        _, counted, dot, svg = self.draw({"src/runs/helper.h": '#include "retrace/runs/top.h"\n'}, "src/runs")
        self.assertEqual(counted, "runs: 3 units, 3 levels, 3 arrows, 1 of them back up; units in circles: 2\n")
        self.assertEqual(dot.count("constraint=false"), 1)
        self.assertEqual(svg.count("url(#upwards)"), 2)

    def test_a_folder_that_is_not_there(self):
        code, message, _, _ = self.draw({}, "run")
        self.assertEqual((code, message.split(": ", 1)[1]), (1, "found no sources in src/run\n"))


if __name__ == "__main__":
    unittest.main()
