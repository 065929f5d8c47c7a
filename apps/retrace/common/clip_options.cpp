#include "common/clip_options.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>

#include "cli/number_option.h"
#include "cli/program.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/recordings/recording.h"
#include "retrace/retargeting/reference_options.h"

namespace retrace::apps {
namespace {

const char* const kGroup = "What is known of the clip, where it would be detected";

constexpr double kLoop = 30;  // without a number [s]

/// Words that are allowed instead of a number; the empty one where a number may be missing.
cli::NumberWords WordsOf(const std::string& key) {
  if (key == "unit") {
    return {{"auto", std::nullopt}, {"m", 1},       {"cm", 0.01},          {"mm", 0.001},
            {"in", 0.0254},         {"ft", 0.3048}, {"cmu", 0.0254 / 0.45}};
  }
  if (key == "floor_height") return {{"auto", std::nullopt}};
  if (key == "treadmill") return {{"auto", std::nullopt}, {"off", 0}};
  if (key == "facing") return {{"recorded", std::nullopt}};
  if (key == "loop") return {{"", kLoop}};
  return {};
}

/// What happens without the option, where that is not a number.
std::string DefaultOf(const std::string& key) {
  if (key == "end") return " [its end]";
  if (key == "loop") return "; without a number 30, or --seconds [as recorded]";
  if (key == "unit" || key == "floor_height" || key == "treadmill") return " [auto]";
  if (key == "frame_rate") return " [from the file; AMC: 120]";
  if (key == "skip_frames") return " [those in the rest pose]";
  if (key == "facing") return " [recorded]";
  return "";
}

std::string OptionName(const std::string& key) {
  std::string name = "--" + key;
  for (char& c : name) c = c == '_' ? '-' : c;
  return name;
}

/// The options of a clip that are described are numbers and flags.
template <typename Kind>
concept IsNumber =
    !std::is_same_v<Kind, io::Flag> && !std::is_same_v<Kind, io::Reals> && !std::is_same_v<Kind, io::Text> &&
    !std::is_same_v<Kind, io::AnyWords> && !std::is_same_v<Kind, io::AnyPart>;

[[noreturn]] void RefuseKind(const io::Setting& setting) {
  throw std::logic_error(std::string(setting.key).append(": no number, and no flag"));
}

/// Makes an option of each field.
class OptionAdder final : public io::UniformVisitor<OptionAdder> {
 public:
  explicit OptionAdder(cli::Command& command) : command_(command) {}

  template <typename T, typename Kind>
  void Visit(const io::Setting& setting, T& value, const Kind& kind) {
    const std::string key(setting.key);
    std::string text(setting.text);
    if constexpr (std::is_same_v<Kind, io::Flag>) {
      command_.AddFlag(OptionName(key), value, text).Group(kGroup);
    } else if constexpr (IsNumber<Kind>) {
      const cli::NumberWords words = WordsOf(key);
      if (!setting.unit.empty()) text.append(" [").append(setting.unit).append("]");
      const bool may_be_missing = words.size() == 1 && words[0].first.empty();
      for (size_t i = 0; i < words.size() && !may_be_missing; ++i) {
        text.append(i == 0 ? "; also " : i + 1 == words.size() ? " or " : ", ").append(words[i].first);
      }
      const cli::Option option =
          cli::AddNumber(command_, OptionName(key), value, kind, text.append(DefaultOf(key)), words);
      const bool which_part = key == "start" || key == "end" || key == "time_scale" || key == "loop";
      if (!which_part) option.Group(kGroup);
      if (may_be_missing) option.Count(0, 1);
    } else {
      RefuseKind(setting);
    }
  }
  void Section(const io::Setting&, const Fields& fields) override { fields(*this); }

 private:
  cli::Command& command_;
};

/// Writes the options that differ from the defaults as a shell takes them.
class OptionWriter final : public io::UniformVisitor<OptionWriter> {
 public:
  template <typename T, typename Kind>
  void Visit(const io::Setting& setting, const T& value, const Kind& kind) {
    const std::string key(setting.key);
    if constexpr (std::is_same_v<Kind, io::Flag>) {
      if (value) command.append(" ").append(OptionName(key));
    } else if constexpr (IsNumber<Kind>) {
      const io::Json written = kind.Write(value);
      if (written.is_null() || key == "time_scale" || (key == "start" && value == T{})) return;
      std::string text = cli::detail::TextOf(written);
      for (const auto& [word, meaning] : WordsOf(key)) {
        if (meaning && io::Json(*meaning) == written) text = word;
      }
      command.append(" ").append(OptionName(key)).append(" ").append(text);
    } else {
      RefuseKind(setting);
    }
  }
  void Section(const io::Setting&, const Fields& fields) override { fields(*this); }

  std::string command;
};

}  // namespace

void AddClipOptions(cli::Command& command, ClipArguments& o) {
  command.Add("clip", o.clip, "Recorded motion: a file that ends with " + recordings::KnownEndings()).Type("CLIP");
  command
      .Add("--skeleton", o.skeleton,
           "Skeleton of an AMC motion (.asf), model of an OpenSim motion or of the markers (.osim)")
      .Type("FILE");
  command.Add("--animation", o.animation, "Which of the animations in the file [the first that moves the performer]")
      .Type("NAME");
  command.Add("--performer", o.performer, "Which of the people in the file [the one with most joints]").Type("NAME");
  OptionAdder adder(command);
  Describe(o.numbers, adder);
  command
      .Add("--retime", o.retimings,
           "Play a part of the clip at another speed: from and to which second of the clip, and how many times as long "
           "as the rest (repeatable)")
      .Type("START-END:FACTOR")
      .OneEach();
  cli::AddNumber(command, "--seconds", o.seconds, io::OptionalReal{character::kDurations},
                 "Use so many seconds, from the start of the clip or with --loop of its repeated cycle [all]");
  command.Add("--up", o.up, "Axis that points up: auto, x, y, z, -x, -y or -z")
      .ShowDefault()
      .OneOf({"auto", "x", "y", "z", "-x", "-y", "-z"})
      .Group(kGroup);
  command.AddFlag("--no-level-floor,--keep-tilt", o.no_level_floor, "Do not level a tilted capture floor")
      .Group(kGroup);
  command.Add("--map", o.map, "Which joint moves which segment: {\"pelvis\": \"Hips\", ...}")
      .Type("FILE.json")
      .Group(kGroup);
}

runs::ClipOptions ParseClip(const ClipArguments& o) {
  runs::ClipOptions clip = o.numbers;
  clip.file = o.clip;
  clip.skeleton = o.skeleton;
  clip.choice = {o.animation, o.performer};
  clip.joint_map = o.map;
  for (const std::string& retiming : o.retimings) clip.retimings.push_back(character::ParseRetiming(retiming));
  if (o.up != "auto") clip.up_axis = o.up;
  clip.level_floor = !o.no_level_floor;
  if (o.seconds && clip.loop) {
    clip.loop = o.seconds;
  } else if (o.seconds) {
    clip.end = std::min(clip.end.value_or(clip.start + *o.seconds), clip.start + *o.seconds);
  }
  if (clip.end && *clip.end <= clip.start) {
    throw UsageError("--end: found " + io::Number(*clip.end) + ", expected more than --start, which is " +
                     io::Number(clip.start));
  }
  if (runs::LacksSkeleton(clip)) {
    const std::string& ending = recordings::FormatOf(o.clip)->skeleton_ending;
    throw UsageError(o.clip + ": a " + runs::ExtensionOf(o.clip) + " file needs --skeleton FILE" + ending);
  }
  return clip;
}

void RequireClip(const ClipArguments& o) {
  if (o.clip.empty()) throw UsageError("a clip is needed (--help lists the options)");
}

std::string ClipCommand(const ClipArguments& o, double time_scale, const std::string& character) {
  std::string command = cli::ShellWord(o.clip);
  if (!o.skeleton.empty()) command += " --skeleton " + cli::ShellWord(o.skeleton);
  if (!o.animation.empty()) command += " --animation " + cli::ShellWord(o.animation);
  if (!o.performer.empty()) command += " --performer " + cli::ShellWord(o.performer);
  if (character != "human") command += " --character " + cli::ShellWord(character);
  OptionWriter writer;
  runs::ClipOptions numbers = o.numbers;
  Describe(numbers, writer);
  command += writer.command;
  if (time_scale != 1) command += " --time-scale " + io::Fixed(time_scale, 2);
  for (const std::string& retiming : o.retimings) command += " --retime " + cli::ShellWord(retiming);
  if (o.seconds) command += " --seconds " + io::Number(*o.seconds);
  if (o.up != "auto") command += " --up " + o.up;
  if (o.no_level_floor) command += " --keep-tilt";
  if (!o.map.empty()) command += " --map " + cli::ShellWord(o.map);
  return command;
}

}  // namespace retrace::apps
