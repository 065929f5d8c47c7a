#include "retrace/io/describe.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "retrace/io/error.h"
#include "retrace/io/number.h"
#include "retrace/math/rotation.h"

namespace retrace::io {

std::string List(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

std::string QuotedList(const std::vector<std::string>& words) {
  std::string list;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) list += i + 1 == words.size() ? " or " : ", ";
    list += "\"" + words[i] + "\"";
  }
  return list;
}

Json Real::Write(double value) {
  return value;
}

void Real::Read(const JsonView& view, double& value) const {
  value = view.Number(range);
}

std::string Real::Legal() const {
  if (range.open_min) return "above " + Number(range.min) + ", at most " + Number(range.max);
  return Number(range.min) + " to " + Number(range.max);
}

Json Integer::Write(int value) {
  return value;
}

void Integer::Read(const JsonView& view, int& value) const {
  value = view.Integer(min, max);
}

std::string Integer::Legal() const {
  return std::to_string(min) + " to " + std::to_string(max);
}

Json Natural::Write(uint64_t value) {
  return value;
}

void Natural::Read(const JsonView& view, uint64_t& value) {
  if (!view.json().is_number_unsigned()) view.Expect("a whole number from " + Legal());
  value = view.json().get<uint64_t>();
}

std::string Natural::Legal() {
  return "0 to 18446744073709551615";
}

Json Flag::Write(bool value) {
  return value;
}

void Flag::Read(const JsonView& view, bool& value) {
  value = view.Boolean();
}

std::string Flag::Legal() {
  return "";
}

Json Angle::Write(double radians) {
  // 60 degrees in radians and back are 59.99999999999999: a short number that means the same angle is preferred.
  const double degrees = Degrees(radians);
  const double rounded = std::round(degrees * 1e9) / 1e9;
  return Radians(rounded) == radians ? rounded : degrees;
}

void Angle::Read(const JsonView& view, double& radians) const {
  radians = Radians(view.Number(degrees));
}

std::string Angle::Legal() const {
  return Real{degrees}.Legal();
}

template <typename Number, typename Value>
Json Optional<Number, Value>::Write(const std::optional<Value>& value) {
  return value ? Number::Write(*value) : Json();
}

template <typename Number, typename Value>
void Optional<Number, Value>::Read(const JsonView& view, std::optional<Value>& value) const {
  if (view.json().is_null()) {
    value.reset();
  } else {
    number.Read(view, value.emplace());
  }
}

template <typename Number, typename Value>
std::string Optional<Number, Value>::Legal() const {
  return number.Legal() + ", or null";
}

template struct Optional<Real, double>;
template struct Optional<Integer, int>;
template struct Optional<Angle, double>;

Json Reals::Write(const std::vector<double>& values) {
  return values;
}

void Reals::Read(const JsonView& view, std::vector<double>& values) const {
  values = view.Numbers(range, most);
}

std::string Reals::Legal() const {
  return "at most " + std::to_string(most) + " numbers, each " + Real{range}.Legal();
}

Json Text::Write(const std::string& value) {
  return value;
}

void Text::Read(const JsonView& view, std::string& value) const {
  const bool known =
      words.empty() || std::any_of(words.begin(), words.end(), [&](const auto& word) { return view.json() == word; });
  if (!known) view.Expect(QuotedList(words));
  value = words.empty() ? view.Name() : view.String();
}

std::string Text::Legal() const {
  return io::List(words);
}

std::string_view AnyWords::WordOf(int64_t value) const {
  for (const Word<int64_t>& entry : words) {
    if (entry.value == value) return entry.word;
  }
  return "";
}

Json AnyWords::Write(const EnumField& field) const {
  const std::string_view word = WordOf(field.value);
  return word.empty() ? Json(field.value) : Json(word);
}

void AnyWords::Read(const JsonView& view, EnumField& field) const {
  if (view.json().is_string()) {
    const std::string& text = view.json().get_ref<const std::string&>();
    for (const Word<int64_t>& entry : words) {
      if (text == entry.word || (!entry.old_word.empty() && text == entry.old_word)) {
        field.value = entry.value;
        return;
      }
    }
  }
  view.Expect(QuotedList(List()));
}

std::string AnyWords::Legal() const {
  return io::List(List());
}

std::vector<std::string> AnyWords::List() const {
  std::vector<std::string> list;
  for (const Word<int64_t>& entry : words) list.emplace_back(entry.word);
  return list;
}

Json AnyPart::Write(const PartField& part) {
  return *part.ToJson();
}

void AnyPart::Read(const JsonView& view, PartField& part) {
  part.Read(view);
}

std::string AnyPart::Legal() {
  return "";
}

JsonBox TextToJson(const std::string& text) {
  const auto whole = [&]<typename T>(T value) -> Json {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    return read.ec == std::errc() && read.ptr == text.data() + text.size() ? Json(value) : Json();
  };
  if (Json number = whole(uint64_t{0}); !number.is_null()) return number;
  if (Json number = whole(int64_t{0}); !number.is_null()) return number;
  if (double number = 0; text.find_first_not_of("-0123456789") != std::string::npos && ParseNumber(text, number)) {
    return Json(number == 0 ? 0.0 : number);  // a negative zero is never meant
  }
  return Json(text);
}

namespace {

/// Whether a field is left out of what is written.
template <typename T>
bool LeftOut(const T& value) {
  if constexpr (std::is_same_v<T, PartField>) return value.empty();
  return false;
}

}  // namespace

JsonWriter::JsonWriter(Keys keys) : keys_(keys), json_(Json::object()) {}

template <typename T, typename Kind>
void JsonWriter::Visit(const Setting& setting, const T& value, const Kind& kind) {
  if (LeftOut(value)) return;
  Add(setting, kind.Write(value));
}

void JsonWriter::Section(const Setting& setting, const Fields& fields) {
  JsonWriter inner(keys_);
  fields(inner);
  Add(setting, inner.json());
}

void JsonWriter::Add(const Setting& setting, const Json& value) {
  (*json_)[std::string(setting.key)] = value;
  if (keys_ == Keys::kCurrent) return;
  for (const std::string_view old_key : setting.old_keys) {
    if (!old_key.empty()) (*json_)[std::string(old_key)] = value;
  }
}

CommentedWriter::CommentedWriter(int depth) : indent_(static_cast<size_t>(2 * depth), ' '), depth_(depth) {}

template <typename T, typename Kind>
void CommentedWriter::Visit(const Setting& setting, const T& value, const Kind& kind) {
  if (LeftOut(value)) return;
  Add(setting, kind.Legal(), kind.Write(value).dump());
}

void CommentedWriter::Section(const Setting& setting, const Fields& fields) {
  CommentedWriter inner(depth_ + 1);
  fields(inner);
  if (!text_.empty()) blank_line_ = true;
  Add(setting, "", inner.Object());
  blank_line_ = true;
}

std::string CommentedWriter::Object() const {
  const std::string outer(indent_.size() - 2, ' ');
  return "{\n" + text_ + "\n" + outer + "}";
}

void CommentedWriter::Add(const Setting& setting, const std::string& legal, const std::string& value) {
  if (!text_.empty()) text_ += blank_line_ ? ",\n\n" : ",\n";
  text_.append(indent_).append("// ").append(setting.text);
  if (!setting.unit.empty()) text_.append(" [").append(setting.unit).append("]");
  if (!legal.empty()) text_ += " (" + legal + ")";
  text_.append("\n").append(indent_).append("\"").append(setting.key).append("\": ").append(value);
}

JsonReader::JsonReader(const JsonView& view, Missing missing) : view_(view), missing_(missing) {
  if (!view.json().is_object()) view.Expect("an object");
}

template <typename T, typename Kind>
void JsonReader::Visit(const Setting& setting, T& value, const Kind& kind) {
  const std::optional<JsonView> found = Find(setting);
  if (found) {
    kind.Read(*found, value);
  } else if (!std::is_same_v<T, PartField>) {  // such are left out while they are empty
    NoteMissing(setting.key);
  }
}

void JsonReader::Section(const Setting& setting, const Fields& fields) {
  if (const std::optional<JsonView> found = Find(setting)) {
    JsonReader inner(*found, missing_);
    fields(inner);
    inner.Finish();
  } else {
    NoteMissing(setting.key);
  }
}

void JsonReader::Retired(std::initializer_list<std::string_view> keys) {
  old_keys_.insert(old_keys_.end(), keys.begin(), keys.end());
}

std::optional<JsonView> JsonReader::Find(const Setting& setting) {
  const std::string& key = keys_.emplace_back(setting.key);
  std::optional<JsonView> found;
  if (view_.Has(key)) found = view_[key];
  for (const std::string_view old : setting.old_keys) {
    if (old.empty()) continue;
    const std::string& old_key = old_keys_.emplace_back(old);
    if (!view_.Has(old_key)) continue;
    if (found) {
      view_[old_key].Fail("the key \"" + old_key + "\", an old name of \"" + key + "\", which is there too",
                          "one of them");
    }
    found = view_[old_key];
  }
  return found;
}

void JsonReader::NoteMissing(std::string_view key) {
  if (missing_ == Missing::kRefused && first_missing_.empty()) first_missing_ = key;
}

void JsonReader::Finish() const {
  const auto has = [](const std::vector<std::string>& keys, const std::string& key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  for (const auto& [key, member] : view_.Members()) {
    if (!has(keys_, key) && !has(old_keys_, key)) {
      member.Fail("the key \"" + key + "\"", "one of " + io::List(keys_));
    }
  }
  if (!first_missing_.empty()) view_[first_missing_];  // throws
}

Validator::Validator(std::string pointer) : pointer_(std::move(pointer)) {}

template <typename T, typename Kind>
void Validator::Visit(const Setting& setting, T& value, const Kind& kind) {
  if (problem_) return;
  const Json json = kind.Write(value);
  try {
    kind.Read(JsonView(json, "", std::string(pointer_).append("/").append(setting.key)), value);
  } catch (const InputError& error) {
    problem_ = error.what();
  }
}

void Validator::Section(const Setting& setting, const Fields& fields) {
  if (problem_) return;
  Validator inner(std::string(pointer_).append("/").append(setting.key));
  fields(inner);
  problem_ = inner.problem();
}

namespace detail {

Json Write(const FieldVisitor::Fields& describe) {
  JsonWriter writer;
  describe(writer);
  return writer.json();
}

std::string WriteCommented(const FieldVisitor::Fields& describe) {
  CommentedWriter writer;
  describe(writer);
  return writer.Object() + "\n";
}

void Read(const JsonView& view, const FieldVisitor::Fields& describe) {
  JsonReader reader(view, JsonReader::Missing::kKept);
  describe(reader);
  reader.Finish();
}

std::optional<std::string> FindProblem(const FieldVisitor::Fields& describe) {
  Validator validator;
  describe(validator);
  return validator.problem();
}

}  // namespace detail

template class UniformVisitor<JsonWriter>;
template class UniformVisitor<CommentedWriter>;
template class UniformVisitor<JsonReader>;
template class UniformVisitor<Validator>;

}  // namespace retrace::io
