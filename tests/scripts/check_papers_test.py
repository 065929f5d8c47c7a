"""scripts/check/check-papers on small trees.

usage: check_papers_test.py
"""
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "check", "check-papers")
HEAD = "| the paper | here | checked by | what differs, and why |\n|---|---|---|---|\n"
TREE = {"tests/ground/ground_test.cpp": "TEST(Ground, Holds) {}\nTEST_F(Ground, Slides) {}\n",
        "apps/manual/track.md": "| `--paper` | by the letter |\n",
        "scripts/experiments/ground/run": "#!/bin/sh\n# groups: flat, steep\n",
        "src/ground.cpp": 'v.Field({"friction", "Of the ground"});\n'}


class CheckPapers(unittest.TestCase):
    def run_on(self, *rows):
        with tempfile.TemporaryDirectory() as root:
            for path, text in {**TREE, "apps/manual/PAPERS.md": HEAD + "".join(rows)}.items():
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(text)
            os.chmod(os.path.join(root, "scripts/experiments/ground/run"), 0o755)
            done = subprocess.run([sys.executable, SCRIPT, "--root", root], capture_output=True, text=True)
        return done.returncode, done.stdout

    def expect_finding(self, row, text):
        code, output = self.run_on(row)
        self.assertEqual(code, 4, row)
        self.assertIn(text, output)

    def test_what_is_there_passes(self):
        code, output = self.run_on(
            "| a | `--paper` | `Ground.Holds`, `Ground.Slides` | nothing |\n",
            "| b | `/simulation_of/x` is no setting | `retrace track clip.bvh --paper` | nothing |\n",
            "| c | here | `scripts/experiments/ground/run steep` | nothing |\n",
            "| d | not done (issue 12) | it is not measured | nothing |\n")
        self.assertEqual(code, 4)  # of the setting alone
        self.assertIn("4 rows, 1 findings", output)
        self.assertEqual(self.run_on("| a | here | `Ground.Holds` | nothing |\n")[0], 0)

    def test_what_is_not_there_is_a_finding(self):
        self.expect_finding("| a | b | `Ground.Flies` | c |\n", "found the test Ground.Flies")
        self.expect_finding("| a | b | `retrace track clip.bvh --letter` | c |\n", "found --letter")
        self.expect_finding("| a | b | `retrace trick clip.bvh` | c |\n", "expected a subcommand with a manual")
        self.expect_finding("| a | b | `scripts/experiments/ground/run hollow` | c |\n", "found hollow")
        self.expect_finding("| a | b | `scripts/experiments/none/run` | c |\n", "expected a file that is there")
        self.expect_finding("| a | `/ground/color` | `Ground.Holds` | c |\n", "found the setting /ground/color")

    def test_a_row_needs_four_cells_and_a_check(self):
        self.expect_finding("| a | b | `Ground.Holds` |\n", "found 3 cells")
        self.expect_finding("| a | b | somebody looked | c |\n", "found no test, file or command")
        self.expect_finding("| a | not done | nobody looked | c |\n", "found no test, file or command")

    def test_no_rows_are_a_finding(self):
        self.assertEqual(self.run_on()[0], 4)


if __name__ == "__main__":
    unittest.main()
