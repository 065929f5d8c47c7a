#include "retrace/results/provenance.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

namespace retrace::results {
namespace {

TEST(Provenance, SaysWhatWhereAndWhen) {
  const RunTimer timer;
  const io::Json json = Provenance(timer, {{"ode", "0.16.2"}, {"open_mpi", "4.1.4"}});
  EXPECT_TRUE(Version().starts_with(json["version"].get<std::string>()));
  EXPECT_TRUE(std::regex_match(json["version"].get<std::string>(), std::regex("[0-9]+\\.[0-9]+\\.[0-9]+")));
  EXPECT_FALSE(json["revision"].get<std::string>().empty());
  EXPECT_FALSE(json["compiler"].get<std::string>().empty());
  EXPECT_FALSE(json["host"].get<std::string>().empty());
  EXPECT_GE(json["hardware_threads"], 1);
  EXPECT_TRUE(json["libraries"].contains("eigen"));
  EXPECT_EQ(json["libraries"]["ode"], "0.16.2");
  EXPECT_EQ(json["libraries"]["open_mpi"], "4.1.4");
  EXPECT_TRUE(std::regex_match(json["finished"].get<std::string>(),
                               std::regex("20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z")));
}

TEST(Provenance, TimerCountsWorkOfTheProcess) {
  const RunTimer timer;
  double sum = 0;
  while (timer.CpuSeconds() < 0.02) {
    for (int i = 1; i < 1000; ++i) sum += std::sqrt(sum + i);
  }
  EXPECT_GT(sum, 0);
  EXPECT_GT(timer.WallSeconds(), 0);
  const io::Json json = Provenance(timer);
  EXPECT_GE(json["cpu_seconds"], 0.02);
  EXPECT_GT(json["wall_seconds"], 0);
}

}  // namespace
}  // namespace retrace::results
