#include "recordings/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "recordings/npz_writer.h"
#include "retrace/io/error.h"

namespace retrace::recordings {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string RefusalOf(const std::string& bytes) {
  try {
    ParseNpz(bytes, "a.npz");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Npz, ReadsNumbersOfAnyOrder) {
  NpzWriter writer;
  writer.Add("rows", "<f8", {2, 3}, {1, 2, 3, 4, 5, 6});
  writer.Add("columns", "F<f8", {2, 3}, {1, 2, 3, 4, 5, 6});
  writer.Add("single", "<f4", {2}, {0.5, -2});
  writer.Add("big", ">f8", {1}, {1e-300});
  writer.Add("number", "<f8", {}, {7});
  writer.Add("none", "<f8", {0, 3}, {});
  const auto arrays = ParseNpz(writer.Bytes(), "a.npz");
  ASSERT_EQ(arrays.size(), 6u);
  EXPECT_THAT(arrays.at("rows").shape, ElementsAre(2, 3));
  EXPECT_THAT(arrays.at("rows").values, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(arrays.at("columns").values, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(arrays.at("single").values, ElementsAre(0.5, -2));
  EXPECT_THAT(arrays.at("big").values, ElementsAre(1e-300));
  EXPECT_TRUE(arrays.at("number").shape.empty());
  EXPECT_THAT(arrays.at("number").values, ElementsAre(7));
  EXPECT_TRUE(arrays.at("none").values.empty());
}

/// The bytes of an array file with a header of its own.
std::string NpyOf(const std::string& type, const std::string& shape, const std::string& data) {
  std::string text = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }\n";
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(text.size() & 255);
  header += static_cast<char>(text.size() >> 8);
  return header + text + data;
}

std::vector<double> ValuesOf(const std::string& type, const std::string& shape, const std::string& data) {
  NpzWriter writer;
  writer.AddFile("a", NpyOf(type, shape, data));
  return ParseNpz(writer.Bytes(), "a.npz").at("a").values;
}

TEST(Npz, ReadsWholeNumbersAndHalves) {
  using namespace std::string_literals;
  EXPECT_THAT(ValuesOf("<i2", "2,", "\x01\x00\xff\xff"s), ElementsAre(1, -1));
  EXPECT_THAT(ValuesOf(">i2", "2,", "\x01\x00\xff\xfe"s), ElementsAre(256, -2));
  EXPECT_THAT(ValuesOf("|u1", "3,", "\x00\x7f\xff"s), ElementsAre(0, 127, 255));
  EXPECT_THAT(ValuesOf("|b1", "2,", "\x00\x01"s), ElementsAre(0, 1));
  EXPECT_THAT(ValuesOf("<i4", "1,", "\x00\x00\x00\x80"s), ElementsAre(-2147483648.0));
  // IEEE 754 binary16: 1, -2, 65504, the smallest one above 0, infinity.
  EXPECT_THAT(ValuesOf("<f2", "5,", "\x00\x3c\x00\xc0\xff\x7b\x01\x00\x00\x7c"s),
              ElementsAre(1, -2, 65504, std::ldexp(1, -24), INFINITY));
}

TEST(Npz, WhatIsNoNumberHasNoValues) {
  NpzWriter writer;
  writer.AddObject("names");
  writer.Add("a", "<f8", {1}, {3});
  const auto arrays = ParseNpz(writer.Bytes(), "a.npz");
  EXPECT_EQ(arrays.at("names").unread, "|O");
  EXPECT_TRUE(arrays.at("names").values.empty());
  EXPECT_EQ(arrays.at("a").unread, "");
}

TEST(Npz, RefusesAnArrayOfNoType) {
  // It would have a shape and no values.
  try {
    ValuesOf("", "2, 66", "");
    FAIL() << "read";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("found another header, expected one with descr, fortran_order and shape"));
  }
}

TEST(Npz, RefusesArraysOfAnotherLengthAndHugeOnes) {
  using namespace std::string_literals;
  NpzWriter shorter, longer, huge, wrapped;
  shorter.AddFile("a", NpyOf("<f8", "2,", std::string(12, '\0')));
  EXPECT_THAT(RefusalOf(shorter.Bytes()), HasSubstr("a.npz: a: found an end after 1 numbers, expected 2 numbers"));
  longer.AddFile("a", NpyOf("<f8", "1,", std::string(9, '\0')));
  EXPECT_THAT(RefusalOf(longer.Bytes()),
              HasSubstr("found more bytes after 1 numbers, expected as many as its shape says"));
  huge.AddHeaderOnly("a", "<f8", {1000000, 1000000});
  EXPECT_THAT(RefusalOf(huge.Bytes()), HasSubstr("found an array of 1000000 x 1000000, expected at most "));
  wrapped.AddHeaderOnly("a", "<f8", {size_t{1} << 32, size_t{1} << 32});  // whose product is 0 in 64 bits
  EXPECT_THAT(RefusalOf(wrapped.Bytes()), HasSubstr("expected at most "));
}

TEST(Npz, RefusesWhatIsNoArchiveOrDamaged) {
  EXPECT_THAT(RefusalOf(""), HasSubstr("a.npz: found an empty file, expected an archive of arrays"));
  EXPECT_THAT(RefusalOf("no archive"), HasSubstr("found what is no zip archive"));
  NpzWriter writer;
  writer.Add("a", "<f8", {100}, std::vector<double>(100, 1.5));
  std::string bytes = writer.Bytes();
  EXPECT_EQ(RefusalOf(bytes), "");
  for (size_t at = 0; at < bytes.size(); at += 7) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    try {
      ParseNpz(damaged, "a.npz");  // what says nothing of the numbers may differ
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("a.npz"));
    }
  }
  NpzWriter no_header;
  no_header.AddFile("a", "\x93NUMPZ");
  EXPECT_NE(RefusalOf(no_header.Bytes()), "");
}

}  // namespace
}  // namespace retrace::recordings
