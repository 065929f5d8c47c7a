"""scripts/check-modules on small trees, each with one mistake.

usage: check_modules_test.py
"""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHECK = os.path.join(ROOT, "scripts", "check-modules")

# ground <- middle <- roof, two methods, a program, and the one module that may include <ode/ode.h>.
TREE = {
    "src/CMakeLists.txt": "foreach(module ground simulation middle methods/one methods/two roof)\n"
                          "  add_subdirectory(${module})\nendforeach()\n",
    "src/ground/CMakeLists.txt": "retrace_module(ground SOURCES a.cpp LINKS Eigen3::Eigen)\n",
    "include/retrace/ground/a.h": "#include <Eigen/Core>\n#include <vector>\n",
    "src/ground/a.cpp": '#include "retrace/ground/a.h"\n',
    "src/simulation/CMakeLists.txt": "retrace_module(simulation SOURCES s.cpp LINKS retrace::ground\n"
                                     "  PRIVATE_LINKS PkgConfig::ODE)\n",
    "include/retrace/simulation/s.h": '#include "retrace/ground/a.h"\n',
    "src/simulation/s.cpp": "#include <ode/ode.h>\n",
    "src/middle/CMakeLists.txt": "retrace_module(middle SOURCES b.cpp LINKS retrace::ground\n"
                                 "  PRIVATE_LINKS retrace::simulation)\n",
    "include/retrace/middle/b.h": '#include "retrace/ground/a.h"\n',
    "src/middle/b.cpp": '#include "retrace/simulation/s.h"\n',
    "src/methods/one/CMakeLists.txt": "retrace_module(methods/one SOURCES m.cpp LINKS retrace::middle)\n",
    "include/retrace/methods/one/m.h": '#include "retrace/middle/b.h"\n',
    "src/methods/one/m.cpp": "",
    "src/methods/two/CMakeLists.txt": "retrace_module(methods/two SOURCES m.cpp LINKS retrace::middle)\n",
    "include/retrace/methods/two/m.h": '#include "retrace/middle/b.h"\n',
    "src/methods/two/m.cpp": "",
    "src/roof/CMakeLists.txt": "retrace_module(roof SOURCES c.cpp LINKS retrace::one)\n",
    "include/retrace/roof/c.h": '#include "retrace/methods/one/m.h"\n',
    "src/roof/c.cpp": "",
    "apps/CMakeLists.txt": "target_link_libraries(program PRIVATE retrace::roof)\n",
    "apps/program/main.cpp": '#include "retrace/roof/c.h"\n',
}


class CheckModules(unittest.TestCase):
    def run_on(self, changes):
        """The exit code and the findings of the tree with some files replaced."""
        with tempfile.TemporaryDirectory() as folder:
            for file, text in {**TREE, **changes}.items():
                path = os.path.join(folder, file)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as stream:
                    stream.write(text)
            done = subprocess.run([sys.executable, CHECK, "--root", folder], capture_output=True, text=True, check=False)
            self.assertEqual(done.stderr, "")
            return done.returncode, done.stdout.splitlines()[:-1]

    def finds(self, changes, expected):
        code, findings = self.run_on(changes)
        self.assertEqual(findings, expected)
        self.assertEqual(code, 1)

    def test_a_tree_without_mistakes(self):
        self.assertEqual(self.run_on({}), (0, []))

    def test_an_include_that_is_not_linked(self):
        self.finds({"include/retrace/ground/a.h": '#include <Eigen/Core>\n\n#include "retrace/roof/c.h"\n'},
                   ["include/retrace/ground/a.h:3: ground includes retrace/roof/c.h and does not link roof "
                    "(src/ground/CMakeLists.txt:1)"])

    def test_an_arrow_upwards(self):
        code, findings = self.run_on({
            "src/ground/CMakeLists.txt": "retrace_module(ground SOURCES a.cpp LINKS Eigen3::Eigen\n  retrace::roof)\n",
            "src/ground/a.cpp": '#include "retrace/roof/c.h"\n'})
        self.assertEqual(code, 1)
        self.assertIn("src/ground/CMakeLists.txt:2: modules that link in a circle: ground -> roof -> one -> middle -> "
                      "ground", findings)
        self.assertIn("src/CMakeLists.txt:1: ground is named before roof, which it links (src/ground/CMakeLists.txt:2)",
                      findings)

    def test_a_link_that_nothing_uses(self):
        self.finds({"src/middle/b.cpp": ""},
                   ["src/middle/CMakeLists.txt:2: middle links simulation and includes none of its headers"])

    def test_a_link_that_comes_with_another(self):
        self.finds({"src/roof/CMakeLists.txt": "retrace_module(roof SOURCES c.cpp LINKS retrace::one retrace::middle)\n",
                    "src/roof/c.cpp": '#include "retrace/middle/b.h"\n',
                    "include/retrace/roof/c.h": '#include "retrace/methods/one/m.h"\n#include "retrace/middle/b.h"\n'},
                   ["src/roof/CMakeLists.txt:1: roof links middle, which comes with one"])

    def test_a_public_link_that_only_sources_use(self):
        self.finds({"src/middle/CMakeLists.txt": "retrace_module(middle SOURCES b.cpp\n"
                                                 "  LINKS retrace::simulation)\n"},
                   ["src/middle/CMakeLists.txt:2: middle links simulation in public, but only its sources include it: it "
                    "belongs to PRIVATE_LINKS"])

    def test_a_public_header_of_a_private_link(self):
        self.finds({"include/retrace/middle/b.h": '#include "retrace/ground/a.h"\n#include "retrace/simulation/s.h"\n'},
                   ["include/retrace/middle/b.h:2: a public header of middle includes retrace/simulation/s.h, but middle "
                    "links simulation only in private (src/middle/CMakeLists.txt:1)"])

    def test_a_method_that_links_another(self):
        code, findings = self.run_on({
            "src/methods/two/CMakeLists.txt": "retrace_module(methods/two SOURCES m.cpp LINKS retrace::one)\n",
            "include/retrace/methods/two/m.h": '#include "retrace/methods/one/m.h"\n'})
        self.assertEqual((code, findings),
                         (1, ["src/methods/two/CMakeLists.txt:1: the method two links the method one"]))

    def test_a_header_of_a_library_behind_a_wall(self):
        code, findings = self.run_on({"src/roof/c.cpp": "#include <ode/ode.h>\n"})
        self.assertEqual(code, 1)
        self.assertIn("src/roof/c.cpp:1: <ode/ode.h> is included outside of src/simulation", findings)

    def test_a_private_header_of_another_module(self):
        self.finds({"src/roof/c.cpp": '#include "../middle/hidden.h"\n', "src/middle/hidden.h": ""},
                   ["src/roof/c.cpp:1: ../middle/hidden.h is a private header of another module"])

    def test_a_header_that_does_not_exist(self):
        self.finds({"src/roof/c.cpp": '#include "retrace/middle/none.h"\n'},
                   ["src/roof/c.cpp:1: retrace/middle/none.h is not a header of a module"])


if __name__ == "__main__":
    unittest.main()
