/// Plays several models that share their normal motion: each push is answered by the model whose examples were pushed
/// most like it (Ye and Liu 2010, section 4.3). With one model it is a Synthesizer.
///
/// Where the model changes, the new one finds the latent positions of the last two frames by its own back constraint,
/// and expects a somewhat different next pose. The difference is shown less and less over `blend_time`, so that the
/// motion that is seen does not jump; both are reported.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "retrace/response_model/judge.h"
#include "retrace/response_model/synthesizer.h"

namespace retrace::response_model {

/// A change of the model.
struct ModelSwitch {
  size_t frame = 0;         ///< of the first pose of the new model
  size_t from = 0, to = 0;  ///< models
  double difference = 0;    ///< largest distance of a body between the next poses of both models [m]
  double jump = 0;          ///< of a body from where the old model has it in that frame, as shown [m]
  double speed = 0;         ///< largest speed that the blend gives a body [m/s]
};

class ResponsePlayer {
 public:
  /// The models must outlive the player. Throws std::invalid_argument for none, and for models of other characters,
  /// normal motions, numbers of latent coordinates, rates, features or clocks than the first one's.
  ResponsePlayer(std::vector<const ResponseModel*> models, const SynthesisOptions& options, double blend_time = 0.2);

  /// As Synthesizer::Start, with the first model.
  void Start(const Example& motion, size_t last, double time = 0);
  const SynthesisRecord& Step(std::span<const Push> pushes);

  const character::Pose& pose() const { return shown_; }
  double time() const { return player_->time(); }  ///< [s]
  size_t model() const { return model_; }          ///< that plays
  const std::vector<ModelSwitch>& switches() const { return switches_; }

 private:
  size_t ModelFor(const Push& push) const;

  std::vector<const ResponseModel*> models_;
  SynthesisOptions options_;
  double blend_time_;
  size_t model_ = 0, frame_ = 0;
  std::unique_ptr<Synthesizer> player_;
  character::Pose shown_;
  Eigen::VectorXd offset_;  // (n) from the pose of the model to the shown one at the switch; empty: none
  double switched_ = 0;     // time of the first pose of the model [s]
  std::vector<ModelSwitch> switches_;
};

}  // namespace retrace::response_model
