/// A reconstruction before it begins: what a user sets, and what follows from that and the input files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "retrace/jobs/job_options.h"
#include "retrace/methods/sampling/search.h"
#include "retrace/methods/trajectory/problem.h"
#include "retrace/motion/measured_forces.h"
#include "retrace/runs/configuration/configuration.h"
#include "retrace/task/prepared_clip.h"

namespace retrace::runs {

struct HybridControl;
struct Tracking;

/// Everything that all ranks prepare alike: options, files, and the clip that they make. A value: copies share the
/// prepared clip, to which the problems point. It runs no method.
struct Job {
  /// Reads every input file once. Throws UsageError and InputError for what cannot be used.
  explicit Job(const JobOptions& o);
  /// A job for a clip in memory. `o.clip.file` is its name in messages and in the manifest, and no file of that
  /// name is read. The clip is taken as the BVH file that it would be (motion::FormatBvh): the manifest has the hash of
  /// that text, and the file, where it is written, is reconstructed with the same bits.
  Job(const JobOptions& o, const motion::Clip& given);

  /// Another seed, between two searches.
  /// The baseline stays; what was tracked for it is no longer the result of tracking with this seed.
  void SetSeed(uint64_t seed);
  /// Poses from which the targets of the methods are counted, instead of the reference (`/run/baseline`).
  void SetBaseline(character::ReferenceMotion poses);
  /// Whether the configuration asks for such a baseline and the motion has not been tracked for it (WithBaseline).
  bool LacksBaseline() const;

  const character::Character& character() const { return prepared->character; }
  /// The motion that is followed, adapted to the world.
  const character::ReferenceMotion& reference() const { return prepared->reference(); }

  JobOptions options;
  std::vector<InputRecord> inputs;  ///< all files that were read, the configuration file last
  io::JsonBox identity;             ///< Identity of the options and the files, with the seed that the options have
  Configuration configuration;      ///< with the gravity and the environment of the world
  std::optional<motion::MeasuredForces> measured;
  std::shared_ptr<const task::PreparedClip> prepared;
  std::shared_ptr<const character::ReferenceMotion> baseline = {};  ///< null: the reference is
  std::shared_ptr<const Tracking> tracked = {};      ///< that the baseline is of; null: it was not tracked for one
  std::shared_ptr<const HybridControl> hybrid = {};  ///< the same of tracked and searched parts
  sampling::Problem problem;
  trajectory::Problem trajectory;

 private:
  Job(const JobOptions& options, std::span<const InputFile> files);
};

/// Why a result that is a success may be nonsense, as sentences: by its motion, and by the body that was recorded.
std::vector<std::string> DoubtsOf(const Job& job, const metrics::Evaluation& evaluation);

}  // namespace retrace::runs
