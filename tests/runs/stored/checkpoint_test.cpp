#include "retrace/runs/stored/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "sample_folder.h"

namespace retrace::runs {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Earlier = Checkpoint::Earlier;

const io::Json kIdentity = {{"clip", "aa"}, {"seed", 1}};

parallel::Bytes RecordOf(int value, size_t size = 100) {
  return parallel::Bytes(size, static_cast<std::byte>(value));
}

TEST(Checkpoint, GivesBackWhatWasAppendedInItsOrder) {
  const SampleFolder samples;
  EXPECT_FALSE(Checkpoint::Exists(samples.path()));
  {
    Checkpoint checkpoint(samples.path(), kIdentity, Earlier::kResume);
    EXPECT_FALSE(checkpoint.Resumes());
    parallel::Bytes record;
    EXPECT_FALSE(checkpoint.Next(record));
    for (const int value : {1, 2, 3}) checkpoint.Append(RecordOf(value));
    checkpoint.Flush();
  }
  EXPECT_TRUE(Checkpoint::Exists(samples.path()));
  Checkpoint checkpoint(samples.path(), kIdentity, Earlier::kResume);
  EXPECT_TRUE(checkpoint.Resumes());
  parallel::Bytes record;
  for (const int value : {1, 2, 3}) {
    ASSERT_TRUE(checkpoint.Next(record));
    EXPECT_EQ(record, RecordOf(value));
  }
  EXPECT_FALSE(checkpoint.Next(record));
  checkpoint.Append(RecordOf(4));
  checkpoint.Remove();
  EXPECT_FALSE(Checkpoint::Exists(samples.path()));
}

TEST(Checkpoint, OneOfAnotherRunIsRefusedOrReplaced) {
  const SampleFolder samples;
  Checkpoint(samples.path(), kIdentity, Earlier::kReplace).Append(RecordOf(1));
  const io::Json other = {{"clip", "aa"}, {"seed", 2}};
  EXPECT_THAT([&] { Checkpoint(samples.path(), other, Earlier::kResume); },
              ThrowsMessage<UsageError>(
                  testing::AllOf(HasSubstr("checkpoint: found the checkpoint of another run: "), HasSubstr("seed"))));
  EXPECT_TRUE(Checkpoint(samples.path(), kIdentity, Earlier::kResumeIfSame).Resumes());
  parallel::Bytes record;
  {
    Checkpoint replacing(samples.path(), other, Earlier::kResumeIfSame);
    EXPECT_FALSE(replacing.Resumes());
    EXPECT_FALSE(replacing.Next(record));
  }
  Checkpoint(samples.path(), other, Earlier::kReplace);
  EXPECT_FALSE(Checkpoint(samples.path(), other, Earlier::kResume).Next(record));
}

TEST(Checkpoint, ADamagedOneIsRefusedOrReplaced) {
  const SampleFolder samples;
  const std::filesystem::path file = samples / kCheckpointFile;
  for (const std::string bytes : {"", "no checkpoint", "{\"format\": \"retrace-checkpoint\"}"}) {
    io::WriteFile(file, bytes);
    EXPECT_THROW(Checkpoint(samples.path(), kIdentity, Earlier::kResume), InputError) << bytes;
    EXPECT_FALSE(Checkpoint(samples.path(), kIdentity, Earlier::kResumeIfSame).Resumes());
  }
}

/// A process that ends in the middle of a record leaves a part of it.
TEST(Checkpoint, APartOfARecordAtTheEndIsLeftOut) {
  const SampleFolder samples;
  {
    Checkpoint checkpoint(samples.path(), kIdentity, Earlier::kReplace);
    checkpoint.Append(RecordOf(1));
    checkpoint.Append(RecordOf(2));
  }
  const std::filesystem::path file = samples / kCheckpointFile;
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 10);
  parallel::Bytes record;
  {
    Checkpoint checkpoint(samples.path(), kIdentity, Earlier::kResume);
    ASSERT_TRUE(checkpoint.Next(record));
    EXPECT_EQ(record, RecordOf(1));
    EXPECT_FALSE(checkpoint.Next(record));
    checkpoint.Append(RecordOf(3));
  }
  Checkpoint again(samples.path(), kIdentity, Earlier::kResume);
  ASSERT_TRUE(again.Next(record));
  ASSERT_TRUE(again.Next(record));
  EXPECT_EQ(record, RecordOf(3));
}

TEST(Checkpoint, ABoundedOneIsFullAfter64MegabytesAndTheOtherNever) {
  const SampleFolder bounded_folder, all_folder;
  std::optional<Checkpoint> bounded(std::in_place, bounded_folder.path(), kIdentity, Earlier::kReplace);
  Checkpoint all(all_folder.path(), kIdentity, Earlier::kReplace, Checkpoint::Kept::kAll);
  const parallel::Bytes record = RecordOf(1, size_t{1} << 24);
  for (int written = 0; written < 3; ++written) {
    bounded->Append(record);
    EXPECT_FALSE(bounded->IsFull()) << written;
  }
  for (int written = 0; written < 2; ++written) {
    bounded->Append(record);
    all.Append(record);
  }
  EXPECT_TRUE(bounded->IsFull());
  for (int written = 0; written < 3; ++written) all.Append(record);
  EXPECT_FALSE(all.IsFull());
  // The state of the search replaces the iterations.
  bounded->Restart([](const io::Pieces& write) { write(RecordOf(7)); });
  EXPECT_FALSE(bounded->IsFull());
  EXPECT_LT(std::filesystem::file_size(bounded_folder / kCheckpointFile), 10000u);
  bounded.reset();
  Checkpoint resumed(bounded_folder.path(), kIdentity, Earlier::kResume);
  parallel::Bytes state;
  ASSERT_TRUE(resumed.Next(state));
  EXPECT_EQ(state, RecordOf(7));
}

}  // namespace
}  // namespace retrace::runs
