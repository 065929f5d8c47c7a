"""The classifier of scripts/check/attack, with programs that do what no program should."""
import dataclasses
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import random
import shutil
import stat
import sys
import tempfile
import types
import unittest
import zipfile

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "check", "attack")
loader = importlib.machinery.SourceFileLoader("attack", SCRIPT)
attack = importlib.util.module_from_spec(importlib.util.spec_from_loader("attack", loader))
sys.modules["attack"] = attack  # findings go from process to process
loader.exec_module(attack)

LIMITS = attack.Limits(stop_cpu=0.1, cpu=0.3, idle=5, data=256 << 20, resident=64 << 20, file=1 << 20)
# On some machines 256 MB are slow to come by.
PATIENT = dataclasses.replace(LIMITS, cpu=20)


class InFolder(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.top)
        self.folder = os.path.join(self.top, "case")
        os.mkdir(self.folder)

    def write(self, name, text):
        file = os.path.join(self.top, name)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "w", encoding="utf-8") as stream:
            stream.write(text)
        return file

    def program(self, body, name="replay"):
        file = self.write("apps/" + name, "#!/bin/sh\n" + body + "\n")
        os.chmod(file, stat.S_IRWXU)
        return file


class HowAProgramEnds(InFolder):
    def judged(self, body, stoppable=False, speaks=False, limits=LIMITS):
        result = attack.run([self.program(body)], self.folder, limits, stoppable)
        return (attack.judge_end("replay", result, limits, speaks) or ("", ""))[0]

    def test_well(self):
        for code in (0, 4):
            self.assertEqual(self.judged(f"echo fine; exit {code}"), "")
        for code in (2, 3, 5, 75):
            self.assertEqual(self.judged(f"echo 'replay: run: found x, expected y' >&2; exit {code}"), "")
            self.assertEqual(self.judged(f"echo 'retrace replay: run: found x, expected y' >&2; exit {code}"), "")

    def test_by_a_signal(self):
        self.assertEqual(self.judged("kill -SEGV $$"), "crash")
        self.assertEqual(self.judged("kill -ABRT $$"), "crash")

    def test_beside_what_this_process_once_had(self):
        large = bytearray(LIMITS.resident + (16 << 20))
        del large
        self.assertEqual(self.judged("exit 0"), "")

    def test_as_a_bug(self):
        self.assertEqual(self.judged("echo 'replay: internal error' >&2; exit 1"), "exit 1")

    def test_never(self):
        self.assertEqual(self.judged("exec sleep 1000"), "hang")
        self.assertEqual(self.judged("while :; do :; done"), "hang")
        self.assertEqual(self.judged("trap '' TERM; while :; do :; done", stoppable=True), "hang")

    def test_when_it_is_asked_to(self):
        self.assertEqual(self.judged("trap 'echo replay: stopped >&2; exit 75' TERM; while :; do :; done",
                                     stoppable=True), "")

    def test_without_memory_or_disk(self):
        self.assertEqual(self.judged("exec tail /dev/zero", limits=PATIENT), "growth")
        self.assertEqual(self.judged("exec head -c 2M /dev/zero >big"), "growth")
        self.assertEqual(self.judged("echo 'replay: internal error, please report it: std::bad_alloc' >&2; exit 1"),
                         "growth")

    def test_without_a_clear_message(self):
        self.assertEqual(self.judged("exit 3"), "message")
        self.assertEqual(self.judged("echo 'replay: one' >&2; echo 'replay: two' >&2; exit 3"), "message")
        self.assertEqual(self.judged("echo 'no name' >&2; exit 3"), "message")
        self.assertEqual(self.judged("printf 'replay: a\\033[31m\\n' >&2; exit 3"), "message")
        self.assertEqual(self.judged("echo 'replay: basic_string::substr' >&2; exit 3"), "message")
        self.assertEqual(self.judged("echo 'replay: done' >&2; exit 9"), "message")

    def test_after_warnings_and_progress(self):
        self.assertEqual(self.judged("echo 'replay: warning: x' >&2; echo 'replay: y' >&2; exit 3"), "")
        progress = "echo 'fragment 1' >&2; echo 'replay: y' >&2; exit 3"
        self.assertEqual(self.judged(progress, speaks=True), "")
        self.assertEqual(self.judged(progress), "message")

    def test_on_a_full_disk(self):
        result = attack.run([self.program("echo lost || exit 5")], self.folder, LIMITS, to_full_disk=True)
        self.assertEqual(result.code, 5)


class NumbersInFiles(InFolder):
    def wrong(self, name, text):
        return attack.finite_numbers(self.write(name, text))

    def test_of_tables(self):
        self.assertEqual(self.wrong("a.csv", "time,nanometres\n0.5,-1e-308\n"), "")
        self.assertEqual(self.wrong("a.csv", "time,x\n0.5,1\n0.6,-nan\n"), "-nan in line 3")
        self.assertEqual(self.wrong("a.csv", "time,x\ninf,1\n"), "inf in line 2")
        self.assertEqual(self.wrong("a.bvh", "MOTION\n1 2 nan\n"), "nan in line 2")
        self.assertEqual(self.wrong("a.svg", '<path d="M 1 nan"/>'), "nan in line 1")

    def test_of_texts_of_the_user(self):
        self.assertEqual(self.wrong("runs.csv", 'clip,x\nnan,1\n"inf, ""1""",2\n'), "")
        self.assertEqual(self.wrong("runs.csv", "clip,x\nnan,nan\n"), "nan in line 2")

    def test_of_samples_that_diverged(self):
        self.assertEqual(self.wrong("samples.csv", "total,diverged,saved,chosen\n1,inf,1,0,0\n1,2,0,1,0\n"), "")
        self.assertEqual(self.wrong("samples.csv", "total,diverged,saved,chosen\n1,inf,0,0,0\n"), "inf in line 2")

    def test_of_documents(self):
        self.assertEqual(self.wrong("a.json", '{"name": "NaN", "x": [1, null]}'), "")
        self.assertEqual(self.wrong("a.json", '{"x": [1, NaN]}'), "NaN")
        self.assertEqual(self.wrong("a.json", '{"x": [1, -Infinity]}'), "-Infinity")
        self.assertIn("not JSON", self.wrong("a.json", '{"x": [1, '))

    def test_of_arrays(self):
        description = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }"
        header = b"\x93NUMPY\x01\x00\x46\x00" + description.ljust(69) + b"\n"
        for value, expected in ((b"\0" * 8, ""), (b"\0" * 6 + b"\xf8\x7f", "x.npy is not finite")):
            with zipfile.ZipFile(os.path.join(self.top, "a.npz"), "w") as members:
                members.writestr("x.npy", header + value)
            self.assertEqual(attack.finite_numbers(os.path.join(self.top, "a.npz")), expected)

    def test_of_what_was_there_before(self):
        file = self.write("out/a.csv", "nan\n")
        before = attack.states_of([file])
        self.assertIsNone(attack.judge_files(os.path.join(self.top, "out"), before))
        self.write("out/a.csv", "nan,1\n")
        self.assertEqual(attack.judge_files(os.path.join(self.top, "out"), before)[0], "accepted nonsense")
        self.assertEqual(attack.judge_files(os.path.join(self.top, "out"), before, ["nan"])[0], "accepted nonsense")
        self.write("out/a.csv", "clip,message\nwalk,trunk nan:0 is missing\n")
        self.assertIsNotNone(attack.judge_files(os.path.join(self.top, "out"), before, ["--push", "nan"]))
        self.assertIsNone(attack.judge_files(os.path.join(self.top, "out"), before, ["--push", "trunk nan:0"]))


class WholeCases(InFolder):
    """Cases of one step each, on programs that are not those of the project."""

    def attacker(self, reconstruct, replay="exit 0", law=None):
        self.write("bases/clip", "a clip")
        apps = {"reconstruct": [self.program(reconstruct, "reconstruct")], "replay": [self.program(replay)]}

        class OneStep:
            def __init__(self, *_):
                self.kind, self.inputs, self.damage = "options", [], types.SimpleNamespace(places=["place"])
                self.steps = [attack.Step("reconstruct", ["clip"], ["out/run"], law)]

        self.addCleanup(setattr, attack, "Case", attack.Case)
        attack.Case = OneStep
        return attack.Attacker(os.path.join(self.top, "w0"), os.path.join(self.top, "bases"), apps, {}, "1", LIMITS)

    def kinds(self, *arguments, **named):
        return [finding.kind for finding in self.attacker(*arguments, **named).case(0)]

    RESULT = ("mkdir out/run; echo 1 >out/run/a.csv; echo '{}' >out/run/manifest.json; echo '{}' >out/run/control.json; "
              "exit ")

    def test_in_order(self):
        self.assertEqual(self.kinds(self.RESULT + "0"), [])
        self.assertEqual(self.kinds("echo 'reconstruct: no' >&2; exit 3", "exit 1"), [])

    def test_a_result_that_does_not_verify(self):
        for code in ("0", "4"):
            self.assertEqual(self.kinds(self.RESULT + code, "exit 4"), ["accepted nonsense"])

    def test_a_result_that_is_no_number(self):
        self.assertEqual(self.kinds("echo nan >out/a.csv"), ["accepted nonsense"])
        self.assertEqual(self.kinds("echo height nan m"), ["accepted nonsense"])

    def test_a_law_that_is_broken(self):
        self.assertEqual(self.kinds("exit 0", law=lambda result: ("accepted nonsense", "refused")),
                         ["accepted nonsense"])

    def test_an_input_that_is_written(self):
        attacker = self.attacker("echo more >>../base/clip")
        self.assertEqual([finding.kind for finding in attacker.case(0)], ["damaged input"])
        with open(os.path.join(self.top, "w0/base/clip"), encoding="utf-8") as stream:
            self.assertEqual(stream.read(), "a clip")  # the next case has good inputs again

    def test_what_force_names_may_be_replaced(self):
        mine, run = self.write("case/in/mine", ""), self.write("case/in/run/control.json", "")
        def replaceable(*arguments):
            return attack.replaceable([mine, run], list(arguments), self.folder)
        self.assertEqual(replaceable("in/run", "--output", "in/mine"), set())
        self.assertEqual(replaceable("in/run", "--output", "in/mine", "--force"), {mine})
        self.assertEqual(replaceable("--force", "--output=in/run"), {run})
        self.assertEqual(replaceable("in/run", "--output", "in/run/control.json", "--force"), set())
        self.assertEqual(replaceable("in/run", "--output", "in/run", "--force"), set())

    def test_the_whole_attack(self):
        for body, code in (("exit 0", 0), ("exit 1", 1)):
            attacker = self.attacker(body)
            arguments = attack.parse(["--runs", "6", "--jobs", "2", "--build", self.top])
            arguments.bases = attacker.bases
            self.assertEqual(attack.attack(arguments, attacker.apps, {}, os.path.join(self.top, "attack")), code)


class DamageIsAFunctionOfTheSeed(InFolder):
    DOCUMENT = {"name": "a", "bodies": [{"mass": 1.5, "box": [1, 2, 3]}, {"mass": 2, "box": [1, 2, 3]}], "on": True}

    def test_of_documents(self):
        base = attack.Base(self.DOCUMENT)
        same = [attack.Damage(random.Random(f"1 {n}")).json(base) for n in range(300)]
        self.assertEqual(same, [attack.Damage(random.Random(f"1 {n}")).json(base) for n in range(300)])
        self.assertGreater(len(set(same)), 150)
        self.assertEqual(base.document, self.DOCUMENT)
        refused = 0
        for text in same:
            try:
                json.loads(text)
            except (ValueError, RecursionError):
                refused += 1
        self.assertLess(20, refused)
        self.assertLess(refused, 150)  # most of it is still a document, so that what reads it is attacked as well

    def test_of_bytes_and_tables(self):
        for how in ("bytes", "words"):
            texts = [getattr(attack.Damage(random.Random(n)), how)(b"a 1.5\nb 2\n", "text") for n in range(100)]
            self.assertEqual(texts, [getattr(attack.Damage(random.Random(n)), how)(b"a 1.5\nb 2\n", "text")
                                     for n in range(100)])
            self.assertGreater(len(set(texts)), 30)
        tables = [attack.Damage(random.Random(n)).table(attack.LIST, "\t", "list") for n in range(100)]
        self.assertGreater(len(set(tables)), 50)

    def test_of_journals(self):
        def journal(header, records):
            head = b"retrace-journal 1\n" + header + b"\n"
            checksum = hashlib.sha256(head).hexdigest().encode()
            text = head + checksum + b"\n"
            for record in records:
                checksum = hashlib.sha256(checksum + hashlib.sha256(record).hexdigest().encode()).hexdigest().encode()
                text += len(record).to_bytes(8, "little") + checksum + record
            return text

        records = [b"first record", b"second"]
        case = types.SimpleNamespace(rng=random.Random(1), damage=attack.Damage(random.Random(1)))
        for _ in range(50):
            forged = attack.Case.forged(case, journal(b'{"a":1}', records), "records")
            found, rest = [], forged.split(b"\n", 3)[3]
            while rest:
                length = int.from_bytes(rest[:8], "little")
                found.append(rest[72:72 + length])
                rest = rest[72 + length:]
            self.assertEqual(forged, journal(b'{"a":1}', found))
            self.assertNotEqual(forged, journal(b'{"a":1}', records) if found != records else b"")


if __name__ == "__main__":
    unittest.main()
