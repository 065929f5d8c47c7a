"""scripts/assets/fetch-body: a GLB file of a mesh, bones and weights that this test writes, read by make-body, and what it refuses.

usage: fetch_body_test.py MAKE_BODY
"""
import importlib.machinery
import importlib.util
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FETCH = os.path.join(ROOT, "scripts", "assets", "fetch-body")
RETRACE = sys.argv.pop(1) if len(sys.argv) > 1 else ""

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("fetch_body", FETCH)
fetch_body = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
loader.exec_module(fetch_body)

# A figure of rods: name, parent, where it begins and ends, radius [m].
RODS = [("root", "", (0, 0.95, 0), (0, 1.08, 0), 0.12), ("spine", "root", (0, 1.1, 0), (0, 1.45, 0), 0.12),
        ("head", "spine", (0, 1.5, 0), (0, 1.75, 0), 0.08)]
for side, sign in (("L", 1), ("R", -1)):
    RODS += [(f"arm.{side}", "spine", (0.2 * sign, 1.42, 0), (0.46 * sign, 1.42, 0), 0.05),
             (f"elbow.{side}", f"arm.{side}", (0.48 * sign, 1.42, 0), (0.72 * sign, 1.42, 0), 0.04),
             (f"wrist.{side}", f"elbow.{side}", (0.74 * sign, 1.42, 0), (0.9 * sign, 1.42, 0), 0.03),
             (f"thigh.{side}", "root", (0.1 * sign, 0.9, 0), (0.1 * sign, 0.52, 0), 0.08),
             (f"shin.{side}", f"thigh.{side}", (0.1 * sign, 0.5, 0), (0.1 * sign, 0.1, 0), 0.06),
             (f"foot.{side}", f"shin.{side}", (0.1 * sign, 0.05, 0), (0.1 * sign, 0.05, 0.2), 0.05)]
MAP = {"pelvis": "root", "trunk": "spine", "head": "head"}
for long, letter in (("left", "L"), ("right", "R")):
    for segment, bone in (("upper_arm", "arm"), ("lower_arm", "elbow"), ("hand", "wrist"), ("thigh", "thigh"),
                          ("shin", "shin"), ("foot", "foot")):
        MAP[f"{long}_{segment}"] = f"{bone}.{letter}"
AROUND, ALONG = 16, 6


def rod(begin, end, radius):
    """A closed cylinder: vertices and triangles, counter-clockwise from outside."""
    along = [b - a for a, b in zip(begin, end)]
    axis = max(range(3), key=lambda k: abs(along[k]))
    u, v = (axis + 1) % 3, (axis + 2) % 3
    vertices = []
    for row in range(ALONG + 1):
        for k in range(AROUND):
            place = [a + row / ALONG * d for a, d in zip(begin, along)]
            place[u] += radius * math.cos(2 * math.pi * k / AROUND)
            place[v] += radius * math.sin(2 * math.pi * k / AROUND)
            vertices.append(place)
    vertices += [list(begin), list(end)]
    triangles = []
    for k in range(AROUND):
        following = (k + 1) % AROUND
        for row in range(ALONG):
            a, b = row * AROUND + k, row * AROUND + following
            triangles += [(a, b, b + AROUND), (a, b + AROUND, a + AROUND)]
        triangles += [(len(vertices) - 2, following, k),
                      (len(vertices) - 1, ALONG * AROUND + k, ALONG * AROUND + following)]
    if along[axis] < 0:
        triangles = [(a, c, b) for a, b, c in triangles]
    return vertices, triangles


def figure():
    """Vertices, triangles and weights of all rods, and names, parents and places of their bones."""
    vertices, triangles, weights = [], [], []
    names = [name for name, *_ in RODS]
    for bone, (_, _, begin, end, radius) in enumerate(RODS):
        own, faces = rod(begin, end, radius)
        triangles += [tuple(corner + len(vertices) for corner in face) for face in faces]
        vertices += own
        weights += [[(bone, 1.0)]] * len(own)
    parents = [names.index(parent) if parent else -1 for _, parent, *_ in RODS]
    return vertices, triangles, weights, names, parents, [list(begin) for _, _, begin, _, _ in RODS]


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True)


class FetchBody(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def test_make_body_reads_what_another_program_wrote(self):
        with open(self.path("rods.glb"), "wb") as file:
            file.write(fetch_body.format_glb(*figure()))
        self.write("map.json", json.dumps(MAP))
        made = run(RETRACE, "character", "from-mesh", self.path("rods.glb"), "--map", self.path("map.json"), "--output", self.path("rods.json"))
        self.assertEqual(made.returncode, 0, made.stderr)
        with open(self.path("rods.json"), encoding="utf-8") as file:
            character = json.load(file)
        # A prism has less than the circle around it.
        of_prism = AROUND / 2 * math.sin(2 * math.pi / AROUND)
        volume = sum(of_prism * radius**2 * math.dist(begin, end) for _, _, begin, end, radius in RODS)
        self.assertAlmostEqual(sum(body["mass"] for body in character["bodies"]), 1000 * volume, delta=10 * volume)
        anchors = {joint["child"]: joint["anchor"] for joint in character["joints"]}
        for segment, bone in MAP.items():
            if segment == "pelvis":
                continue
            begin = next(rod[2] for rod in RODS if rod[0] == bone)
            self.assertLess(math.dist(anchors[segment], begin), 0.002, segment)

    def test_bones_weights_and_targets(self):
        skeleton = {"bones": {"b": {"head": "b_h", "parent": "a"}, "a": {"head": "a_h", "parent": None}},
                    "joints": {"a_h": [0, 1], "b_h": [2]}}
        vertices = [[0, 0, 0], [2, 4, 6], [1, 1, 1]]
        self.assertEqual(fetch_body.read_bones(skeleton, vertices), (["a", "b"], [-1, 0], [[1, 2, 3], [1, 1, 1]]))
        weights = {"a": [[0, 0.25]], "b": [[0, 0.5], [1, 0.1]]}
        self.assertEqual(fetch_body.read_weights(weights, ["a", "b"], 3),
                         [[(1, 0.5 / 0.75), (0, 0.25 / 0.75)], [(1, 1.0)], []])
        fetch_body.displace(vertices, "# by\n\n2 .5 -1 0\n")
        self.assertEqual(vertices[2], [1.5, 0, 1])
        mesh = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\ng joint\nf 1 2 3\ng body\nf 1/1 2/2 3/3 4/4\n"
        self.assertEqual(fetch_body.read_mesh(mesh)[1], [(0, 1, 2), (0, 2, 3)])

    def test_other_files_are_refused(self):
        self.assertEqual(run(sys.executable, FETCH).returncode, 2)
        done = run(sys.executable, FETCH, "--source", self.path("nowhere"), self.path("body.glb"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("base.obj", done.stderr)
        self.write("copy/makehuman/data/3dobjs/base.obj", "v 0 0 0\n")
        done = run(sys.executable, FETCH, "--source", self.path("copy"), self.path("body.glb"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("found a file with SHA-256", done.stderr)
        self.assertFalse(os.path.exists(self.path("body.glb")))


if __name__ == "__main__":
    unittest.main()
