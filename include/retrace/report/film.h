/// The motion of a run as moving pictures, from the document of its page: no browser, no display.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "retrace/io/json.h"
#include "retrace/rendering/image.h"

namespace retrace::report {

/// What is seen of the motion that a run was to follow.
enum class FilmLayout {
  kResult,  ///< the simulated motion alone
  kGhost,   ///< the recorded one where it was, see-through
  kBeside,  ///< the recorded one in a picture of its own, on the left
};

/// From where, as buttons of the page are called.
enum class FilmCamera { kOblique, kSide, kFront, kBack, kTop };

struct FilmOptions {
  FilmLayout layout = FilmLayout::kResult;
  FilmCamera camera = FilmCamera::kOblique;
  bool shapes = false;            ///< collision shapes instead of a skin
  bool forces = true;             ///< arrows of contact forces and pushes
  bool pressure = true;           ///< what feet and hands left on the ground
  bool captions = true;           ///< time, and what is seen
  double speed = 1;               ///< of play: 0.25 is slow motion
  double frames_per_second = 30;  ///< of the film
  int width = 1920;               ///< [px]
  int height = 1080;              ///< [px]
  double start = 0;               ///< of what is shown [s]
  double end = -1;                ///< [s]; negative: the end of the motion
  int threads = 1;
};

/// The first run of a document, or the first scene with all of its characters.
class Film {
 public:
  /// Throws UsageError for a document without a run, and for an interval without a frame.
  Film(const io::Json& document, const FilmOptions& options);
  Film(Film&&) noexcept;
  ~Film();

  size_t num_frames() const;
  double TimeOf(size_t frame) const;  ///< of the motion [s]
  rendering::Image Frame(size_t frame) const;
  /// An instant as one large picture, `scale` times as wide and as high as a frame.
  rendering::Image Still(double time, int scale) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace retrace::report
