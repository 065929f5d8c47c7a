"""The modules of src/ and what they link, as the build files say. Used by check-modules and draw-modules."""
import dataclasses
import os
import re

PREFIX = "retrace::"
CALL = re.compile(r"\b(retrace_module|target_link_libraries|foreach|add_subdirectory)\s*\(([^()]*)\)")
COMMENT = re.compile(r"#.*")
# What the head of a module's CMakeLists.txt says of it, for the table of src/README.md; a line of the comment that begins
# with more than one space goes on.
HEAD = re.compile(r"^# (PURPOSE|START): *(.*(?:\n#  +.*)*)$", re.M)
KEYWORDS = {"SOURCES": None, "LINKS": True, "PUBLIC": True, "INTERFACE": True, "PRIVATE_LINKS": False, "OWN_NAMES": None,
            "PRIVATE": False}


class BuildFileError(Exception):
    """A build file that cannot be understood; the message names the place."""


@dataclasses.dataclass
class Link:
    target: str  # name of a module, or target of another project, such as Eigen3::Eigen
    public: bool
    file: str
    line: int


@dataclasses.dataclass
class Module:
    name: str
    folder: str  # below src/ and include/retrace/, such as methods/sampling
    file: str
    line: int
    links: list = dataclasses.field(default_factory=list)
    purpose: str = ""  # Markdown, as is start
    start: str = ""


def _calls(root, file):
    """The calls of a CMake file that matter here: (command, [(word, line)])."""
    with open(os.path.join(root, file), encoding="utf-8") as stream:
        text = "\n".join(COMMENT.sub("", line) for line in stream.read().split("\n"))
    for call in CALL.finditer(text):
        words = []
        for word in re.finditer(r"\S+", call.group(2)):
            line = text.count("\n", 0, call.start(2) + word.start()) + 1
            words.append((word.group(), line))
        yield call.group(1), words


def _read_head(module, root):
    """The comments PURPOSE and START of a module's build file."""
    with open(os.path.join(root, module.file), encoding="utf-8") as stream:
        for key, text in HEAD.findall(stream.read()):
            setattr(module, key.lower(), re.sub(r"\s*\n#\s*", " ", text).strip())


def _target(word):
    """The target behind a word of a link list, without a generator expression around it."""
    inner = re.fullmatch(r"\$<BUILD_INTERFACE:(.*)>", word)
    return inner.group(1) if inner else word


def _read_links(module, words, file):
    public = None
    for word, line in words:
        if word in KEYWORDS:
            public = KEYWORDS[word]
        elif public is not None:
            target = _target(word)
            name = target[len(PREFIX):] if target.startswith(PREFIX) else target
            module.links.append(Link(name, public, file, line))


def read_modules(root):
    """All modules by name, those of src/ in the order of src/CMakeLists.txt, and last the programs as `apps`."""
    modules = {}
    src = os.path.join(root, "src")
    for folder, folders, files in os.walk(src):
        folders.sort()
        if "CMakeLists.txt" not in files:
            continue
        file = os.path.relpath(os.path.join(folder, "CMakeLists.txt"), root)
        for command, words in _calls(root, file):
            if command == "retrace_module":
                name = words[0][0].split("/")[-1]
                if words[0][0] != os.path.relpath(folder, src):
                    raise BuildFileError(f"{file}:{words[0][1]}: the module {words[0][0]} is not in a folder of its name")
                if name in modules:
                    raise BuildFileError(f"{file}:{words[0][1]}: {modules[name].folder} has the same name, {name}")
                modules[name] = Module(name, words[0][0], file, words[0][1])
                _read_links(modules[name], words[1:], file)
                _read_head(modules[name], root)
            elif command == "target_link_libraries":
                name = words[0][0].removeprefix("retrace_")
                if name not in modules:
                    raise BuildFileError(f"{file}:{words[0][1]}: {words[0][0]} is not a module of this file")
                _read_links(modules[name], words[1:], file)

    order = read_order(root)
    places = {folder: place for place, (folder, _) in enumerate(order)}
    modules = dict(sorted(modules.items(), key=lambda item: places.get(item[1].folder, len(order))))
    file = os.path.join("apps", "CMakeLists.txt")
    if os.path.exists(os.path.join(root, file)):
        apps = Module("apps", "apps", file, 1)
        for command, words in _calls(root, file):
            if command == "target_link_libraries":
                _read_links(apps, words[1:], file)
        # Without the libraries of the programs themselves.
        apps.links = list({link.target: link for link in apps.links if not link.target.startswith("retrace_")}.values())
        _read_head(apps, root)
        modules["apps"] = apps
    return modules


def read_order(root):
    """The folders of src/ in the order in which the build takes them: [(folder, line)]."""
    file = os.path.join("src", "CMakeLists.txt")
    order = []
    for command, words in _calls(root, file):
        if command == "foreach":
            order += words[1:]
        elif command == "add_subdirectory" and not words[0][0].startswith("${"):
            order.append(words[0])
    if not order:
        raise BuildFileError(f"{file}: no list of modules found")
    return order


def public_closure(modules, name, seen=None):
    """The targets that whoever links `name` sees, itself included."""
    seen = set() if seen is None else seen
    if name not in seen:
        seen.add(name)
        for link in modules[name].links if name in modules else ():
            if link.public:
                public_closure(modules, link.target, seen)
    return seen


def find_cycle(modules):
    """A list of links that leads from a module back to it, or None."""
    done, path = set(), []

    def visit(name):
        if name in done or name not in modules:
            return None
        for link in modules[name].links:
            path.append((name, link))
            begins = [i for i, (start, _) in enumerate(path) if start == link.target]
            found = path[begins[0]:] if begins else visit(link.target)
            if found:
                return found
            path.pop()
        done.add(name)
        return None

    for name in modules:
        found = visit(name)
        if found:
            return found
    return None
