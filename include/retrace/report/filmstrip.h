/// A motion at a glance, as one picture.
#pragma once

#include <span>
#include <string>

#include "retrace/character/character.h"
#include "retrace/character/reference.h"
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

/// One character and its motion.
struct FilmStripMotion {
  const character::Character* character = nullptr;
  const control::Trajectory* trajectory = nullptr;
  const character::ReferenceMotion* reference = nullptr;
};

/// SVG of the simulated character at several instants, drawn from its collision shapes: left limbs blue, right limbs
/// yellow, the rest grey (tones that stay apart for colour-blind eyes and in grey). Behind each figure stands the
/// reference at the same time as an outline, drawn at its true place, so that drift shows. Arrows are the ground's
/// forces, one per touching body, at the mean point of contact.
///
/// The view is from the side, at right angles to the principal horizontal direction of travel, which runs to the right.
/// Figures stand at their true places where these are far enough apart and the motion does not turn back; else they are
/// spread with even gaps. A motion that stays in place is seen half from the front, along its mean heading.
/// The projection is orthographic: the scale bar holds everywhere.
///
/// Of several characters, those of one scene, each figure shows all, far ones first; the first one's path and height
/// decide the view, the places and the length of arrows.
///
/// A reference may be null. The picture has a background of its own, needs no other file and is the same for the same
/// input. Throws std::invalid_argument without a state, for trajectories of different lengths, and for options out of
/// range.
std::string FormatFilmStrip(std::span<const FilmStripMotion> motions, const FilmStripOptions& options = {});
inline std::string FormatFilmStrip(const character::Character& character, const control::Trajectory& trajectory,
                                   const character::ReferenceMotion* reference, const FilmStripOptions& options = {}) {
  const FilmStripMotion motion{&character, &trajectory, reference};
  return FormatFilmStrip(std::span(&motion, 1), options);
}

}  // namespace retrace::report
