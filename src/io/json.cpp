#include "retrace/io/json.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>

#include "retrace/io/error.h"
#include "retrace/io/file.h"
#include "retrace/io/number.h"

namespace retrace::io {
namespace {

std::string Escape(const std::string& key) {
  std::string text;
  for (const char c : key) {
    if (c == '~') {
      text += "~0";
    } else if (c == '/') {
      text += "~1";
    } else {
      text += c;
    }
  }
  return text;
}

/// A value as a message shows it: short, and never a whole sub-document.
std::string Describe(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array of " + std::to_string(value.size());
  // JSON has no such numbers, but a value that was set from C++ may be one.
  if (value.is_number_float() && !std::isfinite(value.get<double>())) return Number(value.get<double>());
  std::string text = Dump(value);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

std::string Describe(Range range) {
  return "a number from " + Number(range.min) + " to " + Number(range.max) +
         (range.open_min ? " (" + Number(range.min) + " itself excluded)" : "");
}

constexpr size_t kLongestName = 100;

/// Deepest nesting of arrays and objects: no document of this project is deeper, and copies of it would need a stack.
constexpr size_t kDeepest = 200;

/// Walks through a text and notes how far it was read.
struct NotingIterator {
  // NOLINTBEGIN(readability-identifier-naming): the standard library's names
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  // NOLINTEND(readability-identifier-naming)

  reference operator*() const { return *at; }
  NotingIterator& operator++() {
    *read = ++at;
    return *this;
  }
  bool operator==(const NotingIterator& other) const { return at == other.at; }
  bool operator!=(const NotingIterator& other) const { return at != other.at; }

  const char* at;
  const char** read;
};

/// Builds a document while the parser reads it (the interface of nlohmann's SAX parser), and refuses what a document
/// could not be used with: a key that stands twice, a nesting that is too deep, a number that no double can hold.
class DocumentBuilder {
 public:
  /// @param cursor follows the parser: one past the last byte that it took
  DocumentBuilder(const std::string& text, const std::string& name, const char*& cursor)
      : text_(text), name_(name), cursor_(cursor) {}

  bool null() { return Add(nullptr); }
  bool boolean(bool value) { return Add(value); }
  bool number_integer(int64_t value) { return Add(value); }
  bool number_unsigned(uint64_t value) { return Add(value); }
  bool number_float(double value, const std::string&) { return Add(value); }
  bool string(std::string& value) { return Add(std::move(value)); }
  bool binary(Json::binary_t&) { return false; }  // not in JSON as text

  bool start_object(size_t) { return Open(Json::object()); }
  bool start_array(size_t) { return Open(Json::array()); }
  bool end_object() { return Close(); }
  bool end_array() { return Close(); }

  bool key(std::string& key) {
    OpenValue& object = open_.back();
    if (!object.keys.insert(key).second) {
      size_t quote = Offset() - 1;  // the closing one
      do {
        quote = text_.rfind('"', quote - 1);
      } while (IsEscaped(quote));
      Refuse(quote, "the key " + Json(key).dump() + " a second time", "each key once");
    }
    object.key = std::move(key);
    return true;
  }

  bool parse_error(size_t position, const std::string& token, const Json::exception& error) {
    constexpr int kOutOfRange = 406;
    if (error.id == kOutOfRange) Refuse(position - token.size(), token, "a number of at most 1.8e308 in magnitude");
    const size_t byte = std::min(position > 0 ? position - 1 : 0, text_.size());
    if (byte == text_.size()) Refuse(byte, "the end of the file", "valid JSON");
    const char found = text_[byte];
    if (found >= ' ' && found <= '~') Refuse(byte, std::string("'").append(1, found).append("'"), "valid JSON");
    char text[20];
    std::snprintf(text, sizeof text, "the byte 0x%02X", static_cast<unsigned char>(found));
    Refuse(byte, text, static_cast<signed char>(found) < 0 ? "valid JSON in UTF-8" : "valid JSON");
  }

  Json Take() { return std::move(document_); }

 private:
  struct OpenValue {
    Json* value;  // an array or an object, of which no later sibling exists yet
    std::string key = {};
    std::unordered_set<std::string> keys = {};
  };

  size_t Offset() const { return static_cast<size_t>(cursor_ - text_.data()); }

  bool IsEscaped(size_t byte) const {
    size_t backslashes = 0;
    while (backslashes < byte && text_[byte - 1 - backslashes] == '\\') ++backslashes;
    return backslashes % 2 == 1;
  }

  Json* Insert(Json&& value) {
    if (open_.empty()) {
      document_ = std::move(value);
      return &document_;
    }
    OpenValue& parent = open_.back();
    if (parent.value->is_array()) {
      auto& elements = parent.value->get_ref<Json::array_t&>();
      elements.push_back(std::move(value));
      return &elements.back();
    }
    // Not by the operator [], which would look through all members.
    auto& members = parent.value->get_ref<Json::object_t&>();
    static_cast<Json::object_t::Container&>(members).emplace_back(std::move(parent.key), std::move(value));
    return &members.back().second;
  }

  template <typename Value>
  bool Add(Value&& value) {
    Insert(Json(std::forward<Value>(value)));
    return true;
  }

  bool Open(Json&& value) {
    if (open_.size() == kDeepest) {
      Refuse(Offset() - 1, "arrays and objects nested more than " + std::to_string(kDeepest) + " deep", "fewer");
    }
    open_.push_back({Insert(std::move(value))});
    return true;
  }

  bool Close() {
    open_.pop_back();
    return true;
  }

  [[noreturn]] void Refuse(size_t byte, const std::string& found, const std::string& expected) const {
    const auto here = text_.begin() + static_cast<std::ptrdiff_t>(byte);
    const auto line = 1 + std::count(text_.begin(), here, '\n');
    const size_t newline = byte == 0 ? std::string::npos : text_.rfind('\n', byte - 1);
    const size_t column = byte - (newline == std::string::npos ? 0 : newline + 1) + 1;
    throw InputError(name_ + ":" + std::to_string(line) + ":" + std::to_string(column), found, expected);
  }

  const std::string& text_;
  const std::string& name_;
  const char*& cursor_;
  Json document_;
  std::vector<OpenValue> open_;
};

}  // namespace

JsonBox::JsonBox() : document_(std::make_unique<Json>()) {}
JsonBox::JsonBox(Json document) : document_(std::make_unique<Json>(std::move(document))) {}
JsonBox::JsonBox(const JsonBox& other)
    : document_(std::make_unique<Json>(other.document_ ? *other.document_ : Json())) {}
JsonBox::JsonBox(JsonBox&& other) noexcept = default;
JsonBox& JsonBox::operator=(const JsonBox& other) {
  if (this != &other) document_ = std::move(JsonBox(other).document_);
  return *this;
}
JsonBox& JsonBox::operator=(JsonBox&& other) noexcept = default;
JsonBox::~JsonBox() = default;

bool JsonBox::operator==(const JsonBox& other) const {
  return *document_ == *other.document_;
}

const Json& NoMembers() {
  static const Json object = Json::object();
  return object;
}

Json ParseJson(const std::string& text, const std::string& name) {
  const char* begin = text.data();
  const char* cursor = begin;
  DocumentBuilder builder(text, name, cursor);
  Json::sax_parse(NotingIterator{begin, &cursor}, NotingIterator{begin + text.size(), &cursor}, &builder,
                  Json::input_format_t::json, true, true);
  return builder.Take();
}

bool IsUtf8(std::string_view text) {
  constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};  // that need so many bytes after the first
  for (size_t i = 0; i < text.size(); ++i) {
    const auto first = static_cast<unsigned char>(text[i]);
    if (first < 0x80) continue;
    const size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
    if (first < 0xC2 || first > 0xF4 || text.size() - i <= more) return false;
    uint32_t code = first & (0x3FU >> more);
    for (size_t k = 0; k < more; ++k) {
      const auto next = static_cast<unsigned char>(text[++i]);
      if ((next & 0xC0U) != 0x80) return false;
      code = code << 6U | (next & 0x3FU);
    }
    if (code < kLeast[more] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return false;
  }
  return true;
}

std::string Dump(const Json& document, int indent) {
  return document.dump(indent, ' ', false, Json::error_handler_t::replace);
}

namespace {

/// Text that is passed on in pieces worth a call.
class PieceWriter {
 public:
  explicit PieceWriter(const std::function<void(std::string_view piece)>& write) : write_(write) {}
  void Write(std::string_view text) {
    constexpr size_t kPiece = size_t{1} << 16;
    kept_ += text;
    if (kept_.size() >= kPiece) Flush();
  }
  void Flush() {
    write_(kept_);
    kept_.clear();
  }

 private:
  const std::function<void(std::string_view piece)>& write_;
  std::string kept_;
};

void DumpInto(const Json& value, PieceWriter& writer) {
  if (!value.is_structured() || value.empty()) return writer.Write(Dump(value));
  const bool object = value.is_object();
  const char* before = object ? "{" : "[";
  for (const auto& [key, member] : value.items()) {
    writer.Write(before);
    if (object) writer.Write(Dump(key) + ":");
    DumpInto(member, writer);
    before = ",";
  }
  writer.Write(object ? "}" : "]");
}

}  // namespace

void DumpInPieces(const Json& document, const std::function<void(std::string_view piece)>& write) {
  PieceWriter writer(write);
  DumpInto(document, writer);
  writer.Flush();
}

bool IsName(const std::string& text) {
  // UTF-8 has control characters below the space, at 0x7F, and from 0xC2 0x80 to 0xC2 0x9F.
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < ' ' || byte == 0x7F) return false;
    if (byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) return false;
    // A BVH file has names as words with blanks between, and braces behind them.
    if (byte == '{' || byte == '}') return false;
    if (byte == ' ' && (i == 0 || i + 1 == text.size() || text[i + 1] == ' ')) return false;
  }
  return !text.empty() && text.size() <= kLongestName && IsUtf8(text);
}

Json ReadJson(const std::filesystem::path& path) {
  return ParseJson(ReadFile(path), path.string());
}

JsonView JsonView::operator[](const std::string& key) const {
  if (!value_->is_object()) Expect("an object with \"" + key + "\"");
  const auto member = value_->find(key);
  if (member == value_->end()) Fail("no \"" + key + "\"", "an object with \"" + key + "\"");
  return {&*member, name_, pointer_ + "/" + Escape(key)};
}

JsonView JsonView::operator[](size_t index) const {
  if (!value_->is_array()) Expect("an array");
  if (index >= value_->size()) Expect("an array of at least " + std::to_string(index + 1));
  return {&(*value_)[index], name_, pointer_ + "/" + std::to_string(index)};
}

bool JsonView::Has(const std::string& key) const {
  return value_->is_object() && value_->contains(key);
}

size_t JsonView::size() const {
  if (!value_->is_array()) Expect("an array");
  return value_->size();
}

double JsonView::Number(Range range) const {
  if (!value_->is_number() || !range.Contains(value_->get<double>())) Expect(Describe(range));
  return value_->get<double>();
}

int JsonView::Integer(int min, int max) const {
  // An unsigned number of 64 bits may be too large for a signed one.
  const bool small = value_->is_number_integer() &&
                     !(value_->is_number_unsigned() && value_->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX));
  if (!small || value_->get<int64_t>() < min || value_->get<int64_t>() > max) {
    Expect("a whole number from " + std::to_string(min) + " to " + std::to_string(max));
  }
  return static_cast<int>(value_->get<int64_t>());
}

bool JsonView::Boolean() const {
  if (!value_->is_boolean()) Expect("true or false");
  return value_->get<bool>();
}

std::string JsonView::String() const {
  if (!value_->is_string()) Expect("a string");
  return value_->get<std::string>();
}

std::string JsonView::Name() const {
  if (!value_->is_string() || !IsName(value_->get_ref<const std::string&>())) {
    Expect("a name of 1 to " + std::to_string(kLongestName) +
           " bytes without control characters, braces and stray blanks");
  }
  return value_->get<std::string>();
}

std::vector<double> JsonView::Numbers(Range range, size_t most) const {
  CheckLength(most);
  std::vector<double> numbers;
  numbers.reserve(value_->size());
  for (size_t i = 0; i < value_->size(); ++i) {
    const Json& element = (*value_)[i];
    // The view of an element, which writes its pointer, is only made for a message.
    const bool legal = element.is_number() && range.Contains(element.get<double>());
    numbers.push_back(legal ? element.get<double>() : (*this)[i].Number(range));
  }
  return numbers;
}

Vec3 JsonView::Vector(Range range) const {
  if (!value_->is_array() || value_->size() != 3) Expect("an array of 3 numbers");
  const auto numbers = Numbers(range, 3);
  return {numbers[0], numbers[1], numbers[2]};
}

std::vector<std::string> JsonView::Strings(size_t most) const {
  std::vector<std::string> strings;
  for (const JsonView& element : Elements(most)) strings.push_back(element.String());
  return strings;
}

std::vector<JsonView> JsonView::Elements(size_t most) const {
  CheckLength(most);
  std::vector<JsonView> elements;
  elements.reserve(value_->size());
  for (size_t i = 0; i < value_->size(); ++i) elements.push_back((*this)[i]);
  return elements;
}

void JsonView::CheckLength(size_t most) const {
  if (size() > most) Expect("an array of at most " + std::to_string(most));
}

std::vector<std::pair<std::string, JsonView>> JsonView::Members() const {
  if (!value_->is_object()) Expect("an object");
  std::vector<std::pair<std::string, JsonView>> members;
  for (const auto& [key, value] : value_->items()) {
    members.emplace_back(key, JsonView(&value, name_, pointer_ + "/" + Escape(key)));
  }
  return members;
}

void JsonView::AllowOnly(std::initializer_list<const char*> keys) const {
  std::string list;
  for (const char* key : keys) list += (list.empty() ? "" : ", ") + std::string(key);
  for (const auto& [key, member] : Members()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      member.Fail("the key \"" + key + "\"", "one of " + list);
  }
}

void JsonView::Fail(const std::string& found, const std::string& expected) const {
  throw InputError(place(), found, expected);
}

void JsonView::Expect(const std::string& expected) const {
  Fail(Describe(*value_), expected);
}

Json ToJson(const Vec3& v) {
  return Json::array({v.x(), v.y(), v.z()});
}

Json ToJson(const Quat& q) {
  return Json::array({q.w(), q.x(), q.y(), q.z()});
}

Quat ReadQuaternion(const JsonView& view) {
  if (!view.json().is_array() || view.size() != 4) view.Expect("a unit quaternion [w, x, y, z]");
  const auto n = view.Numbers({-2, 2}, 4);
  const double norm = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] + n[3] * n[3]);
  if (std::abs(norm - 1) > 1e-6) view.Fail("a quaternion of norm " + Number(norm), "a unit quaternion [w, x, y, z]");
  return Quat(n[0], n[1], n[2], n[3]);
}

}  // namespace retrace::io
