/// What holds for the options of all methods: no number outside its range is valid, and each is named.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <type_traits>

#include "retrace/io/describe.h"

namespace retrace {

/// Takes the number of a field far out of any range.
class NumberTaker final : public io::UniformVisitor<NumberTaker> {
 public:
  explicit NumberTaker(int index) : index_(index) {}

  template <typename T, typename Kind>
  void Visit(const io::Setting& setting, T& value, const Kind&) {
    if constexpr (std::is_same_v<T, double>) {
      if (next_++ == index_) Take(setting, value, std::numeric_limits<double>::quiet_NaN());
    } else if constexpr (std::is_same_v<T, int>) {
      if (next_++ == index_) Take(setting, value, std::numeric_limits<int>::min());
    }
  }
  void Section(const io::Setting&, const Fields& fields) override { fields(*this); }

  const std::string& name() const { return name_; }

 private:
  template <typename T>
  void Take(const io::Setting& setting, T& value, T number) {
    name_ = setting.key;
    value = number;
  }

  int index_;
  int next_ = 0;
  std::string name_;
};

/// @return how many numbers there are
template <typename Options>
int ExpectEveryNumberHasARange() {
  EXPECT_EQ(Options().Validate(), std::nullopt);
  for (int index = 0;; ++index) {
    Options options;
    NumberTaker taker(index);
    Describe(options, taker);
    if (taker.name().empty()) return index;
    const std::optional<std::string> problem = options.Validate();
    EXPECT_TRUE(problem) << taker.name();
    if (problem) {
      EXPECT_NE(problem->find(taker.name()), std::string::npos) << *problem;
    }
  }
}

}  // namespace retrace
