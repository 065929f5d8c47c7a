#include "retrace/runs/inputs/clip_checks_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "retrace/retargeting/reference.h"
#include "retrace/runs/inputs/character_input.h"

namespace retrace::runs {
namespace {

character::ReferenceOptions ReferenceOptionsOf(const ClipOptions& clip_options, std::span<const InputFile> files) {
  character::ReferenceOptions options;
  Apply(clip_options, options);
  ApplyJointMap(files, options);
  return options;
}

character::Character CharacterOf(const std::string& name, const motion::Clip& clip, const std::string& clip_name,
                                 const character::ReferenceOptions& options, std::vector<std::string>& notes) {
  return CharacterFor(name, ReadInput({"character", CharacterFile(name)}), clip, clip_name, options, notes);
}

}  // namespace

ClipFindings::ClipFindings(const ClipOptions& options, std::span<const InputFile> files, const std::string& name,
                           const motion::Clip& recording)
    : clip(recording),
      character(CharacterOf(name, clip, options.file.string(), ReferenceOptionsOf(options, files), report.notes)),
      reference(
          character::MakeReference(character, clip, options.file.string(), ReferenceOptionsOf(options, files), report)),
      kind(task::ClassifyMotion(reference)),
      boundaries(task::FindBoundaries(reference)),
      checks(metrics::CheckClip(reference, clip, report)),
      file_(options.file.string()) {}

double ClipFindings::SuggestedTimeScale() const {
  const bool other_speed =
      std::any_of(checks.warnings.begin(), checks.warnings.end(), [&](const metrics::ClipWarning& warning) {
        return warning.kind == "flight_speed" && checks.flight_acceleration > 0;
      });
  return other_speed ? checks.time_scale : 1;
}

io::Json ClipFindings::ToJson() const {
  const auto name_of = [&](int joint) { return clip.skeleton.joints[static_cast<size_t>(joint)].name; };
  io::Json joints = io::Json::array();
  for (const motion::Joint& joint : clip.skeleton.joints) {
    joints.push_back({{"name", joint.name},
                      {"parent", joint.parent < 0 ? io::Json() : io::Json(name_of(joint.parent))},
                      {"length", joint.offset.norm() * report.unit},
                      {"end_site", joint.end_site}});
  }
  io::Json mapping = io::Json::object();
  for (const auto& [segment, source] : report.map.segments) {
    mapping[segment] = {{"position", name_of(source.position)}, {"orientation", name_of(source.orientation)}};
  }
  io::Json segments = io::Json::array();
  for (const auto& boundary : boundaries) segments.push_back({{"time", boundary.time}, {"reason", boundary.reason}});
  return {{"clip", file_},
          {"frames", clip.frames.size()},
          {"frame_rate", report.frame_rate},
          {"frame_rate_known", clip.frame_time_known},
          {"duration", reference.duration()},
          {"joints", joints},
          {"mapping", mapping},
          {"reference", report.ToJson()},
          {"segments", segments},
          {"motion", kind.ToJson()},
          {"checks", checks.ToJson()}};
}

}  // namespace retrace::runs
