/// What would give a wrong result, or destroy one, is refused by the programs. Names of tests say which row of the list
/// of attacks (issue 18) they close.
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "apps/command_line.h"

namespace retrace::apps {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

const std::string kTiny = " --end 0.3 --method sampling --samples 20 --saved 5 --threads 1 --progress none ";

class Integrity : public CommandLine {
 protected:
  /// Refused with code and message, and nothing of the folder is another than before.
  void ExpectRefused(const std::string& command, int code, const std::string& message) const {
    const auto before = Contents();
    const Outcome outcome = Execute(command);
    EXPECT_EQ(outcome.code, code) << command << "\n" << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr(message)) << command;
    EXPECT_EQ(Contents(), before) << command;
  }
  /// Names, kinds and hashes of everything below the folder.
  std::map<std::string, std::string> Contents() const {
    std::map<std::string, std::string> contents;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      const bool file = entry.is_regular_file() && !entry.is_symlink();
      contents[entry.path()] = file ? io::Sha256(io::ReadFile(entry.path()))
                                    : std::to_string(static_cast<int>(entry.symlink_status().type()));
    }
    return contents;
  }
  std::string TinyRun(const std::string& name, const std::string& more = "") const {
    const Outcome outcome = Execute(kReconstruct + " " + kClip + kTiny + more + "--output " + Path(name));
    EXPECT_EQ(outcome.code, 0) << outcome.text;
    return Path(name);
  }
};

TEST_F(Integrity, Row01ACheckpointIsOfOnePartOfTheClipAtOneSpeed) {
  const std::string command = kReconstruct + " " + kWalkClip +
                              " --method sampling --samples 300 --saved 40 --threads 1 --progress none --output " +
                              Path("run");
  ASSERT_EQ(Execute(command + " --end 1 --time-limit 0.4").code, 75);
  ExpectRefused(command + " --resume --end 1.1", 2, "/identity/clip/end was 1.0 and is 1.1");
  ExpectRefused(command + " --resume --end 1 --start 0.1", 2, "/identity/clip/start was 0.0 and is 0.1");
  ExpectRefused(command + " --resume --end 1 --time-scale 1.5", 2, "/identity/clip/time_scale was 1.0 and is 1.5");
}

TEST_F(Integrity, Row01AFinishedRunIsOfOnePartOfTheClip) {
  const std::string run = TinyRun("run");
  const std::string again =
      kReconstruct + " " + kClip + " --method sampling --samples 20 --saved 5 --resume --progress none --output ";
  EXPECT_EQ(Execute(again + run + " --end 0.3").code, 0);
  ExpectRefused(again + run + " --end 0.4", 2, "found the results of another run");
}

TEST_F(Integrity, Row02RowsOfAnEditedListAreNotKept) {
  const std::string list = Write("list.tsv", "clip\tstart\tend\ttime_scale\nsquat.bvh\t0\t0.3\t1\n");
  const std::string command =
      kEvaluate + " " + list + " --clips " + fs::path(kClip).parent_path().string() +
      " --seeds 1 --threads 1 --method sampling --samples 20 --saved 5 --progress none --output " + Path("out");
  ASSERT_EQ(Execute(command).code, 0);
  for (const char* row : {"0.1\t0.3\t1", "0\t0.4\t1", "0\t0.3\t1.1"}) {
    Write("list.tsv", std::string("clip\tstart\tend\ttime_scale\nsquat.bvh\t").append(row).append("\n"));
    ExpectRefused(command, 2, "squat.1: found another run: /clip/");
  }
}

TEST_F(Integrity, Row03AReportReplacesNothingButReports) {
  const std::string run = TinyRun("run");
  const std::string report = kReport + " " + run + " --output ";
  if (Execute(report + Path("page.html")).code == 2) GTEST_SKIP() << "the page was not built";
  EXPECT_EQ(Execute(report + Path("page.html")).code, 0);  // its own page again
  ExpectRefused(report + run + "/control.json", 5, "found an input of this program");
  ExpectRefused(report + run + "/control.json --force", 5, "found an input of this program");
  fs::create_hard_link(run + "/control.json", Path("other"));
  ExpectRefused(report + Path("other") + " --force", 5, "found an input of this program");
  fs::create_symlink(Path("page.html"), Path("link.html"));
  ExpectRefused(report + Path("link.html"), 5, "found a link");
  ExpectRefused(report + "/dev/full", 5, "found a device");
  Write("mine.txt", "mine");
  ExpectRefused(report + Path("mine.txt"), 2, "a file that report did not make");
  EXPECT_EQ(Execute(report + Path("mine.txt") + " --force").code, 0);
  const std::string exported = kExport + " " + run + " --to bvh --output ";
  ExpectRefused(exported + run + "/motion.bvh --force", 5, "found an input of this program");
  ExpectRefused(exported + run + " --force", 5, "found an input of this program");
}

TEST_F(Integrity, Row04ARunNeverReplacesTheRecordingThatItReads) {
  const std::string run = TinyRun("run");
  const std::string again = kReconstruct + " " + run + "/reference.bvh" + kTiny + "--force --output ";
  ExpectRefused(again + run, 5, "found an input of this program");
  fs::create_symlink(run, Path("link"));
  ExpectRefused(again + Path("link"), 5, "found an input of this program");
  ExpectRefused(kReplay + " " + run + " --force --output " + run, 5, "found an input of this program");
}

/// Edited while the run is under way, the clip is recorded as it was read.
/// Whatever file of a run is changed, verification names it, and what shows the run says so.
TEST_F(Integrity, Row08AChangedRunDoesNotVerify) {
  const std::string run = TinyRun("run", "--sample-costs ");
  ASSERT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
  const auto names_it = [&](const std::string& program, const std::string& file, const std::string& what) {
    const Outcome outcome = Execute(program);
    EXPECT_EQ(outcome.code, 4) << program << "\n" << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr(run + "/" + file + ": " + what)) << program;
  };
  for (const char* file :
       {"motion.bvh", "reference.bvh", "trajectory.csv", "contacts.csv", "torques.csv", "body_contacts.csv",
        "contact_totals.csv", "contact_summary.csv", "pressure.csv", "costs.csv", "samples.csv", "filmstrip.svg"}) {
    const std::string path = run + "/" + file;
    const std::string bytes = io::ReadFile(path);
    const size_t digit = bytes.find_last_of("123456789");
    std::string changed = bytes;
    changed[digit] = changed[digit] == '1' ? '2' : '1';
    io::WriteFile(path, changed);
    names_it(kReplay + " " + run + " --verify", file, "was changed since the run was written");
    fs::remove(path);
    names_it(kReplay + " " + run + " --verify", file, "was removed since the run was written");
    io::WriteFile(path, bytes);
  }
  fs::copy_file(run + "/motion.bvh", run + "/reference.bvh", fs::copy_options::overwrite_existing);
  names_it(kReplay + " " + run + " --verify", "reference.bvh", "was changed");
  names_it(kExport + " " + run + " --to bvh", "reference.bvh", "was changed");
}

TEST_F(Integrity, Row08TheManifestIsSealed) {
  const std::string run = TinyRun("run");
  const std::string path = run + "/manifest.json";
  const io::Json manifest = io::ReadJson(path);
  const auto expect = [&](const io::Json& changed, const std::string& message) {
    io::WriteFile(path, changed.dump(2));
    const Outcome outcome = Execute(kReplay + " " + run + " --verify");
    EXPECT_EQ(outcome.code, 4) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr(path + ": " + message));
  };
  io::Json changed = manifest;
  changed["success"] = !manifest["success"].get<bool>();
  expect(changed, "was changed since the run was written");
  changed = manifest;
  changed["evaluation"]["drift"] = 0;
  expect(changed, "was changed since the run was written");
  changed = manifest;
  changed.erase("seal");
  expect(changed, "has no seal");
  changed["version"] = 1;  // which had none
  changed["seal"] = manifest["seal"];
  expect(changed, "was changed since the run was written");
  changed = manifest;
  changed.erase("version");
  expect(changed, "is not the manifest of a run");
  // Found by scripts/check/attack: another JSON document had neither a seal nor a list of files to compare.
  expect(io::ReadJson(run + "/control.json"), "is not the manifest of a run");
  io::WriteFile(path, manifest.dump());  // the same content in another layout
  EXPECT_EQ(Execute(kReplay + " " + run + " --verify").code, 0);
}

TEST_F(Integrity, Row09TheManifestHasTheHashOfWhatWasRead) {
  const std::string clip = Write("clip.bvh", io::ReadFile(kWalkClip));
  const std::string hash = io::Sha256(io::ReadFile(clip));
  const std::string command = kReconstruct + " " + clip +
                              " --end 0.8 --method sampling --samples 300 --saved 40 --threads 1" +
                              " --progress none --output " + Path("run");
  const Outcome outcome =
      Execute(Once(Path("run") + "/checkpoint", "echo >> " + clip) + command + "; code=$?; wait; exit $code");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(io::Sha256(io::ReadFile(clip)), hash);
  const io::Json manifest = io::ReadJson(Path("run") + "/manifest.json");
  EXPECT_EQ(manifest["inputs"][0]["role"], "clip");
  EXPECT_EQ(manifest["inputs"][0]["sha256"], hash);
}

TEST_F(Integrity, Row15OutputThatIsLostIsAnError) {
  const std::string run = TinyRun("run");
  for (const std::string& command :
       {kInspect + " " + kClip + " --json", kReconstruct + " --print-config", kReplay + " " + run + " --verify",
        kReplay + " " + run + " --push-table trunk --push-forces 25 --push-times 0.1", kReconstruct + " --help",
        kReplay + " --version"}) {
    const Outcome outcome = Execute(command + " > /dev/full");
    EXPECT_EQ(outcome.code, 5) << command;
    EXPECT_THAT(outcome.text, HasSubstr("standard output: cannot be written: ")) << command;
  }
}

TEST_F(Integrity, Row16WhatIsNoFileIsNotRead) {
  ASSERT_EQ(Execute("mkfifo " + Path("pipe.bvh")).code, 0);
  std::ofstream(Path("sparse.bvh")).close();
  fs::resize_file(Path("sparse.bvh"), uint64_t{20} << 30);
  fs::create_symlink("/dev/zero", Path("zero.bvh"));
  fs::create_symlink("/dev/zero", Path("zero.json"));
  ExpectRefusals(kReconstruct, {{Path("pipe.bvh") + " --dry-run", 3, "found a pipe"},
                                {Path("sparse.bvh") + " --dry-run", 3, "found 21474836480 bytes"},
                                {Path("zero.bvh") + " --dry-run", 3, "found a device"},
                                {kClip + " --dry-run --map " + Path("zero.json"), 3, "found a device"},
                                {kClip + " --dry-run --config " + Path("zero.json"), 3, "found a device"},
                                {kClip + " --dry-run --character " + Path("zero.json"), 3, "found a device"}});
}

}  // namespace
}  // namespace retrace::apps
