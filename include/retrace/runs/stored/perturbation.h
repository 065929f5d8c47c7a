/// Another world than a control was made for, or another body, or another start: what a motion is tried under besides
/// pushes and the worlds of files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "retrace/character/limits.h"
#include "retrace/control/sensed_controller.h"
#include "retrace/io/describe.h"
#include "retrace/io/json.h"
#include "retrace/methods/stabilization/options.h"
#include "retrace/simulation/environment.h"

namespace retrace::runs {

struct StoredRun;

/// What is not given stays as it was.
struct Perturbation {
  std::optional<double> friction;           ///< coefficient
  std::optional<double> gravity;            ///< downwards [m/s^2]
  std::optional<double> contact_stiffness;  ///< [N/m]
  std::optional<double> contact_damping;    ///< [N s/m]
  /// Mass of the whole character: masses and moments of all bodies are scaled, the servos stay [kg].
  std::optional<double> mass;
  /// Standard deviation of random rates of the joints at the start [rad/s]; that of their angles is a tenth of the
  /// number [rad].
  double noise = 0;
  uint64_t seed = 1;  ///< of these

  bool empty() const { return !friction && !gravity && !contact_stiffness && !contact_damping && !mass && noise == 0; }
};

void Describe(Perturbation& p, io::FieldVisitor& v);

/// What may be set for a replay.
struct ReplaySettings {
  Perturbation perturbation;
  stabilization::ReindexingOptions reindexing;  ///< of feedback
  control::Sensors sensors;                     ///< of feedback

  /// Takes one setting given as `/section/name=value`. Throws UsageError for a setting that does not exist or a bad
  /// value.
  void Set(const std::string& assignment);
};

void Describe(ReplaySettings& s, io::FieldVisitor& v);

/// Changes the world, the character and the start of a run, which must be of one character. Throws UsageError for a
/// scene.
void Perturb(const Perturbation& perturbation, StoredRun& run);

}  // namespace retrace::runs
