#include <cstring>
#include <string>
#include <string_view>

#include "clip_laws.h"
#include "retrace/recordings/recording.h"
#include "retrace/recordings/scene.h"

namespace {

using namespace retrace;
using recordings::Scene;

/// Takes a scene from bytes, whatever they are.
class SceneMaker {
 public:
  explicit SceneMaker(std::string_view bytes) : bytes_(bytes) {}

  Scene Make() {
    Scene scene;
    const size_t nodes = 1 + Byte() % 24;
    for (size_t n = 0; n < nodes; ++n) {
      Scene::Node& node = scene.nodes.emplace_back();
      const unsigned kind = Byte();
      node.name =
          std::string(1, static_cast<char>('a' + kind % 16)) + ((kind & 64) != 0 ? "_$AssimpFbx$_Rotation" : "");
      node.parent = n == 0 ? -1 : static_cast<int>(Byte() % n);
      node.has_mesh = (kind & 32) != 0;
      node.place = Place();
      if ((kind & 128) != 0) {
        node.skin = static_cast<int>(Byte() % nodes);
        node.bind = Place();
      }
    }
    const size_t animations = Byte() % 3;
    for (size_t a = 0; a < animations; ++a) {
      Scene::Animation& animation = scene.animations.emplace_back();
      animation.name = std::string(1, static_cast<char>('A' + a));
      animation.rate = Byte();
      const size_t channels = Byte() % 8;
      for (size_t c = 0; c < channels; ++c) AddChannel(animation, nodes);
    }
    scene.unit = Byte() % 3;
    return scene;
  }

 private:
  unsigned Byte() {
    if (bytes_.empty()) return 0;
    const auto byte = static_cast<unsigned char>(bytes_.front());
    bytes_.remove_prefix(1);
    return byte;
  }
  /// Mostly a small one; any number of eight bytes now and then.
  double Number() {
    const unsigned byte = Byte();
    if (byte != 255 || bytes_.size() < 8) return (static_cast<double>(byte) - 128) / 64;
    double number = 0;
    std::memcpy(&number, bytes_.data(), 8);
    bytes_.remove_prefix(8);
    return number;
  }
  Vec3 Vector() {
    const double x = Number(), y = Number(), z = Number();
    return {x, y, z};
  }
  recordings::Mat4 Place() {
    recordings::Mat4 place = recordings::Mat4::Identity();
    place.topRightCorner<3, 1>() = Vector();
    if (Byte() % 2 == 0) return place;
    for (int column = 0; column < 3; ++column) place.block<3, 1>(0, column) = Vector();
    return place;
  }
  void AddChannel(Scene::Animation& animation, size_t nodes) {
    Scene::Channel& channel = animation.channels.emplace_back();
    channel.node = static_cast<int>(Byte() % nodes);
    double time = Byte();
    const size_t keys = Byte() % 6;
    const unsigned parts = Byte();
    for (size_t k = 0; k < keys; ++k) {
      time += (1 + Byte()) / 60.0;  // times grow, as ReadScene has them
      if ((parts & 1) != 0) channel.positions.push_back({time, Vector()});
      if ((parts & 2) != 0) {
        Quat turn(1, Number(), Number(), Number());
        if (!(turn.norm() < 1e6)) turn = Quat::Identity();
        channel.rotations.push_back({time, turn.normalized()});
      }
      if ((parts & 4) != 0) channel.scales.push_back({time, Vector()});
    }
    const auto all_finite = [](const auto& key) { return key.value.allFinite(); };
    std::erase_if(channel.positions, [&](const auto& key) { return !all_finite(key); });
    std::erase_if(channel.scales, [&](const auto& key) { return !all_finite(key); });
  }

  std::string_view bytes_;
};

}  // namespace

// The first byte tells the format: that of a file, whose bytes follow, or a scene that is made of what follows.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.empty()) return 0;
  const std::string_view rest = bytes.substr(1);
  const char* name = bytes[0] == 'f' ? "a.fbx" : bytes[0] == 'g' ? "a.glb" : bytes[0] == 'j' ? "a.gltf" : "a.dae";
  if (bytes[0] == 'f' || bytes[0] == 'g' || bytes[0] == 'j' || bytes[0] == 'd') {
    fuzz::ReadsClip([&] { return recordings::ParseRecording({{rest, name}, {}, {}}); });
  } else {
    fuzz::ReadsClip([&] { return recordings::ClipOfScene(SceneMaker(rest).Make(), "scene"); });
  }
  return 0;
}
