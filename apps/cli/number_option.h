/// Options that are numbers or words. Their legal values, and the text of --help about these, are those of the kinds of
/// io/describe.h, so that a value means the same on a command line, in a list of clips and in a configuration.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "retrace/io/describe.h"
#include "retrace/io/error.h"

namespace retrace::cli {

inline constexpr io::Integer kThreads{1, 4096};
inline constexpr io::Real kRankTimeouts{{0, 86400}};  ///< [s]

/// Words that stand for a number; nothing: for a field that stays empty.
using NumberWords = std::vector<std::pair<std::string, std::optional<double>>>;

namespace detail {

/// Refuses a text where words could have stood instead of the number.
[[noreturn]] void RefuseNumber(const std::string& option, const std::string& text, const std::string& legal,
                               const NumberWords& words);

/// Reads a value; a mistake is one of the option.
template <typename Kind, typename T>
void TakeText(const Kind& kind, const std::string& option, const std::string& text, T& value) {
  try {
    io::ReadText(kind, text, option, value);
  } catch (const InputError& error) {
    Refuse(error.what());
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
Option AddNumber(Command& command, const std::string& names, T& field, const Kind& kind, const std::string& text,
                 const NumberWords& words = {}) {
  const std::string name = FirstName(names);
  if constexpr (detail::IsOptional<Kind>) {
    const auto read = [&field, kind, name, words](const std::vector<std::string>& texts) {
      for (const auto& [word, meaning] : words) {
        if (texts.back() != word) continue;
        field.reset();
        if (meaning) field = static_cast<typename T::value_type>(*meaning);
        return;
      }
      typename T::value_type number{};
      try {
        io::ReadText(kind.number, texts.back(), name, number);
      } catch (const InputError& error) {
        if (words.empty()) Refuse(error.what());
        detail::RefuseNumber(name, texts.back(), kind.number.Legal(), words);
      }
      field = number;
    };
    constexpr bool kWhole = std::is_integral_v<typename T::value_type>;
    return command.AddReader(names, read, text).Type((kWhole ? "INT:" : "FLOAT:") + kind.number.Legal());
  } else if constexpr (std::is_same_v<Kind, io::Reals>) {
    const auto read = [&field, kind, name](const std::vector<std::string>& texts) {
      io::Json list = io::Json::array();
      for (const std::string& number : texts) list.push_back(io::TextToJson(number));
      try {
        kind.Read(io::JsonView(list, "", name), field);
      } catch (const InputError& error) {
        Refuse(error.what());
      }
    };
    return command.AddReader(names, read, text)
        .Separator(',')
        .Count(1, static_cast<int>(kind.most))
        .Type("FLOAT:" + io::Real{kind.range}.Legal());
  } else {
    const auto read = [&field, kind, name](const std::vector<std::string>& texts) {
      detail::TakeText(kind, name, texts.back(), field);
    };
    const Option option =
        command.AddReader(names, read, text).Type((std::is_integral_v<T> ? "INT:" : "FLOAT:") + kind.Legal());
    const io::Json written = kind.Write(field);
    try {
      T scratch = field;
      kind.Read(io::JsonView(written, ""), scratch);
      option.ShowDefault(detail::TextOf(written));
    } catch (const InputError&) {  // it stands for: not given
    }
    return option;
  }
}

/// Adds an option for one of a few words (io::Words), of which old ones are accepted, too. The default is shown; an
/// optional field shows none.
template <typename T, typename Enum>
Option AddWord(Command& command, const std::string& names, T& field, const io::Words<Enum>& kind,
               const std::string& text) {
  const auto read = [&field, kind, name = FirstName(names)](const std::vector<std::string>& texts) {
    Enum value{};
    detail::TakeText(kind, name, texts.back(), value);
    field = value;
  };
  std::string type = "TEXT:{";
  for (const std::string& word : kind.List()) type.append(type.ends_with('{') ? "" : ",").append(word);
  const Option option = command.AddReader(names, read, text).Type(type.append("}"));
  if constexpr (std::is_same_v<T, Enum>) option.ShowDefault(kind.Write(field).template get<std::string>());
  return option;
}

}  // namespace retrace::cli
