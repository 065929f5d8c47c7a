/// Another world than a control was made for, or another body, or another start: what a motion is tried under besides
/// pushes and the worlds of files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "retrace/character/limits.h"
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
  /// Of the whole character: masses and moments of all bodies are scaled, the servos stay [kg].
  std::optional<double> mass;
  /// Standard deviation of random rates of the joints at the start [rad/s]; that of their angles is a tenth of the
  /// number [rad].
  double noise = 0;
  uint64_t seed = 1;  ///< of these

  bool empty() const { return !friction && !gravity && !contact_stiffness && !contact_damping && !mass && noise == 0; }
};

template <io::DescribedAs<Perturbation> AnyPerturbation, typename Visitor>
void Describe(AnyPerturbation& p, Visitor& v) {
  v.Section({"simulation", "The world; null: as it was"}, [&](auto& section) {
    section.Field({"friction", "Coefficient of friction"}, p.friction, io::OptionalReal{simulation::kFrictions});
    section.Field({"gravity", "Acceleration of free fall, downwards", "m/s^2"}, p.gravity,
                  io::OptionalReal{simulation::kGravities});
    section.Field({"contact_stiffness", "Stiffness of a contact point", "N/m"}, p.contact_stiffness,
                  io::OptionalReal{simulation::kStiffnesses});
    section.Field({"contact_damping", "Damping of a contact point", "N s/m"}, p.contact_damping,
                  io::OptionalReal{simulation::kDampings});
  });
  v.Section({"character", "The body; null: as it was"}, [&](auto& section) {
    section.Field({"mass", "Mass of the whole character, with the servos as they are", "kg"}, p.mass,
                  io::OptionalReal{{1e-3, 1e6}});
  });
  v.Section({"start", "The start"}, [&](auto& section) {
    section.Field({"noise",
                   "Standard deviation of random rates of the joints, in rad/s; that of their angles is a tenth of "
                   "the number, in rad"},
                  p.noise, io::Real{{0, 10}});
    section.Field({"seed", "Seed of these"}, p.seed, io::Natural{});
  });
}

/// What may be set for a replay.
struct ReplaySettings {
  Perturbation perturbation;
  stabilization::ReindexingOptions reindexing;  ///< of feedback

  /// Takes one setting given as `/section/name=value`. Throws UsageError for a setting that does not exist or a bad
  /// value.
  void Set(const std::string& assignment);
};

template <io::DescribedAs<ReplaySettings> AnySettings, typename Visitor>
void Describe(AnySettings& s, Visitor& v) {
  Describe(s.perturbation, v);
  Describe(s.reindexing, v);
}

/// Changes the world, the character and the start of a run, which must be of one character. Throws UsageError for a
/// scene.
void Perturb(const Perturbation& perturbation, StoredRun& run);

}  // namespace retrace::runs
