"""What a C++ file says, without a compiler: its comments, its string literals, and the code between them."""
import bisect
import re

PARTS = re.compile(r'(?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)'
                   r'|R"(?P<delimiter>[^ ()\\\t\n]{0,16})\((?P<raw>.*?)\)(?P=delimiter)"'
                   r'|"(?P<string>(?:\\.|[^"\\\n])*)"'
                   r"|(?<![0-9a-zA-Z_])(?P<character>'(?:\\.|[^'\\\n])+')", re.S)
TOKEN = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*|\[\[.*?\]\]|[{}();<>=,]", re.S)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.M)


class CppText:
    """code: the text with comments and the content of literals blanked, lines and columns kept.
    comments and literals: [(line, text)], in the order of the file. includes: [(line, '<' or '"', header)]."""

    def __init__(self, text):
        self.starts = [0] + [i + 1 for i, letter in enumerate(text) if letter == "\n"]
        self.comments, self.literals = [], []
        self.includes = [(self.line_at(found.start(1)), found.group(1), found.group(2)) for found in INCLUDE.finditer(text)]
        included = {line for line, _, _ in self.includes}
        pieces, end = [], 0
        for found in PARTS.finditer(text):
            pieces.append(text[end:found.start()])
            end = found.end()
            line = self.line_at(found.start())
            if found.group("comment") is not None:
                self.comments.append((line, found.group()))
                pieces.append(_blank(found.group()))
                continue
            literal = found.group("raw") if found.group("raw") is not None else found.group("string")
            if literal is not None and line not in included:
                self.literals.append((line, literal))
            pieces.append(found.group()[0] + _blank(found.group()[1:-1]) + found.group()[-1])
        self.code = "".join(pieces) + text[end:]

    def line_at(self, position):
        return bisect.bisect_right(self.starts, position)


    def types(self):
        """The classes, structures, enumerations and types of functions (`using F = ...(...)`) that are defined in a
        namespace, not within another class: (line, namespace, name, body); the body is empty for a type of functions."""
        code = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda found: _blank(found.group()), self.code, flags=re.M)
        scopes, words, opened = [], [], None  # scopes: names of namespaces, None for any other brace
        for found in TOKEN.finditer(code):
            token = found.group()
            if token == "{":
                inside = None not in scopes
                scope = _namespace(words) if inside else None
                if inside and scope is None and _defined(words):
                    opened = (found.end(), len(scopes), _defined(words), "::".join(scopes))
                scopes.append(scope)
            elif token == "}":
                if scopes:
                    scopes.pop()
                if opened and len(scopes) == opened[1]:
                    begin, _, (name, start), namespace = opened
                    yield self.line_at(start), namespace, name, code[begin:found.start()]
                    opened = None
            elif token == ";":
                if None not in scopes and len(words) > 3 and words[0][0] == "using" and \
                        any(word in ("(", "std::function") for word, _ in words):
                    yield self.line_at(words[1][1]), "::".join(scopes), words[1][0], ""
            elif None not in scopes and not token.startswith("[["):
                words.append((token, found.start()))
                continue
            if None not in scopes:
                words = []


def _namespace(words):
    """The name of the namespace that a statement opens, or None."""
    words = [word for word, _ in words if word != "inline"]
    if words[:1] != ["namespace"]:
        return None
    return words[1] if len(words) > 1 else "(unnamed)"


def _defined(words):
    """(name, position) of the class, structure or enumeration that a statement before a brace begins, or None."""
    depth, bare = 0, []  # without what is between < and >
    for word, position in words:
        depth += (word == "<") - (word == ">")
        if depth == 0 and word not in "<>":
            bare.append((word, position))
        elif word == "<" and depth == 1:
            bare.append((word, position))
    while bare and bare[0][0] in ("template", "<"):
        bare.pop(0)
    kinds = [i for i, (word, _) in enumerate(bare) if word in ("class", "struct", "enum", "union")]
    if not kinds or kinds[0] != 0 or any(word in ("=",) for word, _ in bare):
        return None
    rest = [entry for entry in bare if entry[0] not in ("class", "struct", "enum", "union", "final")]
    if not rest or rest[0][0] == "alignas" or len(rest) > 1 and rest[1][0] == "<":
        return None
    return rest[0]


def _blank(text):
    return re.sub(r"[^\n]", " ", text)
