#include "retrace/matching/window_search.h"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "retrace/parallel/bytes.h"
#include "window_kernel.h"

namespace retrace::matching {
namespace {

constexpr size_t kBlock = 2048;  // frames of the library that a task looks at

size_t RowsOf(size_t bodies) {
  return kBodyRows * bodies + kVelocityRows;
}

/// A frame as the ground frame of another one sees it.
void PutInto(const FrameOfWhole& origin, const FrameOfWhole& frame, std::span<const FrameOfBody> bodies,
             std::vector<float>& rows) {
  const double w = origin.heading_w * frame.heading_w + origin.heading_y * frame.heading_y;
  const double y = origin.heading_w * frame.heading_y - origin.heading_y * frame.heading_w;
  const double origin_cosine = origin.heading_w * origin.heading_w - origin.heading_y * origin.heading_y;
  const double origin_sine = 2 * origin.heading_w * origin.heading_y;
  const double dx = frame.place[0] - origin.place[0], dz = frame.place[1] - origin.place[1];
  // By the inverse of the origin's heading.
  const auto move_x = static_cast<float>(origin_cosine * dx - origin_sine * dz);
  const auto move_z = static_cast<float>(origin_sine * dx + origin_cosine * dz);
  const auto cosine = static_cast<float>(w * w - y * y), sine = static_cast<float>(2 * w * y);
  const auto half_cosine = static_cast<float>(w), half_sine = static_cast<float>(y);
  float* row = rows.data();
  for (const FrameOfBody& b : bodies) {
    *row++ = cosine * b.x + sine * b.z + move_x;
    *row++ = b.y;
    *row++ = cosine * b.z - sine * b.x + move_z;
    *row++ = half_cosine * b.w - half_sine * b.qy;
    *row++ = half_cosine * b.qx + half_sine * b.qz;
    *row++ = half_cosine * b.qy + half_sine * b.w;
    *row++ = half_cosine * b.qz - half_sine * b.qx;
  }
  const float* const v = frame.velocity;
  *row++ = cosine * v[0] + sine * v[2];
  *row++ = v[1];
  *row++ = cosine * v[2] - sine * v[0];
}

}  // namespace

void Describe(WindowOptions& o, io::FieldVisitor& v) {
  const io::Real weight{{0, 100}};
  v.Field({"frames", "Frames of a window, of 1/30 s"}, o.frames, io::Integer{1, 300});
  v.Field({"trunk_weight", "Weight of trunk and pelvis"}, o.trunk_weight, weight);
  v.Field({"shoulder_weight", "Weight of the bodies between trunk and arms"}, o.shoulder_weight, weight);
  v.Field({"head_weight", "Weight of the head"}, o.head_weight, weight);
  v.Field({"limb_weight", "Weight of all other bodies"}, o.limb_weight, weight);
  v.Field({"support_weight", "Added to the weight of the body that carries the character"}, o.support_weight, weight);
  v.Field({"turn_weight", "What a difference of orientations counts as", "m/rad"}, o.turn_weight, io::Real{{0, 10}});
  v.Field({"velocity_time", "What a difference of the velocities of the center of mass counts as; 0: nothing", "s"},
          o.velocity_time, io::Real{{0, 10}});
}

std::vector<double> BodyWeights(const character::Character& character, const WindowOptions& options) {
  std::vector<double> weights;
  for (const character::Body& body : character.bodies) {
    const auto is = [&](const char* word) { return body.segment.ends_with(word); };
    weights.push_back(is("trunk") || is("pelvis") ? options.trunk_weight
                      : is("clavicle")            ? options.shoulder_weight
                      : is("head") || is("neck")  ? options.head_weight
                                                  : options.limb_weight);
  }
  return weights;
}

WindowSearch::WindowSearch(const MotionLibrary& library, std::span<const Frame> query, std::vector<size_t> starts,
                           const WindowOptions& options)
    : library_(library),
      num_frames_(static_cast<size_t>(std::max(1, options.frames))),
      starts_(std::move(starts)),
      lanes_((starts_.size() + kLaneStep - 1) / kLaneStep * kLaneStep),
      bodies_(library.character().bodies.size()),
      turn_weight_(static_cast<float>(options.turn_weight)),
      velocity_time_(static_cast<float>(options.velocity_time)),
      left_out_(library.motions().size(), 0) {
  if (starts_.empty()) throw std::invalid_argument("a search without a window");
  for (const size_t start : starts_) {
    if (start + num_frames_ > query.size()) throw std::invalid_argument("a window that is longer than its motion");
  }
  double sum = 0;
  for (size_t k = 0; k < num_frames_; ++k) {
    const double left = 1 - static_cast<double>(k) / static_cast<double>(num_frames_);
    frame_weights_.push_back(static_cast<float>(left * left));
    sum += left * left;
  }
  for (float& weight : frame_weights_) weight = static_cast<float>(weight / sum);

  const std::vector<double> weights = BodyWeights(library.character(), options);
  const size_t rows = RowsOf(bodies_);
  body_weights_.assign(bodies_ * lanes_, 0);
  query_.assign(num_frames_ * rows * lanes_, 0);
  std::vector<float> seen(rows);
  for (size_t s = 0; s < starts_.size(); ++s) {
    const Frame& first = query[starts_[s]];
    const int support = first.whole.support;
    double total = support >= 0 ? options.support_weight : 0;
    for (const double weight : weights) total += weight;
    for (size_t b = 0; b < bodies_; ++b) {
      const double more = static_cast<int>(b) == support ? options.support_weight : 0;
      body_weights_[b * lanes_ + s] = total > 0 ? static_cast<float>((weights[b] + more) / total) : 0;
    }
    for (size_t k = 0; k < num_frames_; ++k) {
      const Frame& frame = query[starts_[s] + k];
      PutInto(first.whole, frame.whole, frame.bodies, seen);
      for (size_t row = 0; row < rows; ++row) query_[(k * rows + row) * lanes_ + s] = seen[row];
    }
  }
}

void WindowSearch::LeaveOut(size_t motion) {
  left_out_.at(motion) = 1;
}

std::vector<WindowSearch::Best> WindowSearch::Nothing() const {
  return std::vector<Best>(lanes_, {std::numeric_limits<float>::infinity(), 0});
}

void WindowSearch::AddFrame(size_t frame, size_t k, std::vector<float>& rows, std::vector<float>& sums) const {
  const FrameTable& frames = library_.frames();
  PutInto(frames.WholeOf(frame), frames.WholeOf(frame + k), frames.BodiesOf(frame + k), rows);
  kWindowKernels.Best().add({&query_[k * rows.size() * lanes_], rows.data(), body_weights_.data(), bodies_, lanes_,
                             turn_weight_, velocity_time_, frame_weights_[k]},
                            sums.data());
}

/// Windows of a motion that begin with the frames [first, end) of the library. @param best of each start, what was
/// found before @param limit below which the nearest of all of them is returned, whatever the start
std::optional<Match> WindowSearch::Scan(size_t motion, size_t first, size_t end, float limit, bool early,
                                        std::vector<Best>& best) const {
  const MotionLibrary::Motion& within = library_.motions()[motion];
  if (left_out_[motion] != 0 || within.num_frames < num_frames_) return std::nullopt;
  std::vector<float> rows(RowsOf(bodies_)), sums(lanes_), limits(lanes_, 0);
  const auto set_limits = [&] {
    for (size_t s = 0; s < starts_.size(); ++s) limits[s] = std::max(best[s].distance, limit);
  };
  set_limits();
  std::optional<Match> nearest;
  const size_t last = std::min(end, within.first + within.num_frames - num_frames_ + 1);
  for (size_t frame = std::max(first, within.first); frame < last; ++frame) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    bool near = true;
    for (size_t k = 0; k < num_frames_ && (near || !early); ++k) {
      AddFrame(frame, k, rows, sums);
      near = false;
      for (size_t s = 0; s < lanes_; ++s) near |= sums[s] < limits[s];
    }
    if (!near) continue;
    for (size_t s = 0; s < starts_.size(); ++s) {
      if (sums[s] < best[s].distance) best[s] = {sums[s], frame};
      if (!(sums[s] < limit)) continue;
      limit = sums[s];
      nearest = {starts_[s], motion, frame - within.first, static_cast<double>(limit)};
    }
    set_limits();
  }
  return nearest;
}

void WindowSearch::Scan(size_t first, size_t end, bool early, std::vector<Best>& best) const {
  for (size_t m = 0; m < library_.motions().size(); ++m) Scan(m, first, end, 0, early, best);
}

std::vector<std::optional<Match>> WindowSearch::MatchesOf(const std::vector<Best>& best) const {
  std::vector<std::optional<Match>> matches(starts_.size());
  for (size_t s = 0; s < starts_.size(); ++s) {
    if (best[s].distance == std::numeric_limits<float>::infinity()) continue;
    const size_t motion = library_.MotionOf(best[s].frame);
    matches[s] = {starts_[s], motion, best[s].frame - library_.motions()[motion].first,
                  static_cast<double>(best[s].distance)};
  }
  return matches;
}

std::vector<std::optional<Match>> WindowSearch::Nearest() const {
  std::vector<Best> best = Nothing();
  Scan(0, library_.frames().size(), true, best);
  return MatchesOf(best);
}

std::vector<std::optional<Match>> WindowSearch::NearestByBruteForce() const {
  std::vector<Best> best = Nothing();
  Scan(0, library_.frames().size(), false, best);
  return MatchesOf(best);
}

parallel::WorkerFactory WindowSearch::MakeWorkerFactory() const {
  return [this] {
    return [this](std::span<const std::byte> task, parallel::Bytes& result) {
      parallel::Reader reader(task);
      size_t range[2];
      reader.Take(range, 2);
      std::vector<Best> best = Nothing();
      Scan(range[0], range[1], true, best);
      for (const Best& found : best) {
        parallel::Put(result, &found.distance, 1);
        parallel::Put(result, &found.frame, 1);
      }
    };
  };
}

std::vector<std::optional<Match>> WindowSearch::Nearest(parallel::TaskFarm& farm) const {
  std::vector<parallel::Bytes> tasks;
  for (size_t first = 0; first < library_.frames().size(); first += kBlock) {
    const size_t range[2] = {first, std::min(first + kBlock, library_.frames().size())};
    parallel::Put(tasks.emplace_back(), range, 2);
  }
  std::vector<Best> best = Nothing();
  farm.Run(tasks, [&](size_t, std::span<const std::byte> bytes) {
    parallel::Reader reader(bytes);
    for (Best& known : best) {
      Best found = {};
      reader.Take(&found.distance, 1);
      reader.Take(&found.frame, 1);
      // Blocks come in any order: of equal distances the first of the library is taken.
      if (found.distance < known.distance || (found.distance == known.distance && found.frame < known.frame)) {
        known = found;
      }
    }
  });
  return MatchesOf(best);
}

std::vector<Match> WindowSearch::NearestMotions(size_t most) const {
  std::vector<Best> nothing_counts(lanes_, {0, 0});
  return NearestMotions(most, nothing_counts);
}

WindowSearch::NearestOfBoth WindowSearch::NearestWithMotions(size_t most) const {
  std::vector<Best> best = Nothing();
  std::vector<Match> motions = NearestMotions(most, best);
  return {MatchesOf(best), std::move(motions)};
}

/// @param best likewise of each start
std::vector<Match> WindowSearch::NearestMotions(size_t most, std::vector<Best>& best) const {
  std::vector<Match> nearest;
  for (size_t m = 0; m < library_.motions().size(); ++m) {
    const bool full = nearest.size() == most;
    const float limit = most == 0 ? 0
                        : full    ? static_cast<float>(nearest.back().distance)
                                  : std::numeric_limits<float>::infinity();
    const std::optional<Match> match = Scan(m, 0, library_.frames().size(), limit, true, best);
    if (!match) continue;
    if (full) nearest.pop_back();
    nearest.insert(std::upper_bound(nearest.begin(), nearest.end(), *match,
                                    [](const Match& a, const Match& b) { return a.distance < b.distance; }),
                   *match);
  }
  return nearest;
}

double WindowSearch::Distance(size_t start_index, size_t frame) const {
  const MotionLibrary::Motion& motion = library_.motions()[library_.MotionOf(frame)];
  if (start_index >= starts_.size() || frame + num_frames_ > motion.first + motion.num_frames) {
    throw std::invalid_argument("a window that is longer than its motion");
  }
  std::vector<float> rows(RowsOf(bodies_)), sums(lanes_, 0.0F);
  for (size_t k = 0; k < num_frames_; ++k) AddFrame(frame, k, rows, sums);
  return static_cast<double>(sums[start_index]);
}

}  // namespace retrace::matching
