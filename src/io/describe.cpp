#include "retrace/io/describe.h"

#include <algorithm>
#include <charconv>
#include <cmath>

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

std::string Real::Legal() const {
  if (range.open_min) return "above " + Number(range.min) + ", at most " + Number(range.max);
  return Number(range.min) + " to " + Number(range.max);
}

std::string Integer::Legal() const {
  return std::to_string(min) + " to " + std::to_string(max);
}

void Natural::Read(const JsonView& view, uint64_t& value) {
  if (!view.json().is_number_unsigned()) view.Expect("a whole number from " + Legal());
  value = view.json().get<uint64_t>();
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

std::string Reals::Legal() const {
  return "at most " + std::to_string(most) + " numbers, each " + Real{range}.Legal();
}

void Text::Read(const JsonView& view, std::string& value) const {
  const bool known =
      words.empty() || std::any_of(words.begin(), words.end(), [&](const auto& word) { return view.json() == word; });
  if (!known) view.Expect(QuotedList(words));
  value = words.empty() ? view.Name() : view.String();
}

std::string Text::Legal() const {
  return List(words);
}

Json TextToJson(const std::string& text) {
  const auto whole = [&]<typename T>(T value) -> Json {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    return read.ec == std::errc() && read.ptr == text.data() + text.size() ? Json(value) : Json();
  };
  if (Json number = whole(uint64_t{0}); !number.is_null()) return number;
  if (Json number = whole(int64_t{0}); !number.is_null()) return number;
  if (double number = 0; text.find_first_not_of("-0123456789") != std::string::npos && ParseNumber(text, number)) {
    return number == 0 ? 0.0 : number;  // a negative zero is never meant
  }
  return text;
}

std::string CommentedWriter::Object() const {
  const std::string outer(indent_.size() - 2, ' ');
  return "{\n" + text_ + "\n" + outer + "}";
}

void CommentedWriter::Add(const Setting& setting, const std::string& legal, const std::string& value) {
  if (!text_.empty()) text_ += blank_line_ ? ",\n\n" : ",\n";
  text_ += indent_ + "// " + setting.text;
  if (!setting.unit.empty()) text_ += " [" + setting.unit + "]";
  if (!legal.empty()) text_ += " (" + legal + ")";
  text_ += "\n" + indent_ + "\"" + setting.key + "\": " + value;
}

JsonReader::JsonReader(const JsonView& view, Missing missing) : view_(view), missing_(missing) {
  if (!view.json().is_object()) view.Expect("an object");
}

std::optional<JsonView> JsonReader::Find(const Setting& setting) {
  keys_.push_back(setting.key);
  std::optional<JsonView> found;
  if (view_.Has(setting.key)) found = view_[setting.key];
  for (const std::string& old_key : setting.old_keys) {
    old_keys_.push_back(old_key);
    if (!view_.Has(old_key)) continue;
    if (found) {
      view_[old_key].Fail("the key \"" + old_key + "\", an old name of \"" + setting.key + "\", which is there too",
                          "one of them");
    }
    found = view_[old_key];
  }
  return found;
}

void JsonReader::NoteMissing(const std::string& key) {
  if (missing_ == Missing::kRefused && first_missing_.empty()) first_missing_ = key;
}

void JsonReader::Finish() const {
  const auto has = [](const std::vector<std::string>& keys, const std::string& key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  for (const auto& [key, member] : view_.Members()) {
    if (!has(keys_, key) && !has(old_keys_, key)) member.Fail("the key \"" + key + "\"", "one of " + List(keys_));
  }
  if (!first_missing_.empty()) view_[first_missing_];  // throws
}

}  // namespace retrace::io
