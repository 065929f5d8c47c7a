/// A response model that is played as it is asked to, line by line, so that a viewer or a game can drive it: pushes and
/// requests as lines in, poses as lines out.
///
///     retrace::runs::ResponseStream stream({&model}, {});
///     std::cout << stream.Header();
///     for (std::string line; std::getline(std::cin, line);) std::cout << stream.Answer(line) << std::flush;
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "retrace/response_model/response_player.h"

namespace retrace::runs {

class ResponseStream {
 public:
  /// Begins with the normal motion of the first model. The models must outlive it. Throws InputError for models that do
  /// not fit one another.
  ResponseStream(const std::vector<const response_model::ResponseModel*>& models,
                 const response_model::SynthesisOptions& options);

  /// The names of the numbers in a line of a pose, with commas between and a newline: `time` [s]; `deviation`, by how
  /// much an observation is uncertain, 1 where no example tells anything; the position of the root (`root_x`, `root_y`,
  /// `root_z`) [m] and its orientation as a quaternion (`root_qw` to `root_qz`), y up; and for each joint by its name
  /// the rotation of the child in the axes of the parent (`JOINT_qw` to `JOINT_qz`).
  std::string Header() const;

  /// What a line asks for. An empty one: the next pose. A whole number: so many poses, a line for each.
  /// BODY,FX:FY:FZ,DURATION, after which ,X:Y:Z may stand: a push from the next pose on for so long [s], a force in
  /// world axes [N] at the body's center of mass, or at a point in the body's frame [m]; the answer is empty. Pushes
  /// add up. Throws InputError for other lines, and where the motion leaves all bounds.
  std::string Answer(std::string_view line);

  double time() const { return player_.time(); }        ///< of the present pose [s]
  double deviation() const { return most_deviation_; }  ///< the largest so far
  /// Whether somewhere no example was like the motion.
  bool doubtful() const;

 private:
  response_model::Push ParsePush(std::string_view line) const;
  std::string Pose();
  [[noreturn]] void Fail(const std::string& found, const std::string& expected) const;

  response_model::ResponsePlayer player_;
  const response_model::ResponseModel& model_;
  std::vector<response_model::Push> pushes_;  // those that are not over
  size_t lines_ = 0;
  double most_deviation_ = 0;
};

}  // namespace retrace::runs
