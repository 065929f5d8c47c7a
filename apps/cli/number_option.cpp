#include "cli/number_option.h"

#include <nlohmann/json.hpp>
#include <type_traits>

#include "retrace/io/number.h"

namespace retrace::cli {
namespace {

/// Refuses a text where words could have stood instead of the number.
[[noreturn]] void RefuseNumber(const std::string& option, const std::string& text, const std::string& legal,
                               const NumberWords& words) {
  std::string message = option;
  message.append(": found \"").append(text).append("\", expected ");
  for (const auto& [word, meaning] : words) message.append(word.empty() ? "nothing" : word).append(", ");
  message.resize(message.size() - 2);
  Refuse(message.append(" or a number, ").append(legal));
}

/// The kinds of io::Optional.
template <typename Kind>
concept IsOptional = requires(const Kind& kind) {
  kind.number;
};

}  // namespace

namespace detail {

std::string TextOf(const io::Json& number) {
  return number.is_number_float() ? io::Number(number.get<double>()) : number.dump();
}

}  // namespace detail

template <typename T, typename Kind>
Option AddNumber(Command& command, const std::string& names, T& field, const Kind& kind, const std::string& text,
                 const NumberWords& words) {
  const std::string name = FirstName(names);
  if constexpr (IsOptional<Kind>) {
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
        RefuseNumber(name, texts.back(), kind.number.Legal(), words);
      }
      field = number;
    };
    constexpr bool kWhole = std::is_integral_v<typename T::value_type>;
    return command.AddReader(names, read, text).Type((kWhole ? "INT:" : "FLOAT:") + kind.number.Legal());
  } else if constexpr (std::is_same_v<Kind, io::Reals>) {
    const auto read = [&field, kind, name](const std::vector<std::string>& texts) {
      io::Json list = io::Json::array();
      for (const std::string& number : texts) list.push_back(*io::TextToJson(number));
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

template Option AddNumber(Command&, const std::string&, double&, const io::Real&, const std::string&,
                          const NumberWords&);
template Option AddNumber(Command&, const std::string&, int&, const io::Integer&, const std::string&,
                          const NumberWords&);
template Option AddNumber(Command&, const std::string&, uint64_t&, const io::Natural&, const std::string&,
                          const NumberWords&);
template Option AddNumber(Command&, const std::string&, double&, const io::Angle&, const std::string&,
                          const NumberWords&);
template Option AddNumber(Command&, const std::string&, std::optional<double>&, const io::OptionalReal&,
                          const std::string&, const NumberWords&);
template Option AddNumber(Command&, const std::string&, std::optional<int>&, const io::OptionalInteger&,
                          const std::string&, const NumberWords&);
template Option AddNumber(Command&, const std::string&, std::optional<int>&, const io::Optional<io::Integer, int>&,
                          const std::string&, const NumberWords&);
template Option AddNumber(Command&, const std::string&, std::optional<uint64_t>&,
                          const io::Optional<io::Natural, uint64_t>&, const std::string&, const NumberWords&);
template Option AddNumber(Command&, const std::string&, std::optional<double>&, const io::OptionalAngle&,
                          const std::string&, const NumberWords&);
template Option AddNumber(Command&, const std::string&, std::vector<double>&, const io::Reals&, const std::string&,
                          const NumberWords&);

}  // namespace retrace::cli
