#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "retrace/character/skeleton.h"
#include "retrace/control/control_file.h"
#include "retrace/dynamics/coordinates.h"
#include "retrace/io/csv_writer.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"
#include "retrace/io/xml.h"
#include "retrace/jobs/learned_response.h"
#include "retrace/math/rotation.h"
#include "retrace/recordings/bvh.h"
#include "retrace/results/provenance.h"
#include "retrace/results/run_folder.h"

namespace retrace::runs {

using Eigen::Index;
using Eigen::MatrixXd;
using response_model::ResponseModel;

namespace {

constexpr double kPanel = 460;  // side of a panel of the picture [px]
constexpr double kMargin = 40;  // around the panels
constexpr double kLegend = 22;  // height of a line of the legend
constexpr std::array kColors = {"#cc6677", "#117733", "#ddaa33", "#882255", "#44aa99", "#aa4499", "#999933", "#661100"};
constexpr const char* kNormalColor = "#31426e";
constexpr const char* kSynthesisColor = "#111111";

void ColumnsOfPlaces(Index dimensions, io::CsvWriter& csv) {
  for (Index k = 0; k < dimensions; ++k) csv.Text("latent_" + std::to_string(k + 1));
}

/// latent.csv of a model: the positions of all examples.
std::string FormatExamples(const ResponseModel& model) {
  io::CsvWriter csv;
  for (const char* const column : {"example", "time", "pushed"}) csv.Text(column);
  ColumnsOfPlaces(model.dimensions(), csv);
  csv.EndRow();
  const double dt = model.options.features.frame_time;
  for (size_t e = 0; e < model.examples.size(); ++e) {
    const Index first = model.FirstOf(e);
    for (Index i = 0; i < model.lengths[e]; ++i) {
      const double time = static_cast<double>(i + 2) * dt;
      const bool pushed =
          std::any_of(model.examples[e].pushes.begin(), model.examples[e].pushes.end(),
                      [&](const response_model::Push& push) { return ShareOf(push, time - dt, dt) > 0; });
      csv.Text(model.examples[e].name);
      csv.Number(time);
      csv.Integer(pushed ? 1 : 0);
      for (Index k = 0; k < model.dimensions(); ++k) csv.Number(model.latent.latent(k, first + i));
      csv.EndRow();
    }
  }
  return csv.Take();
}

std::string FormatLearning(const LearnedResponse& learned) {
  io::CsvWriter csv;
  csv.Text("iteration");
  csv.Text("value");
  csv.EndRow();
  for (const auto& [iteration, value] : learned.values) {
    csv.Integer(iteration);
    csv.Number(value);
    csv.EndRow();
  }
  return csv.Take();
}

/// The model that made a record.
size_t ModelOf(const Synthesis& result, size_t record) {
  size_t model = 0;
  for (const response_model::ModelSwitch& change : result.switches) {
    if (record + 1 >= change.frame) model = change.to;
  }
  return model;
}

std::string FormatPlaces(const ResponseModel& model, const Synthesis& result) {
  io::CsvWriter csv;
  for (const char* const column : {"time", "pushed", "displacement", "deviation", "evaluations", "model"}) {
    csv.Text(column);
  }
  ColumnsOfPlaces(model.dimensions(), csv);
  csv.EndRow();
  for (size_t i = 0; i < result.records.size(); ++i) {
    const response_model::SynthesisRecord& record = result.records[i];
    csv.Number(static_cast<double>(i + 1) * model.options.features.frame_time);
    csv.Integer(record.pushed ? 1 : 0);
    csv.Number(record.displacement);
    csv.Number(record.deviation);
    csv.Integer(record.evaluations);
    csv.Integer(static_cast<int>(ModelOf(result, i) + 1));
    for (Index k = 0; k < record.latent.size(); ++k) csv.Number(record.latent[k]);
    csv.EndRow();
  }
  return csv.Take();
}

std::string FormatErrors(const Synthesis& result) {
  io::CsvWriter csv;
  csv.Text("time");
  for (const char* const what : {"response", "undisturbed", "nearest"}) {
    csv.Text(what + std::string("_world"));
    csv.Text(what + std::string("_heading"));
  }
  csv.EndRow();
  for (const SynthesisError& error : result.errors) {
    csv.Number(error.time);
    for (const response_model::PoseDistance& distance : {error.response, error.undisturbed, error.nearest}) {
      csv.Number(distance.world);
      csv.Number(distance.heading);
    }
    csv.EndRow();
  }
  return csv.Take();
}

io::Json PushesOf(const ResponseModel& model, const std::vector<response_model::Push>& pushes) {
  io::Json json = io::Json::array();
  for (const response_model::Push& push : pushes) {
    json.push_back({{"body", model.character->bodies[static_cast<size_t>(push.body)].name},
                    {"force", io::ToJson(push.force)},
                    {"start", push.start},
                    {"duration", push.duration},
                    {"point", io::ToJson(push.point)}});
  }
  return json;
}

io::Json SwitchesOf(const Synthesis& result) {
  io::Json json = io::Json::array();
  for (const response_model::ModelSwitch& change : result.switches) {
    json.push_back({{"frame", change.frame},
                    {"from", change.from},
                    {"to", change.to},
                    {"difference", change.difference},
                    {"jump", change.jump},
                    {"speed", change.speed}});
  }
  return json;
}

/// A position in a panel of the picture.
struct Panel {
  int x = 0, y = 1;  // latent coordinates
  double left = 0;
  Eigen::Vector2d low = Eigen::Vector2d::Zero(), high = Eigen::Vector2d::Zero();

  std::string At(const Eigen::VectorXd& place) const {
    const double size = std::max((high - low).maxCoeff(), 1e-12);
    const Eigen::Vector2d middle = 0.5 * (low + high);
    const double px = left + 0.5 * kPanel + (place[x] - middle.x()) / size * kPanel;
    const double py = kMargin + 0.5 * kPanel - (place[y] - middle.y()) / size * kPanel;
    return io::Fixed(px, 1) + "," + io::Fixed(py, 1);
  }
};

std::string Line(const Panel& panel, const MatrixXd& places, const char* color, double width, const char* more = "") {
  std::string svg = "<polyline fill=\"none\" stroke=\"";
  svg.append(color)
      .append("\" stroke-width=\"")
      .append(io::Fixed(width, 1))
      .append("\"")
      .append(more)
      .append(" points=\"");
  for (Index i = 0; i < places.cols(); ++i) svg.append(i > 0 ? " " : "").append(panel.At(places.col(i)));
  return svg.append("\"/>\n");
}

std::string Label(double x, double y, const char* color, const std::string& text) {
  std::string svg = "<text x=\"";
  svg.append(io::Fixed(x, 1))
      .append("\" y=\"")
      .append(io::Fixed(y, 1))
      .append("\" fill=\"")
      .append(color)
      .append("\">");
  return svg.append(io::EscapeXml(text)).append("</text>\n");
}

/// A control file in which all is shown and nothing simulated, but for its first step, so that the programs that take a
/// run show the motion, and call it what it is.
control::OpenLoopControl ShownControl(const ResponseModel& model, const Synthesis& result) {
  const double dt = model.options.features.frame_time;
  const dynamics::Coordinates coordinates(*model.character);
  Eigen::VectorXd velocity(coordinates.size());
  coordinates.Difference(result.poses[0], result.poses[1], velocity);
  velocity /= dt;
  control::OpenLoopControl control;
  coordinates.StateOf(result.poses[0], velocity, control.start);
  control.fragments.push_back({0, 1, {result.poses[0].joint_rotations}});
  control.ending = control::KinematicEnding{0, 1, dt, result.poses};
  for (const response_model::Push& push : result.pushes) {
    control.pushes.push_back({.body = push.body, .force = push.force, .start = push.start, .duration = push.duration});
  }
  return control;
}

std::string MillimetersAndDegrees(const response_model::Plausibility& figures) {
  return "joints at most " + io::Fixed(Degrees(figures.joint_excess), 1) +
         " degrees from the examples', root at most " + io::Fixed(1000 * figures.height_excess, 0) +
         " mm outside their heights; a standing foot moves " + io::Fixed(1000 * figures.slide, 0) +
         " mm (normal motion " + io::Fixed(1000 * figures.example_slide, 0) + ")\n  a foot that should stand skates " +
         io::Fixed(100 * figures.feet.skating, 1) + " % of the time (examples " +
         io::Fixed(100 * figures.example_feet.skating, 1) + "), and no foot rests " +
         io::Fixed(100 * figures.feet.unsupported, 1) + " % (examples " +
         io::Fixed(100 * figures.example_feet.unsupported, 1) + ")";
}

}  // namespace

std::string LatentPicture(const ResponseModel& model, const Synthesis* synthesis) {
  const Index d = model.dimensions();
  // What other models play has positions of their own, which are not drawn.
  std::vector<size_t> drawn;
  for (size_t i = 0; synthesis != nullptr && i < synthesis->records.size(); ++i) {
    if (ModelOf(*synthesis, i) == 0) drawn.push_back(i);
  }
  MatrixXd played(d, static_cast<Index>(drawn.size()));
  for (size_t i = 0; i < drawn.size(); ++i) {
    played.col(static_cast<Index>(i)) = synthesis->records[drawn[i]].latent;
  }
  std::vector<Panel> panels = {{0, std::min<int>(1, static_cast<int>(d) - 1), kMargin}};
  if (d > 2) panels.push_back({0, 2, 2 * kMargin + kPanel});
  for (Panel& panel : panels) {
    const std::array rows = {panel.x, panel.y};
    for (int axis = 0; axis < 2; ++axis) {
      panel.low[axis] = model.latent.latent.row(rows[static_cast<size_t>(axis)]).minCoeff();
      panel.high[axis] = model.latent.latent.row(rows[static_cast<size_t>(axis)]).maxCoeff();
    }
  }
  const double width = kMargin + static_cast<double>(panels.size()) * (kPanel + kMargin);
  const double lines = static_cast<double>(model.examples.size()) + (synthesis != nullptr ? 1 : 0);
  const double height = 2 * kMargin + kPanel + kLegend * (lines + 1);
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + io::Fixed(width, 0) + "\" height=\"" +
                    io::Fixed(height, 0) + "\" font-family=\"sans-serif\" font-size=\"13\">\n" +
                    "<rect width=\"100%\" height=\"100%\" fill=\"#f6f5f1\"/>\n";
  const auto color_of = [](size_t e) { return e == 0 ? kNormalColor : kColors[(e - 1) % kColors.size()]; };
  for (const Panel& panel : panels) {
    svg += Label(panel.left, kMargin - 12, "#444",
                 "latent coordinates " + std::to_string(panel.x + 1) + " and " + std::to_string(panel.y + 1));
    for (size_t e = model.examples.size(); e-- > 0;) {
      svg += Line(panel, model.latent.latent.middleCols(model.FirstOf(e), model.lengths[e]), color_of(e),
                  e == 0 ? 3 : 1.2);
    }
    if (synthesis == nullptr) continue;
    svg += Line(panel, played, kSynthesisColor, 1.2, " stroke-dasharray=\"4 3\"");
    for (Index i = 0; i < played.cols(); ++i) {
      if (!synthesis->records[drawn[static_cast<size_t>(i)]].pushed) continue;
      const std::string at = panel.At(played.col(i));
      const size_t comma = at.find(',');
      svg += "<circle cx=\"" + at.substr(0, comma) + "\" cy=\"" + at.substr(comma + 1) +
             "\" r=\"3.5\" fill=\"#d03020\"/>\n";
    }
  }
  double y = 2 * kMargin + kPanel;
  for (size_t e = 0; e < model.examples.size(); ++e, y += kLegend) {
    svg += Label(kMargin, y, color_of(e), (e == 0 ? "normal: " : "disturbed: ") + model.examples[e].name);
  }
  if (synthesis != nullptr)
    svg += Label(kMargin, y, kSynthesisColor, "synthesis (kinematic), dashed; frames under a push are dots");
  return svg + "</svg>\n";
}

void WriteLearnedResponse(const std::filesystem::path& folder, bool force, const LearnedResponse& learned) {
  results::RunFolder files(folder, force);
  const ResponseModel& model = learned.learning.model;
  files.Write("learning.csv", FormatLearning(learned));
  files.Write("latent.csv", FormatExamples(model));
  files.Write(results::kLatentPictureFile, LatentPicture(model));
  files.Write("model.json", io::Dump(ToJson(model), 1) + "\n");
}

void WriteSynthesis(const std::filesystem::path& folder, bool force, const ResponseModel& model,
                    const SynthesisOptions& options, const Synthesis& result, const std::string& command) {
  results::RunFolder files(folder, force);
  files.Write("synthesis.bvh",
              motion::FormatBvh(character::ClipOf(*model.character, result.poses, model.options.features.frame_time)));
  files.Write("latent.csv", FormatPlaces(model, result));
  files.Write(results::kLatentPictureFile, LatentPicture(model, &result));
  files.Write(results::kControlFile, control::FormatControl(*model.character, ShownControl(model, result)));
  if (!result.errors.empty()) files.Write("errors.csv", FormatErrors(result));
  const response_model::Plausibility& figures = result.plausibility;
  io::Json json = {{"format", "retrace-synthesis"},
                   {"version", 1},
                   {"program", "synthesize"},
                   {"physical", false},
                   {"what", "KINEMATIC: played by a response model, simulated nowhere; track performs it physically"},
                   {"command", command},
                   {"paper", options.paper},
                   {"frame_time", model.options.features.frame_time},
                   {"frames", result.poses.size()},
                   {"pushes", PushesOf(model, result.pushes)},
                   {"against", options.against},
                   {"doubts", result.doubts},
                   {"nearest_example", result.nearest},
                   {"switches", SwitchesOf(result)},
                   {"figures",
                    {{"joint_excess", figures.joint_excess},
                     {"height_excess", figures.height_excess},
                     {"slide", figures.slide},
                     {"normal_slide", figures.example_slide},
                     {"skating", figures.feet.skating},
                     {"example_skating", figures.example_feet.skating},
                     {"unsupported", figures.feet.unsupported},
                     {"example_unsupported", figures.example_feet.unsupported},
                     {"out_of_balance", result.out_of_balance},
                     {"example_out_of_balance", result.example_out_of_balance},
                     {"end_distance", figures.end_distance},
                     {"largest_distance", figures.largest_distance},
                     {"one_step_error", result.one_step_error ? io::Json(*result.one_step_error) : io::Json()},
                     {"period", figures.period},
                     {"normal_period", model.period}}},
                   {"cpu_seconds", result.cpu_seconds},
                   {"files", files.Files()}};
  files.Write(kSynthesisFile, io::Dump(json, 1) + "\n");
}

std::string Describe(const LearnedResponse& learned) {
  const ResponseModel& model = learned.learning.model;
  std::string text = "  " + std::to_string(model.num_observations()) + " poses of " +
                     std::to_string(model.examples.size()) + " examples, " +
                     std::to_string(model.latent.observations.rows()) + " numbers observed of each, " +
                     std::to_string(model.dimensions()) + " latent coordinates; a cycle of the normal motion takes " +
                     io::Fixed(model.period, 3) + " s\n";
  text += "  " + std::to_string(learned.learning.latent.iterations()) + " and " +
          std::to_string(learned.learning.dynamics.iterations()) +
          " iterations: " + NameOf(learned.learning.latent.status) + ", " + NameOf(learned.learning.dynamics.status) +
          "; " + io::Fixed(learned.learning.cpu_seconds, 1) + " CPU s\n";
  text += "  the latent trajectories cross " + std::to_string(response_model::CountCrossings(model)) +
          " times where the poses differ\n";
  for (size_t e = 1; e < model.examples.size(); ++e) {
    text += "  " + MessageLine(model.examples[e].name) + ": " + std::to_string(model.examples[e].poses.size()) +
            " poses, " + std::to_string(model.examples[e].pushes.size()) + " pushes, ends " +
            io::Fixed(learned.learning.end_distances[e], 2) + " steps from the normal motion\n";
  }
  for (const std::string& part : learned.parts) text += "  " + MessageLine(part) + "\n";
  for (const std::string& push : learned.pushes) text += "  " + MessageLine(push) + "\n";
  return text;
}

std::string Describe(const ResponseModel& model, const Synthesis& result) {
  const response_model::Plausibility& figures = result.plausibility;
  std::string text = "  " + std::to_string(result.poses.size()) + " poses, " +
                     io::Fixed(static_cast<double>(result.records.size()) / std::max(result.cpu_seconds, 1e-9), 0) +
                     " per CPU second; KINEMATIC\n  " + MillimetersAndDegrees(figures) + "\n  ends " +
                     io::Fixed(figures.end_distance, 2) + " steps from the normal motion, at most " +
                     io::Fixed(figures.largest_distance, 2) + " from all examples";
  if (figures.period > 0) {
    text += "; period " + io::Fixed(figures.period, 3) + " s (normal " + io::Fixed(model.period, 3) + ")";
  }
  text += "\n  requires forces that feet cannot give " + io::Fixed(100 * result.out_of_balance, 1) +
          " % of the time (examples " + io::Fixed(100 * result.example_out_of_balance, 1) + ")\n";
  for (const response_model::ModelSwitch& change : result.switches) {
    text += "  from frame " + std::to_string(change.frame) + " on model " + std::to_string(change.to + 1) +
            " plays, whose next pose is " + io::Fixed(1000 * change.difference, 0) +
            " mm beside that of the one before; blended, at up to " + io::Fixed(change.speed, 2) + " m/s\n";
  }
  if (result.one_step_error) {
    text += "  one pose ahead the model is " + io::Fixed(*result.one_step_error, 2) + " steps beside the run\n";
  }
  if (result.errors.empty()) return text;
  response_model::PoseDistance sums[3];
  for (const SynthesisError& error : result.errors) {
    const std::array all = {&error.response, &error.undisturbed, &error.nearest};
    for (size_t k = 0; k < 3; ++k) {
      sums[k].world += all[k]->world;
      sums[k].heading += all[k]->heading;
    }
  }
  const std::array names = {"  mean distance of bodies from the run: synthesis ", ", without a response ",
                            ", nearest example "};
  for (size_t k = 0; k < 3; ++k) {
    const auto count = static_cast<double>(result.errors.size());
    if (k == 1 && sums[k].world == 0) continue;
    text += names[k] + io::Fixed(1000 * sums[k].world / count, 1) + " mm (in heading frames " +
            io::Fixed(1000 * sums[k].heading / count, 1) + ")";
  }
  return text + ": " + MessageLine(result.nearest) + "\n";
}

}  // namespace retrace::runs
