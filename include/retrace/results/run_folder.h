/// The folder that a run leaves behind. A run of several characters, a scene, has a sub-folder for the motion of each.
#pragma once

#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "retrace/io/file.h"
#include "retrace/io/json.h"

namespace retrace::results {

inline constexpr std::string_view kManifestFile = "manifest.json";
inline constexpr std::string_view kRunFormat = "retrace-run";  ///< what a manifest has as its `format`
inline constexpr std::string_view kReadmeFile = "README.txt";  ///< says what the others are (run_readme.h)
inline constexpr std::string_view kControlFile = "control.json";
inline constexpr std::string_view kMotionFile = "motion.bvh";
inline constexpr std::string_view kReferenceFile = "reference.bvh";
inline constexpr std::string_view kRepairFile = "repair.csv";        ///< of a reference that was repaired
inline constexpr std::string_view kRecordingFile = "recording.bvh";  ///< the same before that, on the new clock
inline constexpr std::string_view kTrajectoryFile = "trajectory.csv";
inline constexpr std::string_view kContactsFile = "contacts.csv";
inline constexpr std::string_view kTorquesFile = "torques.csv";
inline constexpr std::string_view kBodyContactsFile = "body_contacts.csv";
inline constexpr std::string_view kContactTotalsFile = "contact_totals.csv";
inline constexpr std::string_view kContactSummaryFile = "contact_summary.csv";
inline constexpr std::string_view kPressureFile = "pressure.csv";
inline constexpr std::string_view kPushTableFile = "push_table.csv";
inline constexpr std::string_view kCostsFile = "costs.csv";
inline constexpr std::string_view kSamplesFile = "samples.csv";
inline constexpr std::string_view kTrackingFile = "tracking.csv";
inline constexpr std::string_view kWindowsFile = "windows.csv";
inline constexpr std::string_view kFormerContinuationFile = "onward.json";  ///< its name up to version 0.1
inline constexpr std::string_view kContinuationFile = "continuation.json";  ///< control from the end of the motion on
inline constexpr std::string_view kIdlingFile = "idling.csv";
inline constexpr std::string_view kCompositionFile = "composition.csv";
inline constexpr std::string_view kCandidatesFile = "candidates.csv";  ///< of `respond`
inline constexpr std::string_view kRagdollFile = "ragdoll.json";      ///< of `respond`: control of a body that gives up
inline constexpr std::string_view kLatentPictureFile = "latent.svg";  ///< of `synthesize`
// Files of `forces`; names with a cut-off are those of low-passed tables.
inline constexpr std::string_view kGroundForcesFile = "ground_forces.csv";
inline constexpr std::string_view kSmoothGroundForcesFile = "ground_forces_20Hz.csv";
inline constexpr std::string_view kFootForcesFile = "foot_forces.csv";
inline constexpr std::string_view kSmoothFootForcesFile = "foot_forces_20Hz.csv";
inline constexpr std::string_view kJointLoadsFile = "joint_loads.csv";
inline constexpr std::string_view kSmoothJointLoadsFile = "joint_loads_20Hz.csv";
inline constexpr std::string_view kForceControlsFile = "force_controls.csv";
inline constexpr std::string_view kForceComparisonFile = "force_comparison.csv";
inline constexpr std::string_view kForceChartFile = "forces.svg";
inline constexpr std::string_view kFootEventsFile = "foot_events.csv";
inline constexpr std::string_view kGaitCyclesFile = "gait_cycles.csv";
inline constexpr std::string_view kStrideCurvesFile = "stride_curves.csv";
inline constexpr std::string_view kStanceCurvesFile = "stance_curves.csv";
inline constexpr std::string_view kStrideChartFile = "strides.svg";
inline constexpr std::string_view kStanceChartFile = "stances.svg";
inline constexpr std::string_view kResidualsFile = "residuals.csv";
inline constexpr std::string_view kResidualChangesFile = "residual_changes.csv";
inline constexpr std::string_view kReducedMotionFile = "reduced_motion.bvh";
inline constexpr std::string_view kReducedCharacterFile = "reduced_character.json";
inline constexpr std::string_view kFilmStripFile = "filmstrip.svg";
inline constexpr std::string_view kFeedbackTableFile = "feedback.csv";
inline constexpr std::string_view kReportFile = "report.html";     ///< made of the others, afterwards
inline constexpr std::string_view kFeedbackFile = "feedback.bin";  ///< the same, by `stabilize`
inline constexpr std::string_view kTreeFile = "tree.bin";          ///< the same, by `grow-tree`
inline constexpr std::string_view kTreeTableFile = "tree.csv";     ///< the same

/// Where `export` writes inside the folder of the run, unless the user names another folder.
inline constexpr std::string_view kExportFolder = "export";

/// What the names of the files of a character's motion begin with inside the folder of a run, and inside its `export`:
/// nothing where the run has a single character, else the character's folder, as `character_2/` for the one of index 1.
std::string CharacterPrefix(size_t character, size_t num_characters);

/// All of them, the manifest first: what goes first when a run is removed. What was exported of a run goes with it.
inline constexpr std::array kRunFiles = {kManifestFile,
                                         kControlFile,
                                         kMotionFile,
                                         kReferenceFile,
                                         kRepairFile,
                                         kRecordingFile,
                                         kTrajectoryFile,
                                         kContactsFile,
                                         kTorquesFile,
                                         kBodyContactsFile,
                                         kContactTotalsFile,
                                         kContactSummaryFile,
                                         kPressureFile,
                                         kPushTableFile,
                                         kCostsFile,
                                         kSamplesFile,
                                         kTrackingFile,
                                         kWindowsFile,
                                         kContinuationFile,
                                         kFormerContinuationFile,
                                         kIdlingFile,
                                         kCompositionFile,
                                         kCandidatesFile,
                                         kRagdollFile,
                                         kLatentPictureFile,
                                         kGroundForcesFile,
                                         kSmoothGroundForcesFile,
                                         kFootForcesFile,
                                         kSmoothFootForcesFile,
                                         kJointLoadsFile,
                                         kSmoothJointLoadsFile,
                                         kForceControlsFile,
                                         kForceComparisonFile,
                                         kForceChartFile,
                                         kFootEventsFile,
                                         kGaitCyclesFile,
                                         kStrideCurvesFile,
                                         kStanceCurvesFile,
                                         kStrideChartFile,
                                         kStanceChartFile,
                                         kResidualsFile,
                                         kResidualChangesFile,
                                         kReducedMotionFile,
                                         kReducedCharacterFile,
                                         kFilmStripFile,
                                         kFeedbackTableFile,
                                         kReportFile,
                                         kFeedbackFile,
                                         kTreeFile,
                                         kTreeTableFile,
                                         std::string_view("export/motion.glb"),
                                         std::string_view("export/motion.bvh"),
                                         std::string_view("export/bodies.csv"),
                                         std::string_view("export/joints.csv"),
                                         std::string_view("export/joint_motion.csv"),
                                         std::string_view("export/motion.npz"),
                                         std::string_view("export/coordinates.sto"),
                                         std::string_view("export/ground_forces.sto"),
                                         std::string_view("export/external_loads.xml"),
                                         std::string_view("export/markers.trc"),
                                         std::string_view("export/mujoco_model.xml"),
                                         std::string_view("export/mujoco_motion.csv"),
                                         std::string_view("export/source_skeleton.bvh"),
                                         std::string_view("export/source_skeleton.glb")};

/// The name of a run: that of its folder, also where the path ends with a separator or is ".".
std::string NameOf(const std::filesystem::path& folder);

/// Those of the files above that define a run, and that nothing but another run may replace: all but the page
/// and what was exported.
std::vector<std::filesystem::path> FilesOfRun(const std::filesystem::path& folder);

/// kRunFiles, and the same names in the folders of characters that there are: all files that a run may have left.
std::vector<std::string> RunFileNames(const std::filesystem::path& folder);

/// Removes these, but for those named in `kept`. Folders of characters and exports that are then empty go, too. Throws
/// OutputError.
void RemoveRunFiles(const std::filesystem::path& folder, std::span<const std::string> kept = {});

/// A manifest with /seal, the SHA-256 of everything else in it.
io::Json Seal(io::Json manifest);

/// Compares the files of a folder with the hashes in its manifest, and the manifest with its seal; those of earlier
/// versions have none. Returns the first that was changed or removed since the run was written, as a message, or
/// nothing. Throws InputError for a manifest that is not one.
std::string FirstChange(const std::filesystem::path& folder, const io::Json& manifest);

/// Writes the files of a run so that a manifest in the folder means that the folder is complete: the manifest of an
/// earlier run goes before anything else is touched, the new one comes last. Files appear whole or not at all.
class RunFolder {
 public:
  /// Creates the folder and those above it, and tries whether files can be made there: better now than after the run.
  /// Throws UsageError when the folder has anything in it already and `force` is false, OutputError when it cannot be
  /// created or written, or when a file of the run would replace one of `inputs`. Changes nothing inside it yet: a run
  /// that fails early leaves earlier results as they were.
  RunFolder(std::filesystem::path path, bool force, std::span<const std::filesystem::path> inputs = {});

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path PathOf(std::string_view name) const { return path_ / name; }

  /// Writes one file (over an earlier one of that name), and makes the sub-folder that its name begins with. Throws
  /// OutputError.
  void Write(std::string_view name, std::string_view bytes);

  /// The same of a file that grows piece by piece. All such files appear with FinishFiles, or the next Write.
  void Append(std::string_view name, std::string_view bytes);
  void FinishFiles();

  /// What was written so far, in that order: [{"name": ..., "bytes": ..., "sha256": ...}]. Meant for the manifest.
  io::Json Files() const;

  /// Removes what earlier runs left under the names above and this run did not write, then writes the manifest.
  /// Throws OutputError.
  void Finish(const io::Json& manifest);

 private:
  struct File {
    std::string name;
    size_t bytes = 0;
    std::string sha256;
  };

  struct GrowingFile {
    std::string name;
    io::FileWriter writer;
    io::Sha256Sum sum = {};
    size_t bytes = 0;
  };

  GrowingFile Begin(std::string_view name);

  std::filesystem::path path_;
  std::vector<File> files_;
  std::vector<GrowingFile> growing_;
  bool begun_ = false;
};

}  // namespace retrace::results
