/// What the report page shows, as one JSON document, and the page itself: one HTML file that opens from disk.
///
/// Every number that the page (src/report/page, bundled at build) shows is computed by the functions below: also the
/// weight, the largest force, the quartiles, the path that the camera follows and the scales of arrows and colours. The
/// page interpolates between instants, sorts and selects, turns values into shares of an axis or into other units, and
/// arranges pictures. Arrays are packed: an object {"type": "f32" | "u32" | "u16" | "u8", "data": base64
/// of the little-endian values}, float32 where the tables have doubles.
///
/// Two grids of time: frames (60 per second, what is seen in 3D) and samples (120 per second, joints and heights), both
/// every so many whole steps; the ground's force has every step. All begin with the start state, at time 0. A force or
/// torque stands in the row of the state that its step led to, as in the tables; the first row has zeros.
/// Metres, seconds, newtons, radians, pascals; y up; quaternions as w, x, y, z.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/reference.h"
#include "retrace/control/control.h"
#include "retrace/io/json.h"
#include "retrace/metrics/gates.h"
#include "retrace/results/run_table.h"
#include "retrace/results/tables.h"

namespace retrace::report {

/// One run, or one character of a scene. What is pointed to must outlive the call that describes it.
struct ReportRun {
  std::string name;  ///< heading of the run
  const character::Character* character = nullptr;
  const simulation::WorldOptions* world = nullptr;
  const control::Trajectory* trajectory = nullptr;
  const character::ReferenceMotion* reference = nullptr;  ///< may be null
  const control::Trajectory* tracking = nullptr;          ///< naive tracking of the reference; may be null
  std::optional<metrics::Evaluation> evaluation = {};     ///< of the trajectory
  std::optional<metrics::Evaluation> tracking_evaluation = {};
  const results::CostTable* costs = nullptr;    ///< of a search; may be null
  const results::Table* solutions = nullptr;    ///< tracking.csv of a tracked motion; may be null
  const results::Table* foot_forces = nullptr;  ///< foot_forces_20Hz.csv of `forces`; may be null
  io::Json manifest = {};                       ///< of the run; null: there is none
  std::vector<std::string> notes = {};          ///< what a reader should know first
};

struct ReportOptions {
  double frame_rate = 60;    ///< [1/s], at most
  double sample_rate = 120;  ///< [1/s], at most
  double footprint = 0.02;   ///< side of the squares in which pressure on the ground is shown [m]
};

/// Throws std::invalid_argument for a trajectory without the contacts and torques of every step.
io::Json DescribeRun(const ReportRun& run, const ReportOptions& options = {});

/// The same for the characters of a scene, whose runs have one world between them: their trajectories are those of
/// control::TrajectoryOf. `name` is the heading. At least one. Besides the characters the document has what they share:
/// the world, and the path that the camera follows, with the largest horizontal distance of a character from it.
io::Json DescribeScene(const std::string& name, const std::vector<ReportRun>& characters,
                       const ReportOptions& options = {});

/// Success rates and distributions of what `evaluate` measured. `name` is the heading.
io::Json DescribeEvaluation(const std::string& name, const std::vector<results::RunRow>& rows);

/// The whole document: what the functions above returned, in the order in which it is shown.
io::Json ReportDocument(const std::string& title, std::vector<io::Json> parts);

/// Puts a document into the page of the bundle. `name` stands for the bundle in messages. Throws InputError where it
/// has no place for one.
std::string FillReportPage(std::string_view page, const std::string& name, const io::Json& document);

/// Whether bytes are a page that FillReportPage made.
bool IsReportPage(std::string_view bytes);

/// A packed array of floats, for those who read the document: the values of {"type": "f32", ...}. Throws InputError.
std::vector<float> UnpackFloats(const io::JsonView& packed);

}  // namespace retrace::report
