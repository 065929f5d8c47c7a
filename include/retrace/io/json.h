/// Reading JSON documents so that every complaint names the file, the JSON pointer, what was found and what was
/// expected.
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "retrace/math/types.h"

namespace retrace::io {

/// Keeps the order of keys, so that what is written reads like what was documented. Headers know its name alone: a
/// source that looks into a document includes <nlohmann/json.hpp>, which takes longer to compile than most sources.
using Json = nlohmann::ordered_json;

/// A document as the member of a class, in a header that knows the name of Json alone. Copies are deep; what was moved
/// away can be assigned to, copied and destroyed.
class JsonBox {
 public:
  JsonBox();               // null
  JsonBox(Json document);  // NOLINT(google-explicit-constructor): it is a document
  JsonBox(const JsonBox& other);
  JsonBox(JsonBox&& other) noexcept;
  JsonBox& operator=(const JsonBox& other);
  JsonBox& operator=(JsonBox&& other) noexcept;
  ~JsonBox();

  Json& operator*() { return *document_; }
  const Json& operator*() const { return *document_; }
  Json* operator->() { return document_.get(); }
  const Json* operator->() const { return document_.get(); }
  operator const Json&() const { return *document_; }  // NOLINT(google-explicit-constructor): likewise

  bool operator==(const JsonBox& other) const;

 private:
  std::unique_ptr<Json> document_;  // empty only after a move
};

/// An object without members.
const Json& NoMembers();

/// Parses a JSON document; comments (`//` and `/* */`) are allowed. Throws InputError with line and column, also for a
/// key that stands twice in an object, for a number that no double can hold, for text that is not UTF-8, and for arrays
/// and objects that are nested more than 200 deep.
Json ParseJson(const std::string& text, const std::string& name);
Json ReadJson(const std::filesystem::path& path);

/// Legal values of a number: always bounded on both sides, so that nothing that is computed from them overflows.
struct Range {
  /// Throws std::invalid_argument for bounds that are not finite or in the wrong order; a constant is then no constant.
  constexpr Range(double least, double most, bool without_least = false)
      : min(least), max(most), open_min(without_least) {
    constexpr double kLargest = std::numeric_limits<double>::max();
    if (!(-kLargest <= min && min <= max && max <= kLargest)) throw std::invalid_argument("a range without end");
  }
  double min;
  double max;
  bool open_min;  ///< min itself is not allowed

  /// False for what is not a number.
  constexpr bool Contains(double number) const {
    return number >= min && number <= max && !(open_min && number == min);
  }
};

/// Whether a text is UTF-8: well-formed, without surrogates, at most U+10FFFF.
bool IsUtf8(std::string_view text);

/// A document as text, in one line or, with `indent` of 0 or more, in lines with so many blanks per level. Bytes that
/// are no UTF-8, such as a file's name may have, become U+FFFD.
std::string Dump(const Json& document, int indent = -1);
/// The same in one line and in pieces, so that a large document is not in memory twice.
void DumpInPieces(const Json& document, const std::function<void(std::string_view piece)>& write);

/// 1 to 100 bytes of UTF-8 without control characters, braces, and blanks at the ends or in a row: a name in all files.
bool IsName(const std::string& text);

/// A value inside a JSON document, with its position. Cheap to copy; the document must outlive it.
/// Every reader throws InputError when the value is not of the requested kind.
class JsonView {
 public:
  /// `pointer` is where the value stands, if it is not the whole document. Without a name of the document, messages
  /// contain the pointer alone.
  JsonView(const Json& document, std::string name, std::string pointer = "")
      : JsonView(&document, std::move(name), std::move(pointer)) {}

  /// Member of an object, which must exist.
  JsonView operator[](const std::string& key) const;
  /// Element of an array, which must exist.
  JsonView operator[](size_t index) const;
  bool Has(const std::string& key) const;
  size_t size() const;  ///< of an array

  double Number(Range range) const;
  int Integer(int min, int max) const;
  bool Boolean() const;
  std::string String() const;
  std::string Name() const;                                       ///< see IsName
  Vec3 Vector(Range range) const;                                 ///< array of three numbers
  std::vector<double> Numbers(Range range, size_t most) const;    ///< array of at most so many
  std::vector<std::string> Strings(size_t most) const;            ///< array of at most so many
  std::vector<JsonView> Elements(size_t most) const;              ///< of an array, of at most so many
  std::vector<std::pair<std::string, JsonView>> Members() const;  ///< of an object

  /// Refuses any member of this object whose key is not listed (a misspelled key must not be ignored).
  void AllowOnly(std::initializer_list<const char*> keys) const;

  /// Throws InputError for this value.
  [[noreturn]] void Fail(const std::string& found, const std::string& expected) const;
  /// The same, describing the value itself as what was found.
  [[noreturn]] void Expect(const std::string& expected) const;

  const Json& json() const { return *value_; }
  const std::string& pointer() const { return pointer_; }
  std::string place() const { return (name_.empty() ? "" : name_ + ": ") + (pointer_.empty() ? "/" : pointer_); }

 private:
  void CheckLength(size_t most) const;

  JsonView(const Json* value, std::string name, std::string pointer)
      : value_(value), name_(std::move(name)), pointer_(std::move(pointer)) {}
  const Json* value_;
  std::string name_;
  std::string pointer_;
};

/// Three numbers as a JSON array, and back by JsonView::Vector.
Json ToJson(const Vec3& v);
/// A unit quaternion as [w, x, y, z].
Json ToJson(const Quat& q);
Quat ReadQuaternion(const JsonView& view);

}  // namespace retrace::io
