/// export as a user meets it: messages and exit codes, the files of every format, and what other programs read in them.
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "apps/command_line.h"
#include "retrace/motion/clip.h"
#include "retrace/recordings/recording.h"
#include "retrace/results/tables.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Export : public CommandLine {};

bool Here(const std::string& program) {
  return Execute("command -v " + program).code == 0;
}

TEST_F(Export, MistakesGiveOneMessageAndTheirCode) {
  const std::string run = SmallRun("run");
  const std::string file = Write("file", "mine");
  const std::string bad = Path("bad");
  fs::create_directories(bad);
  Write("bad/control.json", "{\"format\": \"retrace-control\"}");
  ExpectRefusals(kExport, {
                              {"", 2, "folder"},
                              {run, 2, "--to"},
                              {run + " --to fbx", 2, "found \"fbx\", expected glb, bvh, csv, npz, sto, trc"},
                              {run + " --to glb,", 2, "found \"\""},
                              {run + " --to glb --rate 0", 2, "--rate"},
                              {run + " --to glb --rate fast", 2, "--rate"},
                              {run + " --to glb --nonsense", 2, "--nonsense"},
                              {run + " --to bvh --skin", 2, "found formats without glb"},
                              {run + " --to glb --skin --skeleton source", 2, "--skeleton source, expected none"},
                              {run + " --to glb --mesh " + file, 3, "file"},
                              {run + " --to glb --map map.json", 2, "--mesh"},
                              {Path("none") + " --to glb", 3, "none: found no such folder"},
                              {bad + " --to glb", 3, "bad/control.json"},
                              {run + " --to glb --output " + file + "/below", 5, "below"},
                              {run + " --to glb --output /proc/none", 5, "/proc/none"},
                          });
  const Outcome bad_manifest = [&] {
    io::WriteFile(run + "/manifest.json", "{");
    return Execute(kExport + " " + run + " --to trc");
  }();
  EXPECT_EQ(bad_manifest.code, 3);
  EXPECT_THAT(bad_manifest.text, HasSubstr("manifest.json"));
  EXPECT_THAT(Execute(kExport + " --version").text, HasSubstr("export "));
  EXPECT_EQ(Execute(kExport + " --help").code, 0);
}

TEST_F(Export, WritesEveryFormatBesideTheRun) {
  const std::string run = SmallRun("run");
  const std::string manifest = io::ReadFile(run + "/manifest.json");
  const Outcome outcome = Execute(kExport + " " + run + " --to all");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  for (const char* name : {"motion.glb", "motion.bvh", "bodies.csv", "joints.csv", "motion.npz", "coordinates.sto",
                           "ground_forces.sto", "external_loads.xml", "markers.trc"}) {
    EXPECT_TRUE(fs::exists(run + "/export/" + name)) << name;
    EXPECT_THAT(outcome.text, HasSubstr(name));
  }
  EXPECT_EQ(io::ReadFile(run + "/export/motion.bvh"), io::ReadFile(run + "/motion.bvh"));
  EXPECT_EQ(io::ReadFile(run + "/manifest.json"), manifest) << "the run itself stays as it was";
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);

  // Again: the same bytes, without a question.
  // What is exported as GLB is a recording again.
  const Outcome inspected = Execute(kInspect + " " + run + "/export/motion.glb");
  EXPECT_EQ(inspected.code, 0) << inspected.text;
  EXPECT_THAT(inspected.text, HasSubstr("60.00 per second"));
  ExpectRefusals(kInspect,
                 {{run + "/export/motion.glb --animation dance", 2, "found no animation \"dance\", expected one of"},
                  {run + "/export/motion.glb --performer Bob", 2, "found no performer \"Bob\", expected one of"},
                  {Write("bad.glb", "glTF"), 3, "bad.glb: found what Assimp refuses ("},
                  {Write("bad.npz", "PK"), 3, "bad.npz: found what is no zip archive ("}});
  const std::string first = io::ReadFile(run + "/export/motion.npz");
  EXPECT_EQ(Execute(kExport + " " + run + " --to npz --to glb,trc").code, 0);
  EXPECT_EQ(io::ReadFile(run + "/export/motion.npz"), first);

  // What is told of the ground's force is what the run itself says.
  const results::Table trajectory = results::ReadTable(run + "/trajectory.csv");
  const auto up = trajectory.Numbers("force_y"), along = trajectory.Numbers("force_z");
  std::istringstream lines(io::ReadFile(run + "/export/ground_forces.sto"));
  std::string line;
  while (std::getline(lines, line) && line != "endheader") {
  }
  std::getline(lines, line);  // names
  size_t row = 0;
  for (; std::getline(lines, line); ++row) {
    std::istringstream cells(line);
    std::vector<double> numbers;
    for (std::string cell; std::getline(cells, cell, '\t');) numbers.push_back(std::stod(cell));
    double sum_up = 0, sum_along = 0;
    for (size_t plate = 1; plate + 8 < numbers.size(); plate += 9) {
      sum_along += numbers[plate];  // x forward there is z here
      sum_up += numbers[plate + 1];
    }
    ASSERT_LE(row, up.size());
    const size_t state = std::min(row, up.size() - 1);  // the last step's forces stand there twice
    EXPECT_NEAR(sum_up, up[state], 1e-9 * (1 + std::abs(up[state])));
    EXPECT_NEAR(sum_along, along[state], 1e-9 * (1 + std::abs(up[state])));
  }
  EXPECT_EQ(row, up.size() + 1);
}

TEST_F(Export, ASceneHasOneGlbFileAndASetOfTheOthersPerCharacter) {
  const std::string run = SmallRun("run"), scene = Path("scene");
  ASSERT_EQ(Execute(kReplay + " " + run + " --with " + run + ",2,0,90 --output " + scene).code, 0);
  const Outcome outcome = Execute(kExport + " " + scene + " --to all");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("human, human for 0.50 s"));
  EXPECT_TRUE(fs::exists(scene + "/export/motion.glb"));
  EXPECT_FALSE(fs::exists(scene + "/export/motion.npz"));
  for (const char* part : {"/character_1", "/character_2"}) {
    for (const char* name : {"bodies.csv", "joints.csv", "motion.npz", "coordinates.sto", "ground_forces.sto",
                             "external_loads.xml", "markers.trc"}) {
      EXPECT_TRUE(fs::exists(scene + "/export" + part + "/" + name)) << part << name;
    }
    EXPECT_EQ(io::ReadFile(scene + "/export" + part + "/motion.bvh"), io::ReadFile(scene + part + "/motion.bvh"));
  }
  // The first one is where it was alone.
  ASSERT_EQ(Execute(kExport + " " + run + " --to csv,trc").code, 0);
  for (const char* name : {"/bodies.csv", "/joints.csv", "/markers.trc"}) {
    EXPECT_EQ(io::ReadFile(scene + "/export/character_1" + name), io::ReadFile(run + "/export" + name)) << name;
  }
  const Outcome refused = Execute(kExport + " " + scene + " --to npz --output " + Path("both.npz"));
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.text, HasSubstr("both.npz: found the name of a file, expected that of a folder"));
  EXPECT_EQ(Execute(kExport + " " + scene + " --to glb --output " + Path("both.glb")).code, 0);
  EXPECT_TRUE(fs::is_regular_file(Path("both.glb")));
  // What was exported goes with the scene.
  EXPECT_EQ(Execute(kReplay + " " + run + " --output " + scene + " --force").code, 0);
  EXPECT_FALSE(fs::exists(scene + "/export"));
}

TEST_F(Export, WhatWasExportedOfARunGoesWithIt) {
  const std::string run = SmallRun("run");
  ASSERT_EQ(Execute(kExport + " " + run + " --to all").code, 0);
  SmallRun("run", "--seed 2 --force");
  EXPECT_FALSE(fs::exists(run + "/export")) << "another motion's files beside a new run";
}

TEST_F(Export, OutputIsAFolderOrAFile) {
  const std::string run = SmallRun("run");
  const std::string file = Path("deep/walk.glb");
  EXPECT_EQ(Execute(kExport + " " + run + " --to glb --rate 30 --output " + file).code, 0);
  EXPECT_TRUE(fs::is_regular_file(file));
  const Outcome again = Execute(kExport + " " + run + " --to glb --output " + file);
  EXPECT_EQ(again.code, 2) << "a file of the user's is not lost";
  EXPECT_THAT(again.text, HasSubstr("--force"));
  const std::string before = io::ReadFile(file);
  EXPECT_EQ(Execute(kExport + " " + run + " --to glb --force --output " + file).code, 0);
  EXPECT_NE(io::ReadFile(file), before) << "60 frames per second for 30";
  EXPECT_EQ(Execute(kExport + " " + run + " --to glb,trc --output " + Path("folder")).code, 0);
  EXPECT_TRUE(fs::exists(Path("folder/motion.glb")));
  EXPECT_TRUE(fs::exists(Path("folder/markers.trc")));
  EXPECT_EQ(Execute(kExport + " " + run + " --to sto --output " + Path("folder")).code, 0);
  EXPECT_FALSE(fs::exists(run + "/export"));
}

TEST_F(Export, TheMotionReturnsOnTheSkeletonOfTheRecording) {
  const std::string run = SmallRun("run");
  const Outcome outcome = Execute(kExport + " " + run + " --to all --skeleton source");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("joints move with the simulated bodies, the others are as recorded"));
  EXPECT_THAT(outcome.text, HasSubstr("60 per second; the first one is at 0.000 s of the recording"));
  const std::string source = io::ReadFile(kClip);
  const std::string returned = io::ReadFile(run + "/export/source_skeleton.bvh");
  EXPECT_EQ(returned.substr(0, returned.find("MOTION")), source.substr(0, source.find("MOTION")))
      << "names, offsets, hierarchy and channels to the letter";
  // The simulated motion is near the recording, and both files of it are the same motion.
  const motion::Clip recorded = recordings::ReadRecording(kClip);
  const motion::Clip bvh = recordings::ReadRecording(run + "/export/source_skeleton.bvh");
  const motion::Clip glb = recordings::ReadRecording(run + "/export/source_skeleton.glb");
  EXPECT_EQ(bvh.frame_time, recorded.frame_time);
  ASSERT_LE(bvh.frames.size(), recorded.frames.size());
  ASSERT_EQ(glb.frames.size(), bvh.frames.size());
  ASSERT_GE(bvh.frames.size(), 10U);
  motion::GlobalPose a, b, c;
  double off = 0;
  for (size_t f = 0; f < bvh.frames.size(); ++f) {
    motion::ForwardKinematics(bvh.skeleton, bvh.frames[f], a);
    motion::ForwardKinematics(glb.skeleton, glb.frames[f], b);
    motion::ForwardKinematics(recorded.skeleton, recorded.frames[f], c);
    for (size_t j = 0; j < bvh.skeleton.joints.size(); ++j) {
      const int in_glb = glb.skeleton.Find(bvh.skeleton.joints[j].name);
      if (in_glb >= 0) {
        EXPECT_LT((a.positions[j] - b.positions[static_cast<size_t>(in_glb)]).norm(), 1e-4);
      }
      off = std::max(off, (a.positions[j] - c.positions[j]).norm());
    }
  }
  EXPECT_GT(off, 1e-3) << "it is the simulated motion";
  EXPECT_LT(off, 0.3);

  // A replay under a push returns, too: it leads to the run that has the recording.
  const std::string pushed = Path("pushed");
  Execute(kReplay + " " + run + " --push trunk,60:0:0,0.2,0.1 --output " + pushed);
  EXPECT_EQ(Execute(kExport + " " + pushed + " --to bvh --skeleton source").code, 0);
  EXPECT_NE(io::ReadFile(pushed + "/export/source_skeleton.bvh"), returned);

  const std::string other = Write("other.bvh", source + "\n");
  const std::string moved = Write("moved.bvh", source);
  ExpectRefusals(kExport,
                 {{run + " --to fbx --skeleton source", 2, "found \"fbx\", expected bvh or glb"},
                  {run + " --to csv --skeleton source", 2, "found \"csv\", expected bvh, glb"},
                  {run + " --to bvh --skeleton source --rate 30", 2, "--rate: found 30 frames per second"},
                  {run + " --to bvh --skeleton mine", 2, "--skeleton"},
                  {run + " --to bvh --recording " + moved, 2, "--recording: found a file without --skeleton source"},
                  {run + " --to bvh --skeleton source --recording none.bvh", 3, "none.bvh: found no such file"},
                  {run + " --to bvh --skeleton source --recording " + other, 3, "other.bvh: found another content"}});
  EXPECT_EQ(Execute(kExport + " " + run + " --to bvh --skeleton source --recording " + moved).code, 0);
  EXPECT_EQ(io::ReadFile(run + "/export/source_skeleton.bvh"), returned);
}

TEST_F(Export, SaysWhenTheReplayIsAnotherMotion) {
  const std::string run = SmallRun("run");
  std::string table = io::ReadFile(run + "/trajectory.csv");
  const size_t digit = table.rfind('.') + 1;
  table[digit] = table[digit] == '1' ? '2' : '1';
  io::WriteFile(run + "/trajectory.csv", table);
  const Outcome outcome = Execute(kExport + " " + run + " --to trc");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.text, HasSubstr("trajectory.csv:"));
  EXPECT_TRUE(fs::exists(run + "/export/markers.trc")) << "it is written all the same";
  // A control file alone is enough; then there is nothing to compare with.
  fs::create_directories(Path("bare"));
  fs::copy(run + "/control.json", Path("bare/control.json"));
  EXPECT_EQ(Execute(kExport + " " + Path("bare") + " --to all").code, 0);
  EXPECT_EQ(io::ReadFile(Path("bare/export/markers.trc")), io::ReadFile(run + "/export/markers.trc"));
}

TEST_F(Export, APartOfAMotionIsExported) {
  const std::string run = Path("lost");
  const Outcome lost =
      Execute(kReconstruct + " " + kWalkClip +
              " --end 0.5 --method sampling --samples 20 --saved 5 --progress none --set /gates/joint_position=0.02"
              " --set /search/budget=100 --set /refinement/passes=0 --output " +
              run);
  ASSERT_EQ(lost.code, 4) << lost.text;
  const Outcome outcome = Execute(kExport + " " + run + " --to all");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  const auto times = results::ReadTable(run + "/trajectory.csv").Numbers("time");
  const auto frames = results::ReadTable(run + "/export/joints.csv").Numbers("time");
  EXPECT_LE(frames.back(), times.back() + 1e-9);
  EXPECT_GT(frames.back(), times.back() - 1.0 / 120);
}

TEST_F(Export, APushedMotionIsExportedAsPushed) {
  const std::string run = SmallRun("run"), pushed = Path("pushed");
  Execute(kReplay + " " + run + " --push trunk,60:0:0,0.1,0.2 --output " + pushed);
  const Outcome outcome = Execute(kExport + " " + pushed + " --to bvh");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("pushes"));
  EXPECT_EQ(io::ReadFile(pushed + "/export/motion.bvh"), io::ReadFile(pushed + "/motion.bvh"));
  EXPECT_NE(io::ReadFile(pushed + "/motion.bvh"), io::ReadFile(run + "/motion.bvh"));
}

/// Runs that differ in all that a file can: bodies of meshes, four feet, a world of boxes, bodies and a height field.
std::vector<std::string> DifferentRuns(const std::function<std::string(const std::string&)>& path) {
  const std::string small =
      " --end 0.4 --method sampling --samples 20 --saved 5 --progress none --set /refinement/passes=0 --output ";
  const std::string trot = std::string(RETRACE_SOURCE_DIR) + "/data/clips/trot.bvh";
  std::vector<std::string> runs;
  for (const auto& [name, arguments] :
       std::vector<std::pair<std::string, std::string>>{{"robot", kWalkClip + " --character asimo"},
                                                        {"dog", trot + " --character quadruped"},
                                                        {"world", kWalkClip + " --world crates --world bumps"},
                                                        {"platform", kWalkClip + " --world platform"}}) {
    runs.push_back(path(name));
    const Outcome outcome = Execute(kReconstruct + " " + arguments + small + runs.back());
    EXPECT_TRUE(outcome.code == 0 || outcome.code == 4) << outcome.text;
  }
  return runs;
}

TEST_F(Export, TheKhronosValidatorFindsNothing) {
  if (!Here("node") || !Here("npm")) GTEST_SKIP() << "needs node and npm";
  // Kept in the build folder, so that it is fetched once.
  const fs::path tools = fs::path(RETRACE_BINARY_DIR) / "gltf";
  fs::create_directories(tools);
  for (const char* name : {"package.json", "package-lock.json", ".npmrc", "validate.mjs"}) {
    fs::copy_file(fs::path(RETRACE_SOURCE_DIR) / "tests/apps/gltf" / name, tools / name,
                  fs::copy_options::overwrite_existing);
  }
  const Outcome install = Execute("cd " + tools.string() + " && npm ls gltf-validator >/dev/null 2>&1 || npm ci");
  if (install.code != 0) GTEST_SKIP() << "the validator cannot be fetched: " << install.text;
  std::string files;
  for (const std::string& run : DifferentRuns([&](const std::string& name) { return Path(name); })) {
    const Outcome outcome = Execute(kExport + " " + run + " --to glb");
    ASSERT_EQ(outcome.code, 0) << outcome.text;
    files += " " + run + "/export/motion.glb";
  }
  const std::string one = SmallRun("one"), scene = Path("scene");
  ASSERT_EQ(Execute(kReplay + " " + one + " --with " + Path("robot") + ",2,0 --output " + scene).code % 4, 0);
  ASSERT_EQ(Execute(kExport + " " + scene + " --to glb").code, 0);
  files += " " + scene + "/export/motion.glb";
  const std::string skinned = Path("skinned.glb");
  const Outcome skin = Execute(kExport + " " + one + " --to glb --skin --json --output " + skinned);
  ASSERT_EQ(skin.code, 0) << skin.text;
  EXPECT_EQ(io::ParseJson(skin.text, "--json")["files"][0]["bytes"], fs::file_size(skinned));
  files += " " + skinned;
  const Outcome dog = Execute(kExport + " " + Path("dog") + " --to glb --skin");
  EXPECT_EQ(dog.code, 2);
  EXPECT_THAT(dog.text, HasSubstr("found the character quadruped, which has none, expected a human"));
  ASSERT_EQ(Execute(kExport + " " + one + " --to glb --skeleton source").code, 0);
  files += " " + one + "/export/source_skeleton.glb";
  const Outcome outcome = Execute("cd " + tools.string() + " && node validate.mjs" + files);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("\"numErrors\": 0"));
  // The check itself: a file with a wrong length is found.
  const std::string first = files.substr(1, files.find(".glb") + 3);
  std::string broken = io::ReadFile(first);
  broken[8] = static_cast<char>(broken[8] + 4);
  EXPECT_NE(Execute("cd " + tools.string() + " && node validate.mjs " + Write("broken.glb", broken)).code, 0);
}

TEST_F(Export, NumpyReadsTheArrays) {
  std::string python;
  for (const char* candidate : {"python3", "/usr/bin/python3"}) {
    if (python.empty() && Execute(std::string(candidate) + " -c 'import numpy'").code == 0) python = candidate;
  }
  if (python.empty()) GTEST_SKIP() << "needs python3-numpy";
  const std::string run = SmallRun("run");
  ASSERT_EQ(Execute(kExport + " " + run + " --to npz").code, 0);
  const std::string script = Write("read.py", R"(
import csv, sys
import numpy as np
run = sys.argv[1]
arrays = np.load(run + "/export/motion.npz", allow_pickle=False)
rows = list(csv.DictReader(open(run + "/trajectory.csv")))
column = lambda name: np.array([float(row[name]) for row in rows])
def same(array, *names):
    assert np.array_equal(array, np.stack([column(name) for name in names], axis=-1)), names
n, joints = len(rows), list(arrays["joint_names"])
same(arrays["time"][:, None], "time")
same(arrays["root_position"], "root_x", "root_y", "root_z")
same(arrays["root_orientation"], "root_qw", "root_qx", "root_qy", "root_qz")
same(arrays["com_position"], "com_x", "com_y", "com_z")
same(arrays["com_velocity"], "com_vx", "com_vy", "com_vz")
same(arrays["ground_force"], "force_x", "force_y", "force_z")
knee = arrays["joint_rotation"][:, joints.index("left_knee")]
same(knee[:, :1], "left_knee_x")
mass, step = arrays["body_mass"], arrays["time_step"]
acceleration = np.diff(arrays["com_velocity"], axis=0) / step
newton = mass.sum() * (acceleration + [0, arrays["gravity"], 0])
assert np.abs(newton - arrays["ground_force"][1:]).max() < 1e-6 * mass.sum() * 9.81
contacts = arrays["contact_state"]
total = np.zeros((n, 3))
np.add.at(total, contacts[arrays["contact_other"] < 0], arrays["contact_force"][arrays["contact_other"] < 0])
assert np.abs(total - arrays["ground_force"]).max() < 1e-9
assert arrays["body_orientation"].shape == (n, len(arrays["body_names"]), 4)
assert arrays["object_position"].shape == (n, 0, 3)
print("all the same", len(arrays.files))
)");
  const Outcome outcome = Execute(python + " " + script + " " + run);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_THAT(outcome.text, HasSubstr("all the same"));
}

}  // namespace
}  // namespace retrace::apps
