"""The Python package as a user meets it: every function, its arrays, its exceptions, and the bytes of the program.

PYTHONPATH has the package; RETRACE_PROGRAM and RETRACE_SOURCE_DIR say where the program and the clips are."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

try:
    import numpy as np
except ImportError:  # exit code 77: ctest skips
    print("needs NumPy")
    sys.exit(77)

import retrace

PROGRAM = os.environ["RETRACE_PROGRAM"]
CLIPS = Path(os.environ["RETRACE_SOURCE_DIR"]) / "data" / "clips"
WALK = CLIPS / "walk.bvh"
SEARCH = {"end": 0.5, "method": "sampling", "samples": 60, "saved": 12, "settings": {"refinement": {"passes": 1}}}


class Module(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.walk = retrace.reconstruct(WALK)

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="retrace-test-")
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def refused(self, kind, code, parts, call):
        with self.assertRaises(kind) as caught:
            call()
        self.assertIsInstance(caught.exception, retrace.Error)
        self.assertEqual(caught.exception.code, code)
        for part in parts:
            self.assertIn(part, str(caught.exception))

    # ---- reconstruct

    def test_a_reconstruction_has_the_bytes_of_the_program(self):
        # A scene: what Assimp computes of it.
        scene = self.walk.export("glb", self.folder / "scene.glb", skeleton="source")[0]
        for name, clip, options, words in [
            ("glb", scene, {"end": 1.0}, ["--end", "1"]),
            ("tracked", WALK, {"end": 1.0}, ["--end", "1"]),
            ("searched", CLIPS / "squat.bvh", SEARCH,
             "--end 0.5 --method sampling --samples 60 --saved 12 --set /refinement/passes=1".split()),
            ("amc", CLIPS / "squat.amc", {"end": 1.0}, ["--end", "1"]),
        ]:
            with self.subTest(name):
                ours, theirs = self.folder / name, self.folder / (name + "-program")
                run = retrace.reconstruct(clip, ours, **options)
                subprocess.run([PROGRAM, "reconstruct", clip, "--output", theirs, "--progress", "none", *words],
                               check=True)
                self.assertTrue(run.success)
                self.assertEqual(sorted(p.name for p in ours.iterdir()), sorted(p.name for p in theirs.iterdir()))
                for path in theirs.iterdir():
                    if path.name not in ("manifest.json", "tracking.csv"):
                        self.assertEqual((ours / path.name).read_bytes(), path.read_bytes(), path.name)
                # These have how long it took: the last column of the one, and parts of the other.
                if (ours / "tracking.csv").exists():
                    rows = [[line.rsplit(",", 1)[0] for line in (folder / "tracking.csv").read_text().splitlines()]
                            for folder in (ours, theirs)]
                    self.assertEqual(*rows)
                manifests = [json.loads((folder / "manifest.json").read_text()) for folder in (ours, theirs)]
                self.assertIn("retrace.reconstruct(", manifests[0]["command"])
                self.assertEqual(manifests[0].keys(), manifests[1].keys())
                for member in ("success", "evaluation", "clip", "configuration", "seed", "inputs", "reference",
                               "clip_checks", "preparation", "method", "end", "identity_sha256"):
                    self.assertEqual(manifests[0][member], manifests[1][member], member)

    def test_progress_is_reported(self):
        shares = []
        retrace.reconstruct(CLIPS / "squat.bvh", progress=shares.append, **SEARCH)
        self.assertGreater(len(shares), 2)
        self.assertTrue(all(0 <= share <= 1.001 for share in shares))

    def test_a_callback_that_raises_ends_the_search(self):
        def fail(share):
            raise ZeroDivisionError("mine")

        with self.assertRaises(ZeroDivisionError):
            retrace.reconstruct(CLIPS / "squat.bvh", progress=fail, **SEARCH)

    def test_other_threads_go_on_and_ctrl_c_ends_the_search(self):
        turns = []
        stop = threading.Event()

        def count():
            while not stop.is_set():
                turns.append(time.monotonic())
                time.sleep(0.005)

        def interrupt():
            time.sleep(1.0)
            os.kill(os.getpid(), signal.SIGINT)

        for body in (count, interrupt):
            threading.Thread(target=body, daemon=True).start()
        begun = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            retrace.reconstruct(WALK, method="sampling", samples=2000)
        taken = time.monotonic() - begun
        stop.set()
        self.assertLess(taken, 30)
        during = [turn for turn in turns if turn > begun]
        self.assertGreater(len(during), 20, "a thread of Python stands still while the library works")

    def test_options_that_are_wrong_are_named(self):
        options = [
            ({"sampels": 100}, retrace.UsageError, 2, ['"sampels"', 'did you mean "samples"?']),
            ({"samples": -1}, retrace.InputError, 3, ["/samples", "-1"]),
            ({"end": "late"}, retrace.InputError, 3, ["/end", "late"]),
            ({"method": "magic"}, retrace.InputError, 3, ["/method", "magic", "tracking"]),
            ({"character": "nobody"}, retrace.UsageError, 2, ["nobody"]),
            ({"settings": {"search": {"bugdet": 1}}}, retrace.UsageError, 2, ["bugdet", "budget"]),
            ({"end": 1, "start": 2}, retrace.UsageError, 2, ["--end"]),
            ({"world": object()}, TypeError, None, []),
        ]
        for settings, kind, code, parts in options:
            with self.subTest(str(settings)):
                if code is None:
                    self.assertRaises(kind, retrace.reconstruct, WALK, **settings)
                else:
                    self.refused(kind, code, parts, lambda: retrace.reconstruct(WALK, **settings))
        self.refused(retrace.InputError, 3, ["none.bvh"], lambda: retrace.reconstruct("none.bvh"))
        self.refused(retrace.UsageError, 2, [".pdf"], lambda: retrace.reconstruct("clip.pdf"))
        self.refused(retrace.OutputError, 5, ["/proc/none"], lambda: retrace.reconstruct(WALK, "/proc/none/run"))
        (self.folder / "mine").write_text("mine")
        self.refused(retrace.UsageError, 2, [str(self.folder)], lambda: retrace.reconstruct(WALK, self.folder))

    # ---- Run

    def test_arrays_are_read_only_views_of_what_the_tables_have(self):
        run = self.walk
        n, b, j = len(run.time), len(run.body_names), len(run.joint_names)
        self.assertEqual(run.states.shape, (n, b))
        self.assertEqual(run.states["position"].shape, (n, b, 3))
        self.assertEqual(run.states["orientation"].shape, (n, b, 4))
        self.assertEqual(run.torques.shape, (n, j, 3))
        self.assertEqual(run.forces.shape, (n, b, 3))
        self.assertEqual(run.ground_force.shape, (n, 3))
        np.testing.assert_allclose(np.linalg.norm(run.states["orientation"], axis=2), 1, atol=1e-9)
        np.testing.assert_allclose(run.time, np.arange(n) * run.time_step, atol=1e-12)
        np.testing.assert_allclose(run.forces.sum(axis=1), run.ground_force, atol=1e-6)
        contacts = run.contacts
        total = np.zeros((n, 3))
        outer = contacts["other"] < 0
        np.add.at(total, contacts["state"][outer], contacts["force"][outer])
        np.testing.assert_allclose(total, run.ground_force, atol=1e-6)
        self.assertTrue((run.torques[0] == 0).all() and (run.ground_force[0] == 0).all())
        for array in (run.time, run.states, run.torques, run.contacts, run.forces, run.ground_force):
            self.assertFalse(array.flags.writeable)
            self.assertFalse(array.flags.owndata, "a view")
            with self.assertRaises(ValueError):
                array[0] = 0
        self.assertEqual(run.states.__array_interface__["data"], run.states.__array_interface__["data"], "no copy")
        exported = np.load(run.export("npz", self.folder)[0])
        np.testing.assert_array_equal(exported["body_position"], run.states["position"])
        np.testing.assert_array_equal(exported["joint_torque"], run.torques)
        np.testing.assert_array_equal(exported["body_contact_force"], run.forces)
        np.testing.assert_array_equal(exported["contact_force"], run.contacts["force"])

    def test_an_array_outlives_its_run(self):
        positions = retrace.Run.load(self.walk.folder).states["position"]
        self.assertTrue(np.isfinite(positions).all())
        np.testing.assert_array_equal(positions, self.walk.states["position"])

    def test_a_run_is_loaded_and_verified(self):
        run = retrace.Run.load(self.walk.folder)
        self.assertEqual(run.verify(), "")
        self.assertTrue(run.success)
        self.assertEqual(run.doubts, [])
        self.assertEqual(run.manifest["format"], "retrace-run")
        self.assertIn("mean_joint_error", run.evaluation)
        self.refused(retrace.InputError, 3, ["no such folder"], lambda: retrace.Run.load(self.folder / "none"))
        with self.assertRaises(AttributeError):
            run.nonsense

    def test_a_temporary_folder_goes_with_its_run(self):
        run = retrace.reconstruct(CLIPS / "stand.bvh", end=0.5)
        folder = run.folder
        self.assertTrue(folder.exists())
        del run
        self.assertFalse(folder.exists())

    def test_a_replay_is_the_run_and_pushes_change_it(self):
        np.testing.assert_array_equal(self.walk.replay().states["position"], self.walk.states["position"])
        by_text = self.walk.replay(["trunk,60:0:0,1,0.2"])
        by_names = self.walk.replay([{"body": "trunk", "force": (60, 0, 0), "start": 1, "duration": 0.2}],
                                   output=self.folder / "pushed")
        np.testing.assert_array_equal(by_text.states["position"], by_names.states["position"])
        at = int(round(1 / self.walk.time_step))
        before, after = slice(0, at), slice(at + 2, None)
        here, there = self.walk.states["position"], by_text.states["position"]
        np.testing.assert_array_equal(here[before], there[before])
        self.assertGreater(np.abs(here[after][:40] - there[after][:40]).max(), 1e-4)
        self.assertTrue(retrace.Run.load(self.folder / "pushed").manifest["perturbed"])
        self.refused(retrace.UsageError, 2, ["tail"], lambda: self.walk.replay(["tail,60:0:0,1,0.2"]))
        self.refused(retrace.UsageError, 2, ["force"], lambda: self.walk.replay([{"body": "trunk"}]))
        self.refused(retrace.InputError, 3, ["feedback"], lambda: self.walk.replay(feedback=True))

    def test_exports_are_those_of_the_program(self):
        files = self.walk.export(["bvh", "npz"], self.folder)
        self.assertEqual([path.name for path in files], ["motion.bvh", "motion.npz"])
        self.assertEqual(files[0].read_bytes(), (self.walk.folder / "motion.bvh").read_bytes())
        source = self.walk.export("bvh", self.folder / "source.bvh", skeleton="source")[0]
        head = WALK.read_text().split("MOTION")[0]
        self.assertEqual(source.read_text().split("MOTION")[0], head)
        plain = self.walk.export("glb", self.folder / "plain.glb")[0].read_bytes()
        skinned = self.walk.export("glb", self.folder / "skinned.glb", skin=True)[0].read_bytes()
        self.assertIn(b'"name":"skin"', skinned)
        self.assertNotIn(b'"name":"skin"', plain)
        self.refused(retrace.UsageError, 2, ["skin"], lambda: self.walk.export("glb", skeleton="source", skin=True))
        self.refused(retrace.UsageError, 2, ['"fbx"'], lambda: self.walk.export("fbx"))
        self.refused(retrace.UsageError, 2, ["rate"], lambda: self.walk.export("bvh", rate=-1))
        self.refused(retrace.UsageError, 2, ["rate"], lambda: self.walk.export("bvh", rate=30, skeleton="source"))
        self.refused(retrace.UsageError, 2, ['"mine"'], lambda: self.walk.export("bvh", skeleton="mine"))
        self.refused(retrace.UsageError, 2, ["source.bvh"],
                     lambda: self.walk.export("bvh", self.folder / "source.bvh", skeleton="source"))

    # ---- forces, inspect

    def test_forces_carry_the_person(self):
        forces = retrace.forces(WALK, self.folder / "forces", mass=70)
        weight = forces.ground["total_force_y"].mean()
        self.assertAlmostEqual(weight / (70 * 9.81), 1, delta=0.05)
        self.assertAlmostEqual(forces.mass, 70, places=6)
        self.assertEqual(len(forces.time), len(forces.ground.values))
        self.assertIn("left_knee_x", forces.joints)
        self.assertEqual(forces.joints.values.shape, (len(forces.time), len(forces.joints)))
        self.assertTrue(forces.text)
        theirs = self.folder / "program"
        subprocess.run([PROGRAM, "forces", WALK, "--mass", "70", "--output", theirs, "--progress", "none"], check=True)
        for path in theirs.glob("*.csv"):
            self.assertEqual((self.folder / "forces" / path.name).read_bytes(), path.read_bytes(), path.name)
        with self.assertRaises(KeyError) as caught:
            forces.ground["total_force_yy"]
        self.assertIn("total_force_y", str(caught.exception))
        self.refused(retrace.UsageError, 2, ['"masss"', '"mass"'], lambda: retrace.forces(WALK, masss=3))
        self.assertIsNone(retrace.forces(WALK).folder)

    def test_inspect_gives_what_the_program_prints(self):
        found = retrace.inspect(WALK)
        printed = subprocess.run([PROGRAM, "inspect", WALK, "--json"], check=True, capture_output=True, text=True)
        expected = json.loads(printed.stdout)
        del expected["command"]
        self.assertEqual(found, expected)
        self.refused(retrace.UsageError, 2, ['"strat"', '"start"'], lambda: retrace.inspect(WALK, strat=1))
        self.refused(retrace.InputError, 3, ["none.bvh"], lambda: retrace.inspect("none.bvh"))

    def test_stubs_name_what_there_is(self):
        import ast

        package = Path(retrace.__file__).parent
        stub = ast.parse((package / "__init__.pyi").read_text())
        names = {node.name for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        for name in retrace.__all__:
            if not name.startswith("_") and not name.endswith("Error"):
                self.assertIn(name, names)
        reconstruct = next(node for node in stub.body if getattr(node, "name", "") == "reconstruct")
        typed = {argument.arg for argument in reconstruct.args.kwonlyargs}
        self.assertLessEqual(set(retrace._RECONSTRUCT), typed, "every setting has a type")
        core = ast.parse((package / "_core.pyi").read_text())
        for node in core.body:
            if isinstance(node, ast.ClassDef):
                for member in node.body:
                    name = member.target.id if isinstance(member, ast.AnnAssign) else member.name
                    self.assertTrue(hasattr(getattr(retrace._core, node.name), name), f"{node.name}.{name}")
            elif isinstance(node, ast.FunctionDef):
                self.assertTrue(callable(getattr(retrace._core, node.name)))


if __name__ == "__main__":
    unittest.main()
