/// What the report page shows, as one JSON document, and the page itself: one HTML file that opens from disk.
///
/// Every number that the page (src/report/page, bundled at build) shows is computed by the functions below: also the
/// weight, the largest force, the quartiles, the path that the camera follows and the scales of arrows and colors. The
/// page interpolates between instants, sorts and selects, turns values into shares of an axis or into other units, and
/// arranges pictures. Arrays are packed: an object {"type": "f32" | "u32" | "u16" | "u8", "data": base64
/// of the little-endian values}, float32 where the tables have doubles.
///
/// Two grids of time: frames (60 per second, what is seen in 3D) and samples (120 per second, joints and heights), both
/// every so many whole steps, and fewer per second in motions of more than two minutes; the ground's force has every
/// step. All begin with the start state, at time 0. A force or
/// torque stands in the row of the state that its step led to, as in the tables; the first row has zeros.
/// Meters, seconds, newtons, radians, pascals; y up; quaternions as w, x, y, z.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/reference_motion.h"
#include "retrace/control/control.h"
#include "retrace/io/json.h"
#include "retrace/metrics/gates.h"
#include "retrace/results/run_table.h"
#include "retrace/results/tables.h"

namespace retrace::report {

/// What is simulated beside the motion of a run, to be compared with it.
enum class Beside {
  kTracking,  ///< tracking without feedback of the reference
  kRagdoll,   ///< after an impact, a body without strength
};
std::string Name(Beside beside);

/// One run, or one character of a scene, without its motions. What is pointed to must outlive the calls that describe
/// it.
struct ReportRun {
  std::string name;  ///< heading of the run
  const character::Character* character = nullptr;
  const simulation::WorldOptions* world = nullptr;
  const character::ReferenceMotion* reference = nullptr;        ///< may be null
  const character::ReferenceMotion* recording = nullptr;        ///< what it was repaired from; may be null
  std::optional<metrics::Evaluation> evaluation = {};           ///< of the simulated motion
  std::optional<metrics::Evaluation> tracking_evaluation = {};  ///< of the tracking without feedback
  const results::CostTable* costs = nullptr;                    ///< of a search; may be null
  const results::Table* solutions = nullptr;                    ///< tracking.csv of a tracked motion; may be null
  const results::Table* foot_forces = nullptr;                  ///< foot_forces_20Hz.csv of `forces`; may be null
  const results::Table* composition = nullptr;                  ///< composition.csv of `compose`; may be null
  std::vector<control::Push> pushes = {};                       ///< on the character; its bodies are counted from 0
  const results::Table* candidates = nullptr;                   ///< candidates.csv of `respond`; may be null
  const results::Table* repair = nullptr;                       ///< repair.csv of a repaired reference; may be null
  std::string latent_picture = {};                              ///< latent.svg of `synthesize`; may be empty
  io::JsonBox manifest = {};                                    ///< of the run; null: there is none
  std::vector<std::string> notes = {};                          ///< what a reader should know first
};

struct ReportOptions {
  double frame_rate = 60;     ///< [1/s], at most
  double sample_rate = 120;   ///< [1/s], at most
  double most_frames = 7200;  ///< of a motion, and twice as many samples: above two minutes the rates become lower
  double footprint = 0.02;    ///< side of the squares in which pressure on the ground is shown [m]
};

/// Describes a run while its motions come in parts (control::ReplayInParts): it keeps what the page shows of them
/// alone, so that a motion of any length takes little memory.
///
///     RunDescriber describer(run, duration);
///     control::ReplayInParts(scene, {}, steps, [&](const control::Trajectory& part) { describer.Add(part); });
///     io::Json described = describer.Finish();
class RunDescriber {
 public:
  /// `run` must outlive it; its evaluations are needed at the end only. `duration` is what the motion is to last [s].
  RunDescriber(const ReportRun& run, double duration, const ReportOptions& options = {});
  RunDescriber(RunDescriber&&) noexcept;
  ~RunDescriber();

  /// The next part of the simulated motion, which begins with a frame of a pressure map (results::TraceContacts).
  /// Throws std::invalid_argument for one without the contacts and torques of every step, or with another time step
  /// than the world's.
  void Add(const control::Trajectory& part);
  /// The next part of a motion beside it.
  void Add(Beside beside, const control::Trajectory& part);
  /// The path that the camera follows, a position for each frame.
  std::vector<Vec3> CameraPath() const;
  /// What is known when there are no more parts. Once.
  io::Json Finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The same of whole motions; `tracking` is the tracking without feedback, or null.
io::Json DescribeRun(const ReportRun& run, const control::Trajectory& simulated,
                     const control::Trajectory* tracking = nullptr, const ReportOptions& options = {});

/// The same for the characters of a scene, whose runs have one world between them: their trajectories are those of
/// control::TrajectoryOf, and all have been added. `name` is the heading. At least one. Besides the characters the
/// document has what they share: the world, and the path that the camera follows, with the largest horizontal distance
/// of a character from it.
io::Json DescribeScene(const std::string& name, std::vector<RunDescriber>& characters);

/// Success rates and distributions of what `evaluate` measured. `name` is the heading.
/// @param link_of gives what a run is linked to, a path relative to the page; empty: nothing
io::Json DescribeEvaluation(const std::string& name, const std::vector<results::RunRow>& rows,
                            const std::function<std::string(const results::RunRow&)>& link_of = {});

/// The whole document: what the functions above returned, in the order in which it is shown.
io::Json ReportDocument(const std::string& title, std::vector<io::Json> parts);

/// Puts a document into the page of the bundle, and gives the whole page to `write` in pieces. `name` stands for the
/// bundle in messages. Throws InputError when it has no slot for a document.
void FillReportPage(std::string_view page, const std::string& name, const io::Json& document,
                    const std::function<void(std::string_view piece)>& write);

/// Whether bytes are a page that FillReportPage made.
bool IsReportPage(std::string_view bytes);

/// A packed array of floats, for readers of the document: the values of {"type": "f32", ...}. Throws InputError.
std::vector<float> UnpackFloats(const io::JsonView& packed);

}  // namespace retrace::report
