#include "retrace/runs/inputs/inputs.h"

#include <gtest/gtest.h>

#include <vector>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "sample_folder.h"

namespace retrace::runs {
namespace {

TEST(Inputs, WhatIsParsedAndHashedAreTheSameBytes) {
  const SampleFolder samples;
  const std::filesystem::path path = samples / "a.json";
  io::WriteFile(path, "{\"a\": 1}");
  const InputFile file = ReadInput({"configuration", path});
  io::WriteFile(path, "{\"a\": 2}");
  EXPECT_EQ(file.Parse()["a"], 1);
  EXPECT_EQ(file.record.sha256, io::Sha256("{\"a\": 1}"));
  EXPECT_EQ(file.record.name.role, "configuration");
  EXPECT_EQ(file.record.name.path, path);
  EXPECT_FALSE(file.record.in_memory);
}

TEST(Inputs, AreFoundByTheirRoles) {
  const SampleFolder samples;
  io::WriteFile(samples / "a", "");
  io::WriteFile(samples / "b", "abc");
  const std::vector<InputFile> files = ReadInputs({{kClipRole, samples / "a"}, {"world 1", samples / "b"}});
  EXPECT_EQ(FindInput(files, "world 1"), &files[1]);
  EXPECT_EQ(FindInput(files, "world 1")->bytes, "abc");
  EXPECT_EQ(FindInput(files, "world 2"), nullptr);
  const std::vector<InputRecord> records = RecordsOf(files);
  ASSERT_EQ(records.size(), 2u);
  // SHA-256 of the empty text and of abc (FIPS 180-2).
  EXPECT_EQ(records[0].sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(records[1].sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Inputs, ContentThatWasGivenHasNoFile) {
  const std::vector<InputRecord> records = {{{kClipRole, "clip.bvh"}, "aa", true}, {{"character", "c.json"}, "bb"}};
  EXPECT_EQ(PathsOf(records), std::vector<std::filesystem::path>{"c.json"});
  EXPECT_EQ(ToJson(records), io::ParseJson(R"([{"file": "clip.bvh", "role": "clip", "sha256": "aa", "in_memory": true},
                              {"file": "c.json", "role": "character", "sha256": "bb"}])",
                                           "expected"));
}

TEST(Inputs, RefusesFilesThatCannotBeReadOrParsed) {
  const SampleFolder samples;
  EXPECT_THROW(ReadInput({kClipRole, samples / "none"}), InputError);
  io::WriteFile(samples / "a.json", "{");
  EXPECT_THROW(ReadInput({"configuration", samples / "a.json"}).Parse(), InputError);
}

}  // namespace
}  // namespace retrace::runs
