#include "retrace/results/contact_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "retrace/character/kinematics.h"
#include "retrace/control/time_grid.h"
#include "retrace/io/csv_writer.h"
#include "retrace/math/rotation.h"

namespace retrace::results {
namespace {

/// The box about a body's shapes in its own frame, and the cells of its faces.
struct BodyBox {
  Vec3 low = Vec3::Zero();
  Vec3 high = Vec3::Zero();
};

BodyBox BoxOf(const character::Body& body) {
  BodyBox box;
  if (body.shapes.empty()) return box;
  // The lowest point of the body, turned so that one of its axes points up, is the box's end along that axis.
  const auto lowest = [&](const Quat& turn) {
    character::BodyState state;
    state.orientation = turn;
    return character::LowestPoint(body, state);
  };
  box.low = Vec3(lowest(AxisRotation(2, kPi / 2)), lowest(Quat::Identity()), lowest(AxisRotation(0, -kPi / 2)));
  box.high = -Vec3(lowest(AxisRotation(2, -kPi / 2)), lowest(AxisRotation(0, kPi)), lowest(AxisRotation(0, kPi / 2)));
  return box;
}

/// The grid of one face.
struct Face {
  int axis = 0;  // of its normal
  int u = 0;     // axes within
  int v = 0;
  int cells_u = 1;
  int cells_v = 1;
  Vec3 corner = Vec3::Zero();  // where u and v are least
  double size_u = 0;           // of a cell [m]
  double size_v = 0;

  double area() const { return size_u * size_v; }
  size_t num_cells() const { return static_cast<size_t>(cells_u) * static_cast<size_t>(cells_v); }
  size_t IndexOf(int i, int k) const {
    return static_cast<size_t>(i) * static_cast<size_t>(cells_v) + static_cast<size_t>(k);
  }
  Vec3 Center(int i, int k) const {
    Vec3 center = corner;
    center[u] += (i + 0.5) * size_u;
    center[v] += (k + 0.5) * size_v;
    return center;
  }
};

Face FaceOf(const BodyBox& box, int face, double cell) {
  Face f;
  f.axis = face / 2;
  f.u = (f.axis + 1) % 3;
  f.v = (f.axis + 2) % 3;
  f.corner = box.low;
  if (face % 2 == 1) f.corner[f.axis] = box.high[f.axis];
  const Vec3 extent = box.high - box.low;
  const auto count = [&](double length) {
    return static_cast<int>(std::clamp(std::ceil(length / cell - 1e-9), 1.0, static_cast<double>(kMostCells)));
  };
  f.cells_u = count(extent[f.u]);
  f.cells_v = count(extent[f.v]);
  f.size_u = extent[f.u] / f.cells_u;
  f.size_v = extent[f.v] / f.cells_v;
  return f;
}

/// The face that looks most against a contact's normal, which is given in the body's frame.
int FaceAgainst(const Vec3& normal) {
  int axis = 0;
  normal.cwiseAbs().maxCoeff(&axis);
  return 2 * axis + (normal[axis] < 0 ? 1 : 0);
}

/// Spreads a force over the cells of a face about a point (body frame).
void Spread(const Face& face, const Vec3& point, double force, const PressureOptions& options,
            std::vector<double>& forces) {
  const auto nearest = [](double along, double size, int count) {
    return size > 0 ? std::clamp(static_cast<int>(std::floor(along / size)), 0, count - 1) : 0;
  };
  // Onto the face: a point outside it, by the depth of a contact, belongs to its edge.
  const double u = std::clamp(point[face.u] - face.corner[face.u], 0.0, face.size_u * face.cells_u);
  const double v = std::clamp(point[face.v] - face.corner[face.v], 0.0, face.size_v * face.cells_v);
  const int home_u = nearest(u, face.size_u, face.cells_u);
  const int home_v = nearest(v, face.size_v, face.cells_v);
  const auto weight = [&](int i, int k) {
    const double du = (i + 0.5) * face.size_u - u;
    const double dv = (k + 0.5) * face.size_v - v;
    const double squared = du * du + dv * dv;
    if (squared > options.reach * options.reach && (i != home_u || k != home_v)) return 0.0;
    return std::exp(-0.5 * squared / (options.deviation * options.deviation));
  };
  const auto range = [&](int home, double size, int count) {
    const int reach = size > 0 ? static_cast<int>(std::ceil(options.reach / size)) : 0;
    return std::pair(std::max(0, home - reach), std::min(count - 1, home + reach));
  };
  const auto [first_u, last_u] = range(home_u, face.size_u, face.cells_u);
  const auto [first_v, last_v] = range(home_v, face.size_v, face.cells_v);
  double sum = 0;
  for (int i = first_u; i <= last_u; ++i) {
    for (int k = first_v; k <= last_v; ++k) sum += weight(i, k);
  }
  if (sum == 0) {  // cells of a huge body are so large that the middle of none is near
    forces[face.IndexOf(home_u, home_v)] += force;
    return;
  }
  for (int i = first_u; i <= last_u; ++i) {
    for (int k = first_v; k <= last_v; ++k) {
      forces[face.IndexOf(i, k)] += force * weight(i, k) / sum;
    }
  }
}

/// Finds the loads of one step after another.
class Loads {
 public:
  Loads(const character::Character& character, const PressureOptions& options) : options_(options) {
    for (const character::Body& body : character.bodies) {
      const BodyBox box = BoxOf(body);
      for (int f = 0; f < 6; ++f) faces_.push_back(FaceOf(box, f, options.cell));
    }
    forces_.resize(faces_.size());
  }

  std::vector<ContactLoad> Find(const character::State& before, const std::vector<simulation::Contact>& contacts,
                                std::vector<PressureCell>& cells) {
    std::vector<ContactLoad> loads(before.size());
    for (const simulation::Contact& contact : contacts) Add(before, contact, loads);
    for (size_t b = 0; b < loads.size(); ++b) {
      ContactLoad& load = loads[b];
      if (load.normal_force > 0) {
        load.center /= load.normal_force;
        load.center_in_body /= load.normal_force;
      }
      for (int f = 0; f < 6 && load.points > 0; ++f) TakeFace(static_cast<int>(b), f, load, cells);
    }
    return loads;
  }

 private:
  void Add(const character::State& before, const simulation::Contact& contact, std::vector<ContactLoad>& loads) {
    const auto is_body = [&](int index) { return index >= 0 && static_cast<size_t>(index) < loads.size(); };
    if (!is_body(contact.body) || is_body(contact.other) || (contact.force.array() == 0).all()) return;
    const auto b = static_cast<size_t>(contact.body);
    const double normal_force = contact.force.dot(contact.normal);
    const Quat to_body = before[b].orientation.conjugate();
    const Vec3 in_body = to_body * (contact.point - before[b].position);
    ContactLoad& load = loads[b];
    ++load.points;
    load.normal_force += normal_force;
    load.tangential_force += contact.force - normal_force * contact.normal;
    load.center += normal_force * contact.point;
    load.center_in_body += normal_force * in_body;
    const size_t index = 6 * b + static_cast<size_t>(FaceAgainst(to_body * contact.normal));
    const Face& face = faces_[index];
    if (forces_[index].empty()) forces_[index].assign(face.num_cells(), 0.0);
    Spread(face, in_body, normal_force, options_, forces_[index]);
  }

  void TakeFace(int body, int f, ContactLoad& load, std::vector<PressureCell>& cells) {
    const size_t at = 6 * static_cast<size_t>(body) + static_cast<size_t>(f);
    const Face& face = faces_[at];
    for (size_t c = 0; c < forces_[at].size(); ++c) {
      if (forces_[at][c] == 0 || face.area() == 0) continue;
      const int index = static_cast<int>(c);
      const double pressure = forces_[at][c] / face.area();
      cells.push_back({body, f, index, face.Center(index / face.cells_v, index % face.cells_v), face.area(), pressure});
      load.contact_area += face.area();
      load.peak_pressure = std::max(load.peak_pressure, pressure);
    }
    forces_[at].clear();
  }

  const PressureOptions options_;
  std::vector<Face> faces_;                  // (6 x bodies)
  std::vector<std::vector<double>> forces_;  // (6 x bodies) per cell; empty: none
};

ContactLoad TotalOf(const std::vector<ContactLoad>& loads) {
  ContactLoad total;
  for (const ContactLoad& load : loads) {
    total.points += load.points;
    total.normal_force += load.normal_force;
    total.tangential_force += load.tangential_force;
    total.center += load.normal_force * load.center;
    total.contact_area += load.contact_area;
    total.peak_pressure = std::max(total.peak_pressure, load.peak_pressure);
  }
  if (total.normal_force > 0) total.center /= total.normal_force;
  return total;
}

double TimeOf(const ContactHistory& history, size_t step) {
  return static_cast<double>(history.first_step + step + 1) * history.time_step;
}

/// The row of names, which the first part of a motion has.
void Header(const ContactHistory& history, io::CsvWriter& writer, std::initializer_list<std::string_view> names) {
  if (history.first_step > 0) return;
  for (const std::string_view name : names) writer.Text(name);
  writer.EndRow();
}

}  // namespace

const char* FaceName(int face) {
  static constexpr std::array<const char*, 6> kNames = {"right", "left", "bottom", "top", "back", "front"};
  return kNames.at(static_cast<size_t>(face));
}

size_t StepsPerFrame(double time_step, const PressureOptions& options) {
  return static_cast<size_t>(control::TimeGrid{time_step}.PartSteps(options.frame_time));
}

ContactHistory TraceContacts(const character::Character& character, const control::Trajectory& trajectory,
                             const PressureOptions& options) {
  const size_t steps = trajectory.num_steps();
  if (trajectory.contacts.size() < steps) {
    throw std::invalid_argument("a trajectory without the contacts of every step");
  }
  ContactHistory history;
  history.time_step = trajectory.time_step;
  history.first_step = trajectory.first_step;
  history.steps_per_frame = StepsPerFrame(trajectory.time_step, options);
  if (history.first_step % history.steps_per_frame != 0) {
    throw std::invalid_argument("a part of a motion that begins within a frame of the pressure map");
  }
  history.cells.resize(steps);
  Loads loads(character, options);
  for (size_t i = 0; i < steps; ++i) {
    history.loads.push_back(loads.Find(trajectory.states[i], trajectory.contacts[i], history.cells[i]));
    history.totals.push_back(TotalOf(history.loads.back()));
  }
  return history;
}

std::string FormatBodyContacts(const character::Character& character, const ContactHistory& history) {
  io::CsvWriter writer;
  Header(history, writer,
         {"time", "body", "points", "normal_force", "tangential_force", "center_x", "center_y", "center_z",
          "center_body_x", "center_body_y", "center_body_z", "contact_area", "mean_pressure", "peak_pressure"});
  for (size_t i = 0; i < history.loads.size(); ++i) {
    for (size_t b = 0; b < history.loads[i].size(); ++b) {
      const ContactLoad& load = history.loads[i][b];
      if (load.points == 0) continue;
      writer.Number(TimeOf(history, i));
      writer.Text(character.bodies[b].name);
      writer.Integer(load.points);
      writer.Number(load.normal_force);
      writer.Number(load.tangential_force.norm());
      writer.Vector(load.center);
      writer.Vector(load.center_in_body);
      writer.Number(load.contact_area);
      writer.Number(load.mean_pressure());
      writer.Number(load.peak_pressure);
      writer.EndRow();
    }
  }
  return writer.Take();
}

std::string FormatContactTotals(const ContactHistory& history) {
  io::CsvWriter writer;
  Header(history, writer,
         {"time", "bodies", "points", "normal_force", "tangential_force", "force_per_point", "contact_area",
          "mean_pressure", "peak_pressure"});
  for (size_t i = 0; i < history.totals.size(); ++i) {
    const ContactLoad& total = history.totals[i];
    const auto pressed = [](const ContactLoad& load) { return load.points > 0; };
    writer.Number(TimeOf(history, i));
    writer.Integer(static_cast<int>(std::count_if(history.loads[i].begin(), history.loads[i].end(), pressed)));
    writer.Integer(total.points);
    writer.Number(total.normal_force);
    writer.Number(total.tangential_force.norm());
    writer.Number(total.points > 0 ? total.normal_force / total.points : 0);
    writer.Number(total.contact_area);
    writer.Number(total.mean_pressure());
    writer.Number(total.peak_pressure);
    writer.EndRow();
  }
  return writer.Take();
}

std::string FormatPressure(const character::Character& character, const ContactHistory& history,
                           const std::vector<int>& bodies) {
  io::CsvWriter writer;
  Header(history, writer, {"time", "body", "face", "x", "y", "z", "area", "pressure"});
  const auto before = [](const PressureCell& a, const PressureCell& b) {
    return std::tie(a.body, a.face, a.index) < std::tie(b.body, b.face, b.index);
  };
  const size_t steps = history.cells.size();
  const size_t per_frame = history.steps_per_frame;
  std::vector<PressureCell> frame;
  for (size_t first = 0; first < steps; first += per_frame) {
    const size_t end = std::min(steps, first + per_frame);
    frame.clear();
    for (size_t i = first; i < end; ++i) {
      for (const PressureCell& cell : history.cells[i]) {
        if (bodies.empty() || std::find(bodies.begin(), bodies.end(), cell.body) != bodies.end()) frame.push_back(cell);
      }
    }
    std::stable_sort(frame.begin(), frame.end(), before);
    for (size_t c = 0; c < frame.size();) {
      const PressureCell& cell = frame[c];
      double pressure = 0;
      for (; c < frame.size() && !before(cell, frame[c]); ++c) pressure += frame[c].pressure;
      writer.Number(TimeOf(history, end - 1));
      writer.Text(character.bodies[static_cast<size_t>(cell.body)].name);
      writer.Text(FaceName(cell.face));
      for (int axis = 0; axis < 3; ++axis) writer.Short(cell.center[axis]);
      writer.Short(cell.area);
      writer.Short(pressure / static_cast<double>(end - first));
      writer.EndRow();
    }
  }
  return writer.Take();
}

void ContactSummarizer::Sums::Add(const ContactLoad& load, double time, double time_step) {
  if (load.points == 0) return;
  if (steps++ == 0) summary.first_contact = time;
  summary.last_contact = time;
  summary.impulse += load.normal_force * time_step;
  weighted_time += load.normal_force * time_step * time;
  points += load.points;
  pressure += load.mean_pressure();
  summary.peak_pressure = std::max(summary.peak_pressure, load.peak_pressure);
  if (load.normal_force > summary.peak_force) {
    summary.peak_force = load.normal_force;
    summary.peak_time = time;
  }
}

ContactSummary ContactSummarizer::Sums::Finish(double time_step) const {
  if (steps == 0) return summary;
  ContactSummary finished = summary;
  finished.contact_time = steps * time_step;
  finished.mean_force = finished.impulse / finished.contact_time;
  finished.mean_points = points / steps;
  finished.force_per_point = finished.mean_force / finished.mean_points;
  finished.mean_pressure = pressure / steps;
  if (finished.impulse > 0) finished.impulse_time = weighted_time / finished.impulse;
  return finished;
}

void ContactSummarizer::Add(const ContactHistory& part) {
  time_step_ = part.time_step;
  if (!part.loads.empty()) bodies_.resize(part.loads.front().size());
  for (size_t b = 0; b < bodies_.size(); ++b) bodies_[b].summary.body = static_cast<int>(b);
  for (size_t i = 0; i < part.loads.size(); ++i) {
    const double time = TimeOf(part, i);
    for (size_t b = 0; b < bodies_.size(); ++b) bodies_[b].Add(part.loads[i][b], time, time_step_);
    total_.Add(part.totals[i], time, time_step_);
  }
}

std::vector<ContactSummary> ContactSummarizer::Summaries() const {
  std::vector<ContactSummary> summaries;
  for (const Sums& body : bodies_) {
    if (body.steps > 0) summaries.push_back(body.Finish(time_step_));
  }
  summaries.push_back(total_.Finish(time_step_));
  return summaries;
}

std::string FormatContactSummary(const character::Character& character, const std::vector<ContactSummary>& summaries) {
  io::CsvWriter writer;
  for (const char* name :
       {"body", "first_contact", "last_contact", "contact_time", "peak_force", "peak_time", "impulse", "impulse_time",
        "mean_force", "mean_points", "force_per_point", "mean_pressure", "peak_pressure"}) {
    writer.Text(name);
  }
  writer.EndRow();
  for (const ContactSummary& s : summaries) {
    writer.Text(s.body < 0 ? "all" : character.bodies[static_cast<size_t>(s.body)].name);
    for (const double figure :
         {s.first_contact, s.last_contact, s.contact_time, s.peak_force, s.peak_time, s.impulse, s.impulse_time,
          s.mean_force, s.mean_points, s.force_per_point, s.mean_pressure, s.peak_pressure}) {
      writer.Number(figure);
    }
    writer.EndRow();
  }
  return writer.Take();
}

}  // namespace retrace::results
