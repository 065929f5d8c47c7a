"""Run inside Blender (scripts/check/check-blender): imports what `export` wrote and compares places with its tables.

usage: blender --background --factory-startup --python compare.py -- FOLDER [PICTURE.png]

FOLDER holds motion.bvh, motion.glb, joints.csv and bodies.csv of one run, the tables and the BVH file at the GLB file's
rate. Prints the largest distance of each comparison and exits with 1 when one is above 1 mm.
"""

import csv
import math
import os
import sys

import bpy
from mathutils import Quaternion, Vector

LIMIT = 0.001  # [m]
RATE = 60


def to_blender(row):
    """Both importers turn y up into Blender's z up."""
    return Vector((float(row["x"]), -float(row["z"]), float(row["y"])))


def turn_to_blender(row):
    return Quaternion((float(row["qw"]), float(row["qx"]), -float(row["qz"]), float(row["qy"])))


def read(path, name):
    """{frame: {name: row}} of a tidy table at RATE."""
    frames = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            frames.setdefault(round(float(row["time"]) * RATE), {})[row[name]] = row
    return frames


def clear():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    mend_importers()
    bpy.context.scene.render.fps = RATE
    bpy.context.scene.render.fps_base = 1


def armature():
    found = [o for o in bpy.context.scene.objects if o.type == "ARMATURE"]
    assert len(found) == 1, f"expected one armature, found {len(found)}"
    return found[0]


def bone_place(rig, name):
    return rig.matrix_world @ rig.pose.bones[name].head


def go_to(frame):
    bpy.context.scene.frame_set(frame)
    bpy.context.view_layer.update()


class Comparison:
    def __init__(self, title):
        self.title, self.worst, self.where, self.count = title, 0.0, "", 0

    def add(self, found, expected, where):
        distance = (found - expected).length
        self.count += 1
        if not distance <= self.worst:  # a NaN counts
            self.worst, self.where = distance, where

    def report(self):
        good = self.count > 0 and self.worst <= LIMIT
        at = f", {self.where}" if self.where else ""
        print(f"{'ok    ' if good else 'FAILED'} {self.title}: {self.count} places, "
              f"at most {1000 * self.worst:.3f} mm apart{at}")
        return good


def mend_importers():
    """Debian 12 has Blender 3.4 with a newer Python and NumPy than it was made for, and neither importer works there,
    with any file: one opens files in the mode "rU", the other asks for numpy.bool, and both are gone."""
    import io_anim_bvh.import_bvh as importer
    import numpy

    importer.open = lambda path, mode="r", **more: open(path, mode.replace("U", ""), **more)
    if "bool" not in numpy.__dict__:
        numpy.bool = bool


def compare_bvh(folder, joints, frames):
    clear()
    bpy.ops.import_anim.bvh(filepath=os.path.join(folder, "motion.bvh"), update_scene_fps=True,
                            update_scene_duration=True)
    assert bpy.context.scene.render.fps == RATE, f"rate of the BVH file: {bpy.context.scene.render.fps}"
    rig = armature()
    first = int(rig.animation_data.action.frame_range[0])
    comparison = Comparison("motion.bvh, joints")
    for frame in frames:
        go_to(first + frame)
        for name, row in joints[frame].items():
            comparison.add(bone_place(rig, row["child"]), to_blender(row), f"{name} at frame {frame}")
    return comparison.report()


def compare_glb(folder, joints, bodies, frames):
    clear()
    bpy.ops.import_scene.gltf(filepath=os.path.join(folder, "motion.glb"))
    rig = armature()
    own = {row["child"] for row in joints[0].values()} | {row["parent"] for row in joints[0].values()}
    root = ({row["parent"] for row in joints[0].values()} - {row["child"] for row in joints[0].values()}).pop()
    first = min(int(action.frame_range[0]) for action in bpy.data.actions)
    bones, meshes, things = (Comparison("motion.glb, " + what) for what in ("joints", "bodies as drawn", "objects"))
    at_first = {}
    for frame in frames:
        go_to(first + frame)
        for name, row in joints[frame].items():
            bones.add(bone_place(rig, name), to_blender(row), f"{name} at frame {frame}")
        bones.add(bone_place(rig, "root"), to_blender(bodies[frame][root]), f"root at frame {frame}")
        graph = bpy.context.evaluated_depsgraph_get()
        for name, row in bodies[frame].items():
            thing = bpy.context.scene.objects.get(name)
            if thing is not None and name not in own:
                things.add(thing.matrix_world.translation, to_blender(row), f"{name} at frame {frame}")
        # What is drawn: a vertex of each body moves from the first frame on as the body does.
        for name in own:
            thing = bpy.context.scene.objects.get(name) or bpy.context.scene.objects.get(name + "_body")
            drawn = thing.evaluated_get(graph)
            vertex = drawn.matrix_world @ drawn.data.vertices[len(drawn.data.vertices) // 3].co
            place, turn = to_blender(bodies[frame][name]), turn_to_blender(bodies[frame][name])
            in_body = turn.inverted() @ (vertex - place)
            meshes.add(in_body, at_first.setdefault(name, in_body), f"{name} at frame {frame}")
    good = [bones.report(), meshes.report()]
    if things.count:
        good.append(things.report())
    heads = {bone.name: rig.matrix_world @ bone.head_local for bone in rig.data.bones}
    print(f"       armature of {len(heads)} bones, highest at {max(h.z for h in heads.values()):.3f} m, "
          f"{sum(o.type == 'MESH' for o in bpy.context.scene.objects)} meshes")
    return all(good)


def render(path, frame, place):
    """A picture of the imported scene, with Cycles: it needs no display."""
    go_to(frame)
    scene = bpy.context.scene
    light = bpy.data.objects.new("sun", bpy.data.lights.new("sun", "SUN"))
    light.data.energy, light.rotation_euler = 2, (math.radians(40), math.radians(20), 0)
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.location = place + Vector((2.4, -2.4, 0.9))
    camera.rotation_euler = (place + Vector((0, 0, -0.1)) - camera.location).to_track_quat("-Z", "Y").to_euler()
    for thing in (light, camera):
        scene.collection.objects.link(thing)
    scene.camera = camera
    world = bpy.data.worlds.new("world")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs[0].default_value = (0.8, 0.85, 0.9, 1)
    scene.world = world
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising = 24, False
    scene.render.resolution_x, scene.render.resolution_y = 640, 480
    scene.view_settings.view_transform = "Standard"
    scene.render.filepath = os.path.abspath(path)
    bpy.ops.render.render(write_still=True)


def main():
    arguments = sys.argv[sys.argv.index("--") + 1:]
    folder = arguments[0]
    joints = read(os.path.join(folder, "joints.csv"), "joint")
    bodies = read(os.path.join(folder, "bodies.csv"), "body")
    last = max(joints)
    frames = [0, last // 2, last]
    good = compare_bvh(folder, joints, frames)
    good = compare_glb(folder, joints, bodies, frames) and good
    if len(arguments) > 1:
        root = ({row["parent"] for row in joints[0].values()} - {row["child"] for row in joints[0].values()}).pop()
        render(arguments[1], last // 2, to_blender(bodies[last // 2][root]))
    return 0 if good else 1


try:
    code = main()
except Exception as error:  # Blender itself would go on and exit with 0
    print(f"FAILED {type(error).__name__}: {error}")
    code = 1
sys.stdout.flush()
os._exit(code)
