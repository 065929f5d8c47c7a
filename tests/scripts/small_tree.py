"""A small tree of modules without mistakes, in which the tests of the checks change some files."""
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "check")


# ground <- middle <- jobs, two methods, a program, and the one module that may include <ode/ode.h>.
TREE = {
    "src/CMakeLists.txt": "foreach(module ground simulation middle methods/one methods/two jobs)\n"
                          "  add_subdirectory(${module})\nendforeach()\n",
    "src/ground/CMakeLists.txt": "retrace_module(ground SOURCES a.cpp LINKS Eigen3::Eigen)\n",
    "include/retrace/ground/a.h": "#include <Eigen/Core>\n#include <vector>\n",
    "src/ground/a.cpp": '#include "retrace/ground/a.h"\n',
    "src/simulation/CMakeLists.txt": "retrace_module(simulation SOURCES s.cpp LINKS retrace::ground\n"
                                     "  PRIVATE_LINKS retrace::ode)\n",
    "include/retrace/simulation/s.h": '#include "retrace/ground/a.h"\n',
    "src/simulation/s.cpp": "#include <ode/ode.h>\n",
    "src/middle/CMakeLists.txt": "retrace_module(middle SOURCES b.cpp LINKS retrace::ground\n"
                                 "  PRIVATE_LINKS retrace::simulation)\n",
    "include/retrace/middle/b.h": '#include "retrace/ground/a.h"\n',
    "src/middle/b.cpp": '#include "retrace/simulation/s.h"\n',
    "src/methods/one/CMakeLists.txt": "retrace_module(methods/one SOURCES m.cpp LINKS retrace::middle)\n",
    "include/retrace/methods/one/m.h": '#include "retrace/middle/b.h"\n',
    "src/methods/one/m.cpp": "",
    "src/methods/two/CMakeLists.txt": "retrace_module(methods/two SOURCES n.cpp LINKS retrace::middle)\n",
    "include/retrace/methods/two/n.h": '#include "retrace/middle/b.h"\n',
    "src/methods/two/n.cpp": "",
    "src/jobs/CMakeLists.txt": "retrace_module(jobs SOURCES c.cpp LINKS retrace::one)\n",
    "include/retrace/jobs/c.h": '#include "retrace/methods/one/m.h"\n',
    "src/jobs/c.cpp": "",
    "apps/CMakeLists.txt": "target_link_libraries(program PRIVATE retrace::jobs)\n",
    "apps/program/main.cpp": '#include "retrace/jobs/c.h"\n',
    "tests/ground/a_test.cpp": '#include "retrace/ground/a.h"\n',
    "tests/simulation/s_test.cpp": "",
    "tests/middle/b_test.cpp": "",
    "tests/methods/one/m_test.cpp": "",
    "tests/methods/two/n_test.cpp": "",
    "tests/jobs/c_test.cpp": "",
}
HEADS = {
    "src/ground": ("what all stand on", "ground/a.h"), "src/simulation": ("the world", "simulation/s.h"),
    "src/middle": ("what is between", "middle/b.h"), "src/methods/one": ("a method", "methods/one/m.h"),
    "src/methods/two": ("another method", "methods/two/n.h"), "src/jobs": ("what is on top", "jobs/c.h"),
    "apps": ("the program", "apps/program/main.cpp"),
}


def with_head(file, text):
    """A build file with the comments that say what its module is for; below it, so that lines keep their numbers."""
    folder, name = os.path.split(file)
    if name != "CMakeLists.txt" or folder not in HEADS or "PURPOSE" in text:
        return text
    return text + "# PURPOSE: {}\n# START: `{}`\n".format(*HEADS[folder])


class ScriptTest(unittest.TestCase):
    script = ""  # in scripts/

    def run_on(self, changes, *options):
        """The exit code and the lines that the script prints of the tree with some files replaced, None for removed."""
        with tempfile.TemporaryDirectory() as folder:
            for file, text in {**TREE, **changes}.items():
                if text is None:
                    continue
                path = os.path.join(folder, file)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as stream:
                    stream.write(with_head(file, text))
            done = subprocess.run([sys.executable, os.path.join(SCRIPTS, self.script), "--root", folder, *options],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.stderr, "")
            self.inspect(folder)
            return done.returncode, done.stdout.splitlines()

    def inspect(self, folder):
        """For tests that look at what the script wrote."""
