/// The laws that every task farm keeps, whatever computes its tasks, and the worker that they are checked with.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "retrace/io/error.h"
#include "retrace/parallel/task_farm.h"

namespace retrace::parallel::laws {

/// What a task requires of the worker.
struct Order {
  enum Kind : uint32_t { kNumbers, kSleep, kInputError, kBelowGate, kRuntimeError, kNoException };
  Kind kind = kNumbers;
  uint32_t seed = 0;
  uint32_t size = 0;  // length of the result, or milliseconds of sleep
};

inline Bytes Pack(const Order& order) {
  Bytes bytes(sizeof order);
  std::memcpy(bytes.data(), &order, sizeof order);
  return bytes;
}

/// A result that shows every byte of its order.
inline Bytes Numbers(const Order& order) {
  Bytes bytes(order.size);
  uint32_t state = order.seed * 2654435761U + order.size;
  for (std::byte& byte : bytes) {
    state = state * 1664525U + 1013904223U;
    byte = static_cast<std::byte>(state >> 24U);
  }
  return bytes;
}

inline void Work(std::span<const std::byte> task, Bytes& result) {
  EXPECT_TRUE(result.empty());
  Order order;
  ASSERT_EQ(task.size(), sizeof order);
  std::memcpy(&order, task.data(), sizeof order);
  const std::string what = "task of seed " + std::to_string(order.seed);
  switch (order.kind) {
    case Order::kNumbers:
      result = Numbers(order);
      return;
    case Order::kSleep:
      std::this_thread::sleep_for(std::chrono::milliseconds(order.size));
      result = Pack(order);
      return;
    case Order::kInputError:
      throw InputError(what);
    case Order::kBelowGate:
      throw Error(ExitCode::kBelowGate, what);
    case Order::kRuntimeError:
      throw std::out_of_range(what);
    case Order::kNoException:
      throw 42;
  }
}

inline Worker MakeWorker() {
  return Work;
}

/// Results have the lengths that messages treat differently: none, a few bytes, and too many to be sent at once.
inline std::vector<Order> MixedOrders(uint32_t count) {
  constexpr uint32_t kSizes[] = {0, 1, 7, 480, 5000, 70000};
  std::vector<Order> orders;
  for (uint32_t i = 0; i < count; ++i) orders.push_back({Order::kNumbers, i, kSizes[(i * 7 + i / 5) % 6]});
  return orders;
}

inline std::vector<Bytes> Pack(const std::vector<Order>& orders) {
  std::vector<Bytes> tasks;
  for (const Order& order : orders) tasks.push_back(Pack(order));
  return tasks;
}

/// Results by task, each checked to come once.
inline std::vector<Bytes> Collect(TaskFarm& farm, const std::vector<Bytes>& tasks) {
  std::vector<Bytes> results(tasks.size());
  std::vector<int> times(tasks.size(), 0);
  farm.Run(tasks, [&](size_t index, std::span<const std::byte> result) {
    ASSERT_LT(index, tasks.size());
    ++times[index];
    results[index].assign(result.begin(), result.end());
  });
  EXPECT_EQ(times, std::vector<int>(tasks.size(), 1));
  return results;
}

inline void ComputesEveryTaskOnce(TaskFarm& farm) {
  for (const uint32_t count : {0U, 1U, 2U, 3U, 5U, 8U, 600U}) {
    const auto orders = MixedOrders(count);
    const auto results = Collect(farm, Pack(orders));
    for (uint32_t i = 0; i < count; ++i) EXPECT_EQ(results[i], Numbers(orders[i])) << "task " << i << " of " << count;
  }
}

inline void CopesWithUnevenTasks(TaskFarm& farm) {
  std::vector<Order> orders;
  for (uint32_t i = 0; i < 40; ++i) orders.push_back({Order::kSleep, i, i % 10 == 0 ? 20U : 0U});
  const auto results = Collect(farm, Pack(orders));
  for (size_t i = 0; i < orders.size(); ++i) EXPECT_EQ(results[i], Pack(orders[i]));
}

/// Runs tasks of which two fail, and returns the exception that arrives. The later one to fail is quicker to.
template <typename Exception>
std::string WhatArrives(TaskFarm& farm, Order::Kind kind) {
  auto orders = MixedOrders(600);  // so many that they are not done before the first failure arrives
  orders[20] = {Order::kSleep, 20, 5};
  orders[21].kind = kind;
  orders[21].seed = 1021;
  orders[22].kind = kind;
  orders[22].seed = 1022;
  std::set<size_t> handled;
  std::string message;
  try {
    farm.Run(Pack(orders), [&](size_t index, auto) { handled.insert(index); });
    ADD_FAILURE() << "no exception arrived";
  } catch (const Exception& exception) {
    message = exception.what();
  }
  EXPECT_EQ(handled.count(21) + handled.count(22), 0);
  EXPECT_LT(handled.size(), orders.size() - 2) << "the run went on";
  return message;
}

inline void RethrowsTheFirstException(TaskFarm& farm) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    EXPECT_THAT(WhatArrives<InputError>(farm, Order::kInputError), testing::HasSubstr("task of seed 1021"));
  }
  EXPECT_THAT(WhatArrives<std::exception>(farm, Order::kRuntimeError), testing::HasSubstr("task of seed 1021"));
  try {
    farm.Run(Pack(std::vector<Order>{{Order::kBelowGate, 5, 0}}), [](size_t, auto) {});
    ADD_FAILURE() << "no exception arrived";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kBelowGate);
  }
  ComputesEveryTaskOnce(farm);
}

inline void EndsWhenTheHandlerThrows(TaskFarm& farm) {
  const auto tasks = Pack(MixedOrders(200));
  size_t calls = 0;
  const auto run = [&] {
    farm.Run(tasks, [&](size_t, auto) {
      if (++calls == 10) throw OutputError("disk full");
    });
  };
  EXPECT_THROW(run(), OutputError);
  EXPECT_EQ(calls, 10) << "the handler was called after it had thrown";
  ComputesEveryTaskOnce(farm);
}

}  // namespace retrace::parallel::laws
