/// Options that are numbers. Their legal values, and the text of --help about these, are those of the kinds of
/// io/describe.h, so that a number means the same on a command line, in a list of clips and in a configuration.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "retrace/io/describe.h"
#include "retrace/io/error.h"

namespace retrace::apps {

inline constexpr io::Integer kThreads{1, 4096};
inline constexpr io::Real kHangLimits{{0, 86400}};  ///< [s]

/// Words that stand for a number; nothing: for a field that stays empty.
using NumberWords = std::vector<std::pair<std::string, std::optional<double>>>;

namespace detail {

/// A mistake in an option, which ParseOptions prints.
[[noreturn]] void RefuseOption(const std::string& message);

/// The same where words could have stood in the place of the number.
[[noreturn]] void RefuseOption(const std::string& option, const std::string& text, const std::string& legal,
                               const NumberWords& words);

template <typename Kind, typename T>
void TakeText(const Kind& kind, const std::string& option, const std::string& text, T& value) {
  try {
    io::ReadText(kind, text, option, value);
  } catch (const InputError& error) {
    RefuseOption(error.what());
  }
}

/// A number in its shortest form.
std::string TextOf(const io::Json& number);

/// The kinds of io::Optional.
template <typename Kind>
concept IsOptional = requires(const Kind& kind) {
  kind.number;
};

}  // namespace detail

/// Adds an option for a number (io::Real, Integer, Natural, Angle), for one that may be left out (the optional kinds,
/// whose null cannot be written but left out, or given by a word), or for several with commas between (io::Reals). The
/// default is shown where it is legal; another one means that the option was not given.
template <typename T, typename Kind>
CLI::Option* AddNumber(CLI::App& app, const std::string& name, T& field, const Kind& kind, const std::string& text,
                       const NumberWords& words = {}) {
  if constexpr (detail::IsOptional<Kind>) {
    const auto read = [&field, kind, name, words](const CLI::results_t& texts) {
      for (const auto& [word, meaning] : words) {
        if (texts.back() != word) continue;
        field.reset();
        if (meaning) field = static_cast<typename T::value_type>(*meaning);
        return true;
      }
      typename T::value_type number{};
      try {
        io::ReadText(kind.number, texts.back(), name, number);
      } catch (const InputError& error) {
        if (words.empty()) detail::RefuseOption(error.what());
        detail::RefuseOption(name, texts.back(), kind.number.Legal(), words);
      }
      field = number;
      return true;
    };
    CLI::Option* option = app.add_option(name, CLI::callback_t(read), text);
    constexpr bool kWhole = std::is_integral_v<typename T::value_type>;
    return option->type_name(std::string(kWhole ? "INT:" : "FLOAT:").append(kind.number.Legal()));
  } else if constexpr (std::is_same_v<Kind, io::Reals>) {
    const auto read = [&field, kind, name](const CLI::results_t& texts) {
      io::Json list = io::Json::array();
      for (const std::string& number : texts) list.push_back(io::TextToJson(number));
      try {
        kind.Read(io::JsonView(list, "", name), field);
      } catch (const InputError& error) {
        detail::RefuseOption(error.what());
      }
      return true;
    };
    CLI::Option* option = app.add_option(name, CLI::callback_t(read), text);
    return option->delimiter(',')
        ->expected(1, static_cast<int>(kind.most))
        ->type_name(std::string("FLOAT:").append(io::Real{kind.range}.Legal()));
  } else {
    const auto read = [&field, kind, name](const CLI::results_t& texts) {
      detail::TakeText(kind, name, texts.back(), field);
      return true;
    };
    CLI::Option* option = app.add_option(name, CLI::callback_t(read), text);
    option->type_name(std::string(std::is_integral_v<T> ? "INT:" : "FLOAT:").append(kind.Legal()));
    const io::Json written = kind.Write(field);
    try {
      T scratch = field;
      kind.Read(io::JsonView(written, ""), scratch);
      option->default_str(detail::TextOf(written));
    } catch (const InputError&) {  // it stands for: not given
    }
    return option;
  }
}

}  // namespace retrace::apps
