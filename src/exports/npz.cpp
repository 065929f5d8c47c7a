#include "retrace/exports/npz.h"

#include <zip.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "retrace/character/kinematics.h"
#include "retrace/math/rotation.h"

namespace retrace::exports {
namespace {

static_assert(std::endian::native == std::endian::little, "the arrays are marked as little-endian");

using Dimensions = std::vector<size_t>;

/// Files of one archive.
class Archive {
 public:
  /// @param type as numpy writes it: <f8, <i4, <U5
  void Add(const std::string& name, const std::string& type, const Dimensions& shape, const void* data, size_t bytes) {
    std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (";
    for (const size_t size : shape) header += std::to_string(size) + ",";
    header += "), }";
    // The data begins at a multiple of 64 bytes, after the magic string, version 1.0 and the header's length.
    constexpr size_t kBefore = 10;
    while ((kBefore + header.size() + 1) % 64 != 0) header += ' ';
    header += '\n';
    std::string file("\x93NUMPY\x01\x00", 8);
    file += static_cast<char>(header.size() & 255);
    file += static_cast<char>(header.size() >> 8);
    file += header;
    file.append(static_cast<const char*>(data), bytes);
    files_.emplace_back(name + ".npy", std::move(file));
  }
  void Add(const std::string& name, const Dimensions& shape, const std::vector<double>& values) {
    Add(name, "<f8", shape, values.data(), values.size() * sizeof(double));
  }
  void Add(const std::string& name, const std::vector<int32_t>& values) {
    Add(name, "<i4", {values.size()}, values.data(), values.size() * sizeof(int32_t));
  }
  /// Texts of one length in 32-bit characters, filled up with zeros; what is no UTF-8 is kept byte by byte.
  void Add(const std::string& name, const std::vector<std::string>& texts) {
    std::vector<std::u32string> wide;
    size_t longest = 1;
    for (const std::string& text : texts) {
      wide.push_back(Decode(text));
      longest = std::max(longest, wide.back().size());
    }
    std::u32string all;
    for (std::u32string& text : wide) {
      text.resize(longest, U'\0');
      all += text;
    }
    Add(name, "<U" + std::to_string(longest), {texts.size()}, all.data(), all.size() * sizeof(char32_t));
  }

  std::string Bytes() const {
    zip_error_t error;
    zip_error_init(&error);
    const auto check = [&](bool good, zip_t* archive) {
      if (good) return;
      const std::string reason = zip_error_strerror(archive != nullptr ? zip_get_error(archive) : &error);
      throw std::runtime_error("an archive cannot be made: " + reason);
    };
    std::unique_ptr<zip_source_t, decltype(&zip_source_free)> sink(zip_source_buffer_create(nullptr, 0, 0, &error),
                                                                   zip_source_free);
    check(sink != nullptr, nullptr);
    zip_source_keep(sink.get());  // closing the archive takes one of the two holds
    std::unique_ptr<zip_t, decltype(&zip_discard)> archive(zip_open_from_source(sink.get(), ZIP_TRUNCATE, &error),
                                                           zip_discard);
    if (archive == nullptr) zip_source_free(sink.get());
    check(archive != nullptr, nullptr);
    for (const auto& [name, file] : files_) {
      zip_source_t* source = zip_source_buffer(archive.get(), file.data(), file.size(), 0);
      check(source != nullptr, archive.get());
      const zip_int64_t index = zip_file_add(archive.get(), name.c_str(), source, ZIP_FL_ENC_UTF_8);
      if (index < 0) zip_source_free(source);
      check(index >= 0, archive.get());
      const auto entry = static_cast<zip_uint64_t>(index);
      // The first date that a zip file can have: the same motion gives the same bytes whenever it is exported.
      constexpr zip_uint16_t kFirstDay = (1 << 5) | 1;
      check(zip_set_file_compression(archive.get(), entry, ZIP_CM_DEFLATE, 6) == 0 &&
                zip_file_set_dostime(archive.get(), entry, 0, kFirstDay, 0) == 0,
            archive.get());
    }
    check(zip_close(archive.get()) == 0, archive.get());
    static_cast<void>(archive.release());
    zip_stat_t stat;
    zip_stat_init(&stat);
    std::string bytes;
    bool read = zip_source_open(sink.get()) == 0 && zip_source_stat(sink.get(), &stat) == 0;
    if (read) {
      bytes.resize(stat.size);
      read = zip_source_read(sink.get(), bytes.data(), bytes.size()) == static_cast<zip_int64_t>(bytes.size());
      zip_source_close(sink.get());
    }
    if (!read) throw std::runtime_error("an archive cannot be read back");
    return bytes;
  }

 private:
  static std::u32string Decode(const std::string& text) {
    std::u32string wide;
    for (size_t i = 0; i < text.size();) {
      const auto byte = [&](size_t k) { return static_cast<unsigned char>(k < text.size() ? text[k] : 0); };
      const unsigned char lead = byte(i);
      const size_t more = lead >= 0xf0 && lead < 0xf8 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
      char32_t code = more == 0 ? lead : lead & (0x3f >> more);
      bool good = lead < 0xf8;
      for (size_t k = 1; k <= more; ++k) {
        good = good && (byte(i + k) & 0xc0) == 0x80;
        code = code << 6 | (byte(i + k) & 0x3f);
      }
      wide += good ? code : lead;
      i += good ? more + 1 : 1;
    }
    return wide;
  }

  std::vector<std::pair<std::string, std::string>> files_;
};

void Append(std::vector<double>& values, const Vec3& v) {
  values.insert(values.end(), {v.x(), v.y(), v.z()});
}
void Append(std::vector<double>& values, const Quat& q) {
  values.insert(values.end(), {q.w(), q.x(), q.y(), q.z()});
}

/// Positions, orientations, velocities of the bodies, and what follows from them.
void AddStates(Archive& archive, const ExportedMotion& motion) {
  const character::Character& character = motion.character;
  const std::vector<character::State>& states = motion.trajectory.states;
  const size_t n = states.size(), num_bodies = character.bodies.size(), num_joints = character.joints.size();
  std::vector<double> time, root_position, root_orientation, rotation, place, position, orientation, velocity, rate,
      com, com_velocity;
  for (size_t i = 0; i < n; ++i) {
    const character::State& state = states[i];
    const character::BodyState& root = state[static_cast<size_t>(character.root)];
    time.push_back(static_cast<double>(i) * motion.trajectory.time_step);
    Append(root_position, root.position);
    Append(root_orientation, root.orientation);
    for (const Vec3& at : JointPositions(character, state)) Append(place, at);
    for (const character::Joint& joint : character.joints) {
      Append(rotation, RotationVector(character::JointRotation(joint, state)));
    }
    for (size_t b = 0; b < num_bodies; ++b) {
      Append(position, state[b].position);
      Append(orientation, state[b].orientation);
      Append(velocity, state[b].linear_velocity);
      Append(rate, state[b].angular_velocity);
    }
    Append(com, character::CenterOfMass(character, state));
    Append(com_velocity, character::CenterOfMassVelocity(character, state));
  }
  archive.Add("time", {n}, time);
  archive.Add("time_step", {}, {motion.trajectory.time_step});
  archive.Add("gravity", {}, {motion.control.world.gravity});
  archive.Add("root_position", {n, 3}, root_position);
  archive.Add("root_orientation", {n, 4}, root_orientation);
  archive.Add("joint_rotation", {n, num_joints, 3}, rotation);
  archive.Add("joint_position", {n, num_joints, 3}, place);
  archive.Add("body_position", {n, num_bodies, 3}, position);
  archive.Add("body_orientation", {n, num_bodies, 4}, orientation);
  archive.Add("body_linear_velocity", {n, num_bodies, 3}, velocity);
  archive.Add("body_angular_velocity", {n, num_bodies, 3}, rate);
  archive.Add("com_position", {n, 3}, com);
  archive.Add("com_velocity", {n, 3}, com_velocity);
}

/// What each step brought about.
void AddSteps(Archive& archive, const ExportedMotion& motion) {
  const control::Trajectory& trajectory = motion.trajectory;
  const size_t n = trajectory.states.size();
  const size_t num_bodies = motion.character.bodies.size(), num_joints = motion.character.joints.size();
  std::vector<double> torque(3 * num_joints), target(3 * num_joints);  // the first state has none
  std::vector<double> body_force, ground_force, point, force, normal;
  std::vector<int32_t> at, body, other, object;
  for (size_t i = 0; i < n; ++i) {
    Vec3 ground = Vec3::Zero();
    std::vector<Vec3> on_body(num_bodies, Vec3(Vec3::Zero()));
    if (i > 0) {
      for (const Vec3& t : trajectory.torques[i - 1]) Append(torque, t);
      for (const simulation::Contact& contact : trajectory.contacts[i - 1]) {
        if ((contact.force.array() == 0).all()) continue;
        if (contact.other < 0) {
          ground += contact.force;
          on_body[static_cast<size_t>(contact.body)] += contact.force;
        }
        at.push_back(static_cast<int32_t>(i));
        body.push_back(contact.body);
        other.push_back(contact.other);
        object.push_back(contact.object);
        Append(point, contact.point);
        Append(force, contact.force);
        Append(normal, contact.normal);
      }
    }
    Append(ground_force, ground);
    for (const Vec3& f : on_body) Append(body_force, f);
  }
  std::vector<Quat> pose(num_joints, Quat::Identity());
  for (const control::Fragment& fragment : motion.control.fragments) {
    for (int step = 0; step < fragment.num_steps && target.size() < n * 3 * num_joints; ++step) {
      control::TargetsAt(fragment, step, pose);
      for (const Quat& q : pose) Append(target, RotationVector(q));
    }
  }
  while (target.size() < n * 3 * num_joints) {  // a control that is shorter than those of others holds its last targets
    for (const Quat& q : pose) Append(target, RotationVector(q));
  }
  archive.Add("joint_torque", {n, num_joints, 3}, torque);
  archive.Add("joint_target", {n, num_joints, 3}, target);
  archive.Add("body_contact_force", {n, num_bodies, 3}, body_force);
  archive.Add("ground_force", {n, 3}, ground_force);
  archive.Add("contact_state", at);
  archive.Add("contact_body", body);
  archive.Add("contact_other", other);
  archive.Add("contact_object", object);
  archive.Add("contact_point", {at.size(), 3}, point);
  archive.Add("contact_force", {at.size(), 3}, force);
  archive.Add("contact_normal", {at.size(), 3}, normal);
}

void AddObjects(Archive& archive, const ExportedMotion& motion) {
  const simulation::Environment& world = motion.control.world.environment;
  const size_t n = motion.trajectory.states.size(), num_objects = world.num_objects();
  const simulation::Layout layout = motion.layout();
  std::vector<double> position, orientation;
  for (size_t i = 0; i < n; ++i) {
    const std::vector<Vec3> boxes = BoxPositions(world, static_cast<double>(i) * motion.trajectory.time_step);
    for (size_t b = 0; b < boxes.size(); ++b) {
      Append(position, boxes[b]);
      Append(orientation, world.boxes[b].orientation);
    }
    if (world.height_field) {
      Append(position, world.height_field->position);
      Append(orientation, world.height_field->orientation);
    }
    for (const character::BodyState& body : layout.FreeStateOf(motion.trajectory.states[i])) {
      Append(position, body.position);
      Append(orientation, body.orientation);
    }
  }
  archive.Add("object_position", {n, num_objects, 3}, position);
  archive.Add("object_orientation", {n, num_objects, 4}, orientation);
  archive.Add("object_names", motion.trajectory.objects);
}

}  // namespace

std::string FormatNpz(const ExportedMotion& motion) {
  Archive archive;
  AddStates(archive, motion);
  AddSteps(archive, motion);
  AddObjects(archive, motion);
  std::vector<std::string> bodies, joints;
  std::vector<int32_t> parents, children;
  std::vector<double> masses;
  for (const character::Body& body : motion.character.bodies) {
    bodies.push_back(body.name);
    masses.push_back(body.mass);
  }
  for (const character::Joint& joint : motion.character.joints) {
    joints.push_back(joint.name);
    parents.push_back(joint.parent);
    children.push_back(joint.child);
  }
  archive.Add("body_names", bodies);
  archive.Add("body_mass", {masses.size()}, masses);
  archive.Add("joint_names", joints);
  archive.Add("joint_parent", parents);
  archive.Add("joint_child", children);
  return archive.Bytes();
}

}  // namespace retrace::exports
