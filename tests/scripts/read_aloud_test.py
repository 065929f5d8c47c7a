"""scripts/check/read-aloud on a small tree.

usage: read_aloud_test.py
"""
import sys
import unittest

sys.dont_write_bytecode = True
import small_tree  # noqa: E402

FILES = {
    "include/retrace/ground/a.h": "/// A comment of two lines, which are\n/// one passage when they are read aloud.\nstruct Stone {\n"
                                  "  double weight = 0;  ///< [kg]\n};\nint CountStones(int of);\n// short\n",
    "README.md": "# Head\n\nA passage of a manual, which has more letters than sixty, so that it is worth to be\nread.\n\n"
                 "    build/release/apps/run --with code that nobody reads aloud, however long it may be, in no case\n\nShort.\n"
                 "- An item of a list, which has more letters than sixty as well, and is a passage by itself.\n",
}


class ReadAloud(small_tree.ScriptTest):
    script = "read-aloud"

    def test_what_there_is_to_draw(self):
        code, lines = self.run_on(FILES, "--seed", "1")
        self.assertEqual(code, 0)
        self.assertEqual(lines[0], "seed 1: of 1 comments, 2 passages and 3 names")
        comment = lines.index("include/retrace/ground/a.h:1")
        self.assertEqual(lines[comment + 1:comment + 3],
                         ["    A comment of two lines, which are", "    one passage when they are read aloud."])
        passage = lines.index("README.md:3")
        self.assertEqual(lines[passage + 2], "    read.")
        self.assertIn("README.md:9", lines)
        self.assertEqual(sorted(line.split()[0] for line in lines[lines.index("Names") + 1:]),
                         ["CountStones", "Stone", "weight"])

    def test_the_seed_decides(self):
        many = {f"include/retrace/ground/b{i}.h": f"// A comment that is long enough, and number {i} of many.\n" for i in range(30)}
        drawn = {seed: self.run_on(many, "--comments", "3", "--seed", seed)[1][1:] for seed in ("1", "2")}
        self.assertEqual(len([line for line in drawn["1"] if line.startswith("include/")]), 3)
        self.assertEqual(self.run_on(many, "--comments", "3", "--seed", "1")[1][1:], drawn["1"])
        self.assertNotEqual(drawn["1"], drawn["2"])


if __name__ == "__main__":
    unittest.main()
