/// retrace completion: scripts that make bash and zsh complete commands, options and their values.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "commands.h"

namespace retrace::apps::completion_command {
namespace {

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : " ").append(word);
  return text;
}

/// First words of commands, and the second words of those that begin with `family`.
std::vector<std::string> WordsAfter(const std::string& family) {
  std::vector<std::string> words;
  for (const CommandEntry& entry : Commands()) {
    const size_t blank = entry.name.find(' ');
    const std::string first = entry.name.substr(0, blank);
    if (!family.empty() && (first != family || blank == std::string::npos)) continue;
    const std::string word = family.empty() ? first : entry.name.substr(blank + 1);
    if (std::count(words.begin(), words.end(), word) == 0) words.push_back(word);
  }
  return words;
}

std::vector<std::string> Families() {
  std::vector<std::string> families;
  for (const std::string& word : WordsAfter("")) {
    if (!WordsAfter(word).empty()) families.push_back(word);
  }
  return families;
}

/// All names under which a command can be called, as the alternatives of a `case` of a shell.
std::string Alternatives(const CommandEntry& entry) {
  std::string text = "'" + entry.name + "'";
  for (const std::string& name : entry.program_names) {
    if (name != entry.name) text.append("|'").append(name).append("'");
  }
  return text;
}

/// Names of programs that are completed.
std::string Programs() {
  std::vector<std::string> names = {"retrace"};
  for (const CommandEntry& entry : Commands()) {
    if (entry.program_names.empty()) continue;
    const std::string& name = entry.program_names.front();
    // That of the link that is always there, and names that can only be meant as ours.
    if (name == "reconstruct" || name.find('-') != std::string::npos) names.push_back(name);
  }
  return Joined(names);
}

std::string Bash() {
  std::string options, words;
  for (const CommandEntry& entry : Commands()) {
    std::vector<std::string> names;
    for (const cli::OptionText& option : OptionsOf(entry)) {
      if (option.positional) continue;
      names.insert(names.end(), option.names.begin(), option.names.end());
      if (option.words.empty()) continue;
      words.append("    '" + entry.name + " " + option.names.back() + "') echo '" + Joined(option.words) + "' ;;\n");
    }
    options.append("    " + Alternatives(entry) + ") command='" + entry.name + "' options='" + Joined(names) +
                   "' ;;\n");
  }
  std::string families;
  for (const std::string& family : Families()) {
    families.append("    " + family + ") echo '" + Joined(WordsAfter(family)) + "' ;;\n");
  }
  return "# Completion of retrace for bash: source <(retrace completion bash)\n"
         "_retrace_members() {\n  case $1 in\n" +
         families +
         "  esac\n}\n"
         "_retrace_values() {\n  case $1 in\n" +
         words +
         "  esac\n}\n"
         "_retrace() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]##*/}\n"
         "  local first=1 name=$program members command= options= values\n"
         "  if [[ $program == retrace ]]; then\n"
         "    if ((COMP_CWORD == 1)); then\n"
         "      COMPREPLY=($(compgen -W '" +
         Joined(WordsAfter("")) +
         " --help --list --version' -- \"$current\"))\n"
         "      return\n    fi\n"
         "    name=${COMP_WORDS[1]} first=2\n"
         "    members=$(_retrace_members \"$name\")\n"
         "    if [[ -n $members ]]; then\n"
         "      if ((COMP_CWORD == 2)); then\n"
         "        COMPREPLY=($(compgen -W \"$members\" -- \"$current\"))\n"
         "        return\n      fi\n"
         "      name+=\" ${COMP_WORDS[2]}\" first=3\n    fi\n  fi\n"
         "  case $name in\n" +
         options +
         "  esac\n"
         "  ((COMP_CWORD > first)) || before=\n"
         "  values=$(_retrace_values \"$command $before\")\n"
         "  if [[ $command == help ]]; then values='" +
         Joined(WordsAfter("")) +
         "'; fi\n"
         "  if [[ -n $values ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$values\" -- \"$current\"))\n"
         "  elif [[ $current == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
         "  else\n"
         "    COMPREPLY=($(compgen -f -- \"$current\"))\n"
         "  fi\n}\n"
         "complete -o filenames -F _retrace " +
         Programs() + "\n";
}

/// Text inside of brackets or before a colon, in single quotation marks.
std::string ZshText(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\'') {
      escaped.append("'\\''");
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped.push_back('\\');
    escaped.push_back(c);
  }
  return escaped;
}

std::string ZshSpecs(const CommandEntry& entry) {
  std::string specs;
  for (const cli::OptionText& option : OptionsOf(entry)) {
    const std::string action =
        option.words.empty() ? "_files" : std::string("(").append(Joined(option.words)).append(")");
    const std::string type = ZshText(option.type.empty() ? " " : option.type.substr(0, option.type.find(':')));
    if (option.positional) {
      specs.append(" \\\n      '").append(option.repeatable ? "*" : "").append(":" + ZshText(option.names[0]));
      specs.append(":" + action + "'");
      continue;
    }
    for (const std::string& name : option.names) {
      specs.append(" \\\n      '").append(option.repeatable ? "*" : "").append(name + "[" + ZshText(option.text) + "]");
      if (!option.type.empty()) specs.append(":" + type + ":" + action);
      specs.append("'");
    }
  }
  return specs;
}

std::string ZshDescriptions(const std::string& family) {
  std::string list;
  for (const std::string& word : WordsAfter(family)) {
    const CommandEntry* entry = FindCommand(family.empty() ? word : family + " " + word);
    const std::string summary = entry == nullptr ? Joined(WordsAfter(word)) : entry->summary;
    list.append(" '").append(ZshText(word)).append(":").append(ZshText(summary)).append("'");
  }
  return list;
}

std::string Zsh() {
  std::string families, commands;
  for (const std::string& family : Families()) {
    families.append("    " + family + ")\n      if ((CURRENT == 3)); then\n        members=(" +
                    ZshDescriptions(family) +
                    ")\n        _describe command members\n        return\n      fi\n      name+=\" $words[3]\" "
                    "first=3 ;;\n");
  }
  for (const CommandEntry& entry : Commands()) {
    commands.append("    " + Alternatives(entry) + ")\n    _arguments" + ZshSpecs(entry) + " ;;\n");
  }
  return "#compdef " + Programs() +
         "\n# Completion of retrace for zsh: a file _retrace in a folder of $fpath, or source <(retrace completion "
         "zsh)\n"
         "_retrace() {\n  local name=${service:-${words[1]:t}} first=1\n  local -a members\n"
         "  if [[ $name == retrace ]]; then\n"
         "    if ((CURRENT == 2)); then\n      members=(" +
         ZshDescriptions("") +
         ")\n      _describe command members\n      return\n    fi\n"
         "    name=$words[2] first=2\n    case $name in\n" +
         families +
         "    esac\n  fi\n"
         "  shift $((first - 1)) words\n  ((CURRENT -= first - 1))\n"
         "  case $name in\n" +
         commands +
         "  esac\n}\n"
         "if [[ $funcstack[1] == _retrace ]]; then _retrace \"$@\"; else compdef _retrace " +
         Programs() + "; fi\n";
}

}  // namespace

Body Define(cli::Command& command) {
  const auto shell = std::make_shared<std::string>();
  command.Add("shell", *shell, "The shell").Required().OneOf({"bash", "zsh"});
  return [shell](const Call&) {
    std::fputs((*shell == "zsh" ? Zsh() : Bash()).c_str(), stdout);
    return 0;
  };
}

}  // namespace retrace::apps::completion_command
