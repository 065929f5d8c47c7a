#include "retrace/io/json.h"

#include <algorithm>
#include <cmath>

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
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

std::string Describe(Range range) {
  if (std::isinf(range.min) && std::isinf(range.max)) return "a finite number";
  if (std::isinf(range.max))
    return "a number " + std::string(range.open_min ? "above " : "of at least ") + Number(range.min);
  if (std::isinf(range.min)) return "a number of at most " + Number(range.max);
  return "a number from " + Number(range.min) + " to " + Number(range.max) +
         (range.open_min ? " (" + Number(range.min) + " itself excluded)" : "");
}

}  // namespace

Json ParseJson(const std::string& text, const std::string& name) {
  try {
    return Json::parse(text, nullptr, true, true);
  } catch (const Json::parse_error& error) {
    const size_t byte = std::min(error.byte > 0 ? error.byte - 1 : 0, text.size());
    const auto begin = text.begin();
    const auto here = begin + static_cast<std::ptrdiff_t>(byte);
    const auto line = 1 + std::count(begin, here, '\n');
    const size_t line_start = text.rfind('\n', byte == 0 ? 0 : byte - 1);
    const size_t column = byte - (line_start == std::string::npos || byte == 0 ? 0 : line_start + 1) + 1;
    const std::string found = byte < text.size() ? "'" + std::string(1, *here) + "'" : "the end of the file";
    throw InputError(name + ":" + std::to_string(line) + ":" + std::to_string(column), found, "valid JSON");
  }
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
  if (!value_->is_number()) Expect(Describe(range));
  const double number = value_->get<double>();
  if (!std::isfinite(number) || number < range.min || number > range.max || (range.open_min && number == range.min)) {
    Expect(Describe(range));
  }
  return number;
}

int JsonView::Integer(long min, long max) const {
  const auto expected = [&] { return "a whole number from " + std::to_string(min) + " to " + std::to_string(max); };
  if (!value_->is_number_integer()) Expect(expected());
  if (value_->is_number_unsigned() &&
      value_->get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int>::max())) {
    Expect(expected());
  }
  const auto number = value_->get<int64_t>();
  if (number < min || number > max) Expect(expected());
  return static_cast<int>(number);
}

bool JsonView::Boolean() const {
  if (!value_->is_boolean()) Expect("true or false");
  return value_->get<bool>();
}

std::string JsonView::String() const {
  if (!value_->is_string()) Expect("a string");
  return value_->get<std::string>();
}

std::vector<double> JsonView::Numbers(Range range) const {
  std::vector<double> numbers;
  for (const JsonView& element : Elements()) numbers.push_back(element.Number(range));
  return numbers;
}

Vec3 JsonView::Vector(Range range) const {
  if (!value_->is_array() || value_->size() != 3) Expect("an array of 3 numbers");
  const auto numbers = Numbers(range);
  return {numbers[0], numbers[1], numbers[2]};
}

std::vector<std::string> JsonView::Strings() const {
  std::vector<std::string> strings;
  for (const JsonView& element : Elements()) strings.push_back(element.String());
  return strings;
}

std::vector<JsonView> JsonView::Elements() const {
  std::vector<JsonView> elements;
  for (size_t i = 0; i < size(); ++i) elements.push_back((*this)[i]);
  return elements;
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
  const auto n = view.Numbers();
  const double norm = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] + n[3] * n[3]);
  if (std::abs(norm - 1) > 1e-6) view.Fail("a quaternion of norm " + Number(norm), "a unit quaternion [w, x, y, z]");
  return Quat(n[0], n[1], n[2], n[3]);
}

}  // namespace retrace::io
