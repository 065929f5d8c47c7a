"""scripts/experiments/best-of/run chooses as `reconstruct --best-of` does, and leaves out what tracking found."""
import os, subprocess, sys, tempfile, unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "experiments", "best-of", "run")
HEAD = "clip,seed,method,end,main,strict,joint_error_mm,force_error_percent,jerk_ratio_30,simulated_s_per_s\n"


def run(rows):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "runs.csv")
        with open(path, "w") as table:
            table.write(HEAD + rows)
        return subprocess.run([sys.executable, SCRIPT, path], capture_output=True, text=True)


class BestOfTable(unittest.TestCase):
    def rows_of(self, rows):
        done = run(rows)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()[2:]]

    def test_success_comes_first_then_the_viable_end_then_the_product(self):
        rows = self.rows_of("a,1,sampling,,0,0,10,10,1,100\n"
                            "a,2,sampling,,1,0,90,50,2,200\n"
                            "a,3,sampling,viable,1,1,99,50,2,300\n"
                            "a,4,sampling,,1,0,20,20,1,400\n")
        self.assertEqual(rows, [["1", "0 of 1", "0", "nan", "nan", "nan", "100"],
                                ["2", "1 of 1", "0", "90", "50", "2.00", "300"],
                                ["4", "1 of 1", "1", "99", "50", "2.00", "1000"]])

    def test_the_least_product_wins_and_a_figure_that_was_not_measured_does_not_count(self):
        rows = self.rows_of("a,1,sampling,,1,0,40,,2,1\na,2,sampling,,1,0,50,,1,1\n")
        self.assertEqual([row[3] for row in rows], ["40", "50"])

    def test_tracked_clips_are_left_out_and_the_fewest_seeds_count(self):
        rows = self.rows_of("t,1,tracking,,1,1,5,5,1,0\na,1,sampling,,1,0,40,20,2,1\n"
                            "b,1,sampling,,1,1,60,40,1,3\nb,2,sampling,,1,1,50,40,1,3\n")
        self.assertEqual(rows, [["1", "2 of 2", "1", "50", "30", "1.50", "2"]])

    def test_says_where_nothing_was_searched_for(self):
        done = run("t,1,tracking,,1,1,5,5,1,0\n")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no clip whose control was searched for", done.stderr)


if __name__ == "__main__":
    unittest.main()
