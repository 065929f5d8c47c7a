#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "axes.h"
#include "functional_joint.h"
#include "gap_filling.h"
#include "marker_names.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/markers.h"

namespace retrace::recordings {
namespace {

constexpr double kHalfKnee = 0.05;       // [m], from a marker on the skin to the joint's middle
constexpr double kHalfAnkle = 0.035;     // likewise
constexpr double kHalfElbow = 0.035;     // likewise
constexpr double kUnderShoulder = 0.05;  // the shoulder's center under the marker on the acromion [m]
constexpr double kOddLength = 0.25;      // of a bone, relative to its median

using Path = std::vector<Vec3>;

Vec3 Across(const Vec3& v, const Vec3& axis) {
  return v - v.dot(axis) * axis;
}

double MedianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Vec3 MedianOf(const std::vector<Vec3>& places) {
  Vec3 median;
  for (Eigen::Index axis = 0; axis < 3; ++axis) {
    std::vector<double> values;
    for (const Vec3& place : places) values.push_back(place[axis]);
    median[axis] = MedianOf(std::move(values));
  }
  return median;
}

/// Axes as a rotation; x and y need not be square, y is kept.
Quat FromYAndX(const Vec3& y, const Vec3& x) {
  Mat3 axes;
  axes.col(1) = y.normalized();
  axes.col(0) = Across(x, axes.col(1)).normalized();
  axes.col(2) = axes.col(0).cross(axes.col(1));
  return Quat(axes).normalized();
}
Quat FromXAndZ(const Vec3& x, const Vec3& z) {
  Mat3 axes;
  axes.col(0) = x.normalized();
  axes.col(2) = Across(z, axes.col(0)).normalized();
  axes.col(1) = axes.col(2).cross(axes.col(0));
  return Quat(axes).normalized();
}

/// How much of a hinge is known from two bones whose directions have so large a sine between them.
double HingeWeight(double sine) {
  const double t = std::clamp((sine - 0.15) / 0.35, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

/// Orientation of one segment over time.
using Turns = std::vector<Quat>;

class MarkerFitter {
 public:
  MarkerFitter(const Markers& markers, const std::string& name, const Choice& choice) : markers_(markers), name_(name) {
    if (!choice.animation.empty()) {
      throw UsageError(name + ": found a choice of an animation, expected none: the file has one motion");
    }
    ChoosePerformer(choice.performer);
    FindMarkers();
  }

  motion::Clip Fit() {
    const size_t frames = markers_.places.size();
    TurnUp();
    FindPelvis();
    FindLegs();
    FindTrunkAndHead();
    for (size_t side = 0; side < 2; ++side) FindArm(side);
    clip_.frame_time = 1 / markers_.rate;
    clip_.start_time = markers_.start_time;
    clip_.doubts.insert(clip_.doubts.end(), markers_.doubts.begin(), markers_.doubts.end());
    clip_.unit = 1;
    AddJoints();
    clip_.frames.resize(frames);
    for (size_t f = 0; f < frames; ++f) AddFrame(f);
    AddLengthNote();
    return std::move(clip_);
  }

 private:
  // ---- Names.

  /// The name in front of a colon.
  static std::string PerformerOf(const std::string& marker) {
    const size_t colon = marker.find(':');
    return colon == std::string::npos ? "" : marker.substr(0, colon);
  }

  void ChoosePerformer(const std::string& chosen) {
    std::map<std::string, size_t> counts;
    for (const std::string& marker : markers_.names) ++counts[PerformerOf(marker)];
    std::string names;
    for (const auto& [performer, count] : counts) {
      if (!performer.empty()) names += (names.empty() ? "" : ", ") + ("\"" + performer + "\"");
    }
    if (!chosen.empty()) {
      if (!counts.contains(chosen)) {
        throw UsageError(name_ + ": found no performer \"" + chosen + "\", expected " +
                         (names.empty() ? "none to be named: markers have no names before them" : "one of " + names));
      }
      performer_ = chosen;
    } else {
      size_t best = 0;
      for (const auto& [performer, count] : counts) {
        if (count > best) {
          best = count;
          performer_ = performer;
        }
      }
    }
    if (counts.size() > 1 && !performer_.empty()) {
      const size_t most = std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
                            return a.second < b.second;
                          })->second;
      for (const auto& [performer, count] : counts) {
        if (!performer.empty() && 3 * count >= most) clip_.performers.push_back(performer);
      }
      if (clip_.performers.size() < 2) clip_.performers.clear();
      clip_.notes.push_back("performer \"" + performer_ + "\" of " + names);
    }
    for (size_t m = 0; m < markers_.names.size(); ++m) {
      const std::string& marker = markers_.names[m];
      if (PerformerOf(marker) != performer_) continue;
      performers_columns_.push_back(m);
      index_.emplace(PlainMarker(performer_.empty() ? marker : marker.substr(performer_.size() + 1)), m);
    }
    TakeStudy();
  }

  /// OpenCap has skin markers beside keypoints of the same names, and tells them apart by an end.
  void TakeStudy() {
    constexpr std::string_view kStudy = "STUDY";
    std::map<std::string, size_t> study;
    for (const auto& [plain, column] : index_) {
      if (plain.size() > kStudy.size() && plain.ends_with(kStudy)) {
        study.emplace(plain.substr(0, plain.size() - kStudy.size()), column);
      }
    }
    if (!study.empty()) index_ = std::move(study);
  }

  void FindMarkers() {
    const auto find = [&](const std::vector<MarkerNames>& names) {
      columns_.clear();
      for (const MarkerNames& marker : names) {
        for (size_t side = 0; side < 2; ++side) {
          for (const char* name : marker.names) {
            const auto found = index_.find(OnSide(name, side));
            if (found != index_.end() && SeenShare(found->second) > 0.5) {
              columns_.emplace(OnSide(marker.marker, side), found->second);
            }
          }
        }
      }
    };
    find(SkinMarkers());
    centers_ = !Has("LASI") && !Has("RASI");
    if (centers_) find(CenterMarkers());
    FindGroups();
    std::vector<std::string> needed =
        centers_ ? std::vector<std::string>{"LHJC", "RHJC"} : std::vector<std::string>{"LASI", "RASI"};
    for (size_t side = 0; side < 2; ++side) {
      if (!HasGroups(side)) needed.insert(needed.end(), {OnSide("*KNE", side), OnSide("*ANK", side)});
    }
    std::string missing;
    for (const std::string& marker : needed) {
      if (!Has(marker)) missing += (missing.empty() ? "" : ", ") + marker;
    }
    if (!centers_ && !Has("SACR") && !(Has("LPSI") && Has("RPSI")))
      missing += (missing.empty() ? "" : ", ") + std::string("LPSI and RPSI or SACR");
    for (size_t side = 0; side < 2; ++side) {
      if (!HasSided("*TOE", side) && !HasSided("*HEE", side)) {
        missing += (missing.empty() ? "" : ", ") + OnSide("*TOE or *HEE", side);
      }
    }
    if (!missing.empty()) {
      std::string there;
      for (size_t m = 0; m < markers_.names.size() && m < 60; ++m) there += (m == 0 ? "" : ", ") + markers_.names[m];
      throw InputError(name_, "no markers " + missing + " that are seen most of the time (there are " + there + ")",
                       "those of Plug-in Gait or a relative, or joint centers");
    }
    FilledGaps filled;
    for (const auto& [marker, column] : columns_) {
      paths_[marker] = FillGaps(markers_, column, performers_columns_, filled);
    }
    for (const GroupColumns& groups : groups_) {
      for (const auto& columns : groups) {
        for (const size_t column : columns) {
          paths_[markers_.names[column]] = FillGaps(markers_, column, performers_columns_, filled);
        }
      }
    }
    for (size_t side = 0; side < 2; ++side) {  // one in front of the shoulder and one behind it
      if (!HasSided("*SHB", side) || !HasSided("*SHO", side)) continue;
      Path& shoulder = paths_.at(OnSide("*SHO", side));
      for (size_t f = 0; f < frames(); ++f) shoulder[f] = 0.5 * (shoulder[f] + P("*SHB", side)[f]);
    }
    ReportGaps(filled);
  }

  /// Groups of markers where a knee or an ankle has none.
  void FindGroups() {
    if (centers_) return;
    for (size_t side = 0; side < 2; ++side) {
      if (HasSided("*KNE", side) && HasSided("*ANK", side)) continue;
      for (const auto& [plain, column] : index_) {
        for (const MarkerGroup group : {MarkerGroup::kThigh, MarkerGroup::kShank, MarkerGroup::kFoot}) {
          if (!IsInGroup(plain, group, side) || !(SeenShare(column) > 0.5)) continue;
          groups_[side][static_cast<size_t>(group)].push_back(column);
        }
      }
    }
  }

  std::vector<const Path*> Group(MarkerGroup group, size_t side) const {
    std::vector<const Path*> paths;
    for (const size_t column : groups_[side][static_cast<size_t>(group)]) {
      paths.push_back(&paths_.at(markers_.names[column]));
    }
    return paths;
  }

  /// Whether groups of markers can tell where knee and ankle are. The hip counts to the thigh, and a knee that has a
  /// marker to the shank.
  bool HasGroups(size_t side) const {
    const auto count = [&](MarkerGroup group) { return groups_[side][static_cast<size_t>(group)].size(); };
    const bool knee = HasSided("*KNE", side);
    if (!knee && count(MarkerGroup::kThigh) < 2) return false;
    const size_t shank = knee ? 2 : 3;
    const bool ankle = HasSided("*ANK", side);
    return count(MarkerGroup::kShank) + (ankle ? 1 : 0) >= shank && (ankle || count(MarkerGroup::kFoot) >= 3);
  }

  /// Over the heel, or at the toes of a foot without.
  Vec3 RoughAnkleAt(size_t side, size_t f) const {
    if (paths_.contains(OnSide("*ANK", side))) return P("*ANK", side)[f];
    constexpr double kAhead = 0.2, kOver = 0.05;  // of the heel: a share of the foot's length, and [m]
    if (!HasSided("*HEE", side)) return P("*TOE", side)[f];
    const Vec3& heel = P("*HEE", side)[f];
    const Vec3 ahead = HasSided("*TOE", side) ? Vec3(P("*TOE", side)[f] - heel) : Vec3(Vec3::Zero());
    return heel + kAhead * ahead + kOver * Across(hips_[side][f] - heel, ahead.normalized()).normalized();
  }

  /// Near the line from the hip to the ankle: a knee that bends leaves it at a right angle to its hinge.
  RoughJoint RoughKnee(size_t side) const {
    RoughJoint rough;
    for (size_t f = 0; f < frames(); ++f) {
      const Vec3 leg = RoughAnkleAt(side, f) - hips_[side][f];
      rough.points.emplace_back(hips_[side][f] + 0.5 * leg);
      rough.directions.push_back(leg.normalized());
    }
    return rough;
  }

  RoughJoint RoughAnkle(size_t side) const {
    RoughJoint rough;
    for (size_t f = 0; f < frames(); ++f) rough.points.push_back(RoughAnkleAt(side, f));
    rough.directions.assign(frames(), Vec3::Zero());
    return rough;
  }

  /// Knees and ankles that have no markers, from how the segments beside them move.
  void FindMissingCenters() {
    double misfit = 0;
    for (size_t side = 0; side < 2; ++side) {
      std::vector<const Path*> thigh = Group(MarkerGroup::kThigh, side), shank = Group(MarkerGroup::kShank, side);
      const std::vector<const Path*> foot = Group(MarkerGroup::kFoot, side);
      thigh.push_back(&hips_[side]);
      if (HasSided("*ANK", side)) shank.push_back(&P("*ANK", side));
      if (HasSided("*KNE", side)) shank.push_back(&P("*KNE", side));
      for (const char* name : {"*KNE", "*ANK"}) {
        const std::string joint = OnSide(name, side);
        if (Has(joint)) continue;
        const bool knee = name[1] == 'K';
        const std::optional<FunctionalJoint> found =
            knee ? FindJoint(thigh, shank, RoughKnee(side)) : FindJoint(shank, foot, RoughAnkle(side));
        if (!found) {
          throw InputError(name_,
                           "no marker " + joint +
                               ", and groups of markers that move too little against one "
                               "another to tell where the joint is",
                           "a marker of the joint, or a motion that bends it");
        }
        misfit = std::max(misfit, found->misfit);
        paths_[joint] = found->centers;
        functional_.insert(joint);
      }
    }
    if (functional_.empty()) return;
    std::string names;
    for (const std::string& joint : functional_) names += (names.empty() ? "" : ", ") + joint;
    clip_.notes.push_back("no markers of " + names +
                          ": the centers of these joints are where the segments beside them " +
                          "turn about one another, to " + io::Fixed(1000 * misfit, 0) + " mm");
  }

  void ReportGaps(const FilledGaps& filled) {
    const auto longest = [&](const FilledGaps::Longest& gap) {
      return "the longest, of " + markers_.names[gap.column] + ", for " + io::Fixed(gap.seconds, 2) + " s";
    };
    if (filled.by_neighbors.seconds > kLongestGuess) {
      clip_.notes.push_back("gaps of markers are filled by the markers around, " + longest(filled.by_neighbors));
    }
    if (filled.by_curve.seconds > kLongestGuess) {
      clip_.doubts.push_back("gaps of markers with nothing around that tells where they were are filled by straight " +
                             ("lines, " + longest(filled.by_curve)) +
                             ": the limb is not known there, and its bone may bend or change its length");
    }
  }

  bool Has(const std::string& marker) const { return columns_.contains(marker); }

  double SeenShare(size_t column) const {
    size_t seen = 0;
    for (const auto& places : markers_.places) seen += places[column].allFinite();
    return static_cast<double>(seen) / static_cast<double>(markers_.places.size());
  }

  const Path& P(const std::string& marker) const { return paths_.at(marker); }
  const Path& P(const char* marker, size_t side) const { return paths_.at(OnSide(marker, side)); }
  bool HasSided(const char* marker, size_t side) const { return Has(OnSide(marker, side)); }

  size_t frames() const { return markers_.places.size(); }

  // ---- Axes.

  void TurnUp() {
    UpAxis up{markers_.up, false};
    if (up.axis < 0) up = LongestAxis();
    const Quat turn = TurnToY(up.axis, up.down);
    for (auto& [marker, path] : paths_) {
      for (Vec3& place : path) place = turn * place;
    }
  }

  UpAxis LongestAxis() const {
    Vec3 sum = Vec3::Zero();
    const char* const top = Has("LSHO") && Has("RSHO") ? "*SHO" : centers_ ? "*HJC" : "*ASI";
    const char* const bottom = HasSided("*ANK", 0) && HasSided("*ANK", 1) ? "*ANK" : "*TOE";
    for (size_t side = 0; side < 2; ++side) {
      const char* const low = HasSided(bottom, side) ? bottom : "*HEE";
      for (size_t f = 0; f < frames(); ++f) sum += P(top, side)[f] - P(low, side)[f];
    }
    Eigen::Index axis = 0;
    sum.cwiseAbs().maxCoeff(&axis);
    return {static_cast<int>(axis), sum[axis] < 0};
  }

  /// Turns about the segment's own x axis so that its y axis is square, in the median, to what lies before it.
  static void LevelPitch(Turns& turns, const Path& up) {
    std::vector<double> angles;
    for (size_t f = 0; f < turns.size(); ++f) {
      const Vec3 local = turns[f].conjugate() * up[f];
      angles.push_back(std::atan2(local.z(), local.y()));
    }
    const Quat level = AxisRotation(0, MedianOf(std::move(angles)));
    for (Quat& turn : turns) turn = (turn * level).normalized();
  }

  void FindPelvis() {
    Path over(frames());  // from the hips to the shoulders
    for (auto& hip : hips_) hip.resize(frames());
    const bool shoulders_known = Has("LSHO") && Has("RSHO");
    for (size_t f = 0; f < frames(); ++f) {
      const auto shoulders = [&] {
        const Vec3 hips = 0.5 * (hips_[0][f] + hips_[1][f]);
        return shoulders_known ? Vec3(0.5 * (P("LSHO")[f] + P("RSHO")[f])) : Vec3(hips + NeckOver(f, hips));
      };
      if (centers_) {
        for (size_t side = 0; side < 2; ++side) hips_[side][f] = P("*HJC", side)[f];
        over[f] = shoulders() - 0.5 * (hips_[0][f] + hips_[1][f]);
        const Vec3 x = (hips_[0][f] - hips_[1][f]).normalized();
        pelvis_.push_back(FromXAndZ(x, x.cross(over[f])));
        continue;
      }
      const Vec3 front = 0.5 * (P("LASI")[f] + P("RASI")[f]);
      const Vec3 back = Has("LPSI") && Has("RPSI") ? Vec3(0.5 * (P("LPSI")[f] + P("RPSI")[f])) : P("SACR")[f];
      const Vec3 across = P("LASI")[f] - P("RASI")[f];
      const Quat turn = FromXAndZ(across, front - back);
      const double width = across.norm(), depth = Across(front - back, across.normalized()).norm();
      for (size_t side = 0; side < 2; ++side) {  // Harrington et al. 2007, their equations of two predictors
        const Vec3 local((side == 0 ? 1 : -1) * (0.33 * width + 0.0073), -0.30 * width - 0.0109,
                         -0.24 * depth - 0.0099);
        hips_[side][f] = front + turn * local;
      }
      over[f] = shoulders() - 0.5 * (hips_[0][f] + hips_[1][f]);
      pelvis_.push_back(turn);
    }
    LevelPitch(pelvis_, over);
    FindMissingCenters();
    FindMissingTrunk();
  }

  /// From the hips to where the neck is: by the markers of the trunk, or upright.
  Vec3 NeckOver(size_t f, const Vec3& hips) const {
    const bool back = Has("C7"), front = Has("CLAV");
    if (back && front) return 0.5 * (P("C7")[f] + P("CLAV")[f]) - hips;
    return Vec3::UnitY();
  }

  /// Length of a leg, from which that of what has no markers follows.
  double LegLength() const {
    std::vector<double> lengths;
    for (size_t side = 0; side < 2; ++side) {
      for (size_t f = 0; f < frames(); ++f) {
        const Vec3& knee = P("*KNE", side)[f];
        lengths.push_back((knee - hips_[side][f]).norm() + (P("*ANK", side)[f] - knee).norm());
      }
    }
    return MedianOf(std::move(lengths));
  }

  /// Shoulders and arms that have no markers: upright over the pelvis or between the markers of the neck, and hanging.
  void FindMissingTrunk() {
    // Shares of the leg, those of the character adult (de Leva 1996).
    constexpr double kHipToShoulder = 0.585, kHalfShoulders = 0.236, kUpperArm = 0.34, kLowerArm = 0.31;
    const bool trunk = !Has("LSHO") || !Has("RSHO");
    bool arms = false;
    const double leg = LegLength();
    if (trunk) {
      Path& left = paths_["LSHO"];
      Path& right = paths_["RSHO"];
      left.resize(frames());
      right.resize(frames());
      for (size_t f = 0; f < frames(); ++f) {
        const Vec3 hips = 0.5 * (hips_[0][f] + hips_[1][f]);
        const bool neck = Has("C7") && Has("CLAV");
        const Vec3 over = neck ? NeckOver(f, hips) : Vec3(kHipToShoulder * leg * Vec3::UnitY());
        const Vec3 across = kHalfShoulders * leg * Across(pelvis_[f] * Vec3::UnitX(), over.normalized()).normalized();
        left[f] = hips + over + across;
        right[f] = hips + over - across;
      }
      bare_shoulders_ = true;
    }
    for (size_t side = 0; side < 2; ++side) {
      if (HasSided("*ELB", side) && HasSided("*WRA", side) && HasSided("*SHO", side)) continue;
      arms = true;
      Path& elbow = paths_[OnSide("*ELB", side)];
      Path& wrist = paths_[OnSide("*WRA", side)];
      elbow.resize(frames());
      wrist.resize(frames());
      for (size_t f = 0; f < frames(); ++f) {
        const Vec3 hips = 0.5 * (hips_[0][f] + hips_[1][f]);
        const Vec3 down = (hips - 0.5 * (P("LSHO")[f] + P("RSHO")[f])).normalized();
        const Vec3 shoulder = P("*SHO", side)[f] + (centers_ || bare_shoulders_ ? 0 : kUnderShoulder) * down;
        elbow[f] = shoulder + kUpperArm * leg * down;
        wrist[f] = elbow[f] + kLowerArm * leg * down;
      }
      hanging_[side] = true;
    }
    if (trunk && !(Has("C7") && Has("CLAV"))) {
      clip_.doubts.emplace_back(
          "no markers of the trunk: it is upright over the pelvis, and how it sways is not known");
    } else if (trunk) {
      clip_.notes.emplace_back("no markers of the shoulders: they are beside the neck");
    }
    if (arms) clip_.notes.emplace_back("no markers of whole arms: these hang from the shoulders");
  }

  /// The middle of a joint from a marker on its outside, the one on its inside where there is one, and else the hinge,
  /// which points to the left.
  Vec3 Middle(const char* outside, const char* inside, double half, size_t side, size_t f, const Vec3& hinge) const {
    const Vec3& outer = P(outside, side)[f];
    if (centers_ || functional_.contains(OnSide(outside, side))) return outer;
    if (HasSided(inside, side)) return 0.5 * (outer + P(inside, side)[f]);
    return outer + (side == 0 ? -half : half) * hinge.normalized();
  }

  void FindLegs() {
    for (size_t side = 0; side < 2; ++side) {
      for (size_t f = 0; f < frames(); ++f) {
        const Vec3& hip = hips_[side][f];
        const Vec3 straight = pelvis_[f] * Vec3::UnitX();
        // The hinge by markers alone, then by the joints.
        Vec3 knee = P("*KNE", side)[f], ankle = P("*ANK", side)[f];
        Vec3 hinge = straight;
        for (int round = 0; round < 3; ++round) {
          const Vec3 thigh = (knee - hip).normalized(), shin = (ankle - knee).normalized();
          const Vec3 bent = thigh.cross(shin);
          const double weight = HingeWeight(bent.norm()) * (bent.dot(straight) > 0 ? 1 : 0);
          hinge = (1 - weight) * Across(straight, thigh).normalized();
          if (weight > 0) hinge += weight * bent.normalized();
          knee = Middle("*KNE", "*KNM", kHalfKnee, side, f, Across(hinge, thigh));
          ankle = Middle("*ANK", "*ANM", kHalfAnkle, side, f, Across(hinge, shin));
        }
        knees_[side].push_back(knee);
        ankles_[side].push_back(ankle);
        thighs_[side].push_back(FromYAndX(hip - knee, hinge));
        shins_[side].push_back(FromYAndX(knee - ankle, hinge));
        const Vec3 toe = HasSided("*TOE", side) ? P("*TOE", side)[f] : ankle;
        const Vec3 heel = HasSided("*HEE", side) ? P("*HEE", side)[f] : ankle;
        const Vec3 forward = toe - heel;
        const Vec3 x = Across(shins_[side].back() * Vec3::UnitX(), forward.normalized());
        feet_[side].push_back(FromXAndZ(x, forward));
        toes_[side].push_back(HasSided("*TOE", side) ? toe : Vec3(ankle + 1.5 * forward));
      }
    }
  }

  void FindTrunkAndHead() {
    Path over(frames());
    for (size_t f = 0; f < frames(); ++f) {
      const Vec3 hips = 0.5 * (hips_[0][f] + hips_[1][f]);
      const Vec3 shoulders = 0.5 * (P("LSHO")[f] + P("RSHO")[f]);
      spine_.push_back(hips + pelvis_[f] * Vec3(0, 0.25 * (shoulders - hips).norm(), 0));
      trunk_.push_back(FromYAndX(shoulders - spine_.back(), P("LSHO")[f] - P("RSHO")[f]));
      neck_.push_back(shoulders);
      over[f] = trunk_.back() * Vec3::UnitY();
      for (size_t side = 0; side < 2; ++side) {
        shoulders_[side].push_back(P("*SHO", side)[f] - (centers_ || bare_shoulders_ ? 0 : kUnderShoulder) * over[f]);
      }
    }
    const bool four = Has("LFHD") && Has("RFHD") && Has("LBHD") && Has("RBHD");
    const bool temples = Has("LFHD") && Has("RFHD") && Has("TOPH");
    for (size_t f = 0; f < frames(); ++f) {
      const Vec3 up = trunk_[f] * Vec3::UnitY();
      if (four) {
        const Vec3 front = 0.5 * (P("LFHD")[f] + P("RFHD")[f]), back = 0.5 * (P("LBHD")[f] + P("RBHD")[f]);
        head_.push_back(FromXAndZ(P("LFHD")[f] - P("RFHD")[f], front - back));
        tops_.push_back(0.5 * (front + back));
      } else if (temples) {
        head_.push_back(FromYAndX(P("TOPH")[f] - neck_[f], P("LFHD")[f] - P("RFHD")[f]));
        tops_.push_back(P("TOPH")[f]);
      } else if (Has("TOPH")) {
        head_.push_back(FromYAndX(P("TOPH")[f] - neck_[f], trunk_[f] * Vec3::UnitX()));
        tops_.push_back(P("TOPH")[f]);
      } else {
        head_.push_back(trunk_[f]);
        tops_.push_back(neck_[f] + 0.25 * up);
      }
    }
    if (four) LevelPitch(head_, over);
    if (!four && !Has("TOPH")) clip_.notes.push_back("no markers of the head: it goes with the trunk");
  }

  void FindArm(size_t side) {
    const double out = side == 0 ? 1 : -1;
    for (size_t f = 0; f < frames(); ++f) {
      const Vec3& shoulder = shoulders_[side][f];
      const Vec3 wrist = HasSided("*WRB", side) && !hanging_[side]
                             ? Vec3(0.5 * (P("*WRA", side)[f] + P("*WRB", side)[f]))
                             : P("*WRA", side)[f];
      Vec3 elbow = P("*ELB", side)[f];
      Vec3 hinge;  // up when the arm is stretched out to its side, to the left when it hangs
      for (int round = 0; round < 3; ++round) {
        const Vec3 upper = (elbow - shoulder).normalized(), lower = (wrist - elbow).normalized();
        const Quat carried = ShortestArc(trunk_[f] * Vec3(out, 0, 0), upper) * trunk_[f];
        const Vec3 straight = carried * Vec3::UnitY();
        const Vec3 bent = out * lower.cross(upper);
        const double weight = HingeWeight(bent.norm());
        hinge = (1 - weight) * straight;
        if (weight > 0) hinge += weight * bent.normalized();
        if (!centers_ && !hanging_[side]) {
          elbow = HasSided("*ELM", side)
                      ? Vec3(0.5 * (P("*ELB", side)[f] + P("*ELM", side)[f]))
                      : Vec3(P("*ELB", side)[f] - out * kHalfElbow * Across(out * hinge, upper).normalized());
        }
      }
      const Vec3 upper = elbow - shoulder, lower = wrist - elbow;
      const auto turn_of = [&](const Vec3& along) { return FromXAndZ(out * along, (out * along).cross(hinge)); };
      elbows_[side].push_back(elbow);
      wrists_[side].push_back(wrist);
      upper_arms_[side].push_back(turn_of(upper));
      lower_arms_[side].push_back(turn_of(lower));
      hands_[side].push_back(HasSided("*FIN", side) && !hanging_[side] ? P("*FIN", side)[f]
                                                                       : Vec3(wrist + 0.3 * lower));
    }
  }

  // ---- The skeleton.

  /// A joint with the orientation of what it moves, and its position, which is kept at its median in the parent.
  void AddJoint(const std::string& name, int parent, const Turns* turns, const Path& places) {
    motion::Joint joint{name, parent, Vec3::Zero(), turns == nullptr};
    if (parent >= 0) {
      const auto p = static_cast<size_t>(parent);
      Path local(frames());
      for (size_t f = 0; f < frames(); ++f) local[f] = (*turns_[p])[f].conjugate() * (places[f] - (*places_[p])[f]);
      joint.offset = MedianOf(local);
      AddLengths(name, local);
    }
    clip_.skeleton.joints.push_back(joint);
    turns_.push_back(turns);
    places_.push_back(&places);
  }

  void AddLengths(const std::string& name, const Path& local) {
    std::vector<double> lengths;
    for (const Vec3& v : local) lengths.push_back(v.norm());
    const double median = MedianOf(lengths);
    const auto odd = static_cast<size_t>(std::count_if(
        lengths.begin(), lengths.end(), [&](double l) { return std::abs(l - median) > kOddLength * median; }));
    if (odd > most_odd_) {
      most_odd_ = odd;
      most_odd_of_ = name;
    }
  }

  void AddLengthNote() {
    if (most_odd_ == 0) return;
    clip_.notes.push_back("in " + std::to_string(most_odd_) + " frames the bone that ends at " + most_odd_of_ +
                          " is more than a quarter too long or too short: markers were lost or swapped there");
  }

  void AddJoints() {
    middle_.resize(frames());
    for (size_t f = 0; f < frames(); ++f) middle_[f] = 0.5 * (hips_[0][f] + hips_[1][f]);
    AddJoint("Hips", -1, &pelvis_, middle_);
    for (size_t side = 0; side < 2; ++side) {
      const std::string prefix = side == 0 ? "Left" : "Right";
      AddJoint(prefix + "UpLeg", 0, &thighs_[side], hips_[side]);
      const int thigh = Last();
      AddJoint(prefix + "Leg", thigh, &shins_[side], knees_[side]);
      AddJoint(prefix + "Foot", Last(), &feet_[side], ankles_[side]);
      AddJoint(prefix + "Foot_end", Last(), nullptr, toes_[side]);
    }
    AddJoint("Spine", 0, &trunk_, spine_);
    const int spine = Last();
    AddJoint("Head", spine, &head_, neck_);
    AddJoint("Head_end", Last(), nullptr, tops_);
    for (size_t side = 0; side < 2; ++side) {
      const std::string prefix = side == 0 ? "Left" : "Right";
      AddJoint(prefix + "Arm", spine, &upper_arms_[side], shoulders_[side]);
      AddJoint(prefix + "ForeArm", Last(), &lower_arms_[side], elbows_[side]);
      AddJoint(prefix + "Hand", Last(), &lower_arms_[side], wrists_[side]);
      AddJoint(prefix + "Hand_end", Last(), nullptr, hands_[side]);
    }
  }
  int Last() const { return static_cast<int>(clip_.skeleton.joints.size()) - 1; }

  void AddFrame(size_t f) {
    motion::Frame& frame = clip_.frames[f];
    for (size_t j = 0; j < clip_.skeleton.joints.size(); ++j) {
      const motion::Joint& joint = clip_.skeleton.joints[j];
      frame.translations.push_back(joint.parent < 0 ? middle_[f] : joint.offset);
      Quat turn = Quat::Identity();
      if (turns_[j] != nullptr) {
        turn = (*turns_[j])[f];
        if (joint.parent >= 0) turn = ((*turns_[static_cast<size_t>(joint.parent)])[f].conjugate() * turn).normalized();
      }
      if (!turn.coeffs().allFinite() || !frame.translations.back().allFinite()) {
        throw InputError(name_, "markers of " + joint.name + " that lie in one place in frame " + std::to_string(f + 1),
                         "a body");
      }
      frame.rotations.push_back(turn);
    }
  }

  const Markers& markers_;
  const std::string& name_;
  std::string performer_;
  std::map<std::string, size_t> index_;  // columns by plain names
  std::vector<size_t> performers_columns_;
  std::map<std::string, size_t> columns_;  // by names of Plug-in Gait
  std::map<std::string, Path> paths_;
  using GroupColumns = std::array<std::vector<size_t>, 3>;  // of each MarkerGroup
  std::array<GroupColumns, 2> groups_;                      // of the sides
  std::set<std::string> functional_;                        // joints whose centers are found by how segments move
  bool centers_ = false;
  bool bare_shoulders_ = false;                   // not on the skin
  std::array<bool, 2> hanging_ = {false, false};  // arms without markers
  size_t most_odd_ = 0;
  std::string most_odd_of_;
  std::array<Path, 2> hips_, knees_, ankles_, toes_, shoulders_, elbows_, wrists_, hands_;
  Path middle_, spine_, neck_, tops_;
  Turns pelvis_, trunk_, head_;
  std::array<Turns, 2> thighs_, shins_, feet_, upper_arms_, lower_arms_;
  std::vector<const Turns*> turns_;  // of the joints
  std::vector<const Path*> places_;
  motion::Clip clip_;
};

}  // namespace

UpAxis UpAxisOf(const Markers& markers) {
  if (markers.up >= 0) return {markers.up, false};
  return {2, false};  // of most laboratories
}

Markers Renamed(Markers markers, const std::string& name, const NameMap& names) {
  for (const auto& [known, in_file] : names) {
    bool found = false;
    for (std::string& marker : markers.names) {
      const size_t own = marker.find(':') == std::string::npos ? 0 : marker.find(':') + 1;
      if (marker.compare(own, std::string::npos, in_file) != 0) continue;
      marker.replace(own, std::string::npos, known);
      found = true;
    }
    if (!found) {
      throw UsageError(name + ": found no marker \"" + in_file + "\", which the map calls " + known);
    }
  }
  return markers;
}

motion::Clip ClipOfMarkers(const Markers& markers, const std::string& name, const Choice& choice) {
  if (markers.places.empty() || markers.names.empty()) throw InputError(name, "no markers", "a recording");
  return MarkerFitter(markers, name, choice).Fit();
}

}  // namespace retrace::recordings
