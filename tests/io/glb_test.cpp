/// Binary glTF: what is written is read, and files that are not whole are refused with their position.
#include "retrace/io/glb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "retrace/io/error.h"

namespace retrace::io::glb {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Reader Read(Writer& writer) {
  static std::string bytes;  // the reader's numbers are in there
  bytes = writer.Bytes();
  return Reader(bytes, "a.glb");
}

Json Entry(const Reader& file, const char* list, size_t index) {
  return file.root()[list][index].json();
}

template <typename Value>
Reader::Numbers RoundTrip(const std::vector<Value>& values, int components, const char* type, ComponentType component,
                          bool normalized = false) {
  Writer writer("test");
  writer.AddAccessor(std::vector<uint8_t>{1}, 1);  // so that the next one begins after padding
  writer.json()["chosen"] = writer.AddAccessor(values, components, kNoTarget, false, normalized);
  const Reader file = Read(writer);
  return file.Read(file.root()["chosen"], type, {component}, 100);
}

TEST(Glb, NumbersOfAllTypesComeBack) {
  EXPECT_THAT(RoundTrip<float>({0.5f, -1, 2, 3, 4, 5}, 3, "VEC3", kFloat).values, ElementsAre(0.5, -1, 2, 3, 4, 5));
  EXPECT_THAT(RoundTrip<uint32_t>({4000000000u, 7}, 1, "SCALAR", kUnsignedInt).values, ElementsAre(4e9, 7));
  EXPECT_THAT(RoundTrip<uint16_t>({1, 2, 3, 65535}, 4, "VEC4", kUnsignedShort).values, ElementsAre(1, 2, 3, 65535));
  EXPECT_THAT(RoundTrip<uint8_t>({255, 0, 0, 51}, 4, "VEC4", kUnsignedByte, true).values, ElementsAre(1, 0, 0, 0.2));
  const Reader::Numbers matrix = RoundTrip<float>(std::vector<float>(32, 1.5f), 16, "MAT4", kFloat);
  EXPECT_EQ(matrix.rows, 2u);
  EXPECT_EQ(matrix.columns, 16u);
}

TEST(Glb, StatesBoundsAndTargetsWhereTheyAreWanted) {
  Writer writer("test 1");
  writer.AddAccessor(std::vector<float>{1, -2, 3, 0.5f}, 2, kArrayBuffer, true);
  writer.AddAccessor(std::vector<uint32_t>{1, 2, 3}, 1);
  const Reader file = Read(writer);
  EXPECT_EQ(Entry(file, "accessors", 0)["min"], Json({1.0, -2.0}));
  EXPECT_EQ(Entry(file, "accessors", 0)["max"], Json({3.0, 0.5}));
  EXPECT_EQ(Entry(file, "bufferViews", 0)["target"], 34962);
  EXPECT_FALSE(Entry(file, "accessors", 1).contains("min"));
  EXPECT_FALSE(Entry(file, "bufferViews", 1).contains("target"));
  EXPECT_EQ(file.root()["asset"]["generator"].String(), "test 1");
  EXPECT_EQ(file.root()["asset"]["version"].String(), "2.0");
}

TEST(Glb, PushCountsTheEntriesOfAList) {
  Writer writer("test");
  EXPECT_EQ(writer.Push("nodes", {{"name", "a"}}), 0);
  EXPECT_EQ(writer.Push("nodes", {{"name", "b"}}), 1);
  EXPECT_EQ(writer.Push("meshes", {{"name", "c"}}), 0);
  EXPECT_EQ(Entry(Read(writer), "nodes", 1)["name"], "b");
}

std::string Refusal(const std::string& bytes) {
  try {
    Reader(bytes, "a.glb");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Glb, RefusesWhatIsCutOff) {
  Writer writer("test");
  writer.AddAccessor(std::vector<float>{1, 2, 3}, 3);
  const std::string bytes = writer.Bytes();
  EXPECT_EQ(Refusal(bytes), "");
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_THAT(Refusal(bytes.substr(0, size)), HasSubstr("a.glb"));
}

TEST(Glb, RefusesNumbersBeyondTheBuffer) {
  Writer writer("test");
  writer.AddAccessor(std::vector<float>{1, 2, 3}, 3);
  writer.json()["accessors"][0]["count"] = 2;
  writer.json()["chosen"] = 0;
  const Reader file = Read(writer);
  EXPECT_THROW(file.Read(file.root()["chosen"], "VEC3", {kFloat}, 100), InputError);
}

}  // namespace
}  // namespace retrace::io::glb
