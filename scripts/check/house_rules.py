"""Rules that keep the sources in order beyond the link lists of the modules. Used by check-modules.

A rule is a function that yields Findings. Where `item` of one is given, an entry of scripts/check/house_exceptions.txt can
allow it.
"""
import dataclasses
import os
import re

import source_units

EXCEPTIONS = os.path.join("scripts", "check", "house_exceptions.txt")
MOST_UNITS = 20
MOST_LINES_UNTESTED = 100
# Names that each module may have: its interface has the same shape everywhere.
COMMON_NAMES = {"Options", "Problem", "Summary", "Hooks", "Result"}
# The floors of the house, from below: the first pattern that matches the folder of a module. A module links none of a
# higher floor.
FLOORS = [(0, "values", re.compile(r"(?!methods/|runs\b|planning\b|jobs$|batches$|apps$)")),
          (1, "methods", re.compile(r"methods/")), (2, "runs on disk", re.compile(r"runs\b")),
          (3, "planning", re.compile(r"planning\b")), (4, "jobs", re.compile(r"jobs$")),
          (5, "batches", re.compile(r"batches$")), (6, "programs", re.compile(r"apps$"))]
# What the modules of a folder do not include, and why.
CLOSED = [(re.compile(r"(jobs|batches|runs)(/|$)"), re.compile(r"retrace/(simulation/world|control/simulate)\.h$"),
           "calls what simulates, and does not simulate"),
          (re.compile(r"planning(/|$)"), re.compile(r"retrace/(runs/inputs/.*|io/file\.h)$|fstream$|filesystem$"),
           "works on values, and knows no files")]
OPTION = re.compile(r"(?:^|[^-\w])(--[a-z][a-z0-9-]*)")
# A comment behind a line, or by itself before a statement, for arguments that the library gives to another program.
FOREIGN = re.compile(r"// arguments? of another program")
# Folders of tests/ that test no module.
OTHER_TESTS = re.compile(r"tests/(apps|bench|browser|consumer|examples|fuzz|modules|scripts)(/|$)")


@dataclasses.dataclass(frozen=True)
class Finding:
    file: str
    line: int
    text: str
    rule: str = ""
    item: str = ""  # what an exception names; for the rule `cycle` the units of the cycle


def check_cycles(tree, _modules):
    """No unit includes itself through others."""
    for members in source_units.find_cycles(tree.arrows):
        path = source_units.shortest_cycle(tree.arrows, set(members))
        file, line = tree.arrows[path[0]][path[1]]
        yield Finding(file, line, f"{len(members)} units include one another, such as {' -> '.join(path)} "
                                  f"(all: {' '.join(members)})", "cycle", " ".join(members))


def check_folders(tree, _modules):
    """A folder has at most MOST_UNITS units, unless its CMakeLists.txt, or the one above it, says why it has more."""
    folders = {}
    for unit in tree.units.values():
        folders.setdefault(unit.folder, []).append(unit)
    for folder, units in folders.items():
        file, wanted = os.path.join("" if folder.startswith("apps") else "src", folder, "CMakeLists.txt"), f"# More than {MOST_UNITS} units: "
        if not tree.exists(file):
            above, name = os.path.split(os.path.dirname(file))
            file, wanted = os.path.join(above, "CMakeLists.txt"), f"# More than {MOST_UNITS} units in {name}: "
        text = tree.text(file) if tree.exists(file) else ""
        found = re.search(f"^{wanted}", text, re.M)
        line = text.count("\n", 0, found.start()) + 1 if found else 1
        if found and len(units) <= MOST_UNITS:
            yield Finding(file, line, f"{folder} has {len(units)} units: the reason for more than {MOST_UNITS} is no longer needed")
        elif not found and len(units) > MOST_UNITS:
            yield Finding(file, line, f"{folder} has {len(units)} units, expected at most {MOST_UNITS} or a line '{wanted}REASON' "
                                      "here", "units", folder)


def _foreign_lines(tree, file):
    """The lines whose literals are arguments of another program."""
    text, found = tree.text(file).split("\n"), set()
    for line, comment in tree.cpp(file).comments:
        if FOREIGN.match(comment):
            found.add(line)
            if text[line - 1].lstrip().startswith("//"):
                while line < len(text):  # up to the end of the statement
                    line += 1
                    found.add(line)
                    if text[line - 1].rstrip().endswith(";"):
                        break
    return found


def check_options(tree, _modules):
    """The library names fields, not options of the command line: no literal of it says --word."""
    for folder in ("include", "src"):
        for file in tree.files(folder):
            foreign = None
            for line, literal in tree.cpp(file).literals:
                found = OPTION.search(literal)
                if not found:
                    continue
                foreign = _foreign_lines(tree, file) if foreign is None else foreign
                if line not in foreign:
                    yield Finding(file, line, f"the library names the option {found.group(1)}, expected the field that it sets, "
                                              "or a comment '// argument of another program'", "option", file)


def check_heavy_headers(tree, _modules):
    """No public header includes json.hpp or CLI11, and CLI11 is known to apps/cli alone."""
    for folder in ("include", "src", "apps"):
        for file in tree.files(folder):
            for line, _, header in tree.cpp(file).includes:
                if folder == "include" and header == "nlohmann/json.hpp":
                    yield Finding(file, line, f"a public header includes <{header}>, expected <nlohmann/json_fwd.hpp>", "json", file)
                elif header.startswith("CLI/") and not file.startswith(os.path.join("apps", "cli") + os.sep):
                    yield Finding(file, line, f"<{header}> is included outside of apps/cli", "cli", file)


def check_names(tree, _modules):
    """A name of a type means one thing in all public headers, and a public header has a name of its own."""
    types, stems = {}, {}
    for file in tree.files("include"):
        stem = os.path.splitext(os.path.basename(file))[0]
        stems.setdefault(stem, []).append(file)
        for line, namespace, name, _ in tree.cpp(file).types():
            types.setdefault(name, {}).setdefault(namespace, (file, line))
    for name, found in types.items():
        if len(found) > 1 and name not in COMMON_NAMES:
            places = [f"{namespace}::{name} ({file}:{line})" for namespace, (file, line) in found.items()]
            file, line = list(found.values())[-1]
            yield Finding(file, line, f"{name} has {len(found)} meanings: {', '.join(places)}", "name", name)
    for stem, files in stems.items():
        if len(files) > 1 and stem not in {name.lower() for name in COMMON_NAMES}:
            yield Finding(files[-1], 1, f"{len(files)} public headers are called {stem}: {', '.join(files)}", "header", stem)


def _headers_of(tree, unit):
    """The headers of a unit; of a source without one of its name those of its folder that it includes, since one of them
    declares what it defines."""
    if unit.headers:
        return set(unit.headers)
    found = set()
    for file in unit.files:
        for _, quote, header in tree.cpp(file).includes:
            target = tree.resolve(file, quote, header)
            if target and os.path.dirname(tree.unit_of(target)) == unit.folder:
                found.add(target)
    return found


def check_tests(tree, modules):
    """A unit of more than MOST_LINES_UNTESTED lines has a test that includes its header; each module has a folder of
    tests."""
    included = set()
    for file in tree.files("tests"):
        for _, quote, header in tree.cpp(file).includes:
            for place in (os.path.join("include", header), os.path.join("src", header),
                          os.path.normpath(os.path.join(os.path.dirname(file), header))):
                if (quote == '"' or place.startswith("include")) and tree.exists(place):
                    included.add(place)
    for unit in tree.units.values():
        count, headers = sum(tree.text(file).count("\n") for file in unit.files), _headers_of(tree, unit)
        if count > MOST_LINES_UNTESTED and not unit.name.startswith("apps" + os.sep) and not included & headers:
            yield Finding(unit.files[0], 1, f"{unit.name} has {count} lines, and no test includes "
                                            f"{' or '.join(sorted(headers)) or 'a header of it'}", "test", unit.name)
    for module in modules.values():
        if module.name != "apps" and not tree.files(os.path.join("tests", module.folder)):
            yield Finding(module.file, module.line, f"{module.folder} has no tests/{module.folder}", "mirror", module.folder)


def check_test_folders(tree, modules):
    """A folder of tests is that of a module."""
    folders = {os.path.join("tests", module.folder) for module in modules.values()}
    for folder in sorted({os.path.dirname(file) for file in tree.files("tests") if file.endswith("_test.cpp")}):
        if not OTHER_TESTS.match(folder) and folder not in folders:
            yield Finding(os.path.join(folder, "CMakeLists.txt"), 1, f"{folder} is the folder of no module", "mirror", folder)


def floor_of(folder):
    return next((number, name) for number, name, pattern in FLOORS if pattern.match(folder))


def check_floors(tree, modules):
    """The floors of the house (FLOORS, CLOSED), and no options with files below the jobs, but for those of runs on disk."""
    for module in modules.values():
        number, name = floor_of(module.folder)
        for link in module.links:
            linked = modules.get(link.target)
            if linked and floor_of(linked.folder)[0] > number:
                yield Finding(link.file, link.line, f"{module.folder} ({name}) links {linked.folder} ({floor_of(linked.folder)[1]}), "
                                                    "which is above it", "floor", f"{module.folder} {linked.folder}")
        for folder in (os.path.join("include", "retrace", module.folder), os.path.join("src", module.folder)):
            if module.name == "apps":
                continue
            for file in tree.files(folder):
                for line, _, header in tree.cpp(file).includes:
                    for closed, headers, reason in CLOSED:
                        if closed.match(module.folder) and headers.match(header):
                            yield Finding(file, line, f"{module.folder} includes {header}: it {reason}", "closed", f"{file} {header}")
                if number in (0, 1, 3) and folder.startswith("include"):
                    for line, _, type_name, body in tree.cpp(file).types():
                        if type_name.endswith("Options") and "filesystem::path" in body:
                            yield Finding(file, line, f"{type_name} names files, which belong to jobs and runs", "file", file)


def check_heads(tree, modules):
    """The build file of a module says what it is for, and where to start reading."""
    for module in modules.values():
        if not module.purpose or not module.start:
            yield Finding(module.file, 1, "found no comment '# PURPOSE: ...' and '# START: `HEADER`', expected both "
                                          "(scripts/check/draw-modules)")
        for header in re.findall(r"`([^`]*)`", module.start):
            if not any(tree.exists(os.path.join(top, header)) for top in ("include/retrace", "")):
                yield Finding(module.file, 1, f"# START: found {header}, expected a public header")


PRINTED = re.compile(r"std::(?:f?printf|fputs)\(")
# What needs no escapes: numbers, documents that escape by themselves, texts of this program alone.
SHOWN = re.compile(r"(cli::Shown|cli::ShownLines|cli::ShellWord|io::Fixed|io::Number|io::Dump|io::WriteCommented|ClockTime|Bar|TimeSpan"
                   r"|(?:\w+::)*Name|results::Version|ManualPage\w*|Overview|CommandList)\(|indent$|command\.Help\(|entry\.program_names"
                   r"|.*\.ToCommentedJson\(\)$|\(.*(Zsh|ManualPageOfProgram|io::Number)\(")


def _argument_before(text, end):
    """The argument of a call, or the branch of a choice, that ends there."""
    depth, begin = 0, end
    while begin > 0:
        c = text[begin - 1]
        if c in ")]}":
            depth += 1
        elif c in "([{":
            if depth == 0:
                break
            depth -= 1
        elif depth == 0 and (c in ",?" or (c == ":" and ":" not in (text[begin - 2], text[begin]))):
            break
        begin -= 1
    return text[begin:end].strip()


def check_printing(tree, _modules):
    """What commands print of texts goes through cli::Shown or cli::ShownLines, which escape control characters."""
    for file in tree.files("apps"):
        if not file.startswith(os.path.join("apps", "retrace") + os.sep) or not file.endswith(".cpp"):
            continue
        text = tree.text(file)
        for found in PRINTED.finditer(text):
            end = text.find(";", found.end())
            call = text[found.end():end if end >= 0 else len(text)]
            for use in re.finditer(r"\.c_str\(\)", call):
                argument = _argument_before(call, use.start())
                if not SHOWN.match(argument):
                    line = text.count("\n", 0, found.end() + use.start()) + 1
                    yield Finding(file, line, f"prints {argument} as it is, expected cli::Shown({argument})", "print", file)


RULES = [check_cycles, check_folders, check_options, check_heavy_headers, check_names, check_tests, check_test_folders,
         check_floors, check_heads, check_printing]


class Exceptions:
    """The entries of house_exceptions.txt: lines `RULE ITEM`. The list only shrinks: an entry that allows nothing is a
    finding."""

    def __init__(self, root):
        self.entries = []  # (line, rule, item)
        self.used = set()
        try:
            with open(os.path.join(root, EXCEPTIONS), encoding="utf-8") as stream:
                lines = stream.read().split("\n")
        except FileNotFoundError:
            lines = []
        for number, text in enumerate(lines, 1):
            rule, _, item = text.split("#")[0].strip().partition(" ")
            if rule:
                self.entries.append((number, rule, item.strip()))
        self.in_cycles = set()

    def allow(self, finding):
        for number, rule, item in self.entries:
            if rule == finding.rule == "cycle":
                if set(finding.item.split()) <= set(item.split()):
                    self.used.add(number)
                    self.in_cycles |= set(finding.item.split())
                    return True
            elif rule == finding.rule and item == finding.item:
                self.used.add(number)
                return True
        return False

    def unneeded(self):
        seen = set()
        for number, rule, item in self.entries:
            if (rule, item) in seen:
                yield Finding(EXCEPTIONS, number, f"'{rule} {item}' is here twice")
            elif number not in self.used:
                yield Finding(EXCEPTIONS, number, f"'{rule} {item}' is no longer needed: remove it")
            elif rule == "cycle" and set(item.split()) - self.in_cycles:
                left = sorted(set(item.split()) - self.in_cycles)
                yield Finding(EXCEPTIONS, number, f"{' '.join(left)}: no longer in this cycle: remove it from the line")
            seen.add((rule, item))


def check(root, modules):
    """(the findings, those that an exception allows)."""
    tree, exceptions = source_units.SourceTree(root), Exceptions(root)
    findings, allowed = [], []
    for rule in RULES:
        for finding in rule(tree, modules):
            (allowed if finding.rule and exceptions.allow(finding) else findings).append(finding)
    return findings + list(exceptions.unneeded()), allowed
