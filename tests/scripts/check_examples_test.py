"""scripts/check/check-examples on pages that this test writes: what it takes for an example, and what it finds wrong."""
import argparse
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "check", "check-examples")
loader = importlib.machinery.SourceFileLoader("check_examples", SCRIPT)
check_examples = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_examples", loader))
loader.exec_module(check_examples)


class Page(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = check_examples.ROOT
        check_examples.ROOT = self.folder.name
        self.addCleanup(setattr, check_examples, "ROOT", self.root)
        for name in ("data", "configs", "scripts"):
            os.mkdir(os.path.join(self.folder.name, name))

    def read(self, text):
        with open(os.path.join(self.folder.name, "page.md"), "w", encoding="utf-8") as file:
            file.write(text)
        return check_examples.examples_of("page.md")

    def run_page(self, text, fast=False, limit=20):
        """(counts, what was printed)"""
        examples, complaints = self.read(text)
        self.assertEqual(complaints, [])
        check = check_examples.Check(argparse.Namespace(build=self.folder.name, fast=fast, limit=limit))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            check.page(examples)
        return check.counts, printed.getvalue()

    def test_examples_are_the_lines_of_command_blocks(self):
        examples, complaints = self.read("""# Page
```sh
one --a 'x # y'    # exit code 4; 20 s
two \\
    --b            # the best 30 s of it; 5 min
# only a comment
```
```text
three
```
<!-- example: not run: it needs a file -->
```sh
four
```
```sh
five
```
""")
        self.assertEqual(complaints, [])
        self.assertEqual([e.command for e in examples], ["one --a 'x # y'", "two --b", "four", "five"])
        self.assertEqual([e.code for e in examples], [4, 0, 0, 0])
        self.assertEqual([e.stated for e in examples], [20, 300, None, None])
        self.assertEqual([e.reason for e in examples], [None, None, "not run: it needs a file", None])

    def test_commands_in_other_blocks_and_unknown_markers_are_complaints(self):
        for text, expected in (("    build/release/apps/retrace inspect x\n", "page.md:1: an indented command"),
                               ("```\nscripts/demo\n```\n", "page.md:2: a block of commands without a language"),
                               ("<!-- example: skipped -->\n", "page.md:1: unknown marker: skipped")):
            _, complaints = self.read(text)
            self.assertEqual(len(complaints), 1, text)
            self.assertIn(expected, complaints[0])

    def test_an_exit_code_that_is_not_stated_fails(self):
        counts, printed = self.run_page("```sh\nexit 3\nexit 3  # exit code 3\ntrue  # exit code 4\n```\n")
        self.assertEqual(counts, {"passed": 1, "failed": 2, "left out": 0})
        self.assertIn("exit code 3, expected 0", printed)
        self.assertIn("exit code 0, expected 4", printed)

    def test_examples_run_in_order_in_one_folder_without_results(self):
        counts, printed = self.run_page("```sh\ntest ! -e results/x && echo 1 > results/x\ntest -e results/x\n```\n")
        self.assertEqual(counts["passed"], 2, printed)
        self.assertFalse(os.path.exists(os.path.join(self.folder.name, "results")))

    def test_a_block_may_be_a_file_that_commands_use(self):
        counts, printed = self.run_page("""<!-- example: file my.json -->
```json
{"a": 1}
```
```sh
grep -qx '{"a": 1}' my.json
```
""")
        self.assertEqual(counts, {"passed": 1, "failed": 0, "left out": 0}, printed)

    def test_too_slow_an_example_fails(self):
        example, = self.read("```sh\ntrue  # 1 s\n```\n")[0]
        check = check_examples.Check(argparse.Namespace(build=self.folder.name, fast=False, limit=20))
        took = check_examples.run
        self.addCleanup(setattr, check_examples, "run", took)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            check_examples.run = lambda *_: (0, 30.0, 7.9, "")  # the lesser of wall and CPU time counts
            check.example(example, self.folder.name, [])
            check_examples.run = lambda *_: (0, 30.0, 8.1, "")
            check.example(example, self.folder.name, [])
        self.assertEqual(check.counts, {"passed": 1, "failed": 1, "left out": 0})
        self.assertIn("took 8 s, expected 1 s", printed.getvalue())

    def test_fast_leaves_out_slow_examples_and_what_needs_them(self):
        counts, printed = self.run_page("""```sh
false --output results/slow   # 30 s
false results/slow
test -z "results/slower"
```
""", fast=True)
        self.assertEqual(counts, {"passed": 0, "failed": 1, "left out": 2}, printed)  # the last one: test -z of a text
        self.assertIn("needs results/slow, which was not made", printed)


if __name__ == "__main__":
    unittest.main()
