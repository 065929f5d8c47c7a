/// The options of a command: a thin wall around CLI11, whose headers take six seconds to compile. Only the sources of
/// this folder include it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

// NOLINTNEXTLINE(readability-identifier-naming): that of CLI11
namespace CLI {
class Option;
}

namespace retrace::cli {

/// An option or a positional argument of a command. A handle: copies stand for the same one, which lives as long as its
/// command. Every member returns the handle itself, so that calls can be chained.
class Option {
 public:
  /// What --help shows instead of the value, such as FILE.
  Option Type(const std::string& name) const;
  /// Shows the value that the field has now as the default.
  Option ShowDefault() const;
  /// Shows a text as the default.
  Option ShowDefault(const std::string& text) const;
  Option Required() const;
  /// It is a mistake without the other option.
  Option Needs(Option other) const;
  /// It is a mistake together with the other option.
  Option Excludes(Option other) const;
  /// Only these words are values.
  Option OneOf(const std::vector<std::string>& words) const;
  /// @param problem says what is wrong with a value; an empty text: nothing
  Option Check(const std::function<std::string(const std::string& value)>& problem) const;
  /// Takes that many values.
  Option Count(int least, int most) const;
  /// Takes one value each time that it is given, so that what comes after it is not taken for another one.
  Option OneEach() const;
  /// Several values may be written as one, with this character between them.
  Option Separator(char separator) const;
  /// Stands under this title in --help; without one, under "Options".
  Option Group(const std::string& title) const;

 private:
  friend class Command;
  explicit Option(CLI::Option* option) : option_(option) {}
  CLI::Option* option_;
};

/// What is known of an option, for manuals and completion.
struct OptionText {
  std::vector<std::string> names;  ///< as they are written, such as --output; of a positional argument its name
  std::string type;                ///< of the value; empty: it takes none
  std::string default_text;        ///< empty: none is shown
  std::string text;
  std::string group;               ///< title under which it stands
  std::vector<std::string> words;  ///< the only values; empty: there are others
  bool positional = false;
  bool required = false;
  bool repeatable = false;
};

/// Names of options: the first one, such as `--output` or, of a positional argument, `clip`, is that of help texts and
/// messages. Old ones that are still accepted, and that no help text shows, may follow with commas between, as in
/// `--rank-timeout,--hang-limit`.
class Command {
 public:
  /// @param name what messages begin with
  Command(const std::string& name, const std::string& description);
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  /// A text. The field lives until the options are parsed, as all fields do.
  Option Add(const std::string& names, std::string& field, const std::string& text);
  /// Texts.
  Option Add(const std::string& names, std::vector<std::string>& field, const std::string& text);
  /// What `read` makes of the values that are given; it refuses them by Refuse.
  Option AddReader(const std::string& names, const std::function<void(const std::vector<std::string>& values)>& read,
                   const std::string& text);
  Option AddFlag(const std::string& names, bool& field, const std::string& text);
  Option AddFlag(const std::string& names, const std::function<void()>& given, const std::string& text);
  /// --version, which prints this text.
  void AddVersion(const std::string& text);

  /// Parses the options; a mistake in them is printed and gives exit code 2, `--help` and `--version` give 0. Returns
  /// true when the program should continue, else `exit_code` is set. Prints nothing unless `prints` is set.
  bool Parse(const std::vector<std::string>& arguments, bool prints, int& exit_code);

  const std::string& name() const { return name_; }
  const std::string& description() const { return description_; }
  std::string Help() const;
  /// All options, in the order of --help.
  std::vector<OptionText> Options() const;

 private:
  struct Parser;
  /// The mistake in the options that CLI11 reports, or a better one.
  std::string Mistake(const std::vector<std::string>& arguments, const std::string& message) const;

  std::string name_, description_;
  std::unique_ptr<Parser> parser_;
};

/// The first of the names of an option, as messages have it.
std::string FirstName(const std::string& names);

/// Refuses the value of an option: Command::Parse prints the message.
[[noreturn]] void Refuse(const std::string& message);

}  // namespace retrace::cli
