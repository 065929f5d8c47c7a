#include "retrace/response_model/response_player.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "retrace/character/kinematics.h"
#include "retrace/math/smooth_step.h"

namespace retrace::response_model {

using Eigen::VectorXd;

namespace {

bool SamePoses(const std::vector<character::Pose>& a, const std::vector<character::Pose>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](const character::Pose& one, const character::Pose& other) {
        const auto same = [](const Quat& p, const Quat& q) { return p.coeffs() == q.coeffs(); };
        return one.root_position == other.root_position && same(one.root_orientation, other.root_orientation) &&
               std::equal(one.joint_rotations.begin(), one.joint_rotations.end(), other.joint_rotations.begin(),
                          other.joint_rotations.end(), same);
      });
}

double LargestDistance(const character::Character& character, const character::Pose& a, const character::Pose& b) {
  character::State first, second;
  character::ForwardKinematics(character, a, first);
  character::ForwardKinematics(character, b, second);
  double largest = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    largest = std::max(largest, (first[i].position - second[i].position).norm());
  }
  return largest;
}

/// From 1 to 0, with the slope 0 at both ends.
double Fading(double share) {
  return 1 - SmoothStep(std::clamp(share, 0.0, 1.0));
}

}  // namespace

ResponsePlayer::ResponsePlayer(std::vector<const ResponseModel*> models, const SynthesisOptions& options,
                               double blend_time)
    : models_(std::move(models)), options_(options), blend_time_(blend_time) {
  if (models_.empty()) throw std::invalid_argument("no models");
  const ResponseModel& first = *models_.front();
  for (const ResponseModel* model : models_) {
    const FeatureOptions &a = first.options.features, &b = model->options.features;
    if (model->character->json != first.character->json) throw std::invalid_argument("models of several characters");
    if (a.frame_time != b.frame_time || a.velocity_time != b.velocity_time || a.root_time != b.root_time) {
      throw std::invalid_argument("models that observe different things of a pose");
    }
    if (model->dimensions() != first.dimensions()) {
      throw std::invalid_argument("models of different numbers of latent coordinates");
    }
    if (model->options.clock_period != first.options.clock_period) {
      throw std::invalid_argument("models that go by different clocks");
    }
    if (!SamePoses(model->examples.front().poses, first.examples.front().poses)) {
      throw std::invalid_argument("models that do not share their normal motion");
    }
  }
  player_ = std::make_unique<Synthesizer>(first, options_);
}

void ResponsePlayer::Start(const Example& motion, size_t last, double time) {
  if (model_ != 0) player_ = std::make_unique<Synthesizer>(*models_.front(), options_);
  model_ = frame_ = 0;
  offset_.resize(0);
  switches_.clear();
  player_->Start(motion, last, time);
  shown_ = player_->pose();
}

size_t ResponsePlayer::ModelFor(const Push& push) const {
  const double phase = PhaseOf(*models_[model_], player_->observation());
  size_t best = model_;
  double least = std::numeric_limits<double>::infinity();
  for (size_t m = 0; m < models_.size(); ++m) {
    if (models_[m]->examples.size() < 2) continue;
    const double difference = FindNearestExample(*models_[m], push, phase).difference;
    if (difference < least) {
      least = difference;
      best = m;
    }
  }
  return best;
}

const SynthesisRecord& ResponsePlayer::Step(std::span<const Push> pushes) {
  const double dt = models_.front()->options.features.frame_time;
  const auto begins = std::find_if(pushes.begin(), pushes.end(), [&](const Push& push) {
    return ShareOf(push, time(), dt) > 0 && ShareOf(push, time() - dt, dt) == 0;
  });
  const size_t wanted = models_.size() > 1 && begins != pushes.end() ? ModelFor(*begins) : model_;
  ++frame_;
  const SynthesisRecord* record = nullptr;
  if (wanted == model_) {
    record = &player_->Step(pushes);
  } else {
    auto next = std::make_unique<Synthesizer>(*models_[wanted], options_);
    next->Continue(*player_);
    player_->Step(pushes);
    record = &next->Step(pushes);
    const character::Character& character = *models_.front()->character;
    const dynamics::Coordinates& coordinates = player_->coordinates();
    // What is shown goes on from where the old model, with what is left of an earlier difference, would have it.
    character::Pose old = player_->pose();
    if (offset_.size() != 0) {
      coordinates.Advance(Fading((player_->time() - switched_) / blend_time_) * offset_, old);
    }
    offset_.resize(coordinates.size());
    coordinates.Difference(next->pose(), old, offset_);
    ModelSwitch change{frame_, model_, wanted, 0, 0, 0};
    change.difference = LargestDistance(character, next->pose(), old);
    // The steepest part of the blend, a smooth step.
    change.speed = blend_time_ > 0 ? 1.5 * change.difference / blend_time_ : change.difference / dt;
    player_ = std::move(next);
    switched_ = player_->time();
    model_ = wanted;
    character::Pose shown = player_->pose();
    if (blend_time_ > 0) player_->coordinates().Advance(offset_, shown);
    change.jump = LargestDistance(character, shown, old);
    switches_.push_back(change);
  }
  shown_ = player_->pose();
  if (offset_.size() != 0) {
    const double share = blend_time_ > 0 ? (player_->time() - switched_) / blend_time_ : 1;
    if (share < 1) {
      player_->coordinates().Advance(Fading(share) * offset_, shown_);
    } else {
      offset_.resize(0);
    }
  }
  return *record;
}

}  // namespace retrace::response_model
