"""scripts/check/check-spelling on small trees.

usage: check_spelling_test.py
"""
import os
import sys
import unittest

sys.dont_write_bytecode = True
import small_tree  # noqa: E402

OLD_WORDS = "scripts/check/old_words.tsv"


def ceiling(count):
    return {OLD_WORDS: f"# a head\nway\t\\bways?\\b\tpath\t{count}\n"}


class CheckSpelling(small_tree.ScriptTest):
    script = "check-spelling"

    def findings_of(self, changes, *options):
        code, lines = self.run_on(changes, *options)
        return code, lines[:-1]  # the last one counts

    def inspect(self, folder):
        path = os.path.join(folder, OLD_WORDS)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as stream:
                self.written = stream.read()

    def found_words(self, text):
        _, findings = self.findings_of({"src/ground/a.cpp": text})
        return [line.split(": found ")[1].replace(", expected ", " ") for line in findings]

    def test_british_words_in_names_comments_and_messages(self):
        code, findings = self.findings_of({
            "src/ground/a.cpp": 'int kColourOfCentre;  // at the centre\nconst char* kText = "minimises";\n',
            "data/worlds/a.json": '{"per_square_metre": 3}\n', "README.md": "Neighbours are labelled.\n"})
        self.assertEqual(code, 1)
        self.assertEqual(findings, [
            "README.md:1: found Neighbours, expected neighbors",
            "README.md:1: found labelled, expected labeled",
            "data/worlds/a.json:1: found metre, expected meter",
            "src/ground/a.cpp:1: found Centre, expected center",
            "src/ground/a.cpp:1: found Colour, expected color",
            "src/ground/a.cpp:1: found centre, expected center",
            "src/ground/a.cpp:2: found minimises, expected minimizes"])

    def test_forms(self):
        self.assertEqual(self.found_words("// centred analyse optimisation millimetres greyscale licence learnt travelling\n"),
                         ["analyse analyze", "centred centered", "greyscale grayscale", "learnt learned", "licence license",
                          "millimetres millimeters", "optimisation optimization", "travelling traveling"])

    def test_what_is_american_too(self):
        self.assertEqual(self.found_words("// noise denoising otherwise exercises raised promise clockwise advisable revised "
                                          "four hours of our course, parameter, tunnel, parallel, controlled, called, "
                                          "rolling, greedy, diameter, analysis, basis, this, wise rowwise()\n"), [])

    def test_the_name_of_a_file(self):
        self.assertEqual(self.findings_of({"src/ground/minimise.h": ""}),
                         (1, ["src/ground/minimise.h:1: the name of the file says minimise, expected minimize"]))

    def test_an_old_key_that_is_still_read(self):
        marked = 'Read("colour");  // old spelling of files before 0.2\n'
        self.assertEqual(self.findings_of({"src/ground/a.cpp": marked}), (0, []))
        self.assertEqual(self.findings_of({"src/ground/a.cpp": marked.replace("colour", "color")}),
                         (1, ["src/ground/a.cpp:1: no old spelling in this line: remove the comment"]))

    def test_a_file_without_comments(self):
        allowed = {"scripts/check/spelling_exceptions.txt": "# FILE WORD\ndata/a.json colour\n"}
        self.assertEqual(self.findings_of({"data/a.json": '{"colour": 1}\n', **allowed}), (0, []))
        self.assertEqual(self.findings_of({"data/a.json": "{}\n", **allowed}),
                         (1, ["scripts/check/spelling_exceptions.txt:2: data/a.json no longer says colour: remove this line"]))

    def test_a_word_that_is_to_go(self):
        texts = {"README.md": "The way.\n\n    a way of code\n\n`way`\n", "src/ground/a.cpp": "// ways\nint way;\n",
                 "scripts/run.py": "way = 1  # this way\n"}
        self.assertEqual(self.findings_of({**texts, **ceiling(3)}), (0, []))
        self.assertEqual(self.findings_of({**texts, **ceiling(2)}),
                         (1, ["scripts/check/old_words.tsv:2: way: 3 times in comments and manuals, at most 2: say path (where: "
                              "scripts/check/check-spelling --list 'way')"]))
        self.assertEqual(self.findings_of({**texts, **ceiling(4)}),
                         (1, ["scripts/check/old_words.tsv:2: way: 3 times, the ceiling is 4: run scripts/check/check-spelling --lower"]))
        self.assertEqual(self.run_on({**texts, **ceiling(3)}, "--list", "way"),
                         (0, ["README.md:1", "src/ground/a.cpp:1", "scripts/run.py:1"]))

    def test_ceilings_only_sink(self):
        texts = {"README.md": "A way.\n"}
        self.assertEqual(self.findings_of({**texts, **ceiling(4)}, "--lower"), (0, []))
        self.assertEqual(self.written, ceiling(1)[OLD_WORDS])
        self.findings_of({"README.md": "Way, way, way.\n", **ceiling(2)}, "--lower")
        self.assertEqual(self.written, ceiling(2)[OLD_WORDS])


if __name__ == "__main__":
    unittest.main()
