/// What files say about themselves is compared with what they hold, in every format: counts, times, units, flags and
/// checksums. What is there and not understood is refused, what is absent is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <set>

#include "recordings/c3d_writer.h"
#include "recordings/marked_walker.h"
#include "recordings/npz_writer.h"
#include "recordings/scene_writer.h"
#include "recordings/trc_writer.h"
#include "retrace/io/error.h"
#include "retrace/io/json.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/bvh.h"
#include "retrace/recordings/opensim.h"
#include "retrace/recordings/recording.h"
#include "retrace/recordings/scene.h"
#include "retrace/recordings/smpl.h"

namespace retrace::recordings::statements {
namespace {

using motion::Clip;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kModel =
    "<OpenSimDocument><Model><JointSet><objects><FreeJoint name=\"root\"><socket_parent_frame>/ground"
    "</socket_parent_frame><socket_child_frame>/bodyset/pelvis</socket_child_frame><coordinates>"
    "<Coordinate name=\"rx\"/><Coordinate name=\"ry\"/><Coordinate name=\"rz\"/><Coordinate name=\"tx\"/>"
    "<Coordinate name=\"ty\"/><Coordinate name=\"tz\"><locked>true</locked></Coordinate></coordinates></FreeJoint>"
    "</objects></JointSet></Model></OpenSimDocument>";

/// A leg that swings for 12 frames, 30 in a second.
Clip Swinging() {
  Clip clip;
  clip.frame_time = 1.0 / 30;
  clip.unit = 1;
  clip.skeleton.joints = {{"Hips", -1, {0, 1, 0}, false},
                          {"Knee", 0, {0, -0.5, 0.1}, false},
                          {"Ankle", 1, {0, -0.5, 0}, false},
                          {"Toe", 2, {0, 0, 0.2}, false}};
  for (int f = 0; f < 12; ++f) {
    motion::Frame& frame = clip.frames.emplace_back();
    for (const motion::Joint& joint : clip.skeleton.joints) {
      frame.translations.push_back(joint.offset);
      frame.rotations.push_back(AxisRotation(0, 0.1 * f));
    }
    frame.translations[0].z() = 0.05 * f;
  }
  return clip;
}

Clip Read(const std::string& name, const std::string& bytes, const std::string& skeleton = "") {
  return ParseRecording({{bytes, name}, {skeleton, skeleton.empty() ? "" : "body.osim"}, {}, {}});
}

std::string Refusal(const std::string& name, const std::string& bytes, const std::string& skeleton = "") {
  try {
    Read(name, bytes, skeleton);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// Line `n` of a text, from 0, and the bytes around it.
std::string WithLine(const std::string& text, size_t n, const std::function<std::string(std::string)>& change) {
  size_t begin = 0;
  for (size_t i = 0; i < n; ++i) begin = text.find('\n', begin) + 1;
  const size_t end = text.find('\n', begin);
  return text.substr(0, begin) + change(text.substr(begin, end - begin)) + text.substr(end);
}

std::string Trc() {
  return WriteTrc(MarkedWalker(20).Recorded());
}

std::string Motion(const std::string& header, const std::string& names = "rx\try\trz\ttx\tty",
                   const std::string& rows = "0\t0.5\t0\t0\t0\t0\n0.01\t0.5\t0\t0\t0\t0\n") {
  return "Coordinates\nversion=1\n" + header + "endheader\ntime\t" + names + "\n" + rows;
}

TEST(StatedByTrc, CountsTimesAndColumnsAreThoseThatAreThere) {
  const std::string whole = Trc();
  EXPECT_EQ(Refusal("a.trc", whole), "accepted");
  EXPECT_THAT(Read("a.trc", whole).doubts, IsEmpty());
  const std::string count = std::to_string(MarkedWalker(1).names.size());
  struct Case {
    std::string text, refusal;
  };
  const auto numbers = [&](const std::string& frames, const std::string& markers) {
    return Replaced(whole, "\t20\t" + count + "\t", "\t" + frames + "\t" + markers + "\t");
  };
  const std::string marker = "found " + count + " names of markers, expected 3, as NumMarkers says";
  const Case cases[] = {
      {numbers("1e9", count), "found \"1e9\", expected a whole number"},
      {numbers("-20", count), "found \"-20\", expected a whole number"},
      {numbers("20", "3"), marker},
      // A lost tab shifts what follows.
      {WithLine(whole, 10, [](std::string line) { return Replaced(line, "\t0.04000\t", "\t0.04000"); }), "a.trc:11:"},
      {WithLine(whole, 10, [](std::string line) { return line.erase(line.rfind('\t'), 1); }), "a.trc:11:"},
      {WithLine(whole, 10, [](std::string line) { return line + "\t1.5"; }), "expected at most"},
      {WithLine(whole, 10, [](std::string line) { return line.substr(0, line.rfind('\t')); }), "or whole markers"},
      // Times.
      {WithLine(whole, 10, [](std::string line) { return Replaced(line, "\t0.04000\t", "\t0.02000\t"); }),
       "found a time before that of the frame before"},
      {WithLine(whole, 10, [](std::string line) { return Replaced(line, "\t0.04000\t", "\t0.09000\t"); }),
       "found frame 5 at 0.09 s, expected 0.040 s, by the DataRate of 100"},
      {WithLine(whole, 10, [](std::string line) { return Replaced(line, "\t0.04000\t", "\tnoon\t"); }), "a time [s]"},
      {Replaced(whole, "\n100\t", "\n120\t"), "by the DataRate of 120"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(Refusal("a.trc", c.text), HasSubstr(c.refusal)) << c.text.substr(0, 200);
  }
  std::string backwards = whole.substr(0, whole.find("\n1\t0.00000") + 1);
  for (size_t f = 20; f-- > 0;) {
    const std::string begin = "\n" + std::to_string(f + 1) + "\t0.";
    const size_t at = whole.find(begin) + 1;
    backwards += whole.substr(at, whole.find('\n', at) + 1 - at);
  }
  EXPECT_THAT(Refusal("a.trc", backwards), HasSubstr("found a time before that of the frame before"));
}

TEST(StatedByTrc, AFileThatWasCutOffAnywhereIsNoticed) {
  const std::string whole = Trc();
  const size_t first = whole.find("\n1\t0.00000") + 1, last = whole.rfind('\n', whole.size() - 2) + 1;
  for (size_t cut = first; cut < last; cut += 7) {
    const std::string text = whole.substr(0, cut);
    if (Refusal("a.trc", text) != "accepted") continue;
    EXPECT_THAT(Read("a.trc", text).doubts, ElementsAre(HasSubstr("or the end is missing"))) << cut;
  }
}

/// Tools cut frames out and leave the header as it was.
TEST(StatedByTrc, AnotherNumberOfFramesIsDoubted) {
  const std::string whole = Trc();
  for (const char* frames : {"238", "7"}) {
    const std::string text = Replaced(whole, "\t20\t", std::string("\t") + frames + "\t");
    EXPECT_THAT(Read("a.trc", text).doubts,
                ElementsAre(std::string("the file says that it has ") + frames +
                            " frames (NumFrames), and has 20 frames: it was trimmed, or the end is missing"));
  }
}

TEST(StatedByTrc, HeadersOfScriptsAreRead) {
  const std::string whole = Trc();
  const Clip expected = Read("a.trc", whole);
  const auto names = [](std::string line) {
    std::string text;
    for (size_t at = 0; at < line.size(); ++at) {
      if (line.compare(at, 3, "\t\t\t") == 0) ++at;  // two tabs instead of three
      text += line[at];
    }
    return text;
  };
  const std::string variants[] = {
      Replaced(whole, "Frame#\tTime\t", "Frame#\tTimes\t\t"),
      WithLine(whole, 3, [&](std::string line) { return Replaced(names(line), "\tTime\t", "\tTimes\t"); }),
      WithLine(whole, 4, [](std::string line) { return "\t" + line; }),  // X1 in the fourth column
      WithLine(whole, 4, [](std::string line) { return line + "\r"; }),
      Replaced(whole, "\n\n", "\n"),            // no blank line before the data
      Replaced(whole, "\n\n", "\n\t\t\t\t\n"),  // one of tabs alone
      "\xef\xbb\xbf" + whole,
  };
  for (const std::string& text : variants) {
    const Clip clip = Read("a.trc", text);
    ASSERT_EQ(clip.frames.size(), expected.frames.size()) << text.substr(0, 300);
    EXPECT_EQ(clip.frames.back().translations[0], expected.frames.back().translations[0]);
  }
}

/// Every count that a header states, wrong by one and more.
TEST(StatedByOpenSim, RowsAndColumnsAreThoseThatAreThere) {
  EXPECT_EQ(Refusal("a.mot", Motion("nRows=2\nnColumns=6\ninDegrees=no\n"), kModel), "accepted");
  EXPECT_EQ(Refusal("a.mot", Motion("inDegrees=no\n"), kModel), "accepted");
  for (const char* header : {"nRows=3\n", "nRows=1\n", "datarows 20\n"}) {
    EXPECT_THAT(Refusal("a.mot", Motion(header), kModel), HasSubstr("as nRows says")) << header;
  }
  for (const char* header : {"nColumns=5\n", "nColumns = 24\t\t\n", "datacolumns 1\n"}) {
    EXPECT_THAT(Refusal("a.mot", Motion(header), kModel), HasSubstr("as nColumns says")) << header;
  }
  for (const char* header : {"nRows=two\n", "nColumns=\n", "nRows=-2\n", "nRows=2.5\n"}) {
    EXPECT_THAT(Refusal("a.mot", Motion(header), kModel), HasSubstr("expected a number of rows or columns")) << header;
  }
}

TEST(StatedByOpenSim, AnglesAreDegreesWhereTheHeaderSaysSo) {
  struct Case {
    std::string header;
    bool degrees, stated;
  };
  const Case cases[] = {
      {"inDegrees=yes\n", true, true},
      {"inDegrees=YES\n", true, true},
      {"inDegrees = Yes \t\n", true, true},
      {"inDegrees=y\n", true, true},
      {"inDegrees=no\n", false, true},
      {"inDegrees=No\n", false, true},
      {"inDegrees=NO\n", false, true},
      {"inDegrees=n\n", false, true},
      {"inDegrees=false\n", false, false},
      {"inDegrees=true\n", false, false},
      {"", false, false},
  };
  for (const Case& c : cases) {
    const Clip clip = Read("a.mot", Motion(c.header), kModel);
    const double turned = AngleBetween(clip.frames[0].rotations[0], Quat::Identity());
    EXPECT_NEAR(turned, c.degrees ? Radians(0.5) : 0.5, 1e-9) << c.header;
    EXPECT_EQ(clip.notes.empty(), c.stated) << c.header;
    EXPECT_THAT(clip.doubts, IsEmpty());
  }
  const std::string rows = "0\t0\t90\t0\t0\t0\n0.01\t0\t90\t0\t0\t0\n";
  EXPECT_THAT(Read("a.mot", Motion("", "rx\try\trz\ttx\tty", rows), kModel).doubts,
              ElementsAre(HasSubstr("and has some of 90, which are taken for radians")));
}

TEST(StatedByOpenSim, CoordinatesThatTheMotionLacksAreNamedUnlessTheyAreLocked) {
  const Clip clip = Read("a.mot", Motion("inDegrees=no\n", "rx\try\ttx", "0\t0\t0\t0\n0.01\t0\t0\t0\n"), kModel);
  EXPECT_THAT(clip.doubts, ElementsAre(HasSubstr("the motion has no column of rz, ty, coordinates of the model")));
}

TEST(StatedByArchives, WhatIsThereAndNotReadIsNotTheSameAsNothing) {
  const auto archive = [] {
    NpzWriter writer;
    writer.Add("poses", "<f8", {2, 66}, std::vector<double>(132, 0));
    return writer;
  };
  EXPECT_EQ(Refusal("a.npz", archive().Bytes()), "accepted");
  for (const char* name : {"mocap_framerate", "fps", "trans", "rest_joints", "mocap_time_length", "poses"}) {
    NpzWriter object = archive();
    if (std::string(name) == "poses") object = NpzWriter();
    object.AddObject(name);
    EXPECT_THAT(Refusal("a.npz", object.Bytes()),
                HasSubstr(std::string("a.npz: ") + name + ": found an array of type \"|O\""));
  }
  for (const char* name : {"gender", "betas", "labels"}) {  // that nobody asks for
    NpzWriter object = archive();
    object.AddObject(name);
    EXPECT_EQ(Refusal("a.npz", object.Bytes()), "accepted") << name;
  }
}

TEST(StatedByArchives, RatesAndLengthsAgree) {
  const auto with = [](std::vector<std::pair<std::string, double>> numbers) {
    NpzWriter writer;
    writer.Add("poses", "<f8", {240, 66}, std::vector<double>(240 * 66, 0));
    for (const auto& [name, value] : numbers) writer.Add(name, "<f8", {}, {value});
    return writer.Bytes();
  };
  EXPECT_THAT(Refusal("a.npz", with({{"mocap_framerate", 120}, {"fps", 30}})),
              HasSubstr("a.npz: fps: found 30 frames per second, expected 120, as mocap_framerate says"));
  EXPECT_EQ(Refusal("a.npz", with({{"mocap_framerate", 120}, {"fps", 120}})), "accepted");
  EXPECT_THAT(Read("a.npz", with({{"mocap_frame_rate", 120}, {"mocap_time_length", 2}})).doubts, IsEmpty());
  EXPECT_THAT(Read("a.npz", with({{"mocap_frame_rate", 120}, {"mocap_time_length", 8}})).doubts,
              ElementsAre(HasSubstr("the file says that it lasts 8.00 s")));
}

TEST(StatedByArchives, ChecksumsAndSizesAreThoseOfTheBytes) {
  NpzWriter writer;
  std::vector<double> angles;
  for (int i = 0; i < 30 * 66; ++i) angles.push_back(0.3 * std::sin(1.7 * i));
  writer.Add("poses", "<f8", {30, 66}, angles);
  const std::string whole = writer.Bytes();
  std::string number(8, '\0');
  const double value = 0.125;
  std::memcpy(number.data(), &value, 8);
  // Whether the archive stores or deflates: a byte of its data that is another one.
  size_t refused = 0, tried = 0;
  const size_t data = whole.find("poses.npy") + 9, end = whole.rfind("poses.npy") - 46;
  for (size_t at = data + 150; at + 16 < end; at += std::max<size_t>(1, (end - data) / 40)) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    refused += Refusal("a.npz", flipped) != "accepted" ? 1 : 0;
    ++tried;
  }
  EXPECT_GT(tried, 0u);
  EXPECT_EQ(refused, tried);
  NpzWriter longer;
  std::string header("\x93NUMPY\x01\x00", 8);
  const std::string text = "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 66), }\n";
  header += static_cast<char>(text.size());
  header += '\0';
  std::string bytes = header + text;
  for (int i = 0; i < 67; ++i) bytes += number;
  longer.AddFile("poses", bytes);
  EXPECT_THAT(Refusal("a.npz", longer.Bytes()), HasSubstr("a.npz: poses: found more bytes after 66 numbers"));
}

/// A clip of a skeleton as a GLB file, whose JSON `change` may change.
std::string Glb(const std::function<void(io::Json&)>& change) {
  const Clip clip = Swinging();
  const WrittenScene written(clip, std::vector<Quat>(clip.skeleton.joints.size(), Quat::Identity()));
  std::string bytes = Export(written, "glb2");
  uint32_t length = 0;
  std::memcpy(&length, bytes.data() + 12, 4);
  io::Json json = io::Json::parse(bytes.substr(20, length));
  const std::string binary = bytes.substr(20 + length);
  change(json);
  std::string text = json.dump();
  text.resize((text.size() + 3) / 4 * 4, ' ');
  std::string file = bytes.substr(0, 20) + text + binary;
  const auto put = [&](size_t at, size_t value) {
    const auto word = static_cast<uint32_t>(value);
    std::memcpy(file.data() + at, &word, 4);
  };
  put(8, file.size());
  put(12, text.size());
  return file;
}

TEST(StatedByGltf, ASkinWithoutMatricesIsReadAsItsNodesLie) {
  const Clip expected = Read("a.glb", Glb([](io::Json&) {}));
  const Clip clip = Read("a.glb", Glb([](io::Json& json) {
                           for (io::Json& skin : json["skins"]) skin.erase("inverseBindMatrices");
                         }));
  ASSERT_EQ(clip.skeleton.joints.size(), expected.skeleton.joints.size());
  for (size_t f = 0; f < clip.frames.size(); ++f) {
    motion::GlobalPose a, b;
    ForwardKinematics(clip.skeleton, clip.frames[f], a);
    ForwardKinematics(expected.skeleton, expected.frames[f], b);
    for (size_t j = 0; j < a.positions.size(); ++j) EXPECT_LT((a.positions[j] - b.positions[j]).norm(), 1e-5);
  }
}

TEST(StatedByGltf, NamesThatAreTooLongAreNamedByTheirLength) {
  EXPECT_THAT(Refusal("a.glb", Glb([](io::Json& json) { json["nodes"][1]["name"] = std::string(1500, 'n'); })),
              HasSubstr("a.glb: found a node with a name of 1500 bytes, expected at most 1000"));
}

/// Keys of a clip, with times that another function gives.
std::string GlbWithTimes(const std::function<float(float)>& time) {
  std::string file = Glb([](io::Json&) {});
  uint32_t length = 0;
  std::memcpy(&length, file.data() + 12, 4);
  const io::Json json = io::Json::parse(file.substr(20, length));
  const size_t binary = 20 + length + 8;
  std::set<size_t> done;
  for (const io::Json& animation : json["animations"]) {
    for (const io::Json& sampler : animation["samplers"]) {
      const io::Json& accessor = json["accessors"][sampler["input"].get<size_t>()];
      const io::Json& view = json["bufferViews"][accessor["bufferView"].get<size_t>()];
      const size_t at = binary + view.value("byteOffset", size_t{0}) + accessor.value("byteOffset", size_t{0});
      if (!done.insert(at).second) continue;
      for (size_t k = 0; k < accessor["count"].get<size_t>(); ++k) {
        float value = 0;
        std::memcpy(&value, file.data() + at + 4 * k, 4);
        value = time(value);
        std::memcpy(file.data() + at + 4 * k, &value, 4);
      }
    }
  }
  return file;
}

TEST(StatedByGltf, TheClipIsTheRangeOfItsKeys) {
  const Clip expected = Read("a.glb", GlbWithTimes([](float t) { return t; }));
  for (const float start : {100.0f, 3.5f, -0.25f}) {
    const Clip clip = Read("a.glb", GlbWithTimes([&](float t) { return t + start; }));
    ASSERT_EQ(clip.frames.size(), expected.frames.size()) << start;
    EXPECT_NEAR(clip.frame_time, expected.frame_time, 1e-3 * expected.frame_time) << start;
    EXPECT_LT((clip.frames.front().translations[0] - expected.frames.front().translations[0]).norm(), 1e-6);
    EXPECT_LT((clip.frames.back().translations[0] - expected.frames.back().translations[0]).norm(), 1e-3);
  }
}

TEST(StatedByGltf, TimesOfKeysGrow) {
  EXPECT_THAT(Refusal("a.glb", GlbWithTimes([](float t) { return -t; })), HasSubstr("before the key before it"));
  EXPECT_THAT(Refusal("a.glb", GlbWithTimes([](float t) { return t > 0.1f ? 0.1f : t; })),
              HasSubstr("at the time of the key before it"));
}

TEST(SceneClip, WhatDoesNotMoveSaysNothingAboutTheTime) {
  Scene scene;
  scene.unit = 1;
  const auto add = [&](const char* name, int parent, const Vec3& at) {
    Scene::Node& node = scene.nodes.emplace_back();
    node.name = name;
    node.parent = parent;
    node.place.topRightCorner<3, 1>() = at;
  };
  add("Scene", -1, Vec3::Zero());
  add("Hips", 0, {0, 1, 0});
  add("Knee", 1, {0, -0.5, 0});
  add("Tip", 2, {0, -0.5, 0});
  Scene::Channel knee{2, {}, {}, {}}, hips{1, {{0, {0, 1, 0}}}, {}, {{0, {1, 1, 1}}}};
  for (int k = 0; k < 11; ++k) knee.rotations.push_back({100 + k / 30.0, AxisRotation(2, 0.1 * k)});
  scene.animations.push_back({"bend", 0, {hips, knee}});
  EXPECT_EQ(ClipOfScene(scene, "leg.glb").frames.size(), 11u);
}

/// Each reader of text, with the mark that some tools of Windows begin a file with.
TEST(ByteOrderMarks, AreNoPartOfAnyText) {
  const std::string bvh = motion::FormatBvh(Swinging());
  const std::pair<std::string, std::string> files[] = {
      {"a.trc", Trc()}, {"a.bvh", bvh}, {"a.mot", Motion("inDegrees=no\n")}, {"a.sto", Motion("inDegrees=no\n")}};
  for (const auto& [name, text] : files) {
    const bool table = name.ends_with("mot") || name.ends_with("sto");
    const std::string model = table ? kModel : "";
    EXPECT_EQ(Refusal(name, text, model), "accepted") << name;
    EXPECT_EQ(Refusal(name, "\xef\xbb\xbf" + text, model), "accepted") << name;
    if (table) {
      EXPECT_EQ(Refusal(name, text, "\xef\xbb\xbf" + model), "accepted") << name;
    }
    // Places are counted from the text.
    EXPECT_THAT(Refusal(name, "\xef\xbb\xbf" + std::string("!"), model), HasSubstr(":1:")) << name;
  }
}

}  // namespace
}  // namespace retrace::recordings::statements
