#include "retrace/response_model/model_file.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>
#include <vector>

#include "retrace/io/describe.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/response_model/judge.h"

namespace retrace::response_model {
namespace {

constexpr io::Range kLengths{-1e5, 1e5};  // [m]
constexpr io::Range kUnits{-1.001, 1.001};
constexpr io::Range kPositive{1e-300, 1e300};
constexpr io::Range kAny{-1e300, 1e300};

void DescribeOptions(ResponseOptions& o, io::FieldVisitor& v) {
  v.Field({"frame_time", "Between poses", "s"}, o.features.frame_time, io::Real{{1e-3, 1}});
  v.Field({"velocity_time", "Factor on velocities of points; 0: the pose before in their place", "s"},
          o.features.velocity_time, io::Real{{0, 10}});
  v.Field({"root_time", "Factor on the velocity of the root", "s"}, o.features.root_time, io::Real{{1e-3, 100}});
  v.Field({"dimensions", "Latent coordinates"}, o.dimensions, io::Integer{1, 50});
  v.Field({"back_rate", "Rate of the back constraint", "1/m^2"}, o.back_rate, io::Real{{1e-6, 1e6}});
  v.Field({"back_constraint", "Whether there is one"}, o.back_constraint, io::Flag{});
  v.Field({"iterations", "Of the minimization of L_P"}, o.iterations, io::Integer{1, 100000});
  v.Field({"start_deviation", "Of what is added to the principal components"}, o.start_deviation, io::Real{{0, 100}});
  v.Field({"least_noise", "Of an observation"}, o.least_noise, io::Real{{0, 100}});
  v.Field({"least_dynamics_noise", "Of a latent place"}, o.least_dynamics_noise, io::Real{{0, 100}});
  v.Field({"seed", "Of that"}, o.seed, io::Natural{});
  v.Field({"conjugate_gradients", "Scaled conjugate gradients in the place of L-BFGS"}, o.conjugate_gradients,
          io::Flag{});
  v.Field({"order", "Of the dynamics"}, o.order, io::Integer{1, 2});
  v.Field({"linear_mean", "Whether the dynamics have one"}, o.linear_mean, io::Flag{});
  v.Field({"clock_period", "Of the clock by which all examples go; 0: none", "s"}, o.clock_period, io::Real{{0, 100}});
  v.Field({"observation_mean", "Whether what is observed has one"}, o.observation_mean, io::Flag{});
  v.Field({"plain_radius", "Within it the examples have no say; 0: they have it everywhere", "steps"}, o.plain_radius,
          io::Real{{0, 1e3}});
  v.Field({"longest_response", "After which the examples lose their say; 0: they keep it", "s"}, o.longest_response,
          io::Real{{0, 1e3}});
  v.Field({"takes_pushes_off", "Whether the pushes of the examples are taken off again"}, o.takes_pushes_off,
          io::Flag{});
  v.Field({"dynamics_iterations", "Of the minimization of L_D"}, o.dynamics_iterations, io::Integer{1, 100000});
  v.Section({"deformation", "What a push does to a pose"}, [&](io::FieldVisitor& section) {
    section.Field({"paper", "Smallest |G|^2 + foot_weight |C|^2"}, o.deformation.paper, io::Flag{});
    section.Field({"joint_inertia", "Of each axis of a joint", "kg m^2"}, o.deformation.joint_inertia,
                  io::Real{{0, 1e3}});
    section.Field({"foot_weight", "Of the displacement of a standing point"}, o.deformation.foot_weight,
                  io::Real{{0, 1e12}});
    section.Field({"standing_speed", "Below which a heel or toe stands", "m/s"}, o.deformation.standing_speed,
                  io::Real{{0, 100}});
    section.Field({"standing_height", "Below which it stands", "m"}, o.deformation.standing_height, io::Real{{0, 100}});
  });
}

io::Json PoseToJson(const character::Pose& pose) {
  io::Json numbers = io::ToJson(pose.root_position);
  const auto add = [&](const Quat& q) {
    for (const double number : {q.w(), q.x(), q.y(), q.z()}) numbers.push_back(number);
  };
  add(pose.root_orientation);
  for (const Quat& rotation : pose.joint_rotations) add(rotation);
  return numbers;
}

character::Pose ReadPose(const io::JsonView& view, size_t num_joints) {
  const size_t size = 7 + 4 * num_joints;
  const std::vector<double> numbers = view.Numbers(kLengths, size);
  if (numbers.size() != size) {
    view.Fail(std::to_string(numbers.size()) + " numbers", std::to_string(size) + " of a pose of the character");
  }
  const auto rotation = [&](size_t at) {
    Quat q(numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]);
    if (!(std::abs(q.squaredNorm() - 1) < 1e-6)) {
      view.Fail("a quaternion of another length than 1 from number " + std::to_string(at) + " on", "a rotation");
    }
    return q;
  };
  character::Pose pose;
  pose.root_position = Vec3(numbers[0], numbers[1], numbers[2]);
  pose.root_orientation = rotation(3);
  for (size_t j = 0; j < num_joints; ++j) pose.joint_rotations.push_back(rotation(7 + 4 * j));
  return pose;
}

io::Json PushToJson(const character::Character& character, const Push& push) {
  return {{"body", character.bodies[static_cast<size_t>(push.body)].name},
          {"force", io::ToJson(push.force)},
          {"start", push.start},
          {"duration", push.duration},
          {"point", io::ToJson(push.point)}};
}

Push ReadPush(const io::JsonView& view, const character::Character& character) {
  view.AllowOnly({"body", "force", "start", "duration", "point"});
  Push push;
  push.body = character.FindBody(view["body"].Name());
  if (push.body < 0) view["body"].Expect("a body of the character");
  push.force = view["force"].Vector({-1e6, 1e6});
  push.start = view["start"].Number({-1e5, 1e5});
  push.duration = view["duration"].Number({0, 1e5, true});
  if (view.Has("point")) push.point = view["point"].Vector({-100, 100});
  return push;
}

/// The time of the first pose, or of all poses where they do not keep time; null: there is no clock.
io::Json ClockOf(const Example& example) {
  if (!example.times.empty()) return example.times;
  return example.clock ? io::Json(*example.clock) : io::Json();
}

io::Json NumbersOf(const Eigen::Ref<const Eigen::VectorXd>& vector) {
  io::Json numbers = io::Json::array();
  for (Eigen::Index i = 0; i < vector.size(); ++i) numbers.push_back(vector[i]);
  return numbers;
}

Example ReadExample(const io::JsonView& view, const character::Character& character) {
  view.AllowOnly({"name", "clock", "pushes", "poses"});
  Example example;
  example.name = view["name"].String();
  const io::JsonView clock = view["clock"];
  if (clock.json().is_array()) {
    example.times = clock.Numbers({-1e5, 1e5}, kMostModelPoses);
    if (example.times.empty()) clock.Expect("a time for each pose");
    example.clock = example.times.front();
  } else if (!clock.json().is_null()) {
    example.clock = clock.Number({-1e5, 1e5});
  }
  for (const io::JsonView& push : view["pushes"].Elements(1000)) example.pushes.push_back(ReadPush(push, character));
  for (const io::JsonView& pose : view["poses"].Elements(kMostModelPoses)) {
    example.poses.push_back(ReadPose(pose, character.joints.size()));
  }
  return example;
}

}  // namespace

io::Json ToJson(const ResponseOptions& options) {
  io::JsonWriter writer;
  ResponseOptions copy = options;
  DescribeOptions(copy, writer);
  return writer.json();
}

io::Json ToJson(const ResponseModel& model) {
  const character::Character& character = *model.character;
  io::Json examples = io::Json::array();
  for (const Example& example : model.examples) {
    io::Json pushes = io::Json::array(), poses = io::Json::array();
    for (const Push& push : example.pushes) pushes.push_back(PushToJson(character, push));
    for (const character::Pose& pose : example.poses) poses.push_back(PoseToJson(pose));
    examples.push_back({{"name", example.name}, {"clock", ClockOf(example)}, {"pushes", pushes}, {"poses", poses}});
  }
  io::Json weights = io::Json::array();
  for (Eigen::Index i = 0; i < model.back_weights.rows(); ++i) {
    weights.push_back(NumbersOf(model.back_weights.row(i).transpose()));
  }
  return {{"format", kModelFormat},
          {"version", 1},
          {"character", character.json},
          {"character_sha256", io::Sha256(io::Dump(character.json))},
          {"options", ToJson(model.options)},
          {"examples", examples},
          {"learnt",
           {{"rate", model.kernel.rates[0]},
            {"noise", model.kernel.noise},
            {"dynamics",
             {{"variance", model.dynamics_kernel.variance},
              {"noise", model.dynamics_kernel.noise},
              {"rates", NumbersOf(model.dynamics_kernel.rates)}}},
            {"weights", weights}}},
          {"derived",
           {{"observations", model.num_observations()},
            {"observed_dimensions", model.latent.observations.rows()},
            {"period", model.period},
            {"step", model.step},
            {"crossings", CountCrossings(model)},
            {"scales", NumbersOf(model.latent.scales)}}}};
}

StoredModel ReadModel(const io::Json& document, const std::string& name) {
  const io::JsonView view(document, name);
  if (!document.is_object() || !view.Has("format") || view["format"].json() != kModelFormat) {
    view.Fail("another format", "a response model that learn-response wrote");
  }
  view.AllowOnly({"format", "version", "character", "character_sha256", "options", "examples", "learnt", "derived"});
  view["version"].Integer(1, 1);
  StoredModel stored;
  const io::JsonView character = view["character"];
  if (io::Sha256(io::Dump(character.json())) != view["character_sha256"].String()) {
    view["character_sha256"].Fail("another hash than that of /character",
                                  "the character that the model was learned with");
  }
  stored.character = std::make_unique<character::Character>(
      character::ParseCharacter(character.json(), name + ": " + character.pointer()));
  ResponseModel& model = stored.model;
  model.character = stored.character.get();
  io::JsonReader options(view["options"], io::JsonReader::Missing::kRefused);
  DescribeOptions(model.options, options);
  options.Finish();
  size_t count = 0;
  for (const io::JsonView& example : view["examples"].Elements(kMostModelExamples)) {
    model.examples.push_back(ReadExample(example, *stored.character));
    count += model.examples.back().poses.size();
    if (count > kMostModelPoses) {
      view["examples"].Fail("more than " + std::to_string(kMostModelPoses) + " poses", "fewer");
    }
  }
  const io::JsonView learned = view["learnt"];
  learned.AllowOnly({"rate", "noise", "dynamics", "weights"});
  model.kernel.rates[0] = learned["rate"].Number(kPositive);
  model.kernel.noise = learned["noise"].Number(kPositive);
  const io::JsonView dynamics = learned["dynamics"];
  dynamics.AllowOnly({"variance", "noise", "rates"});
  model.dynamics_kernel.variance = dynamics["variance"].Number(kPositive);
  model.dynamics_kernel.noise = dynamics["noise"].Number(kPositive);
  const std::vector<double> rates = dynamics["rates"].Numbers(kPositive, 3);
  const size_t parts = static_cast<size_t>(model.options.order) + (model.options.clock_period > 0 ? 1 : 0);
  if (rates.size() != parts) {
    dynamics["rates"].Fail(std::to_string(rates.size()) + " rates",
                           std::to_string(parts) + " of the order and the clock");
  }
  model.dynamics_kernel.rates =
      Eigen::Map<const Eigen::VectorXd>(rates.data(), static_cast<Eigen::Index>(rates.size()));
  const std::vector<io::JsonView> weights = learned["weights"].Elements(kMostModelPoses);
  model.back_weights.resize(static_cast<Eigen::Index>(weights.size()), model.options.dimensions);
  for (size_t i = 0; i < weights.size(); ++i) {
    const std::vector<double> row = weights[i].Numbers(kAny, 50);
    if (row.size() != static_cast<size_t>(model.options.dimensions)) {
      weights[i].Fail(std::to_string(row.size()) + " numbers",
                      std::to_string(model.options.dimensions) + ", one for each latent coordinate");
    }
    for (size_t k = 0; k < row.size(); ++k) {
      model.back_weights(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)) = row[k];
    }
  }
  try {
    Assemble(model);
  } catch (const std::invalid_argument& error) {
    throw InputError(name, error.what(), "examples and weights of one model");
  } catch (const std::runtime_error& error) {
    if (dynamic_cast<const Error*>(&error) != nullptr) throw;
    throw InputError(name, error.what(), "a model as learn-response wrote it");
  }
  return stored;
}

}  // namespace retrace::response_model
