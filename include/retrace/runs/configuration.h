/// The whole configuration of a reconstruction: one place that holds every setting, its default, its legal values and
/// its description. Files, `--set` and `--print-config` all go through it.
#pragma once

#include <string>

#include "retrace/io/json.h"
#include "retrace/methods/sampling/options.h"
#include "retrace/task/task.h"

namespace retrace::runs {

struct Configuration {
  task::Options task;
  sampling::Options sampling;

  io::Json ToJson() const;
  /// The same with a comment above each setting: what it means, its unit, its legal values. Can be read back.
  std::string ToCommentedJson() const;

  /// Takes the settings that a document names; the others stay. Throws InputError with the JSON pointer.
  void Read(const io::JsonView& view);
  /// Takes one setting given as `/pointer=value`. Throws UsageError for a pointer that does not exist or a bad value.
  void Set(const std::string& assignment);
  /// Takes all settings in which a method differs from others; what is set afterwards holds.
  void UseMethod(sampling::Method method);
  /// The method of 2010 with step and servo of the paper: 0.0005 s, explicit PD, ODE's contacts (Liu et al. 2010,
  /// sections 3.2.3 and 4).
  void UsePaperMode();
};

}  // namespace retrace::runs
