/// One description of a struct of options, from which its reading, writing, help and validation follow.
///
/// Beside a struct of options stands a function template that names every field once:
///
///     template <io::DescribedAs<Options> T, typename Visitor>
///     void Describe(T& options, Visitor& visitor) {
///       visitor.Field({"duration", "Time that the motion takes", "s"}, options.duration, io::Real{{0.1, 3600}});
///       visitor.Section({"contacts", "How contacts behave"}, [&](auto& section) { Describe(options.contacts, section);
///       });
///     }
///
/// A visitor has these two members. `Field` takes the setting, the field, and the kind of value that it holds: one of
/// the classes below, which define the legal values and how they are written in JSON. `Section` takes a setting and a
/// function that visits the fields of an object inside this one. The default of a field stands in the struct alone.
/// Every number has a range, chosen so that no combination of legal values overflows or takes forever.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "retrace/io/error.h"
#include "retrace/io/json.h"

namespace retrace::io {

/// `T` is `Options`, which a visitor reads into, or `const Options`, which it only reads.
template <typename T, typename Options>
concept DescribedAs = std::same_as<std::remove_const_t<T>, Options>;

/// The description of a field or a section: all but its value.
struct Setting {
  std::string key;
  std::string text;                        ///< what it is, in a sentence or a noun phrase without a full stop
  std::string unit = "";                   ///< of the value as it is written; empty: it has none
  std::vector<std::string> old_keys = {};  ///< that files may still have instead of the key
};

// ---- Kinds of values. `Write` takes any value, legal or not; `Read` throws InputError for an illegal one; `Legal`
// ---- describes the legal ones for help texts (empty: no description is needed).

/// A number.
struct Real {
  Range range;

  static Json Write(double value) { return value; }
  void Read(const JsonView& view, double& value) const { value = view.Number(range); }
  std::string Legal() const;
};

/// A whole number.
struct Integer {
  constexpr Integer(int least, int most) : min(least), max(most) {}
  int min;
  int max;

  static Json Write(int value) { return value; }
  void Read(const JsonView& view, int& value) const { value = view.Integer(min, max); }
  std::string Legal() const;
};

/// A whole number of up to 64 bits.
struct Natural {
  static Json Write(uint64_t value) { return value; }
  static void Read(const JsonView& view, uint64_t& value);
  static std::string Legal() { return "0 to 18446744073709551615"; }
};

/// True or false.
struct Flag {
  static Json Write(bool value) { return value; }
  static void Read(const JsonView& view, bool& value) { value = view.Boolean(); }
  static std::string Legal() { return ""; }
};

/// An angle in radians, which is written in degrees.
struct Angle {
  Range degrees;

  static Json Write(double radians);
  void Read(const JsonView& view, double& radians) const;
  std::string Legal() const { return Real{degrees}.Legal(); }
};

/// What a kind of numbers is, or nothing, which is written as null.
template <typename Number, typename Value>
struct Optional {
  Number number;

  static Json Write(const std::optional<Value>& value) { return value ? Number::Write(*value) : Json(); }
  void Read(const JsonView& view, std::optional<Value>& value) const {
    if (view.json().is_null()) {
      value.reset();
    } else {
      number.Read(view, value.emplace());
    }
  }
  std::string Legal() const { return number.Legal() + ", or null"; }
};

struct OptionalReal : Optional<Real, double> {
  explicit OptionalReal(Range range) : Optional{{range}} {}
};
struct OptionalInteger : Optional<Integer, int> {
  OptionalInteger(int min, int max) : Optional{{min, max}} {}
};
struct OptionalAngle : Optional<Angle, double> {
  explicit OptionalAngle(Range degrees) : Optional{{degrees}} {}
};

/// A list of numbers.
struct Reals {
  constexpr Reals(Range each, size_t most_numbers) : range(each), most(most_numbers) {}
  Range range;  ///< of each number
  size_t most;  ///< longest list

  static Json Write(const std::vector<double>& values) { return values; }
  void Read(const JsonView& view, std::vector<double>& values) const { values = view.Numbers(range, most); }
  std::string Legal() const;
};

/// A string that is one of a few, or any name (JsonView::Name).
struct Text {
  std::vector<std::string> words = {};  ///< empty: any name

  static Json Write(const std::string& value) { return value; }
  void Read(const JsonView& view, std::string& value) const;
  std::string Legal() const;
};

template <typename Enum>
struct Word {
  Enum value;
  std::string word;
  std::string old_word = "";  ///< that files may still have instead of the word; empty: there is none
};

/// `"a", "b" or "c"`.
std::string QuotedList(const std::vector<std::string>& words);
/// `a, b, c`.
std::string List(const std::vector<std::string>& words);

/// An enumeration, written as words.
template <typename Enum>
struct Words {
  std::vector<Word<Enum>> words;

  /// A value that is not a member of the enumeration is written as its number, which Read refuses.
  Json Write(Enum value) const {
    for (const Word<Enum>& entry : words) {
      if (entry.value == value) return entry.word;
    }
    return static_cast<int64_t>(value);
  }
  void Read(const JsonView& view, Enum& value) const {
    for (const Word<Enum>& entry : words) {
      if (view.json() == entry.word || (!entry.old_word.empty() && view.json() == entry.old_word)) {
        value = entry.value;
        return;
      }
    }
    view.Expect(QuotedList(List()));
  }
  std::string Legal() const { return io::List(List()); }
  std::vector<std::string> List() const {
    std::vector<std::string> list;
    for (const Word<Enum>& entry : words) list.push_back(entry.word);
    return list;
  }
};

/// A whole object with a format of its own: it has ToJson() and empty(), and is left out while it is empty.
template <typename T>
struct Part {
  T (*read)(const JsonView& view);

  static Json Write(const T& value) { return value.ToJson(); }
  void Read(const JsonView& view, T& value) const { value = read(view); }
  static std::string Legal() { return ""; }
  static bool LeftOut(const T& value) { return value.empty(); }
};

/// What a person wrote on a command line or in a table, as the kinds read it: a number where all of it is one, else a
/// string. Whole numbers keep all their digits; a negative zero becomes zero.
Json TextToJson(const std::string& text);

/// Reads a value that a person wrote. `place` is what messages begin with, such as the name of an option. Throws
/// InputError.
template <typename Kind, typename T>
void ReadText(const Kind& kind, const std::string& text, const std::string& place, T& value) {
  const Json json = TextToJson(text);
  kind.Read(JsonView(json, "", place), value);
}

// ---- Visitors.

/// To be called in a description for keys that files of earlier versions may have and that mean nothing any more.
template <typename Visitor>
void Retire(Visitor& visitor, std::initializer_list<const char*> keys) {
  if constexpr (requires { visitor.Retired(""); }) {
    for (const char* const key : keys) visitor.Retired(key);
  }
}

/// Makes a JSON object of the options.
class JsonWriter {
 public:
  enum class Keys { kCurrent, kAll };  ///< kAll: each field stands under its old keys too
  explicit JsonWriter(Keys keys = Keys::kCurrent) : keys_(keys) {}

  template <typename T, typename Kind>
  void Field(const Setting& setting, const T& value, const Kind& kind) {
    if constexpr (requires { kind.LeftOut(value); }) {
      if (kind.LeftOut(value)) return;
    }
    json_[setting.key] = kind.Write(value);
    if (keys_ == Keys::kCurrent) return;
    for (const std::string& old_key : setting.old_keys) json_[old_key] = json_[setting.key];
  }
  template <typename Fields>
  void Section(const Setting& setting, const Fields& fields) {
    JsonWriter inner(keys_);
    fields(inner);
    json_[setting.key] = inner.json();
    if (keys_ == Keys::kCurrent) return;
    for (const std::string& old_key : setting.old_keys) json_[old_key] = json_[setting.key];
  }

  const Json& json() const { return json_; }

 private:
  Keys keys_;
  Json json_ = Json::object();
};

/// Makes the text of the same object, with a comment above each field: what it is, its unit, its legal values.
class CommentedWriter {
 public:
  explicit CommentedWriter(int depth = 1) : indent_(static_cast<size_t>(2 * depth), ' '), depth_(depth) {}

  template <typename T, typename Kind>
  void Field(const Setting& setting, const T& value, const Kind& kind) {
    if constexpr (requires { kind.LeftOut(value); }) {
      if (kind.LeftOut(value)) return;
    }
    Add(setting, kind.Legal(), kind.Write(value).dump());
  }
  template <typename Fields>
  void Section(const Setting& setting, const Fields& fields) {
    CommentedWriter inner(depth_ + 1);
    fields(inner);
    if (!text_.empty()) blank_line_ = true;
    Add(setting, "", inner.Object());
    blank_line_ = true;
  }

  /// From the opening brace to the closing one.
  std::string Object() const;

 private:
  void Add(const Setting& setting, const std::string& legal, const std::string& value);

  std::string indent_;
  int depth_;
  bool blank_line_ = false;  // before the next member
  std::string text_;
};

/// Takes the values that a JSON object has. Throws InputError for an illegal value.
class JsonReader {
 public:
  /// What happens to a field that the object does not have.
  enum class Missing { kKept, kRefused };
  JsonReader(const JsonView& view, Missing missing);

  template <typename T, typename Kind>
  void Field(const Setting& setting, T& value, const Kind& kind) {
    const std::optional<JsonView> found = Find(setting);
    if (found) {
      kind.Read(*found, value);
    } else if constexpr (!requires { kind.LeftOut(value); }) {
      NoteMissing(setting.key);
    }
  }
  template <typename Fields>
  void Section(const Setting& setting, const Fields& fields) {
    if (const std::optional<JsonView> found = Find(setting)) {
      JsonReader inner(*found, missing_);
      fields(inner);
      inner.Finish();
    } else {
      NoteMissing(setting.key);
    }
  }

  void Retired(const char* key) { old_keys_.emplace_back(key); }

  /// To be called after all fields: refuses keys that no field has, then missing ones.
  void Finish() const;

 private:
  std::optional<JsonView> Find(const Setting& setting);
  void NoteMissing(const std::string& key);

  JsonView view_;
  Missing missing_;
  std::vector<std::string> keys_;
  std::vector<std::string> old_keys_;
  std::string first_missing_;
};

/// Finds the first field whose value a reader would refuse, such as one that was set from C++ or is not a number.
class Validator {
 public:
  explicit Validator(std::string pointer = "") : pointer_(std::move(pointer)) {}

  template <typename T, typename Kind>
  void Field(const Setting& setting, const T& value, const Kind& kind) {
    if (problem_) return;
    const Json json = kind.Write(value);
    try {
      T scratch = value;
      kind.Read(JsonView(json, "", pointer_ + "/" + setting.key), scratch);
    } catch (const InputError& error) {
      problem_ = error.what();
    }
  }
  template <typename Fields>
  void Section(const Setting& setting, const Fields& fields) {
    if (problem_) return;
    Validator inner(pointer_ + "/" + setting.key);
    fields(inner);
    problem_ = inner.problem();
  }

  /// A sentence that names the setting, what was found and what was expected; nothing when all values are legal.
  const std::optional<std::string>& problem() const { return problem_; }

 private:
  std::string pointer_;
  std::optional<std::string> problem_;
};

// ---- What most callers need: each visitor applied to the whole of an options struct.

template <typename Options>
Json Write(const Options& options) {
  JsonWriter writer;
  Describe(options, writer);
  return writer.json();
}

/// JSON with comments, which ParseJson reads.
template <typename Options>
std::string WriteCommented(const Options& options) {
  CommentedWriter writer;
  Describe(options, writer);
  return writer.Object() + "\n";
}

/// Takes the fields that a JSON object names; the others stay as they are. Throws InputError with the JSON pointer for
/// a bad value and for a key that no field has; then nothing is changed.
template <typename Options>
void Read(const JsonView& view, Options& options) {
  Options changed = options;
  JsonReader reader(view, JsonReader::Missing::kKept);
  Describe(changed, reader);
  reader.Finish();
  options = std::move(changed);
}

/// The first illegal value, as a sentence, or nothing.
template <typename Options>
std::optional<std::string> FindProblem(const Options& options) {
  Validator validator;
  Describe(options, validator);
  return validator.problem();
}

}  // namespace retrace::io
