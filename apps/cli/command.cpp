#include "cli/command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/program.h"
#include "retrace/io/error.h"
#include "retrace/io/nearest_words.h"

namespace retrace::cli {
namespace {

std::vector<std::string> NamesOf(const CLI::Option& option) {
  if (option.get_positional()) return {option.get_name(true)};
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  // The others are old ones.
  if (!option.get_lnames().empty()) names.push_back("--" + option.get_lnames().front());
  return names;
}

/// The layout of --help: that of CLI11 without the old names of options.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    std::string list;
    for (const std::string& name : is_positional ? std::vector{option->get_name(true)} : NamesOf(*option)) {
      list.append(list.empty() ? "" : ",").append(name);
    }
    return list;
  }
};

/// No option means anything by an empty text, such as a shell makes of a variable that is not set.
void RefuseEmptyTexts(const CLI::Option& option) {
  if (option.get_expected_min() == 0) return;  // it may come without a value
  for (const std::string& text : option.results()) {
    if (text.empty()) Refuse(option.get_name() + ": found an empty text, expected a value");
  }
}

}  // namespace

std::string FirstName(const std::string& names) {
  return names.substr(0, names.find(','));
}

void Refuse(const std::string& message) {
  throw CLI::ValidationError(message);
}

Option Option::Type(const std::string& name) const {
  option_->type_name(name);
  return *this;
}

Option Option::ShowDefault() const {
  option_->capture_default_str();
  return *this;
}

Option Option::ShowDefault(const std::string& text) const {
  option_->default_str(text);
  return *this;
}

Option Option::Required() const {
  option_->required();
  return *this;
}

Option Option::Needs(Option other) const {
  option_->needs(other.option_);
  return *this;
}

Option Option::Excludes(Option other) const {
  option_->excludes(other.option_);
  return *this;
}

Option Option::OneOf(const std::vector<std::string>& words) const {
  option_->check(CLI::IsMember(words));
  return *this;
}

Option Option::Check(const std::function<std::string(const std::string&)>& problem) const {
  option_->check(problem);
  return *this;
}

Option Option::Count(int least, int most) const {
  option_->expected(least, most);
  return *this;
}

Option Option::OneEach() const {
  option_->allow_extra_args(false);
  return *this;
}

Option Option::Separator(char separator) const {
  option_->delimiter(separator);
  return *this;
}

Option Option::Group(const std::string& title) const {
  option_->group(title);
  return *this;
}

struct Command::Parser {
  CLI::App app;
};

Command::Command(const std::string& name, const std::string& description)
    : name_(name), description_(description), parser_(new Parser{CLI::App(description, name)}) {
  PrepareProcess(name);  // --help may be printed to a pipe
  parser_->app.formatter(std::make_shared<HelpFormatter>());
}

Command::~Command() = default;

Option Command::Add(const std::string& names, std::string& field, const std::string& text) {
  return Option(parser_->app.add_option(names, field, text));
}

Option Command::Add(const std::string& names, std::vector<std::string>& field, const std::string& text) {
  return Option(parser_->app.add_option(names, field, text));
}

Option Command::AddReader(const std::string& names, const std::function<void(const std::vector<std::string>&)>& read,
                          const std::string& text) {
  const auto callback = [read](const CLI::results_t& values) {
    read(values);
    return true;
  };
  return Option(parser_->app.add_option(names, CLI::callback_t(callback), text));
}

Option Command::AddFlag(const std::string& names, bool& field, const std::string& text) {
  return Option(parser_->app.add_flag(names, field, text));
}

Option Command::AddFlag(const std::string& names, const std::function<void()>& given, const std::string& text) {
  return Option(parser_->app.add_flag_callback(names, given, text));
}

void Command::AddVersion(const std::string& text) {
  parser_->app.set_version_flag("--version", text);
}

std::string Command::Mistake(const std::vector<std::string>& arguments, const std::string& message) const {
  std::vector<std::string> accepted, shown;
  for (const CLI::Option* option : parser_->app.get_options()) {
    for (const std::string& name : option->get_lnames()) accepted.push_back("--" + name);
    if (!option->get_lnames().empty()) shown.push_back("--" + option->get_lnames().front());
  }
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    const std::string option = argument.substr(0, argument.find('='));
    if (!option.starts_with("--") || std::count(accepted.begin(), accepted.end(), option) > 0) continue;
    // What is missing is missing because this one is misspelled, perhaps.
    const std::string meant = io::DidYouMean(option, shown);
    return option + ": there is no such option" + (meant.empty() ? "" : ", " + meant);
  }
  return message;
}

bool Command::Parse(const std::vector<std::string>& arguments, bool prints, int& exit_code) {
  CLI::App& app = parser_->app;
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
    for (const CLI::Option* option : app.get_options()) RefuseEmptyTexts(*option);
    return true;
  } catch (const CLI::Success& request) {  // --help, --version
    if (prints) app.exit(request);
    exit_code = FinishOutput(name_, prints, static_cast<int>(ExitCode::kSuccess));
  } catch (const CLI::ParseError& error) {
    const std::string message = MessageLine(Mistake(arguments, error.what()));
    if (prints) std::fprintf(stderr, "%s: %s (--help lists the options)\n", name_.c_str(), message.c_str());
    exit_code = static_cast<int>(ExitCode::kUsage);
  }
  return false;
}

std::string Command::Help() const {
  return parser_->app.help();
}

std::vector<OptionText> Command::Options() const {
  std::vector<OptionText> options;
  for (const CLI::Option* option : std::as_const(parser_->app).get_options()) {
    OptionText& text = options.emplace_back();
    text.names = NamesOf(*option);
    text.default_text = option->get_default_str();
    text.text = option->get_description();
    text.group = option->get_group();
    text.positional = option->get_positional();
    text.required = option->get_required();
    text.repeatable = option->get_expected_max() >= CLI::detail::expected_max_vector_size;
    if (option->get_items_expected_max() == 0) continue;
    const std::string type = option->get_type_name();
    const size_t words = type.find(":{");
    text.type = type.substr(0, words);
    if (words == std::string::npos) continue;
    const std::string list = type.substr(words + 2, type.size() - words - 3);
    for (size_t begin = 0; begin <= list.size();) {
      const size_t end = std::min(list.find(',', begin), list.size());
      text.words.push_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return options;
}

}  // namespace retrace::cli
