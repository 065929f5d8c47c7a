/// Films of motions that are known.
#include "retrace/report/film.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "character/sample_human.h"
#include "results/sample_motion.h"
#include "retrace/io/error.h"
#include "retrace/report/report.h"

namespace retrace::report {
namespace {

/// The human glides for half a second, beside a reference that stays, with a force under its left foot.
class FilmTest : public ::testing::Test {
 protected:
  FilmTest() {
    const character::Character& human = character::Human();
    constexpr int kSteps = 60;
    control::Trajectory trajectory = results::Glide(human, kSteps, Vec3(0, 0, 2.0 / 120));
    trajectory.time_step = 1.0 / 120;
    for (size_t step = 30; step < kSteps; ++step) {
      simulation::Contact contact;
      contact.body = human.FindBody("left_foot");
      contact.point = trajectory.states[step][static_cast<size_t>(contact.body)].position;
      contact.force = Vec3(0, 900, 0);
      trajectory.contacts[step].push_back(contact);
    }
    const character::Pose pose = character::RestPose(human);
    const character::ReferenceMotion reference(human, 0.5, {pose, pose}, 0.5);
    simulation::WorldOptions world;
    world.time_step = trajectory.time_step;
    ReportRun run;
    run.name = "glide";
    run.character = &human;
    run.world = &world;
    run.reference = &reference;
    document_ = ReportDocument("t", {DescribeRun(run, trajectory)});
    options_.width = 160;
    options_.height = 90;
    options_.captions = false;
  }
  rendering::Image FrameOf(const FilmOptions& options, size_t frame) const {
    return Film(document_, options).Frame(frame);
  }

  io::Json document_;
  FilmOptions options_;
};

TEST_F(FilmTest, HasAPictureForEachInstant) {
  const Film film(document_, options_);
  EXPECT_EQ(film.num_frames(), 16U);
  EXPECT_DOUBLE_EQ(film.TimeOf(0), 0);
  EXPECT_NEAR(film.TimeOf(15), 0.5, 1e-9);
  const rendering::Image image = film.Frame(3);
  EXPECT_EQ(image.width, 160);
  EXPECT_EQ(image.height, 90);
  options_.speed = 0.25;
  options_.start = 0.1;
  options_.end = 0.3;
  const Film slow(document_, options_);
  EXPECT_EQ(slow.num_frames(), 25U);
  EXPECT_NEAR(slow.TimeOf(1), 0.1 + 0.25 / 30, 1e-9);
  EXPECT_NEAR(slow.TimeOf(24), 0.3, 1e-9);
}

TEST_F(FilmTest, NothingReachesTheEdges) {
  // Whatever the camera and the layout, the body stays within the picture: its edges are as in a picture without it.
  options_.forces = options_.pressure = false;
  for (const FilmCamera camera : {FilmCamera::kSide, FilmCamera::kFront, FilmCamera::kTop}) {
    options_.camera = camera;
    const rendering::Image image = FrameOf(options_, 8);
    for (int x = 1; x < image.width; ++x) {
      for (size_t k = 0; k < 3; ++k) {
        const uint8_t* row = image.Row(0);
        ASSERT_NEAR(row[3 * static_cast<size_t>(x) + k], row[k], 60) << x;
      }
    }
    std::set<std::array<uint8_t, 3>> colors;
    for (size_t k = 0; k < image.pixels.size(); k += 3) {
      colors.insert({image.pixels[k], image.pixels[k + 1], image.pixels[k + 2]});
    }
    EXPECT_GT(colors.size(), 100U);
  }
}

TEST_F(FilmTest, ShowsWhatIsAskedFor) {
  const rendering::Image plain = FrameOf(options_, 12);
  const auto differs = [&](auto change) {
    FilmOptions other = options_;
    change(other);
    return FrameOf(other, 12).pixels != plain.pixels;
  };
  EXPECT_TRUE(differs([](FilmOptions& o) { o.layout = FilmLayout::kGhost; }));
  EXPECT_TRUE(differs([](FilmOptions& o) { o.layout = FilmLayout::kBeside; }));
  EXPECT_TRUE(differs([](FilmOptions& o) { o.shapes = true; }));
  EXPECT_TRUE(differs([](FilmOptions& o) { o.forces = false; }));
  EXPECT_TRUE(differs([](FilmOptions& o) { o.captions = true; }));
  EXPECT_TRUE(differs([](FilmOptions& o) { o.camera = FilmCamera::kFront; }));
  EXPECT_FALSE(differs([](FilmOptions& o) { o.threads = 3; }));
  // Before the contact there is no arrow.
  options_.pressure = false;
  FilmOptions without = options_;
  without.forces = false;
  EXPECT_EQ(FrameOf(options_, 3).pixels, FrameOf(without, 3).pixels);
  EXPECT_EQ(Film(document_, options_).Still(0.2, 2).width, 320);
}

TEST_F(FilmTest, RefusesWhatHasNoMotion) {
  options_.start = 2;
  EXPECT_THROW(Film(document_, options_), UsageError);
  EXPECT_THROW(Film(ReportDocument("t", {DescribeEvaluation("e", {})}), FilmOptions()), UsageError);
}

}  // namespace
}  // namespace retrace::report
