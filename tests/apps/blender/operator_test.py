"""Runs apps/blender/retrace_operator.py in Blender without a window: an armature that walks becomes physical.

usage: blender --background --factory-startup --python operator_test.py -- CLIP.bvh PROGRAM
"""

import importlib.util
import math
import os
import sys
import tempfile

import bpy
from mathutils import Matrix, Vector

clip, program = sys.argv[sys.argv.index("--") + 1:][:2]
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
spec = importlib.util.spec_from_file_location("retrace_operator", os.path.join(root, "apps/blender/retrace_operator.py"))
operator = importlib.util.module_from_spec(spec)
spec.loader.exec_module(operator)


class Bvh:
    """A BVH file with its joints' positions, read by code of its own."""

    def __init__(self, path):
        self.names, self.parents, self.offsets, self.channels = [], [], [], []
        stack = []
        words = open(path, encoding="utf-8").read().split("MOTION")
        for line in words[0].splitlines():
            parts = line.split()
            if not parts:
                continue
            if parts[0] in ("ROOT", "JOINT"):
                self.names.append(" ".join(parts[1:]))
                self.parents.append(stack[-1] if stack else -1)
                stack.append(len(self.names) - 1)
            elif parts[0] == "End":
                stack.append(-2)
            elif parts[0] == "OFFSET" and stack[-1] >= 0:
                self.offsets.append(Vector(float(v) for v in parts[1:4]))
            elif parts[0] == "CHANNELS":
                self.channels.append(parts[2:])
            elif parts[0] == "}":
                stack.pop()
        rows = words[1].split("Frame Time:")[1].split("\n", 1)[1]
        self.rows = [[float(v) for v in row.split()] for row in rows.splitlines() if row.strip()]

    def pose(self, frame):
        """World matrices of all joints."""
        values = iter(self.rows[frame])
        world = []
        for joint, names in enumerate(self.channels):
            at, turn = self.offsets[joint].copy(), Matrix.Identity(4)
            for name in names:
                value = next(values)
                axis = "XYZ".index(name[0])
                if name.endswith("position"):
                    at[axis] = value
                else:
                    turn = turn @ Matrix.Rotation(math.radians(value), 4, name[0])
            local = Matrix.Translation(at) @ turn
            world.append(world[self.parents[joint]] @ local if self.parents[joint] >= 0 else local)
        return world


def make_armature(bvh):
    """An armature with the file's skeleton, standing up, moved by the file's frames."""
    data = bpy.data.armatures.new("walker")
    armature = bpy.data.objects.new("walker", data)
    bpy.context.collection.objects.link(armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    heads = []
    for joint, name in enumerate(bvh.names):
        bone = data.edit_bones.new(name)
        parent = bvh.parents[joint]
        heads.append(bvh.offsets[joint] + (heads[parent] if parent >= 0 else Vector()))
        bone.head = heads[joint]
        bone.tail = heads[joint] + Vector((0.01, 0.05, 0.02))  # no axis of a bone is one of the world
        if parent >= 0:
            bone.parent = data.edit_bones[bvh.names[parent]]
    bpy.ops.object.mode_set(mode="OBJECT")
    armature.rotation_euler = (math.pi / 2, 0, 0)  # y up becomes z up, as importers do
    return armature


def heads_at(armature, frame):
    bpy.context.scene.frame_set(frame)
    return {bone.name: bone.matrix.translation.copy() for bone in armature.pose.bones}


def largest(armature, bvh, first):
    """Largest distance of the bones from the joints of a file [m]."""
    off = 0
    for frame in range(0, len(bvh.rows), 10):
        heads, world = heads_at(armature, first + frame), bvh.pose(frame)
        for joint, name in enumerate(bvh.names):
            off = max(off, (heads[name] - world[joint].translation).length)
    return off


source = Bvh(clip)
scene = bpy.context.scene
scene.render.fps, scene.render.fps_base = 60, 1.0
armature = make_armature(source)
failures = []


def check(what, good, text):
    print(f"{'ok    ' if good else 'FAILED'} {what}: {text}")
    if not good:
        failures.append(what)


# The frames of a file onto the bones, and from the bones into a file.
bones = operator.bones_of(armature)
with tempfile.TemporaryDirectory() as folder:
    # As the add-on writes it: its channels are those of the file's own.
    operator.bring_back(armature, bones, source.rows, 1, "walk")
    off = largest(armature, source, 1)
    check("frames become keys", off < 1e-4, f"{1000 * off:.4f} mm")
    copy = os.path.join(folder, "copy.bvh")
    operator.write_bvh(armature, copy, 1, len(source.rows), scene)
    written = Bvh(copy)
    off = 0
    for frame in range(0, len(source.rows), 10):
        for a, b in zip(source.pose(frame), written.pose(frame)):
            off = max(off, (a.translation - b.translation).length)
    check("keys become frames", off < 1e-4 and written.names == source.names, f"{1000 * off:.4f} mm")

action = armature.animation_data.action
before = {frame: heads_at(armature, frame) for frame in (20, 100, 180)}
physical, code, text = operator.make_physical(armature, scene, program)
check("the program finds a control", code == 0, text.splitlines()[0] if text else "")
check("the action is a new one", physical.name == "walk physical" and armature.animation_data.action == physical
      and action.name == "walk", physical.name)
off = max((heads_at(armature, frame)[name] - heads[name]).length for frame, heads in before.items() for name in heads)
check("it is another motion, near the first", 1e-3 < off < 0.3, f"{off:.3f} m")

for arguments, message in [((None, scene, program), "select an armature"),
                           ((armature, scene, "/none/retrace"), "found no program")]:
    try:
        operator.make_physical(*arguments)
        check(message, False, "no error")
    except ValueError as error:
        check(message, message in str(error), str(error))
operator.register()
check("the operator is there", hasattr(bpy.ops.retrace, "make_physical"), "bpy.ops.retrace.make_physical")
operator.unregister()
sys.exit(1 if failures else 0)
