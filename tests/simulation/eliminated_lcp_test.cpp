#include "simulation/eliminated_lcp.h"

#include <gtest/gtest.h>
#include <ode/ode.h>

#include <atomic>
#include <cmath>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "simulation/lcp_humanoid.h"
#include "simulation/lcp_pattern.h"

// ---- allocations are counted ---------------------------------------------------------------------------------------

namespace {
std::atomic<int64_t> allocations = 0;

void* Allocate(size_t size, size_t alignment) {
  ++allocations;
  void* p = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
}  // namespace

void* operator new(size_t size) {
  return Allocate(size, alignof(std::max_align_t));
}
void* operator new(size_t size, std::align_val_t alignment) {
  return Allocate(size, static_cast<size_t>(alignment));
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, size_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete(void* p, size_t, std::align_val_t) noexcept {
  std::free(p);
}

namespace retrace::simulation::testing {
namespace {

// ---- a process with ODE --------------------------------------------------------------------------------------------

std::atomic<int> ode_messages = 0;  // "LCP internal error, s <= 0": then the stock solver has given up

class OdeEnvironment : public ::testing::Environment {
 public:
  void SetUp() override {
    dInitODE2(0);
    dAllocateODEDataForThread(dAllocateMaskAll);
    dSetMessageHandler([](int, const char*, va_list) { ++ode_messages; });
  }
  void TearDown() override { dCloseODE(); }
};
const ::testing::Environment* const kEnvironment = ::testing::AddGlobalTestEnvironment(new OdeEnvironment);

class EliminatedLcp : public ::testing::Test {
 protected:
  void SetUp() override {
    SelectLcpSolver(LcpSolver::kEliminated);
    ResetWarmStart();
    ThreadLcpStatistics() = {};
  }
  void TearDown() override {
    ObserveLcp(nullptr, nullptr);
    if (!SelectLcpKernels(LcpKernels::kAvx2)) SelectLcpKernels(LcpKernels::kBaseline);
  }
};

template <class States>
double PoseDifference(const States& a, const States& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t k = 0; k < 7; ++k) {
      const double difference = std::fabs(a[i][k] - b[i][k]);
      if (!(difference <= largest)) largest = difference;
    }
  }
  return largest;
}

bool SameBytes(const State& a, const State& b) {
  return std::memcmp(a.data(), b.data(), sizeof a) == 0;
}

/// Random targets around a pose, another one every tenth of a second.
class Wriggler {
 public:
  Wriggler(Humanoid& humanoid, const Pose& pose, unsigned seed) : humanoid_(humanoid), pose_(pose), random_(seed) {}
  void BeforeStep(int step) {
    if (step % 24 != 0) return;
    Pose target = pose_;
    for (Vec3& rotation : target) {
      for (int k = 0; k < 3; ++k) rotation[k] += uniform_(random_);
    }
    humanoid_.SetTargets(target);
  }

 private:
  Humanoid& humanoid_;
  Pose pose_;
  std::mt19937 random_;
  std::uniform_real_distribution<double> uniform_{-0.4, 0.4};
};

struct Scene {
  const char* name;
  State (*start)();
  Pose (*pose)();
};
const Scene kScenes[] = {{"stand", Standing, StandPose},
                         {"roll", Rolling, CurlPose},
                         {"lie", Lying, StandPose},
                         {"air", Airborne, StandPose}};

/// Steps from a scene's start and returns where it ended.
State Rollout(Humanoid& humanoid, const Scene& scene, unsigned seed, int steps) {
  Wriggler wriggler(humanoid, scene.pose(), seed);
  humanoid.Set(scene.start());
  ResetWarmStart();
  for (int step = 0; step < steps; ++step) {
    wriggler.BeforeStep(step);
    humanoid.Step();
  }
  return humanoid.Get();
}

// ---- the same physics ----------------------------------------------------------------------------------------------

TEST_F(EliminatedLcp, ProvesItself) {
  const LcpStatistics before = ThreadLcpStatistics();
  EXPECT_EQ(ProveEliminatedSolver(), std::nullopt);
  EXPECT_EQ(SelectedLcpSolver(), LcpSolver::kEliminated);
  EXPECT_EQ(ThreadLcpStatistics().calls, before.calls);
}

struct Comparison {
  int steps = 0, contacts = 0, given_up_by_stock = 0;
  double largest = 0;
};

/// Takes each step with both solvers from the same state.
Comparison CompareWithStock(Humanoid& humanoid, const Scene& scene, unsigned seed, int steps) {
  Comparison result;
  Wriggler wriggler(humanoid, scene.pose(), seed);
  humanoid.Set(scene.start());
  ResetWarmStart();
  for (int step = 0; step < steps; ++step) {
    wriggler.BeforeStep(step);
    const State start = humanoid.Get();
    humanoid.Set(start);
    const int messages = ode_messages;
    SelectLcpSolver(LcpSolver::kStock);
    humanoid.Step();
    const State expected = humanoid.Get();
    humanoid.Set(start);
    SelectLcpSolver(LcpSolver::kEliminated);
    result.contacts += humanoid.Step();
    ++result.steps;
    if (ode_messages != messages) {
      ++result.given_up_by_stock;
    } else {
      result.largest = std::max(result.largest, PoseDifference(humanoid.Get(), expected));
    }
  }
  return result;
}

TEST_F(EliminatedLcp, StepsLikeTheStockSolverWithServos) {
  for (const Scene& scene : kScenes) {
    SCOPED_TRACE(scene.name);
    Humanoid humanoid;
    const Comparison found = CompareWithStock(humanoid, scene, 1, 720);
    EXPECT_LT(found.largest, 1e-9);
    EXPECT_LT(found.given_up_by_stock, found.steps / 50);
    EXPECT_GT(found.contacts, found.steps);
  }
  const LcpStatistics& statistics = ThreadLcpStatistics();
  EXPECT_EQ(statistics.calls, 2u * 4 * 720);
  EXPECT_EQ(statistics.eliminated, 4u * 720);
  EXPECT_LT(statistics.fallbacks, statistics.eliminated / 5);
  EXPECT_LT(statistics.analyses, statistics.eliminated / 20);
}

TEST_F(EliminatedLcp, StepsLikeTheStockSolverWithoutServos) {
  for (const Scene& scene : kScenes) {
    SCOPED_TRACE(scene.name);
    Humanoid humanoid(false, 0.0005);
    const Comparison found = CompareWithStock(humanoid, scene, 2, 500);
    EXPECT_LT(found.largest, 1e-9);
    EXPECT_LT(found.given_up_by_stock, found.steps / 50);
  }
}

// ---- the conditions of the problem ---------------------------------------------------------------------------------

struct Violations {
  int problems = 0, known_limits = 0;
  double residual = 0;  // of w where it must vanish or have a sign, relative to the largest b
  double force = 0;     // beyond a limit, relative to the largest x
};

void CheckConditions(const SolvedLcp& lcp, void* context) {
  Violations& found = *static_cast<Violations*>(context);
  ++found.problems;
  if (!lcp.bounded_low.empty() || lcp.bounded_rows.empty()) ++found.known_limits;
  std::vector<double> low(lcp.rows), high(lcp.rows), w(lcp.rows);
  double largest_b = 1;
  double largest_x = 1;
  for (int i = 0; i < lcp.rows; ++i) {
    low[i] = lcp.low_and_high[2 * i];
    high[i] = lcp.low_and_high[2 * i + 1];
    // Limits of friction that are not known here: whatever x is, is one.
    if (lcp.friction_of[i] >= 0) low[i] = -std::fabs(lcp.rhs_and_x[2 * i + 1]), high[i] = -low[i];
    w[i] = -lcp.rhs_and_x[2 * i];
    for (int j = 0; j < lcp.rows; ++j) {
      w[i] += lcp.matrix[std::max(i, j) * lcp.row_skip + std::min(i, j)] * lcp.rhs_and_x[2 * j + 1];
    }
    largest_b = std::max(largest_b, std::fabs(lcp.rhs_and_x[2 * i]));
    largest_x = std::max(largest_x, std::fabs(lcp.rhs_and_x[2 * i + 1]));
  }
  for (size_t k = 0; k < lcp.bounded_low.size(); ++k) {
    low[lcp.bounded_rows[k]] = lcp.bounded_low[k];
    high[lcp.bounded_rows[k]] = lcp.bounded_high[k];
  }
  for (int i = 0; i < lcp.rows; ++i) {
    const double x = lcp.rhs_and_x[2 * i + 1];
    const double slack = 1e-10 * largest_x;
    found.force = std::max({found.force, (low[i] - x) / largest_x, (x - high[i]) / largest_x});
    if (x > low[i] + slack) found.residual = std::max(found.residual, w[i] / largest_b);    // not at the low limit
    if (x < high[i] - slack) found.residual = std::max(found.residual, -w[i] / largest_b);  // not at the high limit
  }
}

TEST_F(EliminatedLcp, SolutionsSatisfyTheConditions) {
  Violations found;
  ObserveLcp(CheckConditions, &found);
  for (const Scene& scene : kScenes) {
    Humanoid humanoid;
    Rollout(humanoid, scene, 3, 240);
  }
  EXPECT_EQ(found.problems, 4 * 240);
  EXPECT_GT(found.known_limits, found.problems / 2);
  EXPECT_LT(found.residual, 1e-9);
  EXPECT_LT(found.force, 1e-9);
}

// ---- the same bits -------------------------------------------------------------------------------------------------

TEST_F(EliminatedLcp, BothInstructionSetsGiveTheSameBits) {
  if (!SelectLcpKernels(LcpKernels::kAvx2)) GTEST_SKIP() << "no AVX2";
  for (const Scene& scene : kScenes) {
    SCOPED_TRACE(scene.name);
    Humanoid humanoid;
    SelectLcpKernels(LcpKernels::kAvx2);
    const State avx2 = Rollout(humanoid, scene, 4, 240);
    SelectLcpKernels(LcpKernels::kBaseline);
    EXPECT_TRUE(SameBytes(Rollout(humanoid, scene, 4, 240), avx2));
  }
}

TEST_F(EliminatedLcp, RolloutsDoNotDependOnWhatTheThreadDidBefore) {
  for (const Scene& scene : kScenes) {
    SCOPED_TRACE(scene.name);
    Humanoid humanoid;
    const State first = Rollout(humanoid, scene, 5, 120);
    EXPECT_TRUE(SameBytes(Rollout(humanoid, scene, 5, 120), first)) << "run again";
    for (const Scene& other : kScenes) Rollout(humanoid, other, 6, 60);
    EXPECT_TRUE(SameBytes(Rollout(humanoid, scene, 5, 120), first)) << "after other rollouts";
    Humanoid fresh;
    EXPECT_TRUE(SameBytes(Rollout(fresh, scene, 5, 120), first)) << "in a new world";
    State elsewhere;
    std::thread([&] {
      dAllocateODEDataForThread(dAllocateMaskAll);
      SelectLcpSolver(LcpSolver::kEliminated);
      Humanoid other;
      elsewhere = Rollout(other, scene, 5, 120);
      dCleanupODEAllDataForThread();
    }).join();
    EXPECT_TRUE(SameBytes(elsewhere, first)) << "in a new thread";
  }
}

TEST_F(EliminatedLcp, WorldsWithWarmStartsOfTheirOwnCanTakeTurns) {
  constexpr int kSteps = 120;
  std::vector<State> alone;
  for (const Scene& scene : kScenes) {
    Humanoid humanoid;
    alone.push_back(Rollout(humanoid, scene, 7, kSteps));
  }
  std::vector<std::unique_ptr<Humanoid>> humanoids;
  std::vector<Wriggler> wrigglers;
  std::vector<LcpWarmStart> warm_starts(std::size(kScenes));
  for (const Scene& scene : kScenes) {
    humanoids.push_back(std::make_unique<Humanoid>());
    humanoids.back()->Set(scene.start());
    wrigglers.emplace_back(*humanoids.back(), scene.pose(), 7);
  }
  for (int step = 0; step < kSteps; ++step) {
    for (size_t i = 0; i < humanoids.size(); ++i) {
      SelectLcpSolver(LcpSolver::kEliminated, &warm_starts[i]);
      wrigglers[i].BeforeStep(step);
      humanoids[i]->Step();
    }
  }
  SelectLcpSolver(LcpSolver::kEliminated);
  for (size_t i = 0; i < humanoids.size(); ++i) {
    EXPECT_TRUE(SameBytes(humanoids[i]->Get(), alone[i])) << kScenes[i].name;
  }
}

TEST_F(EliminatedLcp, ThreadsGiveTheSameBits) {
  constexpr int kThreads = 2;
  std::array<std::vector<State>, kThreads> ends;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&ends, t] {
      dAllocateODEDataForThread(dAllocateMaskAll);
      SelectLcpSolver(LcpSolver::kEliminated);
      Humanoid humanoid;
      for (unsigned seed = 0; seed < 4; ++seed) {
        for (const Scene& scene : kScenes) ends[t].push_back(Rollout(humanoid, scene, seed, 48));
      }
      dCleanupODEAllDataForThread();
    });
  }
  for (std::thread& thread : threads) thread.join();
  Humanoid humanoid;
  size_t k = 0;
  for (unsigned seed = 0; seed < 4; ++seed) {
    for (const Scene& scene : kScenes) {
      const State expected = Rollout(humanoid, scene, seed, 48);
      for (int t = 0; t < kThreads; ++t) EXPECT_TRUE(SameBytes(ends[t][k], expected)) << scene.name << seed;
      ++k;
    }
  }
}

// ---- resources and settings ----------------------------------------------------------------------------------------

TEST_F(EliminatedLcp, DoesNotAllocateOnceWarm) {
  Humanoid humanoid;
  for (const Scene& scene : kScenes) Rollout(humanoid, scene, 8, 120);
  const uint64_t analyses = ThreadLcpStatistics().analyses;
  const int64_t before = allocations;
  for (const Scene& scene : kScenes) Rollout(humanoid, scene, 8, 120);
  EXPECT_EQ(allocations - before, 0);
  EXPECT_EQ(ThreadLcpStatistics().analyses, analyses);
}

TEST_F(EliminatedLcp, StockIsTheDefaultOfAThreadAndGoesStraightToOde) {
  std::thread([] {
    dAllocateODEDataForThread(dAllocateMaskAll);
    EXPECT_EQ(SelectedLcpSolver(), LcpSolver::kStock);
    Humanoid humanoid;
    Rollout(humanoid, kScenes[0], 9, 10);
    EXPECT_EQ(ThreadLcpStatistics().calls, 10u);
    EXPECT_EQ(ThreadLcpStatistics().eliminated, 0u);
    EXPECT_EQ(ThreadLcpStatistics().analyses, 0u);
    dCleanupODEAllDataForThread();
  }).join();
}

// ---- other mechanisms ----------------------------------------------------------------------------------------------

/// A chain, or ring, of boxes with joints of all kinds and numbers of rows: some with stops, motors of limited force
/// and brakes, so that rows of joints are bounded, too, and lie between unbounded ones.
class Mechanism {
 public:
  static constexpr size_t kBodies = 9;
  using States = std::array<std::array<double, 13>, kBodies>;

  explicit Mechanism(bool ring) {
    dWorldSetStepThreadingImplementation(world_, dThreadingImplementationGetFunctions(threading_), threading_);
    dWorldSetGravity(world_, 0, -9.81, 0);
    dWorldSetCFM(world_, 1e-8);
    for (size_t i = 0; i < kBodies; ++i) {
      const double angle = 2 * kPi * static_cast<double>(i) / kBodies;
      dMass mass;
      dMassSetBoxTotal(&mass, 1 + 0.3 * static_cast<double>(i), 0.2, 0.1, 0.15);
      bodies_[i] = dBodyCreate(world_);
      dBodySetMass(bodies_[i], &mass);
      dBodySetPosition(bodies_[i], std::cos(angle), 0.2 + 0.1 * std::sin(angle), std::sin(angle));
      dBodySetAngularVel(bodies_[i], 0.5, -0.3 * static_cast<double>(i % 3), 0.2);
    }
    for (size_t i = 0; i + 1 < kBodies; ++i) Connect(i, i + 1, static_cast<int>(i));
    if (ring) Connect(kBodies - 1, 0, 0);
  }
  ~Mechanism() {
    dJointGroupDestroy(contacts_);
    dWorldDestroy(world_);
    dThreadingFreeImplementation(threading_);
  }
  Mechanism(const Mechanism&) = delete;
  Mechanism& operator=(const Mechanism&) = delete;

  void Step() {
    for (const dBodyID body : bodies_) {
      const dReal* p = dBodyGetPosition(body);
      if (p[1] > 0.1) continue;
      dContact contact{};
      contact.surface.mode = dContactApprox1 | dContactSoftCFM;
      contact.surface.mu = 0.5;
      contact.surface.soft_cfm = 1e-5;
      std::copy_n(p, 3, contact.geom.pos);
      contact.geom.pos[1] -= 0.1;
      contact.geom.normal[1] = 1;
      contact.geom.depth = 0.1 - p[1];
      dJointAttach(dJointCreateContact(world_, contacts_, &contact), body, nullptr);
    }
    dWorldStep(world_, 0.002);
    dJointGroupEmpty(contacts_);
  }
  States Get() const {
    States states;
    for (size_t i = 0; i < kBodies; ++i) {
      double* to = states[i].data();
      to = std::copy_n(dBodyGetPosition(bodies_[i]), 3, to);
      to = std::copy_n(dBodyGetQuaternion(bodies_[i]), 4, to);
      to = std::copy_n(dBodyGetLinearVel(bodies_[i]), 3, to);
      std::copy_n(dBodyGetAngularVel(bodies_[i]), 3, to);
    }
    return states;
  }
  void Set(const States& states) {
    for (size_t i = 0; i < kBodies; ++i) {
      const auto& s = states[i];
      const dQuaternion q = {s[3], s[4], s[5], s[6]};
      dBodySetPosition(bodies_[i], s[0], s[1], s[2]);
      dBodySetQuaternion(bodies_[i], q);
      dBodySetLinearVel(bodies_[i], s[7], s[8], s[9]);
      dBodySetAngularVel(bodies_[i], s[10], s[11], s[12]);
    }
  }

 private:
  void Connect(size_t a, size_t b, int kind) {
    const dReal* p = dBodyGetPosition(bodies_[a]);
    const dReal* q = dBodyGetPosition(bodies_[b]);
    const Vec3 middle(0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1]), 0.5 * (p[2] + q[2]));
    const auto attach = [&](dJointID joint) {
      dJointAttach(joint, bodies_[a], bodies_[b]);
      return joint;
    };
    switch (kind % 5) {
      case 0:
        dJointSetBallAnchor(attach(dJointCreateBall(world_, nullptr)), middle.x(), middle.y(), middle.z());
        break;
      case 1: {  // with stops that are reached, and a free motor
        const dJointID hinge = attach(dJointCreateHinge(world_, nullptr));
        dJointSetHingeAnchor(hinge, middle.x(), middle.y(), middle.z());
        dJointSetHingeAxis(hinge, 0, 0, 1);
        dJointSetHingeParam(hinge, dParamLoStop, -0.02);
        dJointSetHingeParam(hinge, dParamHiStop, 0.02);
        break;
      }
      case 2: {  // four rows
        const dJointID universal = attach(dJointCreateUniversal(world_, nullptr));
        dJointSetUniversalAnchor(universal, middle.x(), middle.y(), middle.z());
        dJointSetUniversalAxis1(universal, 1, 0, 0);
        dJointSetUniversalAxis2(universal, 0, 1, 0);
        break;
      }
      case 3: {  // a motor of limited force
        const dJointID hinge = attach(dJointCreateHinge(world_, nullptr));
        dJointSetHingeAnchor(hinge, middle.x(), middle.y(), middle.z());
        dJointSetHingeAxis(hinge, 1, 0, 0);
        dJointSetHingeParam(hinge, dParamFMax, 0.5);
        dJointSetHingeParam(hinge, dParamVel, 1);
        break;
      }
      default:
        dJointSetFixed(attach(dJointCreateFixed(world_, nullptr)));
    }
  }

  dWorldID world_ = dWorldCreate();
  dThreadingImplementationID threading_ = dThreadingAllocateSelfThreadedImplementation();
  dJointGroupID contacts_ = dJointGroupCreate(0);
  std::array<dBodyID, kBodies> bodies_{};
};

TEST_F(EliminatedLcp, StepsOtherMechanismsLikeTheStockSolver) {
  for (const bool ring : {false, true}) {
    SCOPED_TRACE(ring ? "ring" : "chain");
    Mechanism mechanism(ring);
    double largest = 0;
    for (int step = 0; step < 400; ++step) {
      const Mechanism::States start = mechanism.Get();
      mechanism.Set(start);
      SelectLcpSolver(LcpSolver::kStock);
      mechanism.Step();
      const Mechanism::States expected = mechanism.Get();
      mechanism.Set(start);
      SelectLcpSolver(LcpSolver::kEliminated);
      mechanism.Step();
      largest = std::max(largest, PoseDifference(mechanism.Get(), expected));
    }
    EXPECT_LT(largest, 1e-9);
  }
  EXPECT_EQ(ThreadLcpStatistics().eliminated, 800u);
}

// ---- the symbolic analysis -----------------------------------------------------------------------------------------

Pattern RandomPattern(std::mt19937& random, int rows, double density) {
  Pattern pattern;
  pattern.Clear(rows);
  std::bernoulli_distribution coupled(density);
  for (int i = 0; i < rows; i += kTriple) {
    for (int j = 0; j < i; j += kTriple) {
      if (coupled(random)) pattern.Mask(i)[j / kTripleBitsPerWord] |= uint64_t{1} << j % kTripleBitsPerWord;
    }
  }
  return pattern;
}

TEST(SymbolicFactor, HoldsThePatternAndAllFill) {
  std::mt19937 random(10);
  for (int trial = 0; trial < 200; ++trial) {
    const Pattern pattern = RandomPattern(random, 1 + trial, 0.1);
    const SymbolicFactor symbolic(pattern);
    std::vector<std::set<int>> columns(symbolic.blocks().size());
    int rows = 0;
    for (size_t b = 0; b < columns.size(); ++b) {
      const SymbolicFactor::Block& block = symbolic.blocks()[b];
      EXPECT_EQ(block.begin % kPad, 0);
      rows += block.rows;
      columns[b].insert(static_cast<int>(b));
      for (const SymbolicFactor::Target& target : symbolic.targets(block)) {
        EXPECT_GT(target.block, static_cast<int>(b));
        EXPECT_EQ(target.begin, symbolic.blocks()[target.block].begin);
        EXPECT_LE(symbolic.runs()[target.run].begin, target.begin);
        EXPECT_GE(symbolic.runs()[target.run].end, target.begin + RoundUp(target.rows));
        columns[b].insert(target.block);
      }
    }
    EXPECT_EQ(rows, pattern.triples() * kTriple);
    for (int i = 0; i < pattern.size; i += kTriple) {
      ForEachTriple(pattern.Mask(i), [&](int j) {
        const auto [first, second] = std::minmax({symbolic.BlockOf(i), symbolic.BlockOf(j)});
        EXPECT_TRUE(columns[first].contains(second));
      });
    }
    for (const std::set<int>& block : columns) {  // eliminating a block couples all its targets
      for (const int first : block) {
        for (const int second : block) EXPECT_TRUE(second < first || columns[first].contains(second));
      }
    }
  }
}

TEST(SymbolicFactor, EliminatesATreeWithoutFill) {
  // A chain of joints with motors: six rows each, coupled to the neighbours.
  constexpr int kJoints = 12;
  Pattern pattern;
  pattern.Clear(kJoints * 6);
  const auto couple = [&](int i, int j) {
    if (j < i) pattern.Mask(i)[j / kTripleBitsPerWord] |= uint64_t{1} << j % kTripleBitsPerWord;
  };
  for (int i = 0; i < pattern.size; i += kTriple) {
    for (int j = 0; j < i; j += kTriple) {
      if (i / 6 - j / 6 <= 1) couple(i, j);
    }
  }
  const SymbolicFactor symbolic(pattern);
  ASSERT_EQ(symbolic.blocks().size(), size_t{kJoints});
  for (size_t b = 0; b + 1 < kJoints; ++b) EXPECT_EQ(symbolic.targets(symbolic.blocks()[b]).size(), 1u);
}

TEST(AnalysisCache, CountsPatternsOnce) {
  std::mt19937 random(11);
  AnalysisCache cache;
  uint64_t analyses = 0;
  const Pattern a = RandomPattern(random, 60, 0.1);
  const Pattern b = RandomPattern(random, 60, 0.2);
  for (const Pattern* pattern : {&a, &a, &b, &a, &b}) {
    EXPECT_EQ(cache.Find(*pattern, analyses).places(), SymbolicFactor(*pattern).places());
  }
  EXPECT_EQ(analyses, 2u);
}

}  // namespace
}  // namespace retrace::simulation::testing
