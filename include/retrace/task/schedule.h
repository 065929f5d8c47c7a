/// When control is sampled (Liu et al. 2010, section 3.2.3, "Sampling Time Step").
#pragma once

#include <string>
#include <vector>

#include "retrace/character/reference_motion.h"
#include "retrace/io/describe.h"
#include "retrace/simulation/environment.h"

namespace retrace::task {

/// Where the sampling instants are moved to.
enum class Segmentation {
  kOff,        ///< uniform steps
  kOn,         ///< steps end at contact switches and at the ends of swings of the limbs
  kAutomatic,  ///< on for locomotion, where both are well defined, off for motions on the ground
};

struct ScheduleOptions {
  double sampling_step = 0.1;  ///< [s]
  Segmentation segmentation = Segmentation::kAutomatic;
};

void Describe(ScheduleOptions& o, io::FieldVisitor& v);

/// An instant at which a step must end, and why.
struct Boundary {
  double time = 0;  ///< [s]
  std::string reason;
};

struct Schedule {
  std::vector<int> steps;            ///< (iterations + 1) simulation steps of the sampling instants, 0 first
  std::vector<Boundary> boundaries;  ///< inner segment boundaries that the instants were moved to

  int num_iterations() const { return static_cast<int>(steps.size()) - 1; }
};

/// Contact switches of the feet and hands, and swings of the limbs by kinematic centroid segmentation.
/// @param ground that the motion stands on; null: the floor
std::vector<Boundary> FindBoundaries(const character::ReferenceMotion& reference,
                                     const simulation::Environment* ground = nullptr);

/// Sampling instants for a motion: between two boundaries the steps are equal and as near to the sampling step as
/// their number allows. `segment` decides kAutomatic.
Schedule MakeSchedule(const character::ReferenceMotion& reference, double time_step, const ScheduleOptions& options,
                      bool segment, const simulation::Environment* ground = nullptr);

}  // namespace retrace::task
