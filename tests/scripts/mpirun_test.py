"""scripts/mpirun ends when the ranks have, with their exit code, also where mpirun does not. A script stands in for
mpirun."""
import os
import stat
import subprocess
import tempfile
import time
import unittest

SCRIPT = os.path.join(os.path.dirname(__file__), "..", "..", "scripts", "mpirun")


class MpirunTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def run_with(self, launcher, patience="1"):
        path = os.path.join(self.folder.name, "launcher")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write("#!/usr/bin/env bash\n" + launcher)
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
        environment = {**os.environ, "MPIEXEC": path, "RETRACE_MPIRUN_PATIENCE": patience}
        begun = time.monotonic()
        result = subprocess.run([SCRIPT, "-n", "2", "program"], env=environment, capture_output=True, text=True, timeout=60,
                                check=False)
        return result, time.monotonic() - begun

    def test_passes_on_the_exit_code_and_the_output(self):
        for code in (0, 4, 75):
            result, _ = self.run_with(f'printf "%s\\n" "$*"; echo warning >&2; exit {code}')
            self.assertEqual(result.returncode, code)
            self.assertEqual(result.stdout, "-n 2 program\n")
            self.assertEqual(result.stderr, "warning\n")

    def test_ends_an_mpirun_that_outlives_its_ranks(self):
        for said, code in (("", 0), ("  Exit code:    75", 75), ("rank 1 exited on signal 9 (Killed).", 137)):
            result, seconds = self.run_with(f'sleep 1.5 & wait; echo "{said}" >&2; exec tail -f /dev/null')
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertIn("all ranks have ended and mpirun has not", result.stderr)
            self.assertLess(seconds, 30)

    def test_leaves_an_mpirun_alone_whose_ranks_compute(self):
        result, _ = self.run_with('sleep 4 & wait; exit 3', patience="0")
        self.assertEqual(result.returncode, 3)
        self.assertNotIn("killed", result.stderr)


if __name__ == "__main__":
    unittest.main()
