"""Recorded motions as numbers, and what makes of one that a body can perform another that none can.

A motion is read from BVH or AMC, changed, and written in the same format; angles are changed as numbers, as the curves of
animation programs are. Everything is deterministic.
"""
import math, random

RATE = ":SAMPLES-PER-SECOND"  # of an AMC file, where it says so


class Motion:
    """The frames of a file: rows of numbers. `position` are the columns of x, y and z of the root."""

    def __init__(self, path):
        with open(path, encoding="latin-1") as file:
            lines = file.read().replace("\r", "").split("\n")
        self.amc = path.endswith(".amc")
        if self.amc:
            self.read_amc(lines)
        else:
            self.read_bvh(lines)
        turning = [k for k in range(len(self.frames[0])) if k not in self.position]
        for before, frame in zip(self.frames, self.frames[1:]):  # angles go on where they wind
            for k in turning:
                frame[k] -= 360 * round((frame[k] - before[k]) / 360)

    def read_bvh(self, lines):
        motion = next(i for i, line in enumerate(lines) if line.strip() == "MOTION")
        self.head = lines[:motion]
        channels = next(line.split()[2:] for line in self.head if "CHANNELS" in line)
        self.position = [channels.index(axis + "position") for axis in "XYZ"]
        self.rate = 1 / float(lines[motion + 2].split()[-1])
        self.frames = [[float(x) for x in line.split()] for line in lines[motion + 3:] if line.strip()]

    def read_amc(self, lines):
        first = next(i for i, line in enumerate(lines) if line.strip().isdigit())
        self.head = lines[:first]
        rates = [float(line.split()[1]) for line in self.head if line.startswith(RATE)]
        self.rate = rates[0] if rates else 120
        self.position = [0, 1, 2]  # TX TY TZ in every skeleton of the shared folder
        self.bones, self.frames = [], []
        for line in lines[first:]:
            words = line.split()
            if len(words) == 1 and words[0].isdigit():
                self.frames.append([])
            elif words:
                if len(self.frames) == 1:
                    self.bones.append((words[0], len(words) - 1))
                self.frames[-1] += [float(x) for x in words[1:]]

    def write(self, path):
        head = [f"{RATE} {self.rate:.6f}" if line.startswith(RATE) else line for line in self.head]
        with open(path, "w", encoding="latin-1") as file:
            file.write("\n".join(head) + "\n")
            if self.amc:
                for number, frame in enumerate(self.frames):
                    file.write(f"{number + 1}\n")
                    column = 0
                    for bone, count in self.bones:
                        file.write(" ".join([bone] + [f"{x:.6f}" for x in frame[column:column + count]]) + "\n")
                        column += count
                return
            file.write(f"MOTION\nFrames: {len(self.frames)}\nFrame Time: {1 / self.rate:.8f}\n")
            for frame in self.frames:
                file.write(" ".join(f"{x:.6f}" for x in frame) + "\n")

    def at(self, place):
        """The frame at a place between two."""
        i = min(max(int(place), 0), len(self.frames) - 2)
        share = min(max(place - i, 0.0), 1.0)
        return [(1 - share) * a + share * b for a, b in zip(self.frames[i], self.frames[i + 1])]

    def cut(self, start, end):
        first, last = round(start * self.rate), min(round(end * self.rate), len(self.frames) - 1)
        self.frames = self.frames[first:last + 1]


def stretched(motion, parts, factor):
    """Parts of the motion, (start, end) [s], take so many times as long."""
    places, place = [], 0.0
    while place <= len(motion.frames) - 1:
        places.append(place)
        time = place / motion.rate
        slow = any(start <= time < end for start, end in parts)
        place += 1 / factor if slow else 1
    motion.frames = [motion.at(place) for place in places]


def moved(motion, shift):
    """The root is moved by shift(time), (x, y, z) in units of the file."""
    for i, frame in enumerate(motion.frames):
        for column, more in zip(motion.position, shift(i / motion.rate)):
            frame[column] += more


def lifted(motion, start, end, height):
    """What is after the end is higher; between start and end it rises evenly."""
    moved(motion, lambda time: (0, height * min(max((time - start) / (end - start), 0), 1), 0))


def uneven(motion, start, end, depth):
    """The clock of a part runs faster first and slower then, as of poses whose times were not kept."""
    first, last = start * motion.rate, end * motion.rate
    places = []
    for i in range(len(motion.frames)):
        x = (i - first) / (last - first)
        places.append(first + (last - first) * (x + depth * x * (1 - x)) if 0 < x < 1 else i)
    motion.frames = [motion.at(place) for place in places]


def keyframed(motion, every, between="linear"):
    """Poses that are `every` seconds apart, and straight lines or Catmull-Rom splines between."""
    step = every * motion.rate
    count = int((len(motion.frames) - 1) / step)
    keys = [motion.at(k * step) for k in range(count + 1)]
    frames = []
    for i in range(int(count * step) + 1):
        k = min(int(i / step), count - 1)
        t = i / step - k
        p = [keys[min(max(k + d, 0), count)] for d in (-1, 0, 1, 2)]
        if between == "linear":
            frames.append([(1 - t) * b + t * c for b, c in zip(p[1], p[2])])
        else:
            frames.append([0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2
                                  + (3 * b - a - 3 * c + d) * t**3) for a, b, c, d in zip(*p)])
    motion.frames = frames


def filmed(motion, meter, size=1.0, seed=1):
    """As tools that read motions from video give them: the root wanders by a decimeter, so that feet slide and float, and
    everything trembles.

    Sums of sines: slow ones of 0.15 to 0.7 Hz for the root alone, and fast ones of 3 to 8 Hz.
    @param meter in units of the file @param size 1: RMS of 8 cm upwards and 15 across, tremble of 2 mm and 0.7 degrees
    """
    chance = random.Random(seed)

    def waves(amplitude, slowest, fastest):
        parts = [(chance.uniform(slowest, fastest), chance.uniform(0, 2 * math.pi)) for _ in range(6)]
        return lambda time: amplitude / math.sqrt(3) * sum(math.sin(2 * math.pi * f * time + p) for f, p in parts)

    for k in range(len(motion.frames[0])):
        across = k in motion.position
        parts = [waves(size * (0.002 * meter if across else 0.7), 3, 8)]
        if across:
            parts.append(waves(size * meter * (0.08 if k == motion.position[1] else 0.15), 0.15, 0.7))
        for i, frame in enumerate(motion.frames):
            frame[k] += sum(part(i / motion.rate) for part in parts)


def finer(motion, rate):
    """At least so many frames per second."""
    if motion.rate >= rate - 1e-6:
        return
    share = motion.rate / rate
    motion.frames = [motion.at(k * share) for k in range(int((len(motion.frames) - 1) / share) + 1)]
    motion.rate = rate
