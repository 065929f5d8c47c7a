"""Makes the action of the selected armature physical: Object > Animation > "Make physical (Retrace)".

The armature's action goes to `retrace reconstruct` as a BVH file, in the frames of the scene, and what is simulated
comes back on the same bones as a new action, `NAME physical`; the old one stays. Bones that no simulated body moves
(fingers, twist bones, controls) keep what they did.

Install: Edit > Preferences > Add-ons > Install, this file. The program is found on the PATH or in the add-on's
preferences. Without a window:

    blender --background scene.blend --python retrace_operator.py -- ARMATURE
"""

import os
import shutil
import subprocess
import sys
import tempfile

import bpy
from mathutils import Euler, Vector

bl_info = {
    "name": "Retrace: make motion physical",
    "author": "Retrace",
    "version": (1, 0),
    "blender": (2, 93, 0),
    "location": "Object > Animation",
    "description": "Simulates the action of an armature and brings it back as a new action",
    "category": "Animation",
}


def bones_of(armature):
    """Bones of the data with the first root that has the most below it, each after its parent."""
    roots = [bone for bone in armature.data.bones if bone.parent is None]
    if not roots:
        raise ValueError("the armature has no bones")
    root = max(roots, key=lambda bone: len(bone.children_recursive))
    bones = [root]
    for bone in bones:  # grows while it is walked
        bones.extend(bone.children)
    # Depth first, as the file has them.
    ordered = []

    def visit(bone):
        ordered.append(bone)
        for child in bone.children:
            visit(child)

    visit(root)
    return ordered


def number(value):
    return repr(float(value))


def write_bvh(armature, path, first, last, scene):
    """The armature's pose in each frame, in the axes of the armature object, scaled as it is in the world."""
    bones = bones_of(armature)
    scale = sum(armature.matrix_world.to_scale()) / 3
    inverse_rest = {bone.name: bone.matrix_local.to_3x3().inverted() for bone in bones}
    lines = ["HIERARCHY"]

    def add(bone, depth):
        indent = "\t" * depth
        offset = bone.head_local - bone.parent.head_local if depth else bone.head_local
        lines.append(f"{indent}{'JOINT' if depth else 'ROOT'} {bone.name}")
        lines.append(indent + "{")
        lines.append(f"{indent}\tOFFSET {' '.join(number(v) for v in offset * scale)}")
        channels = "Zrotation Xrotation Yrotation"
        lines.append(f"{indent}\tCHANNELS " + (f"3 {channels}" if depth else
                                               f"6 Xposition Yposition Zposition {channels}"))
        for child in bone.children:
            add(child, depth + 1)
        if not bone.children:
            tip = (bone.tail_local - bone.head_local) * scale
            lines.append(f"{indent}\tEnd Site")
            lines.append(f"{indent}\t" + "{")
            lines.append(f"{indent}\t\tOFFSET {' '.join(number(v) for v in tip)}")
            lines.append(f"{indent}\t" + "}")
        lines.append(indent + "}")

    add(bones[0], 0)
    rate = scene.render.fps / scene.render.fps_base
    lines += ["MOTION", f"Frames: {last - first + 1}", f"Frame Time: {number(1 / rate)}"]
    for frame in range(first, last + 1):
        scene.frame_set(frame)
        row = []
        turned = {}
        for bone in bones:
            pose = armature.pose.bones[bone.name].matrix
            turned[bone.name] = pose.to_3x3().normalized() @ inverse_rest[bone.name]
            local = turned[bone.name]
            if bone is bones[0]:
                row += list(pose.translation * scale)
            else:
                local = turned[bone.parent.name].inverted() @ local
            # Blender's order YXZ is that of a product Rz Rx Ry.
            angles = local.to_euler("YXZ")
            row += [degrees(angles.z), degrees(angles.x), degrees(angles.y)]
        lines.append(" ".join(number(value) for value in row))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return bones


def degrees(angle):
    return angle * 57.29577951308232


def read_rows(path):
    """The rows of a BVH file whose hierarchy is known."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("MOTION", 1)[1].splitlines()
    return [[float(word) for word in line.split()] for line in lines if line and (line[0].isdigit() or line[0] == "-")]


def bring_back(armature, bones, rows, first, name):
    """Keys a new action with the rows of a BVH file that `write_bvh` would have written."""
    scale = sum(armature.matrix_world.to_scale()) / 3
    action = bpy.data.actions.new(name)
    armature.animation_data_create().action = action
    rest = {bone.name: bone.matrix_local for bone in bones}
    before = {}
    for k, row in enumerate(rows):
        turned = {}
        placed = {}
        at = 3
        for bone in bones:
            z, x, y = (angle / 57.29577951308232 for angle in row[at:at + 3])
            at += 3
            local = Euler((x, y, z), "YXZ").to_matrix()
            above = bone.parent if bone is not bones[0] else None
            turned[bone.name] = turned[above.name] @ local if above else local
            matrix = (turned[bone.name] @ rest[bone.name].to_3x3()).to_4x4()
            if above:
                offset = placed[above.name].to_3x3() @ rest[above.name].to_3x3().inverted() @ (
                    bone.head_local - above.head_local)
                matrix.translation = placed[above.name].translation + offset
            else:
                matrix.translation = Vector(row[:3]) / scale
            placed[bone.name] = matrix
            at_rest = rest[above.name].inverted() @ rest[bone.name] if above else rest[bone.name]
            in_parent = placed[above.name].inverted() @ matrix if above else matrix
            basis = at_rest.inverted() @ in_parent
            pose_bone = armature.pose.bones[bone.name]
            if k == 0:
                pose_bone.rotation_mode = "QUATERNION"
            rotation = basis.to_quaternion()
            if bone.name in before and rotation.dot(before[bone.name]) < 0:
                rotation.negate()
            before[bone.name] = rotation
            pose_bone.rotation_quaternion = rotation
            pose_bone.keyframe_insert("rotation_quaternion", frame=first + k)
            if not above:
                pose_bone.location = basis.translation
                pose_bone.keyframe_insert("location", frame=first + k)
    return action


def program_of(wanted):
    found = shutil.which(wanted or os.environ.get("RETRACE_PROGRAM", "retrace"))
    if not found:
        raise ValueError(f'found no program "{wanted or "retrace"}", expected it on the PATH or in the preferences')
    return found


def make_physical(armature, scene, program="", character="subject", options=()):
    """Returns the new action and what the program printed; raises ValueError with its message."""
    if armature is None or armature.type != "ARMATURE":
        raise ValueError("select an armature")
    if armature.animation_data is None or armature.animation_data.action is None:
        raise ValueError(f"{armature.name}: found no action, expected one to make physical")
    action = armature.animation_data.action
    program = program_of(program)
    first, last = (int(round(frame)) for frame in action.frame_range)
    if last - first < 5:
        raise ValueError(f"{action.name}: found {last - first + 1} frames, expected at least 6")
    current = scene.frame_current
    with tempfile.TemporaryDirectory(prefix="retrace-") as folder:
        clip, run = os.path.join(folder, "action.bvh"), os.path.join(folder, "run")
        bones = write_bvh(armature, clip, first, last, scene)
        done = subprocess.run([program, "reconstruct", clip, "--output", run, "--character", character, *options],
                              capture_output=True, text=True)
        if done.returncode not in (0, 4, 7):
            raise ValueError((done.stderr or done.stdout).strip().splitlines()[-1])
        back = os.path.join(folder, "back.bvh")
        written = subprocess.run([program, "export", run, "--to", "bvh", "--skeleton", "source", "--output", back],
                                 capture_output=True, text=True)
        if written.returncode not in (0, 4):
            raise ValueError((written.stderr or written.stdout).strip().splitlines()[-1])
        # A rest pose that was left out at the start moves the first frame.
        start = 0.0
        for line in written.stdout.splitlines():
            if "the first one is at" in line:
                start = float(line.split("the first one is at")[1].split()[0])
        rate = scene.render.fps / scene.render.fps_base
        physical = bring_back(armature, bones, read_rows(back), first + int(round(start * rate)),
                              action.name + " physical")
    scene.frame_set(current)
    return physical, done.returncode, done.stdout


class RetracePreferences(bpy.types.AddonPreferences):
    bl_idname = __name__
    program: bpy.props.StringProperty(name="Program", subtype="FILE_PATH", default="")

    def draw(self, _context):
        self.layout.prop(self, "program")


class MakePhysical(bpy.types.Operator):
    """Simulate the action of the selected armature and bring it back as a new action"""

    bl_idname = "retrace.make_physical"
    bl_label = "Make physical (Retrace)"
    bl_options = {"REGISTER", "UNDO"}
    character: bpy.props.StringProperty(name="Character", default="subject")

    @classmethod
    def poll(cls, context):
        return context.object is not None and context.object.type == "ARMATURE"

    def execute(self, context):
        preferences = context.preferences.addons.get(__name__)
        program = preferences.preferences.program if preferences else ""
        try:
            action, code, text = make_physical(context.object, context.scene, program, self.character)
        except ValueError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}  # as Blender spells it
        verdict = text.strip().splitlines()[0] if text.strip() else ""
        self.report({"INFO"} if code == 0 else {"WARNING"}, f"{action.name}: {verdict}")
        return {"FINISHED"}


def draw_menu(self, _context):
    self.layout.operator(MakePhysical.bl_idname)


CLASSES = (RetracePreferences, MakePhysical)


def register():
    for item in CLASSES:
        bpy.utils.register_class(item)
    bpy.types.VIEW3D_MT_object_animation.append(draw_menu)


def unregister():
    bpy.types.VIEW3D_MT_object_animation.remove(draw_menu)
    for item in reversed(CLASSES):
        bpy.utils.unregister_class(item)


def main(arguments):
    """Headless: makes the action of the named armature physical and saves the file."""
    armature = bpy.data.objects.get(arguments[0])
    action, _, text = make_physical(armature, bpy.context.scene, options=arguments[1:])
    print(text)
    print(f"action {action.name}")
    bpy.ops.wm.save_mainfile()


if __name__ == "__main__":
    if "--" in sys.argv:
        main(sys.argv[sys.argv.index("--") + 1:])
    else:
        register()
