/// Finds the windows of a library that are nearest to windows of a motion (Zordan et al. 2005, section 4):
///
///     D(W1, W2) = sum over frames w_i [ sum over bodies w_b (|p_b1 - p_b2| + theta |o_b1 - o_b2|) / sum w_b
///                                       + t_v |v_1 - v_2| ]
///
/// after the two are moved along the ground and turned about the vertical so that the roots of their first frames are
/// at one place with one heading. Weights w_i fall as the square of the time that is left, and have the sum one. The
/// term of the velocities v of the center of mass is not the paper's: without it, a body that is pushed hard resembles
/// one that stands. The body that carries the character at the start of the first window counts once more.
///
/// The search is exact: all windows of the library are looked at, each as far as it can still be the nearest.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/io/describe.h"
#include "retrace/matching/motion_library.h"
#include "retrace/parallel/task_farm.h"

namespace retrace::matching {

struct WindowOptions {
  int frames = 10;               ///< of a window
  double trunk_weight = 1;       ///< w_b of trunk and pelvis
  double shoulder_weight = 0.5;  ///< of the bodies between trunk and arms
  double head_weight = 0.5;
  double limb_weight = 0.2;
  double support_weight = 1;   ///< what the body that carries counts more
  double turn_weight = 0.3;    ///< theta [m/rad]
  double velocity_time = 0.2;  ///< t_v [s]; 0 is the paper's distance
};

void Describe(WindowOptions& o, io::FieldVisitor& v);

/// A window of the library, for a start time of the query.
struct Match {
  size_t start = 0;   ///< frame of the query
  size_t motion = 0;  ///< of the library
  size_t frame = 0;   ///< of that motion
  double distance = 0;
};

/// Compares windows of one query with those of a library. Both must outlive the object.
class WindowSearch {
 public:
  /// @param query frames of a motion of the library's character; a window begins at each of `starts`, and has all of
  /// its frames in the query. Throws std::invalid_argument where one does not, or where there is none.
  WindowSearch(const MotionLibrary& library, std::span<const Frame> query, std::vector<size_t> starts,
               const WindowOptions& options = {});

  /// A motion is left out: the one that the query itself comes from, for example.
  void LeaveOut(size_t motion);

  /// The nearest window for each start, in the order of the starts; the first of the library if several are equally
  /// near. A start has none where no motion that counts is long enough.
  std::vector<std::optional<Match>> Nearest() const;
  /// The same from blocks of frames, whose results a farm merges; `farm` has workers of MakeWorkerFactory.
  std::vector<std::optional<Match>> Nearest(parallel::TaskFarm& farm) const;
  parallel::WorkerFactory MakeWorkerFactory() const;

  /// The nearest window in a motion of the library, whatever the start, of each of the nearest motions, as many as
  /// `most`, the nearest first; of two that are equally near, the first of the library. Motions that do not count or
  /// are shorter than a window have none.
  std::vector<Match> NearestMotions(size_t most) const;

  /// Both, in one pass of the library.
  struct NearestOfBoth {
    std::vector<std::optional<Match>> of_starts;  ///< Nearest()
    std::vector<Match> of_motions;                ///< NearestMotions(most)
  };
  NearestOfBoth NearestWithMotions(size_t most) const;

  /// The distance of one pair of windows. @param frame of the library, with which its window begins
  double Distance(size_t start_index, size_t frame) const;

  /// Without early ends, for tests and measurements: the same result.
  std::vector<std::optional<Match>> NearestByBruteForce() const;

 private:
  struct Best {
    float distance;
    size_t frame;
  };
  /// Adds the terms of frame `k` of the window that begins with a frame of the library. @param rows scratch memory
  /// @param sums (lanes)
  void AddFrame(size_t frame, size_t k, std::vector<float>& rows, std::vector<float>& sums) const;
  std::optional<Match> Scan(size_t motion, size_t first, size_t end, float limit, bool early,
                            std::vector<Best>& best) const;
  void Scan(size_t first, size_t end, bool early, std::vector<Best>& best) const;
  std::vector<Match> NearestMotions(size_t most, std::vector<Best>& best) const;
  std::vector<Best> Nothing() const;
  std::vector<std::optional<Match>> MatchesOf(const std::vector<Best>& best) const;

  const MotionLibrary& library_;
  size_t num_frames_;           // of a window
  std::vector<size_t> starts_;  // of the query's windows
  size_t lanes_;                // starts, rounded up
  size_t bodies_;
  float turn_weight_, velocity_time_;
  std::vector<float> frame_weights_;  // (frames of a window)
  std::vector<float> body_weights_;   // (bodies x lanes), with the sum one in each lane
  std::vector<float> query_;          // (frames of a window x (7 bodies + 3) x lanes)
  std::vector<char> left_out_;        // (motions)
};

/// Weights of the bodies, without what support adds.
std::vector<double> BodyWeights(const character::Character& character, const WindowOptions& options);

}  // namespace retrace::matching
