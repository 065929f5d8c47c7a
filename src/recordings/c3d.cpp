#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>

#include "axes.h"
#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/recordings/force_tables.h"
#include "retrace/recordings/markers.h"

// The format is described in the user guide of C3D (c3d.org).

namespace retrace::recordings {
namespace {

constexpr size_t kBlock = 512;
constexpr size_t kMostValues = 400'000'000;  // of points and analog channels together
constexpr double kFarAway = 1e4;             // a marker's coordinate [m]
constexpr double kLeastForce = 10;           // that has a center of pressure [N]

enum class Processor : uint8_t { kIntel = 84, kDec = 85, kMips = 86 };

/// A parameter of a group.
struct Parameter {
  int type = 0;  ///< -1 text, 1 bytes, 2 whole numbers of 16 bits, 4 floats
  std::vector<size_t> shape;
  std::string_view data;

  size_t count() const {
    size_t count = 1;
    for (const size_t size : shape) count *= size;
    return count;
  }
};

class C3dFile {
 public:
  C3dFile(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {
    if (bytes.size() < 2 * kBlock || Byte(1) != 0x50) Fail("", "other bytes", "a C3D file");
    ReadParameters();
    ReadHeader();
  }

  [[noreturn]] void Fail(const std::string& place, const std::string& found, const std::string& expected) const {
    throw InputError(place.empty() ? name_ : name_ + ": " + place, found, expected);
  }

  size_t points() const { return points_; }
  size_t frames() const { return frames_; }
  size_t channels() const { return channels_; }
  size_t samples_per_frame() const { return samples_per_frame_; }

  bool Has(const std::string& parameter) const { return parameters_.contains(parameter); }

  /// Numbers of a parameter, `GROUP:NAME`; none where it is not there.
  std::vector<double> Numbers(const std::string& parameter) const {
    const auto found = parameters_.find(parameter);
    if (found == parameters_.end()) return {};
    const Parameter& p = found->second;
    if (p.type < 1) Fail(parameter, "text", "numbers");
    std::vector<double> numbers;
    for (size_t i = 0; i < p.count(); ++i) {
      const char* at = p.data.data() + i * static_cast<size_t>(p.type);
      numbers.push_back(p.type == 1 ? static_cast<unsigned char>(*at) : p.type == 2 ? Whole(at) : Float(at));
    }
    return numbers;
  }
  std::optional<double> Number(const std::string& parameter) const {
    const std::vector<double> numbers = Numbers(parameter);
    return numbers.empty() ? std::nullopt : std::optional(numbers[0]);
  }
  /// Texts of a parameter, and of those that go on where it is full: LABELS, LABELS2, ...
  std::vector<std::string> Texts(const std::string& parameter) const {
    std::vector<std::string> texts;
    for (int part = 1; part < 1000; ++part) {
      const auto found = parameters_.find(part == 1 ? parameter : parameter + std::to_string(part));
      if (found == parameters_.end()) break;
      const Parameter& p = found->second;
      if (p.type != -1 || p.shape.empty()) break;
      const size_t length = p.shape[0];
      for (size_t i = 0; length > 0 && i < p.count() / length; ++i) {
        std::string text(p.data.substr(i * length, length));
        text.resize(std::min(text.find('\0'), text.size()));
        while (text.ends_with(' ')) text.pop_back();
        texts.push_back(std::move(text));
      }
    }
    return texts;
  }

  double rate() const {
    const std::optional<double> stated = Number("POINT:RATE");
    const double rate = stated && *stated > 0 ? *stated : header_rate_;
    if (!(rate >= 1 && rate <= 10000)) Fail("POINT:RATE", io::Number(rate), "1 to 10000 frames per second");
    return rate;
  }
  double meters() const {
    const std::vector<std::string> units = Texts("POINT:UNITS");
    const std::string unit = units.empty() ? "mm" : units[0];
    if (unit == "m") return 1;
    if (unit == "cm") return 0.01;
    if (unit == "mm" || unit.empty()) return 0.001;
    Fail("POINT:UNITS", "\"" + unit + "\"", "m, cm or mm");
  }

  /// What the header, the parameters and the data say of one another where they differ, as sentences.
  std::vector<std::string> Doubts() const {
    std::vector<std::string> doubts;
    const auto whole = [](double value) { return io::Number(std::round(value)); };
    const std::optional<double> frames = Number("POINT:FRAMES");
    const bool fits = frames && (*frames < 0 || *frames >= 65535 || static_cast<size_t>(*frames) == frames_);
    if (frames && !fits) {
      doubts.push_back("the file says " + whole(*frames) + " frames (POINT:FRAMES) and " + std::to_string(frames_) +
                       " in its header: these are read");
    }
    const std::optional<double> rate = Number("POINT:RATE");
    if (rate && *rate > 0 && header_rate_ > 0 && std::abs(*rate / header_rate_ - 1) > 0.01) {
      doubts.push_back("the file says " + io::Number(*rate) + " frames per second (POINT:RATE) and " +
                       io::Number(header_rate_) + " in its header: the first is taken, unless a frame rate is given");
    }
    const size_t behind = (bytes_.size() - data_) / frame_bytes() - frames_;
    if (behind * frame_bytes() >= 2 * kBlock) {  // blocks are filled up
      doubts.push_back("the file has room for " + std::to_string(behind) + " frames behind the " +
                       std::to_string(frames_) + " that it says: they are not read");
    }
    return doubts;
  }

  /// The four numbers of a point in a frame: coordinates and residual.
  void Point(size_t frame, size_t point, double (&values)[4]) const {
    const size_t at = data_ + frame * frame_bytes() + 4 * value_bytes() * point;
    for (size_t i = 0; i < 4; ++i) {
      const char* p = bytes_.data() + at + i * value_bytes();
      values[i] = is_float_ ? Float(p) : i < 3 ? Whole(p) * scale_ : Whole(p);
    }
  }
  double Analog(size_t frame, size_t sample, size_t channel) const {
    const size_t index = 4 * points_ + sample * channels_ + channel;
    const char* p = bytes_.data() + data_ + frame * frame_bytes() + index * value_bytes();
    return is_float_ ? Float(p) : is_unsigned_ ? Natural(p) : Whole(p);
  }

 private:
  int Signed(size_t at) const {
    const auto byte = static_cast<unsigned char>(bytes_[at]);
    return byte < 128 ? byte : byte - 256;
  }
  unsigned Byte(size_t at) const { return static_cast<unsigned char>(bytes_[at]); }
  uint16_t Natural(const char* p) const {
    unsigned char b[2];
    std::memcpy(b, p, 2);
    return static_cast<uint16_t>(processor_ == Processor::kMips ? b[0] << 8 | b[1] : b[1] << 8 | b[0]);
  }
  int16_t Whole(const char* p) const { return static_cast<int16_t>(Natural(p)); }
  double Float(const char* p) const {
    unsigned char b[4];
    std::memcpy(b, p, 4);
    uint32_t bits = 0;
    if (processor_ == Processor::kMips) {
      bits = uint32_t{b[0]} << 24 | uint32_t{b[1]} << 16 | uint32_t{b[2]} << 8 | b[3];
    } else if (processor_ == Processor::kDec) {  // words in the other order, and another offset of the exponent
      bits = uint32_t{b[1]} << 24 | uint32_t{b[0]} << 16 | uint32_t{b[3]} << 8 | b[2];
      return static_cast<double>(std::bit_cast<float>(bits)) / 4;
    } else {
      bits = uint32_t{b[3]} << 24 | uint32_t{b[2]} << 16 | uint32_t{b[1]} << 8 | b[0];
    }
    return static_cast<double>(std::bit_cast<float>(bits));
  }

  size_t value_bytes() const { return is_float_ ? 4 : 2; }
  size_t frame_bytes() const { return (4 * points_ + channels_ * samples_per_frame_) * value_bytes(); }

  void ReadParameters() {
    const size_t start = (Byte(0) - 1) * kBlock;
    if (Byte(0) < 2 || start + 4 > bytes_.size()) Fail("byte 1", "no parameters", "the block at which they begin");
    const unsigned processor = Byte(start + 3);
    if (processor < 84 || processor > 86) {
      Fail("parameters", "processor " + std::to_string(processor), "84 (Intel), 85 (DEC) or 86 (MIPS)");
    }
    processor_ = static_cast<Processor>(processor);
    std::map<int, std::string> groups;
    struct Found {
      int group;
      std::string name;
      Parameter parameter;
    };
    std::vector<Found> all;
    size_t at = start + 4;
    const size_t end = start + kBlock * std::max(Byte(start + 2), 1u);
    while (at + 2 <= bytes_.size()) {
      const auto length = static_cast<size_t>(std::abs(Signed(at)));
      const int group = Signed(at + 1);
      if (length == 0) break;
      const std::string place = "parameters, byte " + std::to_string(at);
      if (at + 2 + length + 2 > bytes_.size()) Fail(place, "the end of the file", "a name");
      std::string name(bytes_.substr(at + 2, length));
      std::transform(name.begin(), name.end(), name.begin(),
                     [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
      const size_t link = at + 2 + length;
      const size_t next = Natural(&bytes_[link]);
      if (group < 0) {
        groups[-group] = name;
      } else {
        all.push_back({group, name, ReadParameter(link + 2, place)});
      }
      if (next == 0) break;
      at = link + next;
      if (at > end && group > 0) {  // files of some tools have a wrong link, but parameters say how long they are
        const std::string_view data = all.back().parameter.data;
        at = static_cast<size_t>(data.data() + data.size() - bytes_.data());
        if (at < bytes_.size()) at += 1 + Byte(at);  // the description
      }
    }
    for (Found& found : all) parameters_[groups[found.group] + ":" + found.name] = found.parameter;
  }

  Parameter ReadParameter(size_t at, const std::string& place) const {
    Parameter parameter;
    if (at + 2 > bytes_.size()) Fail(place, "the end of the file", "a type");
    parameter.type = Signed(at);
    if (parameter.type != -1 && parameter.type != 1 && parameter.type != 2 && parameter.type != 4) {
      Fail(place, "type " + std::to_string(parameter.type), "-1, 1, 2 or 4");
    }
    const size_t dimensions = Byte(at + 1);
    if (dimensions > 7 || at + 2 + dimensions > bytes_.size()) {
      Fail(place, std::to_string(dimensions) + " dimensions", "at most 7");
    }
    size_t size = static_cast<size_t>(std::abs(parameter.type));
    for (size_t d = 0; d < dimensions; ++d) {
      parameter.shape.push_back(Byte(at + 2 + d));
      size *= parameter.shape.back();
      if (size > bytes_.size()) break;
    }
    const size_t data = at + 2 + dimensions;
    if (size > bytes_.size() - data) Fail(place, "more than the file holds", "a parameter");
    parameter.data = bytes_.substr(data, size);
    return parameter;
  }

  void ReadHeader() {
    points_ = Natural(&bytes_[2]);
    const size_t analog = Natural(&bytes_[4]);
    const size_t first = Natural(&bytes_[6]), last = Natural(&bytes_[8]);
    scale_ = Float(&bytes_[12]);
    data_ = (Natural(&bytes_[16]) - size_t{1}) * kBlock;
    samples_per_frame_ = Natural(&bytes_[18]);
    header_rate_ = Float(&bytes_[20]);
    is_float_ = scale_ < 0;
    if (const std::optional<double> scale = Number("POINT:SCALE")) {
      scale_ = *scale;
      is_float_ = scale_ < 0;
    }
    const std::vector<std::string> format = Texts("ANALOG:FORMAT");
    is_unsigned_ = !format.empty() && format[0] == "UNSIGNED";
    if (samples_per_frame_ == 0) samples_per_frame_ = 1;
    channels_ = analog / samples_per_frame_;
    if (channels_ * samples_per_frame_ != analog) {
      Fail("byte 5", std::to_string(analog) + " analog values per frame",
           "a multiple of " + std::to_string(samples_per_frame_));
    }
    if (const std::optional<double> used = Number("POINT:USED"); used && *used != static_cast<double>(points_)) {
      Fail("POINT:USED", io::Number(*used) + " points", std::to_string(points_) + ", as the header says");
    }
    if (points_ == 0 && channels_ == 0) Fail("byte 3", "no points and no channels", "a recording");
    if (data_ < kBlock || data_ >= bytes_.size()) {
      Fail("byte 17", "data at byte " + std::to_string(data_), "within the file");
    }
    frames_ = last >= first ? last - first + 1 : 0;
    const auto actual = [&](const char* parameter) -> size_t {
      const std::vector<double> words = Numbers(parameter);
      if (words.size() != 2) return 0;
      const auto word = [&](size_t i) { return static_cast<size_t>(static_cast<int>(words[i]) & 0xffff); };
      return word(0) + 65536 * word(1);
    };
    if (const size_t end = actual("TRIAL:ACTUAL_END_FIELD"), begin = actual("TRIAL:ACTUAL_START_FIELD"); end > begin) {
      frames_ = std::max(frames_, end - begin + 1);
    }
    const size_t room = (bytes_.size() - data_) / frame_bytes();
    if (frames_ == 0) Fail("byte 7", "no frames", "a recording");
    if (room < frames_) {
      Fail("", "an end after " + std::to_string(room) + " frames", std::to_string(frames_) + " frames");
    }
    if (frames_ * (4 * points_ + channels_ * samples_per_frame_) > kMostValues) {
      Fail("", std::to_string(frames_) + " frames", "what fits into memory");
    }
  }

  std::string_view bytes_;
  const std::string& name_;
  Processor processor_ = Processor::kIntel;
  std::map<std::string, Parameter> parameters_;
  size_t points_ = 0;
  size_t channels_ = 0;
  size_t samples_per_frame_ = 1;
  size_t frames_ = 0;
  size_t data_ = 0;
  double scale_ = -1;
  double header_rate_ = 0;
  bool is_float_ = true;
  bool is_unsigned_ = false;
};

/// The axis that points up, by the directions on a screen that the file gives; -1: it gives none.
int UpAxisOf(const C3dFile& file) {
  const std::vector<std::string> up = file.Texts("POINT:Y_SCREEN");
  if (up.empty() || up[0].size() != 2 || up[0][0] != '+') return -1;
  const char axis = static_cast<char>(up[0][1] | 0x20);
  return axis >= 'x' && axis <= 'z' ? axis - 'x' : -1;
}

/// Channels of an analog recording as physical values.
class Channels {
 public:
  explicit Channels(const C3dFile& file) : file_(file) {
    scales_ = file.Numbers("ANALOG:SCALE");
    offsets_ = file.Numbers("ANALOG:OFFSET");
    general_ = file.Number("ANALOG:GEN_SCALE").value_or(1);
  }
  /// @param channel from 0
  double At(size_t instant, size_t channel) const {
    const size_t per_frame = file_.samples_per_frame();
    const double raw = file_.Analog(instant / per_frame, instant % per_frame, channel);
    const double offset = channel < offsets_.size() ? offsets_[channel] : 0;
    return (raw - offset) * (channel < scales_.size() ? scales_[channel] : 1) * general_;
  }

 private:
  const C3dFile& file_;
  std::vector<double> scales_;
  std::vector<double> offsets_;
  double general_ = 1;
};

/// What the channels of a force plate are, by its type (c3d.org; Visual3D's manual for types 6 and 7).
struct PlateType {
  int type = 0;
  size_t channels = 0;
  bool matrix = false;  ///< they are multiplied by FORCE_PLATFORM:CAL_MATRIX
};
constexpr PlateType kPlateTypes[] = {
    {1, 6, false},  // force, center of pressure, free moment
    {2, 6, false},  // force, moment about the origin
    {3, 8, false},  // x of sensors 1 and 2, 3 and 4, y of 1 and 4, 2 and 3, z of each
    {4, 6, true},   // as 2
    {6, 12, true},  // force of each of four sensors
    {7, 8, true},   // as 3
};

/// One force plate: axes, position and channels.
class Plate {
 public:
  /// @param up of the file
  Plate(const C3dFile& file, size_t index, const PlateType& type, const Vec3& up) : file_(file), type_(type) {
    const std::vector<double> corners = file.Numbers("FORCE_PLATFORM:CORNERS");
    const std::vector<double> origins = file.Numbers("FORCE_PLATFORM:ORIGIN");
    if (corners.size() < 12 * (index + 1)) file.Fail("FORCE_PLATFORM:CORNERS", "too few numbers", "12 for each plate");
    if (origins.size() < 3 * (index + 1)) file.Fail("FORCE_PLATFORM:ORIGIN", "too few numbers", "3 for each plate");
    Vec3 corner[4];
    for (size_t c = 0; c < 4; ++c) {
      corner[c] = file.meters() * Eigen::Map<const Vec3>(&corners[12 * index + 3 * c]);
      center_ += 0.25 * corner[c];
    }
    const Vec3 x = corner[0] - corner[1] + corner[3] - corner[2];
    const Vec3 y = corner[0] - corner[3] + corner[1] - corner[2];
    const Vec3 z = x.cross(y);
    if (!(z.norm() > 1e-6)) file.Fail("FORCE_PLATFORM:CORNERS", "a plate without area", "four corners");
    axes_.col(0) = x.normalized();
    axes_.col(2) = z.normalized();
    axes_.col(1) = axes_.col(2).cross(axes_.col(0));
    origin_ = file.meters() * Eigen::Map<const Vec3>(&origins[3 * index]);
    // From the middle of the surface: under it, whatever the sign in the file, about which tools differ.
    sensors_.z() = std::abs(origin_.z()) * (axes_.col(2).dot(up) > 0 ? -1 : 1);
    if (!OfSensors()) sensors_.head<2>() = -origin_.head<2>();
    if (type_.type == 1) sensors_.z() = 0;  // a center of pressure is on the surface
    ReadChannels(index);
  }

  /// Force of the plate on the body, and its moment about the middle of the plate's surface; axes of the file.
  void At(const Channels& channels, size_t instant, Vec3& force, Vec3& moment) const {
    Eigen::VectorXd v(static_cast<Eigen::Index>(channels_.size()));
    for (size_t c = 0; c < channels_.size(); ++c) v[static_cast<Eigen::Index>(c)] = channels.At(instant, channels_[c]);
    if (type_.matrix) v = (calibration_ * v).eval();
    const double a = std::abs(origin_.x()), b = std::abs(origin_.y());  // of sensors from the middle
    Vec3 on_plate = v.head<3>(), about_origin = Vec3::Zero();
    switch (type_.type) {
      case 1:
        about_origin = Vec3(place_meters_ * v[3], place_meters_ * v[4], 0).cross(on_plate);
        about_origin.z() += moment_meters_ * v[5];
        break;
      case 3:
      case 7:
        on_plate = {v[0] + v[1], v[2] + v[3], v[4] + v[5] + v[6] + v[7]};
        about_origin = {b * (v[4] + v[5] - v[6] - v[7]), a * (-v[4] + v[5] + v[6] - v[7]),
                        b * (-v[0] + v[1]) + a * (v[2] - v[3])};
        break;
      case 6: {
        on_plate.setZero();
        const Vec3 places[] = {{a, b, 0}, {-a, b, 0}, {-a, -b, 0}, {a, -b, 0}};
        for (Eigen::Index k = 0; k < 4; ++k) {
          const Vec3 one = v.segment<3>(3 * k);
          on_plate += one;
          about_origin += places[k].cross(one);
        }
        break;
      }
      default:
        about_origin = moment_meters_ * v.tail<3>();
    }
    const Vec3 about_surface = about_origin + sensors_.cross(on_plate);
    force = -(axes_ * on_plate);
    moment = -(axes_ * about_surface);
  }
  const Vec3& center() const { return center_; }
  Vec3 normal() const { return axes_.col(2); }

 private:
  /// Whether there are channels of single sensors, about the middle.
  bool OfSensors() const { return type_.channels > 6; }

  void ReadChannels(size_t index) {
    const size_t needed = type_.channels;
    const std::vector<double> numbers = file_.Numbers("FORCE_PLATFORM:CHANNEL");
    const auto plates = static_cast<size_t>(file_.Number("FORCE_PLATFORM:USED").value_or(1));
    const size_t each = numbers.size() / std::max<size_t>(plates, 1);
    if (each < needed) {
      file_.Fail("FORCE_PLATFORM:CHANNEL", std::to_string(each) + " channels for each plate", std::to_string(needed));
    }
    for (size_t c = 0; c < needed; ++c) {
      const double number = numbers[each * index + c];
      if (!(number >= 1 && number <= static_cast<double>(file_.channels()))) {
        file_.Fail("FORCE_PLATFORM:CHANNEL", io::Number(number),
                   "1 to " + std::to_string(file_.channels()) + ", which are recorded");
      }
      channels_.push_back(static_cast<size_t>(number) - 1);
    }
    const std::vector<std::string> units = file_.Texts("ANALOG:UNITS");
    const size_t free = type_.type == 1 ? 5 : 3;
    if (!OfSensors() && channels_[free] < units.size()) {
      const std::string& unit = units[channels_[free]];
      moment_meters_ = unit == "Nmm" || unit == "N.mm" || unit == "N*mm" ? 0.001 : 1;
    }
    if (type_.type == 1 && channels_[3] < units.size()) place_meters_ = units[channels_[3]] == "m" ? 1 : 0.001;
    if (!type_.matrix) return;
    const std::vector<double> matrix = file_.Numbers("FORCE_PLATFORM:CAL_MATRIX");
    const size_t numbers_of_each = needed * needed;
    if (matrix.size() < numbers_of_each * (index + 1)) {
      file_.Fail("FORCE_PLATFORM:CAL_MATRIX", "too few numbers", std::to_string(numbers_of_each) + " for each plate");
    }
    const auto rows = static_cast<Eigen::Index>(needed);
    calibration_ = Eigen::Map<const Eigen::MatrixXd>(&matrix[numbers_of_each * index], rows, rows);
  }

  const C3dFile& file_;
  PlateType type_;
  Vec3 center_ = Vec3::Zero();
  Mat3 axes_;
  Vec3 origin_;
  Vec3 sensors_ = Vec3::Zero();
  std::vector<size_t> channels_;
  double moment_meters_ = 0.001;
  double place_meters_ = 0.001;
  Eigen::MatrixXd calibration_;
};

Markers PointsOf(const C3dFile& file) {
  Markers markers;
  markers.rate = file.rate();
  markers.up = UpAxisOf(file);
  markers.doubts = file.Doubts();
  const double meters = file.meters();
  markers.names = file.Texts("POINT:LABELS");
  while (markers.names.size() < file.points()) {
    markers.names.push_back("point " + std::to_string(markers.names.size() + 1));
  }
  markers.names.resize(file.points());
  markers.places.resize(file.frames());
  for (size_t f = 0; f < file.frames(); ++f) {
    std::vector<Vec3>& places = markers.places[f];
    places.resize(file.points());
    for (size_t p = 0; p < file.points(); ++p) {
      double v[4];
      file.Point(f, p, v);
      places[p] = meters * Vec3(v[0], v[1], v[2]);
      const bool seen = v[3] >= 0 && places[p] != Vec3::Zero() && places[p].cwiseAbs().maxCoeff() < kFarAway;
      if (!seen) places[p].setConstant(NAN);
    }
  }
  return markers;
}

}  // namespace

Markers ParseC3d(std::string_view bytes, const std::string& name) {
  const C3dFile file(bytes, name);
  if (file.points() == 0) file.Fail("byte 3", "no points", "markers");
  return PointsOf(file);
}

motion::MeasuredForces ParseC3dForces(std::string_view bytes, const std::string& name) {
  const C3dFile file(bytes, name);
  const auto plates = static_cast<size_t>(std::clamp(file.Number("FORCE_PLATFORM:USED").value_or(0), 0.0, 1e3));
  const std::vector<double> types = file.Numbers("FORCE_PLATFORM:TYPE");
  if (plates == 0 || file.channels() == 0) {
    file.Fail("FORCE_PLATFORM:USED", "no force plate", "at least one, with its channels");
  }
  if (plates > motion::kMostMeasuredForces) {
    file.Fail("FORCE_PLATFORM:USED", std::to_string(plates), "at most " + std::to_string(motion::kMostMeasuredForces));
  }
  const size_t instants = file.frames() * file.samples_per_frame();
  if (instants < 2 || instants > motion::kMostInstants) {
    file.Fail("", std::to_string(instants) + " instants", "2 to " + std::to_string(motion::kMostInstants));
  }
  UpAxis up{UpAxisOf(file), false};
  if (up.axis < 0) up = file.points() > 0 ? UpAxisOf(PointsOf(file)) : UpAxis{2, false};
  const Quat turn = TurnToY(up.axis, up.down);
  motion::MeasuredForces measured;
  const double rate = file.rate() * static_cast<double>(file.samples_per_frame());
  for (size_t i = 0; i < instants; ++i) measured.times.push_back(static_cast<double>(i) / rate);
  measured.valid.assign(instants, true);
  const Channels channels(file);
  for (size_t p = 0; p < plates; ++p) {
    const int type = p < types.size() ? static_cast<int>(types[p]) : 0;
    const auto* const known = std::find_if(std::begin(kPlateTypes), std::end(kPlateTypes),
                                           [&](const PlateType& of) { return of.type == type; });
    if (known == std::end(kPlateTypes)) {
      file.Fail("FORCE_PLATFORM:TYPE", "type " + std::to_string(type) + " of plate " + std::to_string(p + 1),
                "1, 2, 3, 4, 6 or 7");
    }
    const Plate plate(file, p, *known, turn.conjugate() * Vec3::UnitY());
    motion::MeasuredForce& force = measured.forces.emplace_back();
    force.name = "plate " + std::to_string(p + 1);
    const Vec3 normal = turn * plate.normal();
    const Vec3 center = turn * plate.center();
    for (size_t i = 0; i < instants; ++i) {
      Vec3 f, m;
      plate.At(channels, i, f, m);
      f = turn * f;
      m = turn * m;
      if (!(f.cwiseAbs().maxCoeff() <= motion::kLargestMeasuredForce) || !m.allFinite()) {
        file.Fail(force.name, "a force of " + io::Number(f.norm()) + " N",
                  "at most " + io::Number(motion::kLargestMeasuredForce));
      }
      // The point of the surface about which the moment lies along its normal.
      const double along = f.dot(normal);
      Vec3 point = Vec3::Constant(NAN), left = Vec3::Zero();
      if (std::abs(along) >= kLeastForce) {
        point = center + normal.cross(m) / along;
        left = (m - (point - center).cross(f)).dot(normal) * normal;
      } else {
        f = Vec3::Zero();
      }
      force.forces.push_back(f);
      force.points.push_back(point);
      force.moments.push_back(left);
    }
  }
  return measured;
}

}  // namespace retrace::recordings
