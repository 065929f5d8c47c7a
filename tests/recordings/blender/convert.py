"""Run inside Blender (scripts/check/check-formats): writes a BVH file as FBX and GLB.

usage: blender --background --factory-startup --python convert.py -- CLIP.bvh METERS_PER_UNIT RATE OUTPUT_WITHOUT_ENDING
"""

import sys

import bpy


def main():
    clip, unit, rate, output = sys.argv[sys.argv.index("--") + 1 :]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    # Debian 12 has Blender 3.4 with a newer Python than it was made for: the mode "rU" is gone.
    import io_anim_bvh.import_bvh as importer

    importer.open = lambda path, mode="r", **more: open(path, mode.replace("U", ""), **more)
    bpy.ops.import_anim.bvh(
        filepath=clip, global_scale=float(unit), update_scene_fps=False, update_scene_duration=True, frame_start=0
    )
    scene = bpy.context.scene
    scene.render.fps = round(float(rate))
    scene.render.fps_base = scene.render.fps / float(rate)
    scene.frame_start = 0
    bpy.ops.export_scene.fbx(
        filepath=output + ".fbx", add_leaf_bones=False, bake_anim_simplify_factor=0
    )
    bpy.ops.export_scene.gltf(filepath=output + ".glb", export_format="GLB", export_animations=True)


main()
