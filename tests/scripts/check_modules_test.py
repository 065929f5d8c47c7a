"""scripts/check/check-modules on small trees, each with one mistake.

usage: check_modules_test.py
"""
import sys
import unittest

sys.dont_write_bytecode = True
import small_tree  # noqa: E402
from small_tree import TREE  # noqa: E402


def exceptions(*lines):
    return {"scripts/check/house_exceptions.txt": "\n".join(lines) + "\n"}


def house(*modules):
    """Modules on top of methods/one or simulation, from below: 'FOLDER LINKED ...'."""
    files = {}
    for folder, *links in map(str.split, modules):
        name = folder.split("/")[-1]
        known = {"methods/one": "methods/one/m.h", "simulation": "simulation/s.h"}
        files[f"src/{folder}/CMakeLists.txt"] = (
            f"retrace_module({folder} SOURCES {name}.cpp LINKS {' '.join('retrace::' + link.split('/')[-1] for link in links)})\n"
            f"# PURPOSE: a floor\n# START: `{folder}/{name}.h`\n")
        files[f"include/retrace/{folder}/{name}.h"] = "".join(
            f'#include "retrace/{known.get(link, link + "/" + link.split("/")[-1] + ".h")}"\n' for link in links)
        files[f"src/{folder}/{name}.cpp"] = files[f"tests/{folder}/{name}_test.cpp"] = ""
    folders = " ".join(module.split()[0] for module in modules)
    return {**files, "src/CMakeLists.txt": "foreach(module ground simulation middle methods/one methods/two "
                                           f"{folders})\n  add_subdirectory(${{module}})\nendforeach()\n",
            "src/jobs/c.cpp": None, "include/retrace/jobs/c.h": None, "apps/program/main.cpp": "",
            "apps/CMakeLists.txt": "", **({} if "jobs" in folders else {"src/jobs/CMakeLists.txt": None, "tests/jobs/c_test.cpp": None})}


class CheckModules(small_tree.ScriptTest):
    script = "check-modules"

    def findings_of(self, changes):
        code, lines = self.run_on(changes)
        return code, lines[:-1]  # the last one counts

    def finds(self, changes, expected):
        self.assertEqual(self.findings_of(changes), (1, expected))

    def finds_nothing(self, changes):
        self.assertEqual(self.findings_of(changes), (0, []))

    def test_a_tree_without_mistakes(self):
        self.finds_nothing({})

    def test_an_include_that_is_not_linked(self):
        self.finds({"include/retrace/ground/z.h": '#include <Eigen/Core>\n\n#include "retrace/jobs/c.h"\n'},
                   ["include/retrace/ground/z.h:3: ground includes retrace/jobs/c.h and does not link jobs "
                    "(src/ground/CMakeLists.txt:1)"])

    def test_an_arrow_upwards(self):
        code, findings = self.findings_of({
            "src/ground/CMakeLists.txt": "retrace_module(ground SOURCES a.cpp LINKS Eigen3::Eigen\n  retrace::jobs)\n",
            "src/ground/a.cpp": '#include "retrace/jobs/c.h"\n'})
        self.assertEqual(code, 1)
        self.assertIn("src/ground/CMakeLists.txt:2: modules that link in a circle: ground -> jobs -> one -> middle -> "
                      "ground", findings)
        self.assertIn("src/CMakeLists.txt:1: ground is named before jobs, which it links (src/ground/CMakeLists.txt:2)",
                      findings)

    def test_a_link_that_nothing_uses(self):
        self.finds({"src/middle/b.cpp": ""},
                   ["src/middle/CMakeLists.txt:2: middle links simulation and includes none of its headers"])

    def test_a_link_that_comes_with_another(self):
        self.finds({"src/jobs/CMakeLists.txt": "retrace_module(jobs SOURCES c.cpp LINKS retrace::one retrace::middle)\n",
                    "src/jobs/c.cpp": '#include "retrace/middle/b.h"\n',
                    "include/retrace/jobs/c.h": '#include "retrace/methods/one/m.h"\n#include "retrace/middle/b.h"\n'},
                   ["src/jobs/CMakeLists.txt:1: jobs links middle, which comes with one"])

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
        code, findings = self.findings_of({
            "src/methods/two/CMakeLists.txt": "retrace_module(methods/two SOURCES m.cpp LINKS retrace::one)\n",
            "include/retrace/methods/two/n.h": '#include "retrace/methods/one/m.h"\n'})
        self.assertEqual((code, findings),
                         (1, ["src/methods/two/CMakeLists.txt:1: the method two links the method one"]))

    def test_a_header_of_a_library_behind_a_wall(self):
        code, findings = self.findings_of({"src/jobs/c.cpp": "#include <ode/ode.h>\n"})
        self.assertEqual(code, 1)
        self.assertIn("src/jobs/c.cpp:1: <ode/ode.h> is included outside of src/simulation", findings)

    def test_a_private_header_of_another_module(self):
        self.finds({"src/jobs/c.cpp": '#include "../middle/hidden.h"\n', "src/middle/hidden.h": ""},
                   ["src/jobs/c.cpp:1: ../middle/hidden.h is a private header of another module"])

    def test_a_header_that_does_not_exist(self):
        self.finds({"src/jobs/c.cpp": '#include "retrace/middle/none.h"\n'},
                   ["src/jobs/c.cpp:1: retrace/middle/none.h is not a header of a module"])

    def test_units_that_include_one_another(self):
        # A unit is header and source: no header includes itself here.
        changes = {"include/retrace/ground/low.h": "", "src/ground/low.cpp": '#include "high.h"\n',
                   "src/ground/high.h": '#include "retrace/ground/low.h"\n', "src/ground/high.cpp": '\n#include "high.h"\n'}
        expected = ("src/ground/high.h:1: 2 units include one another, such as ground/high -> ground/low -> ground/high "
                    "(all: ground/high ground/low)")
        self.finds(changes, [expected])
        self.finds_nothing({**changes, "src/ground/low.cpp": ""})
        self.finds_nothing({**changes, **exceptions("cycle ground/low ground/high")})

    def test_an_exception_for_another_cycle(self):
        changes = {"src/ground/low.h": '#include "high.h"\n', "src/ground/high.h": '#include "low.h"\n'}
        code, findings = self.findings_of({**changes, **exceptions("cycle ground/low ground/a")})
        self.assertEqual(code, 1)
        self.assertIn("scripts/check/house_exceptions.txt:1: 'cycle ground/low ground/a' is no longer needed: remove it", findings)
        self.assertEqual(len(findings), 2)

    def test_an_exception_for_a_cycle_that_shrank(self):
        changes = {"src/ground/low.h": '#include "high.h"\n', "src/ground/high.h": '#include "low.h"\n'}
        self.finds({**changes, **exceptions("# a comment", "cycle ground/high ground/low ground/middle")},
                   ["scripts/check/house_exceptions.txt:2: ground/middle: no longer in this cycle: remove it from the line"])

    def test_a_folder_of_more_than_twenty_units(self):
        units = {f"src/ground/u{i}.cpp": "" for i in range(20)}  # and a.cpp
        self.finds(units, ["src/ground/CMakeLists.txt:1: ground has 21 units, expected at most 20 or a line '# More than 20 "
                           "units: REASON' here"])
        self.finds_nothing({**units, "src/ground/u0.cpp": None})
        self.finds_nothing({**units, "src/ground/u0.cpp": None, "include/retrace/ground/u1.h": ""})  # one unit with u1.cpp
        reason = TREE["src/ground/CMakeLists.txt"] + "# More than 20 units: all are stones.\n"
        self.finds_nothing({**units, "src/ground/CMakeLists.txt": reason})
        self.finds({"src/ground/CMakeLists.txt": reason},
                   ["src/ground/CMakeLists.txt:2: ground has 1 units: the reason for more than 20 is no longer needed"])
        self.finds_nothing({**{f"apps/program/u{i}.cpp": "" for i in range(20)},
                            "apps/CMakeLists.txt": TREE["apps/CMakeLists.txt"] + "# More than 20 units in program: many.\n"})
        self.finds({**units, "src/ground/CMakeLists.txt": reason.replace(": all", " because all")},
                   ["src/ground/CMakeLists.txt:1: ground has 21 units, expected at most 20 or a line '# More than 20 units: "
                    "REASON' here"])

    def test_an_option_in_a_message_of_the_library(self):
        message = 'const char* kText =\n    "unknown; --push says where";\n'
        self.finds({"src/jobs/c.cpp": message},
                   ["src/jobs/c.cpp:2: the library names the option --push, expected the field that it sets, or a comment "
                    "'// argument of another program'"])
        self.finds_nothing({"src/jobs/c.cpp": message, **exceptions("option src/jobs/c.cpp")})
        self.finds_nothing({"src/jobs/c.cpp": "// --push\n" + 'auto text = "a -- b, <!-- c -->, x--y, --";\nint i = 2; void F() { --i; }\n'})

    def test_arguments_of_another_program(self):
        self.finds_nothing({"src/jobs/c.cpp": 'Run("--headless");  // argument of another program\n'})
        statement = '// arguments of another program\nRun("--a",\n    "--b");\nRun("--c");\n'
        code, findings = self.findings_of({"src/jobs/c.cpp": statement})
        self.assertEqual([line.split(" the ")[0] for line in findings], ["src/jobs/c.cpp:4:"])

    def test_a_heavy_library_in_a_public_header(self):
        json = {"src/ground/CMakeLists.txt": TREE["src/ground/CMakeLists.txt"].replace(")", " nlohmann_json::nlohmann_json)")}
        header = TREE["include/retrace/ground/a.h"]
        self.finds({**json, "include/retrace/ground/a.h": header + "#include <nlohmann/json.hpp>\n"},
                   ["include/retrace/ground/a.h:3: a public header includes <nlohmann/json.hpp>, expected "
                    "<nlohmann/json_fwd.hpp>"])
        self.finds_nothing({**json, "include/retrace/ground/a.h": header + "#include <nlohmann/json_fwd.hpp>\n",
                            "src/ground/a.cpp": "#include <nlohmann/json.hpp>\n"})

    def test_the_library_of_options_outside_of_its_folder(self):
        build_file = {"apps/CMakeLists.txt": "target_link_libraries(program PRIVATE retrace::jobs CLI11::CLI11)\n"}
        self.finds({**build_file, "apps/program/options.cpp": "#include <CLI/CLI.hpp>\n"},
                   ["apps/program/options.cpp:1: <CLI/CLI.hpp> is included outside of apps/cli"])
        self.finds_nothing({**build_file, "apps/cli/options.cpp": "#include <CLI/CLI.hpp>\n"})

    def test_a_name_with_two_meanings(self):
        changes = {"include/retrace/ground/a.h": "#include <Eigen/Core>\nnamespace retrace::ground {\nstruct Push {\n};\n}\n",
                   "include/retrace/jobs/c.h": '#include "retrace/methods/one/m.h"\nnamespace retrace {\nnamespace jobs {\n'
                                               "class Push final : public Base<int> {\n};\n}  // namespace jobs\n}\n"}
        self.finds(changes, ["include/retrace/jobs/c.h:4: Push has 2 meanings: retrace::ground::Push "
                             "(include/retrace/ground/a.h:3), retrace::jobs::Push (include/retrace/jobs/c.h:4)"])
        self.finds_nothing({**changes, **exceptions("name Push")})
        for harmless in ("class Push;", "struct Other { struct Push {}; };", "using ground::Push;", "void Push(int a = {});",
                         "template <class Push> struct Other {};", "// struct Push {", "enum class Options { kPush };"):
            header = f'#include "retrace/methods/one/m.h"\nnamespace retrace::jobs {{\n{harmless}\n}}\n'
            self.finds_nothing({**changes, "include/retrace/jobs/c.h": header})

    def test_a_type_of_functions_with_two_meanings(self):
        def header(include, name, text):
            return f"#include {include}\nnamespace retrace::{name} {{\n{text}\n}}\n"
        jobs = header('"retrace/methods/one/m.h"', "jobs", "using Sink = std::function<void(int)>;")
        code, findings = self.findings_of({"include/retrace/ground/a.h": header("<Eigen/Core>", "ground", "enum class Sink { kNone };"),
                                           "include/retrace/jobs/c.h": jobs})
        self.assertEqual([line.split(":")[:2] for line in findings], [["include/retrace/jobs/c.h", "3"]])
        self.finds_nothing({"include/retrace/ground/a.h": header("<Eigen/Core>", "ground", "using Sink = int;"),
                            "include/retrace/jobs/c.h": jobs})

    def test_two_public_headers_of_one_name(self):
        changes = {"include/retrace/jobs/a.h": ""}
        self.finds(changes, ["include/retrace/jobs/a.h:1: 2 public headers are called a: include/retrace/ground/a.h, "
                             "include/retrace/jobs/a.h"])
        self.finds_nothing({**changes, **exceptions("header a")})
        self.finds_nothing({"include/retrace/jobs/options.h": "", "include/retrace/ground/options.h": ""})

    def test_a_unit_that_no_test_includes(self):
        long = TREE["include/retrace/ground/a.h"] + "\n" * 98
        untested = {"include/retrace/ground/a.h": long, "tests/ground/a_test.cpp": ""}
        self.finds(untested, ["include/retrace/ground/a.h:1: ground/a has 101 lines, and no test includes "
                              "include/retrace/ground/a.h"])
        self.finds_nothing({**untested, **exceptions("test ground/a")})
        self.finds_nothing({**untested, "tests/jobs/any.h": '#include "retrace/ground/a.h"\n'})
        self.finds_nothing({**untested, "src/ground/a.cpp": ""})  # 100 lines
        self.finds({"include/retrace/ground/a.h": long, **exceptions("test ground/a")},
                   ["scripts/check/house_exceptions.txt:1: 'test ground/a' is no longer needed: remove it"])

    def test_private_units_that_no_test_includes(self):
        long = {"src/ground/hidden.h": "\n" * 101, "src/ground/deep.cpp": '#include "retrace/ground/a.h"\n' + "\n" * 101}
        self.finds(long, ["src/ground/hidden.h:1: ground/hidden has 101 lines, and no test includes src/ground/hidden.h"])
        self.finds_nothing({**long, "tests/ground/hidden_test.cpp": '#include "ground/hidden.h"\n'})
        code, findings = self.findings_of({**long, "tests/ground/hidden_test.cpp": '#include "ground/hidden.h"\n',
                                           "tests/ground/a_test.cpp": ""})
        self.assertEqual(findings, ["src/ground/deep.cpp:1: ground/deep has 102 lines, and no test includes "
                                    "include/retrace/ground/a.h"])

    def test_a_module_without_a_folder_of_tests(self):
        changes = {"tests/methods/one/m_test.cpp": None}
        self.finds(changes, ["src/methods/one/CMakeLists.txt:1: methods/one has no tests/methods/one"])
        self.finds_nothing({**changes, **exceptions("mirror methods/one")})

    def test_a_folder_of_tests_without_a_module(self):
        changes = {"tests/old/a_test.cpp": ""}
        self.finds(changes, ["tests/old/CMakeLists.txt:1: tests/old is the folder of no module"])
        self.finds_nothing({**changes, **exceptions("mirror tests/old")})
        self.finds_nothing({"tests/apps/a_test.cpp": "", "tests/old/helper.h": ""})

    def test_the_floors_of_the_house(self):
        self.finds_nothing(house("runs/stored methods/one", "planning/segments runs/stored", "jobs planning/segments",
                                 "batches jobs"))
        self.finds(house("batches methods/one", "jobs batches"),
                   ["src/jobs/CMakeLists.txt:1: jobs (jobs) links batches (batches), which is above it"])
        self.finds(house("planning/segments methods/one", "runs/stored planning/segments"),
                   ["src/runs/stored/CMakeLists.txt:1: runs/stored (runs on disk) links planning/segments (planning), which "
                    "is above it"])
        self.finds(house("exports methods/one"),
                   ["src/exports/CMakeLists.txt:1: exports (values) links methods/one (methods), which is above it"])

    def test_what_jobs_and_planning_do_not_include(self):
        files = {**house("control simulation", "planning/segments control", "jobs planning/segments"),
                 "include/retrace/control/simulate.h": "", "include/retrace/jobs/jobs.h":
                 '#include "retrace/planning/segments/segments.h"\nnamespace retrace {\nstruct JobOptions {\n'
                 "  std::filesystem::path clip;\n};\n}\n",
                 "src/planning/segments/segments.cpp": '#include "retrace/control/simulate.h"\n'}
        self.finds_nothing(files)
        simulating = {"src/jobs/jobs.cpp": '#include "retrace/control/simulate.h"\n'}
        self.finds({**files, **simulating}, ["src/jobs/jobs.cpp:1: jobs includes retrace/control/simulate.h: it calls what "
                                             "simulates, and does not simulate"])
        self.finds_nothing({**files, **simulating, **exceptions("closed src/jobs/jobs.cpp retrace/control/simulate.h")})
        self.finds({**files, "src/planning/segments/files.cpp": "#include <fstream>\n"},
                   ["src/planning/segments/files.cpp:1: planning/segments includes fstream: it works on values, and knows no "
                    "files"])
        self.finds({**files, "include/retrace/planning/segments/plan.h":
                    "namespace retrace {\nstruct PlanOptions {\n  std::filesystem::path clip;\n};\n}\n"},
                   ["include/retrace/planning/segments/plan.h:2: PlanOptions names files, which belong to jobs and runs"])

    def test_a_module_that_does_not_say_what_it_is_for(self):
        self.finds({"src/ground/CMakeLists.txt": TREE["src/ground/CMakeLists.txt"] + "# PURPOSE: stones\n"},
                   ["src/ground/CMakeLists.txt:1: found no comment '# PURPOSE: ...' and '# START: `HEADER`', expected both "
                    "(scripts/check/draw-modules)"])
        self.finds({"src/ground/CMakeLists.txt": TREE["src/ground/CMakeLists.txt"] + "# PURPOSE: stones\n# START: `ground/b.h`\n"},
                   ["src/ground/CMakeLists.txt:1: # START: found ground/b.h, expected a public header"])

    def test_a_header_of_no_module_brings_what_it_includes(self):
        umbrella = {"include/retrace/retrace.h": '#include "retrace/jobs/c.h"\n'}
        self.finds_nothing({**umbrella, "apps/program/main.cpp": '#include "retrace/retrace.h"\n'})
        code, findings = self.findings_of({**umbrella, "src/ground/z.cpp": '#include "retrace/retrace.h"\n'})
        self.assertEqual(findings, ["src/ground/z.cpp:1: ground includes retrace/jobs/c.h and does not link jobs "
                                    "(src/ground/CMakeLists.txt:1)"])

    def test_the_list_of_exceptions_as_it_would_have_to_be(self):
        self.assertEqual(self.run_on({"tests/methods/one/m_test.cpp": None, "include/retrace/jobs/a.h": "",
                                      **exceptions("mirror methods/one", "option src/none.cpp")}, "--as-exceptions"),
                         (0, ["header a", "mirror methods/one"]))


if __name__ == "__main__":
    unittest.main()
