"""Writes a motion of a BVH file as an FBX file with keyframes so many seconds apart; runs inside Blender.

usage: blender --background --factory-startup --python scripts/assets/keyframed_fbx.py -- IN.bvh OUT.fbx SECONDS

Between keyframes is what the reader of the FBX file makes of them.
"""
import builtins
import sys

import bpy

# Blender 3.4 opens BVH files in a mode that Python 3.11 has no more.
plain_open = builtins.open
builtins.open = lambda file, mode="r", *rest, **more: plain_open(file, mode.replace("U", ""), *rest, **more)

source, target, every = sys.argv[sys.argv.index("--") + 1:]
for thing in list(bpy.data.objects):
    bpy.data.objects.remove(thing)
bpy.ops.import_anim.bvh(filepath=source, global_scale=0.01, update_scene_fps=True, update_scene_duration=True)
scene = bpy.context.scene
rate = scene.render.fps / scene.render.fps_base
bpy.ops.export_scene.fbx(filepath=target, object_types={"ARMATURE"}, add_leaf_bones=False, bake_anim_use_all_bones=True,
                         bake_anim_use_nla_strips=False, bake_anim_use_all_actions=False, bake_anim_force_startend_keying=False,
                         bake_anim_step=round(float(every) * rate), bake_anim_simplify_factor=0)
