/// A motion at a glance, as one picture.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "retrace/character/character.h"
#include "retrace/character/reference_motion.h"
#include "retrace/control/control.h"

namespace retrace::report {

struct FilmStripOptions {
  int figures = 9;                    ///< instants shown, evenly spaced in time, the first and the last included, >= 2
  double width = 1280;                ///< of the picture [px]; its height follows
  double start = 0;                   ///< first instant shown [s]
  double end = -1;                    ///< last instant shown [s]; negative: the end of the trajectory
  double force_window = 0.05;         ///< contact forces are means over this long around an instant [s]
  double gravity = kStandardGravity;  ///< of the world [m/s^2]: the legend shows the weight that it gives the character
  /// What else is in the world: drawn behind each figure as it is at its instant. Null: a plain floor.
  const simulation::Environment* environment = nullptr;
  std::string title;  ///< of the document, for viewers that show or speak it; not drawn
};

/// A contact force [N] and where it acts [m], in the world.
struct Arrow {
  Vec3 point = Vec3::Zero();
  Vec3 force = Vec3::Zero();
};

/// What a film strip shows of one character's motion, taken from it part by part (control::ReplayInParts).
class FilmedMotion {
 public:
  /// Film strip of a motion of so many steps. Character and reference must outlive it; the reference may be null.
  /// Throws std::invalid_argument for options out of range.
  FilmedMotion(const character::Character& character, const character::ReferenceMotion* reference, size_t num_steps,
               double time_step, const FilmStripOptions& options);
  /// The parts of the motion in their order, or all of it.
  void Add(const control::Trajectory& part);

  /// An instant that is shown.
  struct Instant {
    size_t state = 0;  ///< its number
    character::State bodies;
    size_t first_step = 0;  ///< whose contacts are counted
    size_t end_step = 0;
    std::vector<Arrow> sums;      ///< (bodies) of the ground's forces, and of points times the sizes of forces
    std::vector<double> weights;  ///< (bodies) sums of the sizes of forces

    /// Mean ground force on each body that has any.
    std::vector<Arrow> Arrows() const;
  };

  const character::Character& character() const { return character_; }
  const character::ReferenceMotion* reference() const { return reference_; }
  size_t num_steps() const { return num_steps_; }
  double time_step() const { return time_step_; }
  /// (states) the root from the first shown instant to the last one.
  const std::vector<character::BodyState>& roots() const { return roots_; }
  const std::vector<Instant>& instants() const { return instants_; }

 private:
  const character::Character& character_;
  const character::ReferenceMotion* reference_;
  size_t num_steps_;
  double time_step_;
  std::vector<character::BodyState> roots_;
  std::vector<Instant> instants_;
};

/// One character and its motion.
struct FilmStripMotion {
  const character::Character* character = nullptr;
  const control::Trajectory* trajectory = nullptr;
  const character::ReferenceMotion* reference = nullptr;
};

/// SVG of the simulated character at several instants, drawn from its collision shapes: left limbs blue, right limbs
/// yellow, the rest gray (tones that stay apart for color-blind eyes and in gray). Behind each figure stands the
/// reference at the same time as an outline, drawn at its true position, so that drift shows. Arrows are the ground's
/// forces, one per touching body, at the mean point of contact.
///
/// The view is from the side, at right angles to the principal horizontal direction of travel, which runs to the right.
/// Figures stand at their true places where these are far enough apart and the motion does not turn back; else they are
/// spread with even gaps. A motion that stays in place is seen half from the front, along its mean heading.
/// The projection is orthographic: the scale bar holds everywhere.
///
/// Of several characters, those of one scene, each figure shows all, far ones first; the first one's path and height
/// decide the view, the positions and the length of arrows.
///
/// A reference may be null. The picture has a background of its own, needs no other file and is the same for the same
/// input. Throws std::invalid_argument without a state, for trajectories of different lengths, and for options out of
/// range.
std::string FormatFilmStrip(std::span<const FilmedMotion> motions, const FilmStripOptions& options = {});
std::string FormatFilmStrip(std::span<const FilmStripMotion> motions, const FilmStripOptions& options = {});
inline std::string FormatFilmStrip(const character::Character& character, const control::Trajectory& trajectory,
                                   const character::ReferenceMotion* reference, const FilmStripOptions& options = {}) {
  const FilmStripMotion motion{&character, &trajectory, reference};
  return FormatFilmStrip(std::span(&motion, 1), options);
}

}  // namespace retrace::report
