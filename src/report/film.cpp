#include "retrace/report/film.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "film_figures.h"
#include "packed.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"
#include "retrace/rendering/renderer.h"

namespace retrace::report {
namespace {

using rendering::ColorOf;
using rendering::Picture;

constexpr double kAngle = 0.45;     // of view, from the lowest row to the highest [rad]
constexpr double kMargin = 1.1;     // around all that is to be seen
constexpr double kBodyWidth = 0.2;  // from the middle of a body to its skin, at most [m]

/// Characters of one scene have colors of their own; of a single one, left and right limbs have.
FigureColors ColorsOf(size_t character, size_t characters) {
  if (characters == 1) return {ColorOf("#d6cfc6"), ColorOf("#7fb0d8"), ColorOf("#ecb266")};
  static constexpr const char* kOwn[] = {"#7fb0d8", "#e29a72", "#8cc3a0", "#c9a2c6", "#d8c47a"};
  const rendering::Color own = ColorOf(kOwn[character % std::size(kOwn)]);
  return {own, own, own};
}
FigureColors OneColor(const char* screen) {
  return {ColorOf(screen), ColorOf(screen), ColorOf(screen)};
}

/// Viridis at six shares, the most dark, as on the page by day.
rendering::Color HeatOf(double share) {
  static const std::array<rendering::Color, 6> kViridis = {ColorOf("#fde725"), ColorOf("#7ad151"), ColorOf("#22a884"),
                                                           ColorOf("#2a788e"), ColorOf("#414487"), ColorOf("#440154")};
  const double at = std::clamp(share, 0.0, 1.0) * (kViridis.size() - 1);
  const size_t k = std::min(static_cast<size_t>(at), kViridis.size() - 2);
  rendering::Color color;
  for (size_t c = 0; c < 3; ++c) {
    color[c] = kViridis[k][c] + static_cast<float>(at - static_cast<double>(k)) * (kViridis[k + 1][c] - kViridis[k][c]);
  }
  return color;
}

std::string SpeedText(double speed) {
  return "speed " + io::Number(speed) + " x";
}

}  // namespace

struct Film::Impl {
  Impl(const io::Json& document, const FilmOptions& wanted) : options(wanted) {
    const io::Json* scene = nullptr;
    for (const io::Json& part : document.at("parts")) {
      if (scene == nullptr && part.at("kind") != "evaluation") scene = &part;
    }
    if (scene == nullptr) throw UsageError("a video: found no motion of a run, expected one");
    if (scene->at("kind") == "run") {
      actors.emplace_back(*scene, options.shapes);
    } else {
      for (const io::Json& run : scene->at("characters")) actors.emplace_back(run, options.shapes);
    }
    frame_time = actors.front().frame_time;
    world = FilmedWorld(scene->at("world"), frame_time);
    const std::vector<float> places = Unpack<float>(scene->at("path"));
    for (size_t k = 0; k + 2 < places.size(); k += 3) path.emplace_back(places[k], places[k + 1], places[k + 2]);
    travel = Vec3(scene->at("travel").at(0), 0, scene->at("travel").at(1));
    const bool has_recorded =
        std::any_of(actors.begin(), actors.end(), [](const FilmedCharacter& a) { return !a.recorded.empty(); });
    if (!has_recorded) options.layout = FilmLayout::kResult;
    double longest = 0;
    for (const FilmedCharacter& actor : actors) longest = std::max(longest, actor.duration);
    end = options.end < 0 ? longest : std::min(options.end, longest);
    const double seconds = (end - options.start) / options.speed;
    if (!(seconds >= 0) || options.start < 0) {
      throw UsageError("a video from " + io::Number(options.start) + " s to " + io::Number(end) +
                       " s: found no instant between, expected an interval within the " + io::Fixed(longest, 2) +
                       " s of the motion");
    }
    frames = static_cast<size_t>(std::floor(seconds * options.frames_per_second + 1e-6)) + 1;
    Aim();
  }

  double PanelAspect() const {
    return static_cast<double>(options.width) / options.height * (options.layout == FilmLayout::kBeside ? 0.5 : 1);
  }

  Vec3 PathAt(double time) const {
    const double at = std::clamp(time / frame_time, 0.0, static_cast<double>(path.size() - 1));
    const auto k = static_cast<size_t>(at);
    const size_t next = std::min(k + 1, path.size() - 1);
    return path[k] + (at - static_cast<double>(k)) * (path[next] - path[k]);
  }

  /// Towards the eye, of length 1.
  Vec3 TowardsEye() const {
    if (options.camera == FilmCamera::kTop) return (Vec3::UnitY() + 0.02 * travel).normalized();
    static constexpr double kAngles[] = {0.5, 0, 0.5 * kPi, -0.5 * kPi};
    const double angle = kAngles[static_cast<size_t>(options.camera)];
    const Vec3 across(-travel.z(), 0, travel.x());
    return (across * std::cos(angle) + travel * std::sin(angle) + Vec3(0, 0.2, 0)).normalized();
  }

  /// How far the eye stands, and how high over the path it looks, so that all bodies are always in view.
  void Aim() {
    const Vec3 back = TowardsEye();
    const Vec3 right = Vec3::UnitY().cross(back).normalized(), up = back.cross(right);
    double low = 1e9, high = -1e9;
    std::vector<Vec3> places;  // from the path
    const auto visit = [&](const PackedPoses& poses) {
      for (size_t f = 0; f < poses.num_frames(); ++f) {
        const Vec3& root = path[std::min(f, path.size() - 1)];
        for (size_t b = 0; b < poses.num_bodies(); ++b) places.push_back(poses.PositionAt(f, b) - root);
      }
    };
    double tallest = 0;
    for (const FilmedCharacter& actor : actors) {
      visit(actor.simulated);
      if (options.layout != FilmLayout::kResult) visit(actor.recorded);
      tallest = std::max(tallest, actor.shape.height());
    }
    const double width = kBodyWidth * tallest / 1.75;
    for (const Vec3& place : places) {
      low = std::min(low, place.dot(up) - width);
      high = std::max(high, place.dot(up) + width);
    }
    rise = 0.5 * (low + high);
    const double slope = std::tan(0.5 * kAngle);
    distance = 2;
    for (const Vec3& place : places) {
      const double aside = std::abs(place.dot(right)) + width, above = std::abs(place.dot(up) - rise) + width;
      const double needed = kMargin * std::max(aside / PanelAspect(), above) / slope + place.dot(back);
      distance = std::max(distance, needed);
      reach = std::max(reach, std::hypot(place.x(), place.z()) + 1.5);
    }
  }

  Picture Prepared(double time) const {
    Picture picture;
    const Vec3 back = TowardsEye();
    const Vec3 right = Vec3::UnitY().cross(back).normalized();
    picture.camera.target = PathAt(time) + rise * back.cross(right);
    picture.camera.eye = picture.camera.target + distance * back;
    picture.camera.angle = kAngle;
    picture.focus = picture.camera.target;
    picture.reach = reach;
    // Over the viewer's left shoulder.
    const Vec3 level =
        Vec3(back.x(), 0, back.z()).norm() > 0.1 ? Vec3(Vec3(back.x(), 0, back.z()).normalized()) : -travel;
    picture.sun = 0.55 * level - 0.5 * right + Vec3(0, 1.05, 0);
    world.AddTo(picture, time);
    if (world.has_ground()) {
      // Never from below the ground.
      picture.camera.eye.y() = std::max(picture.camera.eye.y(), world.ground() + 0.12);
    }
    return picture;
  }

  void AddForces(Picture& picture, double time) const {
    // A frame has the forces that led to it; the first one, to which none led, those that lead on.
    const auto frame = static_cast<size_t>(std::max(1L, std::lround(time / frame_time)));
    for (const FilmedCharacter& actor : actors) {
      picture.arrow_radius = 0.016 * actor.shape.height() / 1.75;
      actor.contacts.AddTo(picture, frame, actor.meters_per_newton, ColorOf("#d55e00"));
      actor.pushes.AddTo(picture, frame, actor.meters_per_newton, ColorOf("#b0003a"));
    }
  }

  void AddPressure(Picture& picture, double time) const {
    for (const FilmedCharacter& actor : actors) {
      const auto frame =
          std::min(static_cast<size_t>(std::lround(std::max(0.0, time / frame_time))), actor.print_offsets.size() - 2);
      picture.mark_side = actor.print_side;
      for (size_t k = 0; k < actor.print_offsets[frame + 1]; ++k) {
        if (std::abs(actor.print_places[3 * k + 1] - world.ground()) > 0.01) continue;
        const double share = actor.usual_peak > 0 ? actor.pressures[k] / actor.usual_peak : 0;
        picture.marks.push_back({actor.print_places[3 * k], actor.print_places[3 * k + 2], HeatOf(share)});
      }
    }
  }

  rendering::Image Result(double time, int width, int height, int sharpness) const {
    Picture picture = Prepared(time);
    for (size_t k = 0; k < actors.size(); ++k) {
      const FilmedCharacter& actor = actors[k];
      for (rendering::Solid& solid : actor.shape.At(actor.simulated.At(time), ColorsOf(k, actors.size()))) {
        picture.solids.push_back(std::move(solid));
      }
      if (options.layout != FilmLayout::kGhost || actor.recorded.empty()) continue;
      for (rendering::Solid& solid : actor.shape.At(actor.recorded.At(time), OneColor("#1fa37c"))) {
        picture.ghosts.push_back(std::move(solid));
      }
    }
    if (options.forces) AddForces(picture, time);
    if (options.pressure) AddPressure(picture, time);
    return rendering::Draw(picture, width, height, options.threads, sharpness);
  }

  rendering::Image Recorded(double time, int width, int height, int sharpness) const {
    Picture picture = Prepared(time);
    for (const FilmedCharacter& actor : actors) {
      if (actor.recorded.empty()) continue;
      for (rendering::Solid& solid : actor.shape.At(actor.recorded.At(time), OneColor("#b4bdb8"))) {
        picture.solids.push_back(std::move(solid));
      }
    }
    return rendering::Draw(picture, width, height, options.threads, sharpness);
  }

  rendering::Image Draw(double time, int scale, int sharpness) const {
    const int width = options.width * scale, height = options.height * scale;
    rendering::Image image;
    if (options.layout == FilmLayout::kBeside) {
      image = rendering::Image(width, height);
      const int half = width / 2;
      rendering::Paste(Recorded(time, half, height, sharpness), 0, 0, image);
      rendering::Paste(Result(time, width - half, height, sharpness), half, 0, image);
      for (int y = 0; y < height; ++y)
        std::fill_n(image.Row(y) + static_cast<ptrdiff_t>(3) * (half - 1), 6, uint8_t{205});
    } else {
      image = Result(time, width, height, sharpness);
    }
    if (options.captions) Caption(image, time);
    return image;
  }

  void Caption(rendering::Image& image, double time) const {
    static constexpr uint8_t kText[3] = {70, 76, 82}, kFaint[3] = {125, 131, 137}, kGhost[3] = {15, 125, 95};
    const double size = std::clamp(image.height / 42.0, 9.0, 60.0), margin = 1.6 * size;
    const double top = margin + size, bottom = image.height - margin;
    const std::string recorded = "recorded";
    if (options.layout == FilmLayout::kBeside) {
      rendering::DrawText(image, recorded, margin, top, size, kText);
      rendering::DrawText(image, "simulated", image.width / 2.0 + margin, top, size, kText);
    } else if (options.layout == FilmLayout::kGhost) {
      const double width = rendering::DrawText(image, "simulated", margin, top, size, kText);
      rendering::DrawText(image, recorded, margin + width + 1.2 * size, top, size, kGhost);
    }
    rendering::DrawText(image, io::Fixed(time, 2) + " s", margin, bottom, size, kText);
    if (options.speed == 1) return;
    const std::string speed = SpeedText(options.speed);
    rendering::DrawText(image, speed, image.width - margin - rendering::WidthOfText(speed, size), bottom, size, kFaint);
  }

  FilmOptions options;
  std::vector<FilmedCharacter> actors;
  FilmedWorld world;
  std::vector<Vec3> path;
  Vec3 travel = Vec3::UnitX();
  double frame_time = 0;
  double end = 0;
  size_t frames = 0;
  double distance = 4, rise = 0, reach = 2.5;
};

Film::Film(const io::Json& document, const FilmOptions& options) : impl_(std::make_unique<Impl>(document, options)) {}
Film::Film(Film&&) noexcept = default;
Film::~Film() = default;

size_t Film::num_frames() const {
  return impl_->frames;
}

double Film::TimeOf(size_t frame) const {
  const FilmOptions& o = impl_->options;
  return std::min(impl_->end, o.start + static_cast<double>(frame) / o.frames_per_second * o.speed);
}

rendering::Image Film::Frame(size_t frame) const {
  return impl_->Draw(TimeOf(frame), 1, 2);
}

rendering::Image Film::Still(double time, int scale) const {
  return impl_->Draw(std::clamp(time, 0.0, impl_->end), scale, 3);
}

}  // namespace retrace::report
