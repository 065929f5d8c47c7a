/// Speed of reading recordings of each format, in frames per second of CPU time on one core, from bytes in memory to a
/// clip. Each file holds a human for a minute at 120 frames per second and is generated.
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>
#include <vector>

#include "recordings/c3d_writer.h"
#include "recordings/marked_walker.h"
#include "recordings/npz_writer.h"
#include "recordings/scene_writer.h"
#include "recordings/trc_writer.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/recording.h"
#include "retrace/recordings/smpl.h"

namespace retrace::recordings {
namespace {

constexpr size_t kFrames = 7200;
constexpr double kRate = 120;

/// An angle of a joint at a frame [rad]: smooth, with all the digits that a recording has.
double Angle(size_t frame, size_t joint) {
  return 0.8 * std::sin(0.01 * static_cast<double>(frame) + 0.7 * static_cast<double>(joint));
}

void Read(benchmark::State& bench, const std::string& bytes, const std::string& name, const std::string& skeleton = "",
          const std::string& skeleton_name = "") {
  for (auto _ : bench) {
    const motion::Clip clip = ParseRecording({{bytes, name}, {skeleton, skeleton_name}, {}});
    if (clip.frames.size() + 1 < kFrames) bench.SkipWithError("frames are missing");
  }
  bench.SetBytesProcessed(static_cast<int64_t>(bench.iterations() * bytes.size()));
  bench.counters["frames"] =
      benchmark::Counter(static_cast<double>(bench.iterations() * kFrames), benchmark::Counter::kIsRate);
}

/// The skeleton of SMPL, all of whose joints turn.
const motion::Clip& Dancer() {
  static const motion::Clip dancer = [] {
    motion::Clip clip;
    clip.skeleton = SmplSkeleton(true);
    clip.frame_time = 1 / kRate;
    clip.unit = 1;
    for (size_t f = 0; f < kFrames; ++f) {
      motion::Frame& frame = clip.frames.emplace_back();
      for (size_t j = 0; j < clip.skeleton.joints.size(); ++j) {
        frame.translations.push_back(clip.skeleton.joints[j].offset);
        frame.rotations.push_back(AxisRotation(static_cast<int>(j % 3), Angle(f, j)));
      }
    }
    return clip;
  }();
  return dancer;
}

/// @param format of Assimp
void ReadScene(benchmark::State& bench, const std::string& format, const std::string& name) {
  const std::vector<Quat> rest(Dancer().skeleton.joints.size(), Quat::Identity());
  Read(bench, Export(WrittenScene(Dancer(), rest), format), name);
}
void ReadFbx(benchmark::State& bench) {
  ReadScene(bench, "fbx", "dance.fbx");
}
void ReadGlb(benchmark::State& bench) {
  ReadScene(bench, "glb2", "dance.glb");
}
void ReadCollada(benchmark::State& bench) {
  ReadScene(bench, "collada", "dance.dae");
}

void ReadNpz(benchmark::State& bench) {
  constexpr size_t kNumbers = 52 * 3;
  NpzWriter writer;
  std::vector<double> poses, places;
  for (size_t f = 0; f < kFrames; ++f) {
    for (size_t i = 0; i < kNumbers; ++i) poses.push_back(Angle(f, i));
    for (size_t i = 0; i < 3; ++i) places.push_back(Angle(f, i));
  }
  writer.Add("poses", "<f8", {kFrames, kNumbers}, poses);
  writer.Add("trans", "<f8", {kFrames, 3}, places);
  writer.Add("mocap_framerate", "<f8", {}, {kRate});
  Read(bench, writer.Bytes(), "dance.npz");
}

/// Markers of a minute.
const MarkedWalker& Walker() {
  static const MarkedWalker walker(kFrames);
  return walker;
}

void ReadC3d(benchmark::State& bench) {
  C3dWriter writer;
  writer.Group(1, "POINT");
  writer.Texts(1, "LABELS", Walker().names);
  writer.Texts(1, "UNITS", {"mm"}, 2);
  std::vector<std::vector<Vec3>> places = Walker().markers;
  for (auto& frame : places) {
    for (Vec3& place : frame) place *= 1000;
  }
  Read(bench, writer.Bytes(places, 100), "walk.c3d");
}

void ReadTrc(benchmark::State& bench) {
  Markers markers = Walker().Recorded();
  markers.rate = kRate;
  const std::string text = WriteTrc(markers);
  Read(bench, text, "walk.trc");
}

/// A tree of bodies on hinges under a pelvis that is free.
void ReadOpenSim(benchmark::State& bench) {
  constexpr size_t kHinges = 24;
  const auto coordinate = [](const std::string& name) { return "<Coordinate name=\"" + name + "\"/>"; };
  const auto joint = [](const std::string& type, const std::string& name, const std::string& parent,
                        const std::string& child, const std::string& coordinates) {
    return "<" + type + " name=\"" + name + "\"><socket_parent_frame>p</socket_parent_frame>" +
           "<socket_child_frame>c</socket_child_frame><coordinates>" + coordinates +
           "</coordinates><frames><PhysicalOffsetFrame name=\"p\"><socket_parent>/bodyset/" + parent +
           "</socket_parent><translation>0 0.1 0</translation></PhysicalOffsetFrame><PhysicalOffsetFrame name=\"c\">" +
           "<socket_parent>/bodyset/" + child + "</socket_parent></PhysicalOffsetFrame></frames></" + type + ">";
  };
  std::string root, names, joints;
  for (const char* name : {"rx", "ry", "rz", "tx", "ty", "tz"}) {
    root += coordinate(name);
    names += std::string("\t") + name;
  }
  joints = joint("FreeJoint", "root", "ground", "body0", root);
  for (size_t j = 1; j <= kHinges; ++j) {
    const std::string number = std::to_string(j);
    joints += joint("PinJoint", "hinge" + number, "body" + std::to_string((j - 1) / 2), "body" + number,
                    coordinate("angle" + number));
    names += "\tangle" + number;
  }
  std::string motion = "Coordinates\nversion=1\ninDegrees=yes\nendheader\ntime" + names + "\n";
  for (size_t f = 0; f < kFrames; ++f) {
    motion += io::Fixed(static_cast<double>(f) / kRate, 6);
    for (size_t c = 0; c < 6 + kHinges; ++c) motion.append("\t").append(io::Fixed(Degrees(Angle(f, c)), 6));
    motion += '\n';
  }
  const std::string model =
      "<?xml version=\"1.0\"?><OpenSimDocument Version=\"40000\"><Model name=\"m\"><JointSet><objects>" + joints +
      "</objects></JointSet></Model></OpenSimDocument>";
  Read(bench, motion, "walk.mot", model, "body.osim");
}

BENCHMARK(ReadFbx)->Unit(benchmark::kMillisecond)->UseRealTime();  // most is done in a process of its own
BENCHMARK(ReadGlb)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(ReadCollada)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(ReadNpz)->Unit(benchmark::kMillisecond);
BENCHMARK(ReadC3d)->Unit(benchmark::kMillisecond);
BENCHMARK(ReadTrc)->Unit(benchmark::kMillisecond);
BENCHMARK(ReadOpenSim)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace retrace::recordings

BENCHMARK_MAIN();
