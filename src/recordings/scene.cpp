#include "retrace/recordings/scene.h"

#include <assimp/MemoryIOWrapper.h>
#include <assimp/config.h>
#include <assimp/scene.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <assimp/IOStream.hpp>
#include <assimp/IOSystem.hpp>
#include <assimp/Importer.hpp>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <system_error>
#include <type_traits>
#include <unordered_map>

#include "retrace/io/base64.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/json.h"

// What Assimp does with a file is done in a child, which sends what it read through a pipe.

namespace retrace::recordings {
namespace {

constexpr rlim_t kMostMemory = rlim_t{6} << 30;  // of the child [bytes]
constexpr rlim_t kMostTime = 20;                 // of its processor [s], and one more for each MB of the file
constexpr size_t kMostNodes = 100000;
constexpr uint64_t kLargestScene = uint64_t{2} << 30;  // as it is sent [bytes]

// Sanitizers reserve far more memory, and have limits of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

// ---- In the child.

/// The bytes that it is given, and nothing else of the machine.
class GivenFiles : public Assimp::IOSystem {
 public:
  GivenFiles(std::string_view main, std::string main_name, const std::map<std::string, std::string_view>& beside)
      : main_(main), main_name_(std::move(main_name)), beside_(beside) {}

  bool Exists(const char* name) const override { return Find(name).has_value(); }
  char getOsSeparator() const override { return '/'; }
  Assimp::IOStream* Open(const char* name, const char* mode) override {
    const std::optional<std::string_view> bytes = Find(name);
    if (!bytes || std::strchr(mode, 'w') != nullptr) return nullptr;
    return new Assimp::MemoryIOStream(reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size());
  }
  void Close(Assimp::IOStream* stream) override { delete stream; }

 private:
  std::optional<std::string_view> Find(std::string name) const {
    if (name.starts_with("./")) name.erase(0, 2);
    if (name == main_name_) return main_;
    const auto found = beside_.find(name);
    return found != beside_.end() ? std::optional(found->second) : std::nullopt;
  }

  std::string_view main_;
  std::string main_name_;
  const std::map<std::string, std::string_view>& beside_;
};

Vec3 Convert(const aiVector3D& v) {
  return {v.x, v.y, v.z};
}
Quat Convert(const aiQuaternion& q) {
  return {q.w, q.x, q.y, q.z};
}
Mat4 Convert(const aiMatrix4x4& m) {
  Mat4 result;
  for (unsigned row = 0; row < 4; ++row) {
    for (unsigned column = 0; column < 4; ++column) result(row, column) = m[row][column];
  }
  return result;
}

/// A file that Assimp reads, and that contradicts itself or its format.
class BadFile : public std::exception {
 public:
  BadFile(const std::string& found, const std::string& expected) : text_(found + '\0' + expected) {}
  /// What was found, a zero, and what was expected.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Times of keys grow. FBX and Collada may have several at one time, of which the first counts; glTF may not.
template <typename AssimpKey>
void CheckTimes(const AssimpKey* keys, unsigned count, const std::string& node, bool strictly) {
  for (unsigned k = 0; k < count; ++k) {
    const std::string key = "key " + std::to_string(k + 1) + " of node \"" + node + "\"";
    if (!std::isfinite(keys[k].mTime)) throw BadFile(key + " at a time that is no number", "seconds");
    if (k == 0) continue;
    const double before = keys[k - 1].mTime;
    if (keys[k].mTime > before || (!strictly && keys[k].mTime == before)) continue;
    throw BadFile(key + (keys[k].mTime == before ? " at the time of the key before it" : " before the key before it"),
                  "times that grow from key to key");
  }
}

/// The keys that are numbers.
template <typename Value, typename AssimpKey>
std::vector<Scene::Key<Value>> KeysOf(const AssimpKey* keys, unsigned count, double ticks_per_second) {
  std::vector<Scene::Key<Value>> result;
  for (unsigned k = 0; k < count; ++k) {
    Scene::Key<Value> key;
    key.time = keys[k].mTime / ticks_per_second;
    key.value = Convert(keys[k].mValue);
    if constexpr (std::is_same_v<Value, Quat>) {
      if (!(key.value.norm() > 1e-6 && key.value.norm() < 1e6)) continue;
      key.value.normalize();
    } else {
      if (!key.value.allFinite()) continue;
    }
    if (std::abs(key.time) < 1e6) result.push_back(key);
  }
  const auto same = [](const auto& a, const auto& b) { return a.time == b.time; };
  result.erase(std::unique(result.begin(), result.end(), same), result.end());
  return result;
}

/// The JSON of a glTF file, and where its bytes are in the file; null for what is none.
struct GltfJson {
  io::Json json;
  size_t begin = 0, end = 0;
};

GltfJson JsonOfGltf(std::string_view bytes, const std::string& ending) {
  GltfJson gltf;
  gltf.end = bytes.size();
  if (ending == ".glb") {
    const auto word = [&](size_t at) {
      uint32_t value = 0;
      if (at + 4 <= bytes.size()) std::memcpy(&value, bytes.data() + at, 4);
      return value;
    };
    constexpr uint32_t kJsonChunk = 0x4E4F534A;
    if (!bytes.starts_with("glTF") || word(16) != kJsonChunk || word(12) > bytes.size() - 20) return gltf;
    gltf.begin = 20;
    gltf.end = gltf.begin + word(12);
  } else if (ending != ".gltf") {
    return gltf;
  }
  gltf.json = io::Json::parse(bytes.substr(gltf.begin, gltf.end - gltf.begin), nullptr, false);
  if (!gltf.json.is_object()) gltf.json = nullptr;  // Assimp says what is wrong with it
  return gltf;
}

io::Json& ListIn(io::Json& json, const char* name) {
  io::Json& list = json[name];
  if (!list.is_array()) list = io::Json::array();
  return list;
}

/// A glTF file in which skins have what Assimp reads without asking whether it is there: matrices in which a skin was
/// bound, by the format's default those of no change. Empty for a file that may stay as it is. Throws BadFile for names
/// of nodes that Assimp cuts off.
std::string PreparedGltf(std::string_view bytes, const std::string& ending) {
  GltfJson gltf = JsonOfGltf(bytes, ending);
  if (gltf.json.is_null()) return {};
  constexpr size_t kLongestName = 1000;
  for (const io::Json& node : ListIn(gltf.json, "nodes")) {
    if (!node.is_object() || !node.contains("name") || !node["name"].is_string()) continue;
    const size_t length = node["name"].get_ref<const std::string&>().size();
    if (length > kLongestName) {
      throw BadFile("a node with a name of " + std::to_string(length) + " bytes",
                    "at most " + std::to_string(kLongestName));
    }
  }
  const auto lacks = [](const io::Json& skin) {
    return skin.is_object() && !skin.contains("inverseBindMatrices") && skin.contains("joints") &&
           skin["joints"].is_array() && !skin["joints"].empty();
  };
  const io::Json& all = ListIn(gltf.json, "skins");
  if (std::none_of(all.begin(), all.end(), lacks)) return {};
  for (const char* list : {"buffers", "bufferViews", "accessors"}) ListIn(gltf.json, list);  // none is added below
  for (io::Json& skin : gltf.json["skins"]) {
    if (!lacks(skin)) continue;
    const size_t count = skin["joints"].size();
    float matrix[16] = {};
    for (size_t i = 0; i < 16; i += 5) matrix[i] = 1;
    std::string data;
    for (size_t j = 0; j < count; ++j) data.append(reinterpret_cast<const char*>(matrix), sizeof matrix);
    io::Json &buffers = gltf.json["buffers"], &views = gltf.json["bufferViews"], &accessors = gltf.json["accessors"];
    skin["inverseBindMatrices"] = accessors.size();
    accessors.push_back({{"bufferView", views.size()}, {"componentType", 5126}, {"count", count}, {"type", "MAT4"}});
    views.push_back({{"buffer", buffers.size()}, {"byteLength", data.size()}});
    buffers.push_back(
        {{"byteLength", data.size()}, {"uri", "data:application/octet-stream;base64," + io::EncodeBase64(data)}});
  }
  std::string text = gltf.json.dump();
  if (ending == ".gltf") return text;
  text.resize((text.size() + 3) / 4 * 4, ' ');
  const auto put = [](std::string& to, size_t at, size_t value) {
    const auto word = static_cast<uint32_t>(value);
    std::memcpy(to.data() + at, &word, 4);
  };
  std::string file(bytes.substr(0, gltf.begin));
  file.append(text).append(bytes.substr(gltf.end));
  put(file, 8, file.size());
  put(file, 12, text.size());
  return file;
}

Scene Convert(const aiScene& from) {
  Scene scene;
  std::unordered_map<std::string, int> by_name;
  std::vector<const aiNode*> ai_nodes;
  struct Visit {
    const aiNode* node;
    int parent;
  };
  std::vector<Visit> visits;
  if (from.mRootNode != nullptr) visits.push_back({from.mRootNode, -1});
  while (!visits.empty()) {
    const auto [node, parent] = visits.back();
    visits.pop_back();
    const int index = static_cast<int>(scene.nodes.size());
    if (scene.nodes.size() >= kMostNodes) throw std::runtime_error("too many nodes");
    Scene::Node& to = scene.nodes.emplace_back();
    to.name = node->mName.C_Str();
    to.parent = parent;
    to.place = Convert(node->mTransformation);
    to.has_mesh = node->mNumMeshes > 0;
    by_name.emplace(to.name, index);
    ai_nodes.push_back(node);
    for (unsigned c = node->mNumChildren; c-- > 0;) visits.push_back({node->mChildren[c], index});
  }
  for (size_t n = 0; n < ai_nodes.size(); ++n) {
    for (unsigned m = 0; m < ai_nodes[n]->mNumMeshes; ++m) {
      const unsigned index = ai_nodes[n]->mMeshes[m];
      if (index >= from.mNumMeshes) continue;
      const aiMesh& mesh = *from.mMeshes[index];
      for (unsigned b = 0; b < mesh.mNumBones; ++b) {
        const auto found = by_name.find(mesh.mBones[b]->mName.C_Str());
        if (found == by_name.end()) continue;
        Scene::Node& bone = scene.nodes[static_cast<size_t>(found->second)];
        if (bone.bone()) continue;
        bone.skin = static_cast<int>(n);
        bone.bind = Convert(mesh.mBones[b]->mOffsetMatrix);
      }
    }
  }
  std::string format;
  if (from.mMetaData != nullptr) {
    aiString text;
    if (from.mMetaData->Get("SourceAsset_Format", text)) format = text.C_Str();
  }
  const bool is_fbx = format.find("FBX") != std::string::npos;
  const bool is_gltf = format.find("glTF") != std::string::npos;
  for (unsigned a = 0; a < from.mNumAnimations; ++a) {
    const aiAnimation& animation = *from.mAnimations[a];
    Scene::Animation& to = scene.animations.emplace_back();
    to.name = animation.mName.C_Str();
    if (to.name.empty()) to.name = std::to_string(a + 1);
    const double ticks = animation.mTicksPerSecond > 0 ? animation.mTicksPerSecond : is_fbx ? 25 : 1;
    if (is_fbx && animation.mTicksPerSecond > 0) to.rate = ticks;
    for (unsigned c = 0; c < animation.mNumChannels; ++c) {
      const aiNodeAnim& channel = *animation.mChannels[c];
      const auto found = by_name.find(channel.mNodeName.C_Str());
      if (found == by_name.end()) continue;
      const std::string node = channel.mNodeName.C_Str();
      CheckTimes(channel.mPositionKeys, channel.mNumPositionKeys, node, is_gltf);
      CheckTimes(channel.mRotationKeys, channel.mNumRotationKeys, node, is_gltf);
      CheckTimes(channel.mScalingKeys, channel.mNumScalingKeys, node, is_gltf);
      Scene::Channel& channel_to = to.channels.emplace_back();
      channel_to.node = found->second;
      channel_to.positions = KeysOf<Vec3>(channel.mPositionKeys, channel.mNumPositionKeys, ticks);
      channel_to.rotations = KeysOf<Quat>(channel.mRotationKeys, channel.mNumRotationKeys, ticks);
      channel_to.scales = KeysOf<Vec3>(channel.mScalingKeys, channel.mNumScalingKeys, ticks);
    }
  }
  // glTF has meters; Assimp turns lengths of Collada into meters, and leaves those of FBX: UnitScaleFactor centimeters.
  scene.unit = 1;
  if (is_fbx) {
    double factor = 0;
    float short_factor = 0;
    if (from.mMetaData != nullptr && !from.mMetaData->Get("UnitScaleFactor", factor) &&
        from.mMetaData->Get("UnitScaleFactor", short_factor)) {
      factor = static_cast<double>(short_factor);
    }
    scene.unit = factor > 1e-6 && factor < 1e6 ? 0.01 * factor : 0;
  }
  return scene;
}

/// Throws std::runtime_error with Assimp's reason, or BadFile.
Scene Import(std::string_view bytes, const std::string& ending, const std::map<std::string, std::string_view>& beside) {
  const std::string prepared = PreparedGltf(bytes, ending);
  if (!prepared.empty()) bytes = prepared;
  Assimp::Importer importer;
  const std::string file_name = "recording" + ending;
  importer.SetIOHandler(new GivenFiles(bytes, file_name, beside));  // which the importer deletes
  importer.SetPropertyBool(AI_CONFIG_IMPORT_NO_SKELETON_MESHES, true);
  importer.SetPropertyBool(AI_CONFIG_IMPORT_FBX_READ_TEXTURES, false);
  importer.SetPropertyBool(AI_CONFIG_IMPORT_FBX_READ_CAMERAS, false);
  importer.SetPropertyBool(AI_CONFIG_IMPORT_FBX_READ_LIGHTS, false);
  importer.SetPropertyBool(AI_CONFIG_IMPORT_COLLADA_USE_COLLADA_NAMES, true);
  const aiScene* scene = importer.ReadFile(file_name, 0);
  if (scene == nullptr) throw std::runtime_error(importer.GetErrorString());
  return Convert(*scene);
}

// ---- What is sent: numbers and texts one after the other, as they are in memory.

class Sender {
 public:
  template <typename Value>
  requires std::is_arithmetic_v<Value>
  void Put(Value value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void Put(const std::string& text) {
    Put(static_cast<uint64_t>(text.size()));
    bytes_.append(text);
  }
  void Put(const Vec3& v) { PutNumbers(v.data(), 3); }
  void Put(const Quat& q) { PutNumbers(q.coeffs().data(), 4); }
  void Put(const Mat4& m) { PutNumbers(m.data(), 16); }
  template <typename Value>
  void Put(const Scene::Key<Value>& key) {
    Put(key.time);
    Put(key.value);
  }
  template <typename Element>
  void Put(const std::vector<Element>& list) {
    Put(static_cast<uint64_t>(list.size()));
    for (const Element& element : list) Put(element);
  }
  void Put(const Scene::Node& node) {
    Put(node.name);
    Put(node.parent);
    Put(node.place);
    Put(node.has_mesh);
    Put(node.skin);
    Put(node.bind);
  }
  void Put(const Scene::Channel& channel) {
    Put(channel.node);
    Put(channel.positions);
    Put(channel.rotations);
    Put(channel.scales);
  }
  void Put(const Scene::Animation& animation) {
    Put(animation.name);
    Put(animation.rate);
    Put(animation.channels);
  }
  void Put(const Scene& scene) {
    Put(scene.nodes);
    Put(scene.animations);
    Put(scene.unit);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void PutNumbers(const double* numbers, size_t count) {
    bytes_.append(reinterpret_cast<const char*>(numbers), count * sizeof(double));
  }
  std::string bytes_;
};

/// A child that Assimp broke may send anything.
class Receiver {
 public:
  explicit Receiver(std::string_view bytes) : bytes_(bytes) {}
  bool good() const { return good_ && bytes_.empty(); }

  template <typename Value>
  requires std::is_arithmetic_v<Value>
  void Get(Value& value) { Take(&value, sizeof value); }
  void Get(bool& value) {
    char byte = 0;
    Take(&byte, 1);
    value = byte != 0;
  }
  void Get(std::string& text) {
    const size_t size = Size(1);
    text.assign(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
  }
  void Get(Vec3& v) { Take(v.data(), 3 * sizeof(double)); }
  void Get(Quat& q) { Take(q.coeffs().data(), 4 * sizeof(double)); }
  void Get(Mat4& m) { Take(m.data(), 16 * sizeof(double)); }
  template <typename Value>
  void Get(Scene::Key<Value>& key) {
    Get(key.time);
    Get(key.value);
  }
  template <typename Element>
  void Get(std::vector<Element>& list) {
    list.clear();
    const size_t count = Size(8);
    list.reserve(count < 1000000 ? count : 0);
    for (size_t i = 0; i < count && good_; ++i) Get(list.emplace_back());
  }
  void Get(Scene::Node& node) {
    Get(node.name);
    Get(node.parent);
    Get(node.place);
    Get(node.has_mesh);
    Get(node.skin);
    Get(node.bind);
  }
  void Get(Scene::Channel& channel) {
    Get(channel.node);
    Get(channel.positions);
    Get(channel.rotations);
    Get(channel.scales);
  }
  void Get(Scene::Animation& animation) {
    Get(animation.name);
    Get(animation.rate);
    Get(animation.channels);
  }
  void Get(Scene& scene) {
    Get(scene.nodes);
    Get(scene.animations);
    Get(scene.unit);
    for (size_t n = 0; n < scene.nodes.size(); ++n) {
      const Scene::Node& node = scene.nodes[n];
      good_ = good_ && node.parent < static_cast<int>(n) && (node.parent >= 0) == (n > 0) && node.skin >= -1 &&
              node.skin < static_cast<int>(scene.nodes.size());
    }
    for (const Scene::Animation& animation : scene.animations) {
      for (const Scene::Channel& channel : animation.channels) {
        good_ = good_ && channel.node >= 0 && static_cast<size_t>(channel.node) < scene.nodes.size();
      }
    }
  }

 private:
  void Take(void* to, size_t size) {
    good_ = good_ && size <= bytes_.size();
    if (!good_) return;
    std::memcpy(to, bytes_.data(), size);
    bytes_.remove_prefix(size);
  }
  /// A number of elements of at least so many bytes each, which the rest has room for.
  size_t Size(size_t bytes_each) {
    uint64_t size = 0;
    Take(&size, sizeof size);
    good_ = good_ && size <= bytes_.size() / bytes_each;
    return good_ ? static_cast<size_t>(size) : 0;
  }

  std::string_view bytes_;
  bool good_ = true;
};

// ---- The child.

enum class Outcome : char { kScene = 'S', kRefusal = 'R', kBadFile = 'B' };

void Limit(int resource, rlim_t most) {
  const rlimit limit = {most, most};
  setrlimit(resource, &limit);
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

[[noreturn]] void RunChild(int pipe, std::string_view bytes, const std::string& ending,
                           const std::map<std::string, std::string_view>& beside) {
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_CPU, kMostTime + bytes.size() / 1'000'000);
  if (!kSanitized) Limit(RLIMIT_AS, kMostMemory);
  // Only the parent learns what ended the child.
  for (const int signal_number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGXCPU}) {
    std::signal(signal_number, SIG_DFL);
  }
  std::string message;
  try {
    Sender sender;
    sender.Put(Import(bytes, ending, beside));
    message = static_cast<char>(Outcome::kScene) + sender.bytes();
  } catch (const BadFile& fault) {
    message = static_cast<char>(Outcome::kBadFile) + fault.text();
  } catch (const std::exception& error) {
    message = std::string(1, static_cast<char>(Outcome::kRefusal)) + error.what();
  }
  _exit(WriteAll(pipe, message) ? 0 : 1);
}

std::string ReadAll(int fd) {
  std::string all;
  std::string piece(size_t{1} << 16, '\0');
  for (;;) {
    const ssize_t count = read(fd, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || all.size() > kLargestScene) return all;
    all.append(piece, 0, static_cast<size_t>(count));
  }
}

/// What the child sent; empty where it ended without a word.
std::string AskChild(std::string_view bytes, const std::string& ending,
                     const std::map<std::string, std::string_view>& beside) {
  int ends[2];
  if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  io::Descriptor in(ends[0]);
  io::Descriptor out(ends[1]);
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) RunChild(out.get(), bytes, ending, beside);
  out = io::Descriptor();
  std::string answer = ReadAll(in.get());
  in = io::Descriptor();  // a child that still writes ends
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? answer : std::string();
}

}  // namespace

Scene ReadScene(std::string_view bytes, const std::string& name,
                const std::map<std::string, std::string_view>& beside) {
  const std::string expected = "an FBX, glTF or Collada file";
  std::string ending = std::filesystem::path(name).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  if (bytes.empty()) throw InputError(name, "an empty file", expected);
  const std::string answer = AskChild(bytes, ending, beside);
  if (answer.empty()) throw InputError(name, "a file at which Assimp breaks down", expected);
  const std::string_view content = std::string_view(answer).substr(1);
  if (answer.front() == static_cast<char>(Outcome::kBadFile)) {
    const size_t zero = std::min(content.find('\0'), content.size());
    throw InputError(name, std::string(content.substr(0, zero)),
                     std::string(content.substr(std::min(zero + 1, content.size()))));
  }
  if (answer.front() != static_cast<char>(Outcome::kScene)) {
    throw InputError(name, "what Assimp refuses (" + std::string(content) + ")", expected);
  }
  Scene scene;
  Receiver receiver(content);
  receiver.Get(scene);
  if (!receiver.good()) throw InputError(name, "a file at which Assimp breaks down", expected);
  return scene;
}

}  // namespace retrace::recordings
