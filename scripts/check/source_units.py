"""The units of include/, src/ and apps/, and what they include. Used by check-modules and include-graph.

A unit is a folder and a stem: include/retrace/F/x.h, src/F/x.h and src/F/x.cpp together are the unit F/x. Those of the
programs are apps/..., of whatever folder.
"""
import functools
import os

import cpp_text

SOURCE = (".h", ".hpp", ".cpp", ".cc", ".c")
PUBLIC = os.path.join("include", "retrace")


class Unit:
    def __init__(self, name):
        self.name = name
        self.folder, self.stem = os.path.split(name)
        self.files = []  # from the root of the repository, public header first

    @property
    def headers(self):
        return [file for file in self.files if file.endswith((".h", ".hpp"))]


class SourceTree:
    def __init__(self, root):
        self.root = root

    @functools.lru_cache(maxsize=None)
    def text(self, file):
        with open(os.path.join(self.root, file), encoding="utf-8") as stream:
            return stream.read()

    @functools.lru_cache(maxsize=None)
    def cpp(self, file):
        return cpp_text.CppText(self.text(file))

    def exists(self, file):
        return os.path.isfile(os.path.join(self.root, file))

    @functools.lru_cache(maxsize=None)
    def files(self, folder, endings=SOURCE):
        """The files below a folder, sorted, from the root of the repository."""
        found = []
        for parent, folders, names in os.walk(os.path.join(self.root, folder)):
            folders.sort()
            found += [os.path.relpath(os.path.join(parent, name), self.root) for name in sorted(names)
                      if name.endswith(endings)]
        return found

    def unit_of(self, file):
        """The name of the unit of a file below include/retrace, src or apps."""
        for top in (PUBLIC, "src"):
            if file.startswith(top + os.sep):
                return os.path.splitext(file[len(top) + 1:])[0]
        return os.path.splitext(file)[0]

    @functools.cached_property
    def units(self):
        """All units by name, sorted."""
        found = {}
        for folder in (PUBLIC, "src", "apps"):
            for file in self.files(folder):
                name = self.unit_of(file)
                found.setdefault(name, Unit(name)).files.append(file)
        return dict(sorted(found.items()))

    def resolve(self, file, quote, header):
        """The file that an include names, from the root of the repository, or None if it is not of the project."""
        if header.startswith("retrace/"):
            found = os.path.join("include", header)
            return found if self.exists(found) else None
        if quote == '"':
            for place in (os.path.dirname(file), file.split(os.sep)[0], "src"):
                found = os.path.normpath(os.path.join(place, header))
                if self.exists(found):
                    return found
        return None

    @functools.cached_property
    def arrows(self):
        """What each unit includes of others: {unit: {unit: (file, line)}}, with the first place."""
        found = {name: {} for name in self.units}
        for name, unit in self.units.items():
            for file in unit.files:
                for line, quote, header in self.cpp(file).includes:
                    target = self.resolve(file, quote, header)
                    if target and self.unit_of(target) not in (name, None) and self.unit_of(target) in self.units:
                        found[name].setdefault(self.unit_of(target), (file, line))
        return found


def find_cycles(arrows):
    """The sets of nodes that can reach one another (strongly connected components of more than one node, after Tarjan),
    each sorted, for a graph {node: iterable of nodes}."""
    order, low, stack, on_stack, cycles = {}, {}, [], set(), []
    for start in arrows:
        if start in order:
            continue
        work = [(start, iter(arrows[start]))]
        order[start] = low[start] = len(order)
        stack.append(start)
        on_stack.add(start)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in order:
                    order[target] = low[target] = len(order)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(arrows[target])))
                    break
                if target in on_stack:
                    low[node] = min(low[node], order[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    members = stack[stack.index(node):]
                    del stack[len(stack) - len(members):]
                    on_stack.difference_update(members)
                    if len(members) > 1:
                        cycles.append(sorted(members))
    return sorted(cycles)


def shortest_cycle(arrows, members):
    """A shortest way around within a set of nodes that can reach one another: [node, ..., node], the first twice."""
    best = None
    for start in sorted(members):
        before, waiting = {start: None}, [start]
        while waiting:
            node = waiting.pop(0)
            for target in sorted(arrows[node]):
                if target == start:
                    path = [start]
                    while node is not None:
                        path.append(node)
                        node = before[node]
                    if best is None or len(path) < len(best):
                        best = path[::-1]
                    waiting = []
                    break
                if target in members and target not in before:
                    before[target] = node
                    waiting.append(target)
    return best
