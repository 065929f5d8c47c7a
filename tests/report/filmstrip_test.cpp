#include "retrace/report/filmstrip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <regex>
#include <span>
#include <stdexcept>
#include <vector>

#include "results/sample_motion.h"
#include "retrace/io/number.h"

namespace retrace::report {
namespace {

using ::testing::Each;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Not;

/// What is wrong with a text as XML, or empty: tags nest, attributes are quoted once, there is one root.
std::string XmlError(const std::string& text) {
  static const std::regex tag(R"re(<(/?)([a-zA-Z]+)((?: [a-zA-Z0-9:-]+="[^"<&]*")*) ?(/?)>)re");
  std::vector<std::string> open;
  int roots = 0;
  size_t position = 0;
  while (position < text.size()) {
    const size_t begin = text.find('<', position);
    const std::string between = text.substr(position, begin - position);
    if (between.find('>') != std::string::npos) return "a stray > in: " + between;
    if (begin == std::string::npos) break;
    const size_t end = text.find('>', begin);
    if (end == std::string::npos) return "a tag without end";
    const std::string piece = text.substr(begin, end - begin + 1);
    std::smatch match;
    if (!std::regex_match(piece, match, tag)) return "not a tag: " + piece;
    if (match[1].length() != 0) {
      if (open.empty() || open.back() != match[2]) return "closes what is not open: " + piece;
      open.pop_back();
    } else if (match[4].length() == 0) {
      roots += open.empty();
      open.push_back(match[2]);
    }
    position = end + 1;
  }
  if (!open.empty()) return "never closed: " + open.back();
  return roots == 1 ? "" : "not one root";
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

/// Horizontal positions of the time labels, which stand under the figures [px].
std::vector<double> LabelPlaces(const std::string& svg) {
  static const std::regex label(R"re(<text x="([-0-9.]+)" y="[0-9.]+" text-anchor="middle"[^>]*>[0-9.]+ s</text>)re");
  std::vector<double> places;
  for (std::sregex_iterator it(svg.begin(), svg.end(), label), end; it != end; ++it) {
    places.push_back(std::strtod((*it)[1].str().c_str(), nullptr));
  }
  return places;
}

std::vector<double> Gaps(const std::vector<double>& places) {
  std::vector<double> gaps;
  for (size_t i = 1; i < places.size(); ++i) gaps.push_back(places[i] - places[i - 1]);
  return gaps;
}

character::ReferenceMotion StandingReference(const character::Character& character) {
  character::Pose pose;
  pose.root_position = Vec3(0, 1, 0);
  pose.joint_rotations.assign(character.joints.size(), Quat::Identity());
  return character::ReferenceMotion(character, 0.5, {pose, pose, pose}, 0.01);
}

TEST(FilmStrip, IsWellFormedAndNeedsNoOtherFile) {
  const auto character = results::SmallCharacter();
  auto trajectory = results::Glide(character, 200, Vec3(2, 0, 0));
  trajectory.contacts[199] = {{0, -1, Vec3(4, 0, 0), Vec3(5, 50, 0)}};
  const auto reference = StandingReference(character);
  FilmStripOptions options;
  options.title = "a <walk> & \"more\"";
  const std::string svg = FormatFilmStrip(character, trajectory, &reference, options);
  EXPECT_EQ(XmlError(svg), "");
  EXPECT_THAT(svg, HasSubstr("<title>a &lt;walk&gt; &amp; &quot;more&quot;</title>"));
  EXPECT_THAT(svg, Not(HasSubstr("href")));
  EXPECT_THAT(svg, Not(HasSubstr("@import")));
  EXPECT_EQ(Count(svg, "://"), 1u) << "the name space and no other address";
  EXPECT_EQ(Count(svg, "url("), Count(svg, "url(#"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_EQ(svg, FormatFilmStrip(character, trajectory, &reference, options));
}

/// The arrow of the legend is as long as one for the weight that the character has in its world.
TEST(FilmStrip, TheLegendShowsTheWeightInTheWorldsGravity) {
  const auto character = results::SmallCharacter();
  auto trajectory = results::Glide(character, 200, Vec3(2, 0, 0));
  constexpr double kForce = 40;  // [N]
  for (auto& contacts : trajectory.contacts) contacts = {{0, -1, Vec3(1, 0, 0), Vec3(0, kForce, 0)}};
  const auto number = [](const std::string& svg, const std::string& pattern) {
    std::smatch match;
    EXPECT_TRUE(std::regex_search(svg, match, std::regex(pattern))) << pattern;
    return match.empty() ? 0.0 : std::strtod(match[1].str().c_str(), nullptr);
  };
  FilmStripOptions options;
  const std::string earth = FormatFilmStrip(character, trajectory, nullptr, options);
  options.gravity = 1.62;
  const std::string moon = FormatFilmStrip(character, trajectory, nullptr, options);
  options.gravity = 0;
  const std::string nowhere = FormatFilmStrip(character, trajectory, nullptr, options);
  const std::string label = R"re(<text x="([0-9.]+)" [^>]*>ground force \(this length: body weight)re";
  const double pixels_per_meter = number(earth, R"(v8m0 -4h([0-9.]+)m0)");
  const double on_earth = 0.3 * character.height;
  const double on_moon = 0.85 * character.height / kForce * character.total_mass() * 1.62;
  EXPECT_NEAR(number(earth, label) - number(moon, label), pixels_per_meter * (on_earth - on_moon), 0.05);
  EXPECT_EQ(number(nowhere, label), number(earth, label));
  EXPECT_THAT(nowhere, HasSubstr("body weight on Earth)"));
  EXPECT_THAT(earth, Not(HasSubstr("on Earth")));
}

TEST(FilmStrip, DrawsTheTrianglesOfAMeshThatFaceTheViewer) {
  character::Character boxes = results::SmallCharacter();
  character::Character meshes = boxes;
  character::Shape& shape = meshes.bodies[0].shapes[0];
  shape.kind = character::Shape::Kind::kMesh;
  shape.mesh = BoxMesh(shape.size);
  const auto trajectory = results::Glide(boxes, 100, Vec3(1, 0, 0));
  const FilmStripOptions options;
  const std::string of_boxes = FormatFilmStrip(boxes, trajectory, nullptr, options);
  const std::string of_meshes = FormatFilmStrip(meshes, trajectory, nullptr, options);
  EXPECT_EQ(XmlError(of_meshes), "");
  EXPECT_THAT(of_meshes, Not(HasSubstr("nan")));
  // A face of the box is two triangles of the mesh; the outline about them is the same.
  const auto count = [](const std::string& svg) { return Count(svg, "<polygon") + Count(svg, "<path"); };
  EXPECT_GT(count(of_meshes), count(of_boxes));
  EXPECT_EQ(LabelPlaces(of_meshes), LabelPlaces(of_boxes));
}

TEST(FilmStrip, InstantsAreEvenInTimeFromFirstToLast) {
  const auto character = results::SmallCharacter();
  const auto trajectory = results::Glide(character, 200, Vec3(2, 0, 0));
  FilmStripOptions options;
  options.figures = 5;
  std::string svg = FormatFilmStrip(character, trajectory, nullptr, options);
  for (const char* label : {">0.00 s<", ">0.50 s<", ">1.00 s<", ">1.50 s<", ">2.00 s<"})
    EXPECT_THAT(svg, HasSubstr(label));
  EXPECT_EQ(LabelPlaces(svg).size(), 5u);
  options.start = 0.5;
  options.end = 1;
  options.figures = 3;
  svg = FormatFilmStrip(character, trajectory, nullptr, options);
  for (const char* label : {">0.50 s<", ">0.75 s<", ">1.00 s<"}) EXPECT_THAT(svg, HasSubstr(label));
  EXPECT_EQ(LabelPlaces(svg).size(), 3u);
}

TEST(FilmStrip, TravelRunsToTheRightWhateverItsDirection) {
  const auto character = results::SmallCharacter();
  for (const Vec3& velocity : {Vec3(3, 0, 0), Vec3(-3, 0, 0), Vec3(0, 0, 3), Vec3(2, 0, -2)}) {
    const auto trajectory = results::Glide(character, 200, velocity);
    FilmStripOptions options;
    options.figures = 6;
    const auto gaps = Gaps(LabelPlaces(FormatFilmStrip(character, trajectory, nullptr, options)));
    ASSERT_EQ(gaps.size(), 5u);
    // Far enough apart to stand at their true positions, which are even at a constant velocity.
    EXPECT_THAT(gaps, Each(::testing::DoubleNear(gaps[0], 0.05)));
    EXPECT_GT(gaps[0], 0);
  }
}

TEST(FilmStrip, TruePlacesFitTheScaleBar) {
  const auto character = results::SmallCharacter();
  FilmStripOptions options;
  options.figures = 6;
  const std::string svg = FormatFilmStrip(character, results::Glide(character, 200, Vec3(3, 0, 0)), nullptr, options);
  std::smatch match;
  ASSERT_TRUE(std::regex_search(svg, match, std::regex(R"(v8m0 -4h([0-9.]+)m0)")));
  const double pixels_per_meter = std::strtod(match[1].str().c_str(), nullptr);
  EXPECT_NEAR(Gaps(LabelPlaces(svg))[0], 1.2 * pixels_per_meter, 0.05);
  EXPECT_THAT(svg, Not(HasSubstr("spread apart")));
}

TEST(FilmStrip, FiguresInPlaceAreSpreadApart) {
  const auto character = results::SmallCharacter();
  const std::string svg = FormatFilmStrip(character, results::Glide(character, 100, Vec3(0.05, 0, 0)), nullptr);
  const auto places = LabelPlaces(svg);
  EXPECT_EQ(places.size(), 9u);
  EXPECT_THAT(Gaps(places), Each(Gt(40)));
  EXPECT_THAT(svg, HasSubstr("spread apart"));
}

TEST(FilmStrip, FiguresThatTurnBackAreSpreadApart) {
  const auto character = results::SmallCharacter();
  auto trajectory = results::Glide(character, 100, Vec3(3, 0, 0));
  const auto there = trajectory.states;
  for (size_t i = there.size() - 1; i-- > 0;) {
    trajectory.states.push_back(there[i]);
    trajectory.contacts.emplace_back();
    trajectory.torques.emplace_back(2, Vec3::Zero());
  }
  const std::string svg = FormatFilmStrip(character, trajectory, nullptr);
  EXPECT_THAT(Gaps(LabelPlaces(svg)), Each(Gt(40)));
  EXPECT_THAT(svg, HasSubstr("spread apart"));
}

TEST(FilmStrip, ShowsReferenceAndForcesOnlyWhereThereAreAny) {
  const auto character = results::SmallCharacter();
  auto trajectory = results::Glide(character, 100, Vec3(0, 0, 0));
  const auto reference = StandingReference(character);
  const std::string bare = FormatFilmStrip(character, trajectory, nullptr);
  EXPECT_THAT(bare, Not(HasSubstr(">reference<")));
  EXPECT_THAT(bare, Not(HasSubstr(">ground force")));
  EXPECT_THAT(FormatFilmStrip(character, trajectory, &reference), HasSubstr(">reference<"));

  // Self contact is not the ground's.
  for (auto& contacts : trajectory.contacts) contacts = {{0, 1, Vec3(0.2, 1, 0), Vec3(100, 0, 0)}};
  EXPECT_EQ(FormatFilmStrip(character, trajectory, nullptr), bare);
  // One arrow per figure and body however many points touch, and one in the legend.
  for (auto& contacts : trajectory.contacts) {
    contacts = {{0, -1, Vec3(0.1, 0, 0), Vec3(0, 20, 0)}, {0, -1, Vec3(-0.1, 0, 0), Vec3(0, 20, 0)}};
  }
  const std::string svg = FormatFilmStrip(character, trajectory, nullptr);
  EXPECT_THAT(svg, HasSubstr(">ground force"));
  EXPECT_EQ(Count(svg, "paint-order"), 10u);
}

TEST(FilmStrip, DrawsWhatElseIsInTheWorldAtTheInstantOfEachFigure) {
  const auto character = results::SmallCharacter();
  const auto plain = results::Glide(character, 200, Vec3(0, 0, 1));
  const std::string without = FormatFilmStrip(character, plain, nullptr);
  simulation::Environment environment;
  environment.ground.height = -0.5;
  environment.boxes.push_back({"step", Vec3(2, 0.5, 2), Vec3(0, -0.25, 0)});
  environment.height_field =
      simulation::HeightField{"f", Vec3(0, -0.4, 3), Quat::Identity(), 0.5, 3, 3, std::vector<double>(9, 0.1), {}};
  simulation::FreeBody& ball = environment.bodies.emplace_back();
  ball.shape.kind = character::Shape::Kind::kCapsule;
  ball.shape.radius = 0.1;
  auto trajectory = plain;
  for (size_t i = 0; i < trajectory.states.size(); ++i) {
    trajectory.states[i].push_back(
        {Vec3(0.5, 0.1, 0.01 * static_cast<double>(i)), Quat::Identity(), Vec3::Zero(), Vec3::Zero()});
  }
  FilmStripOptions options;
  // What looks at the character does not look at the ball.
  EXPECT_EQ(FormatFilmStrip(character, trajectory, nullptr, options), without);
  options.environment = &environment;
  const std::string svg = FormatFilmStrip(character, trajectory, nullptr, options);
  EXPECT_EQ(XmlError(svg), "");
  EXPECT_EQ(Count(svg, "<clipPath id=\"world"), 9u);
  EXPECT_EQ(LabelPlaces(svg).size(), LabelPlaces(without).size());
  EXPECT_EQ(svg, FormatFilmStrip(character, trajectory, nullptr, options));
}

TEST(FilmStrip, ShowsAllCharactersOfAScene) {
  const auto character = results::SmallCharacter();
  const auto trajectory = results::Glide(character, 200, Vec3(0, 0, 1));
  auto beside = trajectory;
  for (auto& state : beside.states) Translate(state, Vec3(1, 0, 0.4));
  const std::string alone = FormatFilmStrip(character, trajectory, nullptr);
  const std::vector<FilmStripMotion> motions = {{&character, &trajectory}, {&character, &beside}};
  const std::string svg = FormatFilmStrip(motions);
  EXPECT_EQ(XmlError(svg), "");
  EXPECT_EQ(LabelPlaces(svg).size(), LabelPlaces(alone).size());
  EXPECT_EQ(Count(svg, "<ellipse"), 2 * Count(alone, "<ellipse")) << "a shadow for each";
  EXPECT_EQ(Count(svg, "<g>"), 2 * Count(alone, "<g>")) << "a figure for each";
  EXPECT_EQ(FormatFilmStrip(std::span(motions).first(1)), alone);
  beside.states.pop_back();
  EXPECT_THROW(FormatFilmStrip(motions), std::invalid_argument);
}

TEST(FilmStrip, TakesWhatIsShortStillOrFarBelow) {
  const auto character = results::SmallCharacter();
  auto trajectory = results::Glide(character, 0, Vec3(0, 0, 0));
  EXPECT_EQ(XmlError(FormatFilmStrip(character, trajectory, nullptr)), "");
  trajectory = results::Glide(character, 2, Vec3(0, 0, 0));
  EXPECT_EQ(LabelPlaces(FormatFilmStrip(character, trajectory, nullptr)).size(), 3u);
  for (auto& state : trajectory.states) Translate(state, Vec3(1e6, -1e6, 0));
  EXPECT_EQ(XmlError(FormatFilmStrip(character, trajectory, nullptr)), "");
  trajectory.states.clear();
  EXPECT_THROW(FormatFilmStrip(character, trajectory, nullptr), std::invalid_argument);
}

}  // namespace
}  // namespace retrace::report
