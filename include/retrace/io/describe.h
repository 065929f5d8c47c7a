/// One description of a struct of options, from which its reading, writing, help and validation follow.
///
/// Beside a struct of options stands a function that names every field once. It is compiled once, in the source of the
/// struct:
///
///     void Describe(Options& options, io::FieldVisitor& visitor) {
///       visitor.Field({"duration", "Time that the motion takes", "s"}, options.duration, io::Real{{0.1, 3600}});
///       visitor.Section({"contacts", "How contacts behave"},
///                       [&](io::FieldVisitor& section) { Describe(options.contacts, section); });
///     }
///
/// `Field` takes the setting, the field, and the kind of value that it holds: one of the classes below, which define
/// the legal values and how they are written in JSON. `Section` takes a setting and a function that visits the fields
/// of an object inside this one. The default of a field stands in the struct alone. Every number has a range, chosen so
/// that no combination of legal values overflows or takes forever.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "retrace/io/json.h"

namespace retrace::io {

/// The description of a field or a section: all but its value. Its texts are literals.
struct Setting {
  std::string_view key;
  std::string_view text;                          ///< what it is, in a sentence or a noun phrase without a full stop
  std::string_view unit = "";                     ///< of the value as it is written; empty: it has none
  std::array<std::string_view, 2> old_keys = {};  ///< that files may still have instead of the key; empty: none
};

// ---- Kinds of values. `Write` takes any value, legal or not; `Read` throws InputError for an illegal one; `Legal`
// ---- describes the legal ones for help texts (empty: no description is needed).

/// A number.
struct Real {
  Range range;

  static Json Write(double value);
  void Read(const JsonView& view, double& value) const;
  std::string Legal() const;
};

/// A whole number.
struct Integer {
  constexpr Integer(int least, int most) : min(least), max(most) {}
  int min;
  int max;

  static Json Write(int value);
  void Read(const JsonView& view, int& value) const;
  std::string Legal() const;
};

/// A whole number of up to 64 bits.
struct Natural {
  static Json Write(uint64_t value);
  static void Read(const JsonView& view, uint64_t& value);
  static std::string Legal();
};

/// True or false.
struct Flag {
  static Json Write(bool value);
  static void Read(const JsonView& view, bool& value);
  static std::string Legal();
};

/// An angle in radians, which is written in degrees.
struct Angle {
  Range degrees;

  static Json Write(double radians);
  void Read(const JsonView& view, double& radians) const;
  std::string Legal() const;
};

/// What a kind of numbers is, or nothing, which is written as null.
template <typename Number, typename Value>
struct Optional {
  Number number;

  static Json Write(const std::optional<Value>& value);
  void Read(const JsonView& view, std::optional<Value>& value) const;
  std::string Legal() const;
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

  static Json Write(const std::vector<double>& values);
  void Read(const JsonView& view, std::vector<double>& values) const;
  std::string Legal() const;
};

/// A string that is one of a few, or any name (JsonView::Name).
struct Text {
  std::vector<std::string> words = {};  ///< empty: any name

  static Json Write(const std::string& value);
  void Read(const JsonView& view, std::string& value) const;
  std::string Legal() const;
};

template <typename Enum>
struct Word {
  Enum value;
  std::string_view word;
  std::string_view old_word = "";  ///< that files may still have instead of the word; empty: there is none
};

/// `"a", "b" or "c"`.
std::string QuotedList(const std::vector<std::string>& words);
/// `a, b, c`.
std::string List(const std::vector<std::string>& words);

/// A field that is an enumeration, as a number.
struct EnumField {
  int64_t value;
  const void* address;  ///< of the field

  bool operator==(const EnumField& other) const { return value == other.value; }
};

/// An enumeration, written as words: those of any enumeration, by the numbers of its members.
struct AnyWords {
  std::vector<Word<int64_t>> words;

  /// The word for a value; empty where it is not a member of the enumeration.
  std::string_view WordOf(int64_t value) const;
  /// A value that is not a member of the enumeration is written as its number, which Read refuses.
  Json Write(const EnumField& field) const;
  void Read(const JsonView& view, EnumField& field) const;
  std::string Legal() const;
  std::vector<std::string> List() const;
};

/// The same of one enumeration.
template <typename Enum>
struct Words : AnyWords {
  Words(std::initializer_list<Word<Enum>> list) {
    words.reserve(list.size());
    for (const Word<Enum>& entry : list) {
      words.push_back({static_cast<int64_t>(entry.value), entry.word, entry.old_word});
    }
  }
  std::string Name(Enum value) const { return std::string(WordOf(static_cast<int64_t>(value))); }
  void Read(const JsonView& view, Enum& value) const {
    EnumField field{static_cast<int64_t>(value), &value};
    AnyWords::Read(view, field);
    value = static_cast<Enum>(field.value);
  }
};

/// A field that is a whole object with a format of its own.
class PartField {
 public:
  explicit PartField(const void* address) : address_(address) {}
  virtual ~PartField() = default;
  virtual JsonBox ToJson() const = 0;
  virtual void Read(const JsonView& view) = 0;
  virtual bool empty() const = 0;
  const void* address() const { return address_; }

 private:
  const void* address_;
};

/// Whole objects of any format: they are left out while they are empty.
struct AnyPart {
  static Json Write(const PartField& part);
  static void Read(const JsonView& view, PartField& part);
  static std::string Legal();
};

/// The same of one type, which has ToJson() and empty().
template <typename T>
struct Part {
  T (*read)(const JsonView& view);
};

/// Visits the fields of a struct of options.
class FieldVisitor {
 public:
  /// Visits the fields of an object inside.
  using Fields = std::function<void(FieldVisitor& section)>;

  virtual ~FieldVisitor() = default;
  virtual void Section(const Setting& setting, const Fields& fields) = 0;
  /// Keys that files of earlier versions may have in this object and that no longer have a meaning: a reader accepts
  /// them and ignores their values.
  virtual void Retired(std::initializer_list<std::string_view> /*keys*/) {}

  virtual void Field(const Setting& setting, double& value, const Real& kind) = 0;
  virtual void Field(const Setting& setting, int& value, const Integer& kind) = 0;
  virtual void Field(const Setting& setting, uint64_t& value, const Natural& kind) = 0;
  virtual void Field(const Setting& setting, bool& value, const Flag& kind) = 0;
  virtual void Field(const Setting& setting, double& value, const Angle& kind) = 0;
  virtual void Field(const Setting& setting, std::optional<double>& value, const OptionalReal& kind) = 0;
  virtual void Field(const Setting& setting, std::optional<int>& value, const OptionalInteger& kind) = 0;
  virtual void Field(const Setting& setting, std::optional<double>& value, const OptionalAngle& kind) = 0;
  virtual void Field(const Setting& setting, std::vector<double>& value, const Reals& kind) = 0;
  virtual void Field(const Setting& setting, std::string& value, const Text& kind) = 0;
  virtual void Field(const Setting& setting, EnumField& value, const AnyWords& kind) = 0;
  virtual void Field(const Setting& setting, PartField& value, const AnyPart& kind) = 0;

  template <typename Enum>
  void Field(const Setting& setting, Enum& value, const Words<Enum>& kind) {
    EnumField field{static_cast<int64_t>(value), &value};
    Field(setting, field, static_cast<const AnyWords&>(kind));
    value = static_cast<Enum>(field.value);
  }
  template <typename T>
  void Field(const Setting& setting, T& value, const Part<T>& kind) {
    class FieldOfT : public PartField {
     public:
      FieldOfT(T& value, const Part<T>& kind) : PartField(&value), value_(value), kind_(kind) {}
      JsonBox ToJson() const override { return value_.ToJson(); }
      void Read(const JsonView& view) override { value_ = kind_.read(view); }
      bool empty() const override { return value_.empty(); }

     private:
      T& value_;
      const Part<T>& kind_;
    };
    FieldOfT field(value, kind);
    Field(setting, field, AnyPart());
  }
};

/// A visitor that does the same with fields of all kinds: `Derived` has a function template
/// Visit(const Setting&, T& value, const Kind& kind).
template <typename Derived>
class UniformVisitor : public FieldVisitor {
 public:
  using FieldVisitor::Field;
  void Field(const Setting& setting, double& value, const Real& kind) final;
  void Field(const Setting& setting, int& value, const Integer& kind) final;
  void Field(const Setting& setting, uint64_t& value, const Natural& kind) final;
  void Field(const Setting& setting, bool& value, const Flag& kind) final;
  void Field(const Setting& setting, double& value, const Angle& kind) final;
  void Field(const Setting& setting, std::optional<double>& value, const OptionalReal& kind) final;
  void Field(const Setting& setting, std::optional<int>& value, const OptionalInteger& kind) final;
  void Field(const Setting& setting, std::optional<double>& value, const OptionalAngle& kind) final;
  void Field(const Setting& setting, std::vector<double>& value, const Reals& kind) final;
  void Field(const Setting& setting, std::string& value, const Text& kind) final;
  void Field(const Setting& setting, EnumField& value, const AnyWords& kind) final;
  void Field(const Setting& setting, PartField& value, const AnyPart& kind) final;

 private:
  Derived& derived() { return static_cast<Derived&>(*this); }
};

template <typename Derived>
void UniformVisitor<Derived>::Field(const Setting& setting, double& value, const Real& kind) {
  derived().Visit(setting, value, kind);
}
template <typename Derived>
void UniformVisitor<Derived>::Field(const Setting& setting, int& value, const Integer& kind) {
  derived().Visit(setting, value, kind);
}
template <typename Derived>
void UniformVisitor<Derived>::Field(const Setting& setting, uint64_t& value, const Natural& kind) {
  derived().Visit(setting, value, kind);
}
template <typename Derived>
void UniformVisitor<Derived>::Field(const Setting& setting, bool& value, const Flag& kind) {
  derived().Visit(setting, value, kind);
}
template <typename Derived>
void UniformVisitor<Derived>::Field(const Setting& setting, double& value, const Angle& kind) {
  derived().Visit(setting, value, kind);
}
template <typename Derived>
void UniformVisitor<Derived>::Field(const Setting& setting, std::optional<double>& value, const OptionalReal& kind) {
  derived().Visit(setting, value, kind);
}
template <typename Derived>
void UniformVisitor<Derived>::Field(const Setting& setting, std::optional<int>& value, const OptionalInteger& kind) {
  derived().Visit(setting, value, kind);
}
template <typename Derived>
void UniformVisitor<Derived>::Field(const Setting& setting, std::optional<double>& value, const OptionalAngle& kind) {
  derived().Visit(setting, value, kind);
}
template <typename Derived>
void UniformVisitor<Derived>::Field(const Setting& setting, std::vector<double>& value, const Reals& kind) {
  derived().Visit(setting, value, kind);
}
template <typename Derived>
void UniformVisitor<Derived>::Field(const Setting& setting, std::string& value, const Text& kind) {
  derived().Visit(setting, value, kind);
}
template <typename Derived>
void UniformVisitor<Derived>::Field(const Setting& setting, EnumField& value, const AnyWords& kind) {
  derived().Visit(setting, value, kind);
}
template <typename Derived>
void UniformVisitor<Derived>::Field(const Setting& setting, PartField& value, const AnyPart& kind) {
  derived().Visit(setting, value, kind);
}

/// What a person wrote on a command line or in a table, as the kinds read it: a number where all of it is one, else a
/// string. Whole numbers keep all their digits; a negative zero becomes zero.
JsonBox TextToJson(const std::string& text);

/// Reads a value that a person wrote. `place` is what messages begin with, such as the name of an option. Throws
/// InputError.
template <typename Kind, typename T>
void ReadText(const Kind& kind, const std::string& text, const std::string& place, T& value) {
  const JsonBox json = TextToJson(text);
  kind.Read(JsonView(*json, "", place), value);
}

// ---- Visitors.

/// Makes a JSON object of the options.
class JsonWriter final : public UniformVisitor<JsonWriter> {
 public:
  enum class Keys { kCurrent, kAll };  ///< kAll: each field stands under its old keys too
  explicit JsonWriter(Keys keys = Keys::kCurrent);

  void Section(const Setting& setting, const Fields& fields) override;
  template <typename T, typename Kind>
  void Visit(const Setting& setting, const T& value, const Kind& kind);

  const Json& json() const { return *json_; }

 private:
  void Add(const Setting& setting, const Json& value);

  Keys keys_;
  JsonBox json_;
};

/// Makes the text of the same object, with a comment above each field: what it is, its unit, its legal values.
class CommentedWriter final : public UniformVisitor<CommentedWriter> {
 public:
  explicit CommentedWriter(int depth = 1);

  void Section(const Setting& setting, const Fields& fields) override;
  template <typename T, typename Kind>
  void Visit(const Setting& setting, const T& value, const Kind& kind);

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
class JsonReader final : public UniformVisitor<JsonReader> {
 public:
  /// What happens to a field that the object does not have.
  enum class Missing { kKept, kRefused };
  JsonReader(const JsonView& view, Missing missing);

  void Section(const Setting& setting, const Fields& fields) override;
  template <typename T, typename Kind>
  void Visit(const Setting& setting, T& value, const Kind& kind);

  void Retired(std::initializer_list<std::string_view> keys) override;

  /// To be called after all fields: refuses keys that no field has, then missing ones.
  void Finish() const;

 private:
  std::optional<JsonView> Find(const Setting& setting);
  void NoteMissing(std::string_view key);

  JsonView view_;
  Missing missing_;
  std::vector<std::string> keys_;
  std::vector<std::string> old_keys_;
  std::string first_missing_;
};

/// Finds the first field whose value a reader would refuse, such as one that was set from C++ or is not a number. Legal
/// values are read on that occasion: an angle may come back with another last bit.
class Validator final : public UniformVisitor<Validator> {
 public:
  explicit Validator(std::string pointer = "");

  void Section(const Setting& setting, const Fields& fields) override;
  template <typename T, typename Kind>
  void Visit(const Setting& setting, T& value, const Kind& kind);

  /// A sentence that names the setting, what was found and what was expected; nothing when all values are legal.
  const std::optional<std::string>& problem() const { return problem_; }

 private:
  std::string pointer_;
  std::optional<std::string> problem_;
};

// Compiled once, in describe.cpp.
extern template class UniformVisitor<JsonWriter>;
extern template class UniformVisitor<CommentedWriter>;
extern template class UniformVisitor<JsonReader>;
extern template class UniformVisitor<Validator>;

// ---- What most callers need: each visitor applied to the whole of an options struct.

namespace detail {

Json Write(const FieldVisitor::Fields& describe);
std::string WriteCommented(const FieldVisitor::Fields& describe);
void Read(const JsonView& view, const FieldVisitor::Fields& describe);
std::optional<std::string> FindProblem(const FieldVisitor::Fields& describe);

/// The description of a copy of the options, which visitors that only look at them may have.
template <typename Options>
FieldVisitor::Fields DescriptionOf(const Options& options) {
  return [copy = options](FieldVisitor& visitor) mutable { Describe(copy, visitor); };
}

}  // namespace detail

// The document is an argument because its type is known where this is called, not here.
template <typename Options, typename Document = Json>
Document Write(const Options& options) {
  return detail::Write(detail::DescriptionOf(options));
}

/// JSON with comments, which ParseJson reads.
template <typename Options>
std::string WriteCommented(const Options& options) {
  return detail::WriteCommented(detail::DescriptionOf(options));
}

/// Takes the fields that a JSON object names; the others stay as they are. Throws InputError with the JSON pointer for
/// a bad value and for a key that no field has; then nothing is changed.
template <typename Options>
void Read(const JsonView& view, Options& options) {
  Options changed = options;
  detail::Read(view, [&](FieldVisitor& visitor) { Describe(changed, visitor); });
  options = std::move(changed);
}

/// The first illegal value, as a sentence, or nothing.
template <typename Options>
std::optional<std::string> FindProblem(const Options& options) {
  return detail::FindProblem(detail::DescriptionOf(options));
}

}  // namespace retrace::io
