#include "gap_filling.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <optional>

#include "rigid_fit.h"

namespace retrace::recordings {
namespace {

constexpr double kRigid = 0.015;  // standard deviation of a distance within one segment, with skin [m]
constexpr double kNearby = 0.5;   // of a neighbor [m]
constexpr double kAcross = 0.02;  // spread of neighbors that do not stand in a line [m]
constexpr size_t kFewestNeighbors = 3;
constexpr size_t kMostNeighbors = 6;
constexpr size_t kMostCompared = 1000;  // frames
constexpr size_t kVelocityFrames = 3;   // over which the velocity at the end of a gap is taken

class GapFiller {
 public:
  GapFiller(const Markers& markers, size_t column, const std::vector<size_t>& others, FilledGaps& filled)
      : markers_(markers), column_(column), others_(others), filled_(filled) {}

  std::vector<Vec3> Fill() {
    const size_t frames = markers_.places.size();
    path_.resize(frames);
    for (size_t f = 0; f < frames; ++f) path_[f] = At(f, column_);
    for (size_t f = 0; f < frames;) {
      if (path_[f].allFinite()) {
        ++f;
        continue;
      }
      size_t end = f;
      while (end < frames && !path_[end].allFinite()) ++end;
      FillGap(f, end);
      f = end;
    }
    return std::move(path_);
  }

 private:
  const Vec3& At(size_t frame, size_t column) const { return markers_.places[frame][column]; }

  /// From frame `first` to before `end`.
  void FillGap(size_t first, size_t end) {
    const bool has_before = first > 0, has_after = end < path_.size();
    const double seconds = static_cast<double>(end - first) / markers_.rate;
    if (FillByNeighbors(first, end)) {
      Note(filled_.by_neighbors, seconds);
      return;
    }
    Note(filled_.by_curve, seconds);
    if (!has_before || !has_after) {
      for (size_t f = first; f < end; ++f) path_[f] = has_before ? path_[first - 1] : path_[end];
      return;
    }
    const Vec3 a = path_[first - 1], b = path_[end];
    const double length = static_cast<double>(end - first + 1);  // in frames
    const bool curve = seconds <= kLongestGuess;
    const Vec3 at_a = curve ? VelocityBefore(first - 1) : Vec3((b - a) / length);
    const Vec3 at_b = curve ? VelocityAfter(end) : at_a;
    for (size_t f = first; f < end; ++f) {
      const double t = static_cast<double>(f - first + 1) / length;
      path_[f] = (2 * t * t * t - 3 * t * t + 1) * a + (t * t * t - 2 * t * t + t) * length * at_a +
                 (3 * t * t - 2 * t * t * t) * b + (t * t * t - t * t) * length * at_b;
    }
  }

  void Note(FilledGaps::Longest& longest, double seconds) const {
    if (seconds > longest.seconds) longest = {seconds, column_};
  }

  /// In meters per frame, of places that were seen or filled before.
  Vec3 VelocityBefore(size_t frame) const {
    const size_t back = std::min(frame, kVelocityFrames);
    return back == 0 ? Vec3(Vec3::Zero()) : Vec3((path_[frame] - path_[frame - back]) / static_cast<double>(back));
  }
  Vec3 VelocityAfter(size_t frame) const {
    size_t last = frame;
    while (last + 1 < path_.size() && last < frame + kVelocityFrames && path_[last + 1].allFinite()) ++last;
    return last == frame ? Vec3(Vec3::Zero()) : Vec3((path_[last] - path_[frame]) / static_cast<double>(last - frame));
  }

  // ---- Neighbors.

  struct Neighbor {
    size_t column;
    double deviation;  // of its distance [m]
  };

  /// Those that keep their distances, the most rigid ones first.
  const std::vector<Neighbor>& Neighbors() {
    if (neighbors_) return *neighbors_;
    neighbors_.emplace();
    const size_t stride = 1 + markers_.places.size() / kMostCompared;
    for (const size_t other : others_) {
      if (other == column_) continue;
      double count = 0, sum = 0, squares = 0;
      for (size_t f = 0; f < markers_.places.size(); f += stride) {
        const double distance = (At(f, column_) - At(f, other)).norm();
        if (!std::isfinite(distance)) continue;
        count += 1;
        sum += distance;
        squares += distance * distance;
      }
      if (count < 10) continue;
      const double mean = sum / count;
      const double deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
      if (mean < kNearby && deviation < kRigid) neighbors_->push_back({other, deviation});
    }
    std::stable_sort(neighbors_->begin(), neighbors_->end(),
                     [](const Neighbor& a, const Neighbor& b) { return a.deviation < b.deviation; });
    return *neighbors_;
  }

  MarkerShape ShapeAt(size_t frame, const std::vector<size_t>& columns) const {
    MarkerShape shape(3, static_cast<Eigen::Index>(columns.size()));
    for (size_t c = 0; c < columns.size(); ++c) shape.col(static_cast<Eigen::Index>(c)) = At(frame, columns[c]);
    return shape;
  }

  bool FillByNeighbors(size_t first, size_t end) {
    const bool has_before = first > 0, has_after = end < path_.size();
    const size_t from = has_before ? first - 1 : first, to = has_after ? end : end - 1;
    std::vector<size_t> columns;
    for (const Neighbor& neighbor : Neighbors()) {
      bool seen = columns.size() < kMostNeighbors;
      for (size_t f = from; f <= to && seen; ++f) seen = At(f, neighbor.column).allFinite();
      if (seen) columns.push_back(neighbor.column);
    }
    const size_t known = has_before ? from : to;  // a frame in which the marker is seen
    if (columns.size() < kFewestNeighbors) return false;
    const MarkerShape shape = ShapeAt(known, columns);
    if (!IsWide(shape, kAcross)) return false;
    // Where the marker is in the neighbors' axes, before the gap and after it.
    const auto place_in = [&](size_t f) {
      const MarkerShape now = ShapeAt(f, columns);
      return Vec3(FitRotation(shape, now).transpose() * (path_[f] - Vec3(now.rowwise().mean())));
    };
    const Vec3 before = place_in(has_before ? from : to), after = place_in(has_after ? to : from);
    const double length = static_cast<double>(end - first + 1);
    for (size_t f = first; f < end; ++f) {
      const MarkerShape now = ShapeAt(f, columns);
      const double share = static_cast<double>(f - first + 1) / length;
      const Vec3 place = before + share * (after - before);
      path_[f] = Vec3(now.rowwise().mean()) + FitRotation(shape, now) * place;
    }
    return true;
  }

  const Markers& markers_;
  size_t column_;
  const std::vector<size_t>& others_;
  FilledGaps& filled_;
  std::vector<Vec3> path_;
  std::optional<std::vector<Neighbor>> neighbors_;
};

}  // namespace

std::vector<Vec3> FillGaps(const Markers& markers, size_t column, const std::vector<size_t>& others,
                           FilledGaps& filled) {
  return GapFiller(markers, column, others, filled).Fill();
}

}  // namespace retrace::recordings
