#include "overview.h"

#include <algorithm>

#include "retrace/results/provenance.h"

namespace retrace::apps {
namespace {

std::string Padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

size_t LongestName() {
  size_t longest = 0;
  for (const CommandEntry& entry : Commands()) longest = std::max(longest, entry.name.size());
  return longest;
}

/// Groups in the order of their first commands.
std::vector<std::string> Groups() {
  std::vector<std::string> groups;
  for (const CommandEntry& entry : Commands()) {
    if (std::count(groups.begin(), groups.end(), entry.group) == 0) groups.push_back(entry.group);
  }
  return groups;
}

/// Text as troff takes it, which reads backslashes, hyphens, and dots and quotation marks at the beginning of a line.
std::string Troff(const std::string& text) {
  std::string troff;
  for (const char c : text) {
    if (troff.empty() && (c == '.' || c == '\'')) troff.append("\\&");
    if (c == '\\') {
      troff.append("\\e");
    } else if (c == '-') {
      troff.append("\\-");
    } else {
      troff.push_back(c);
    }
  }
  return troff;
}

std::string Bold(const std::string& text) {
  return "\\fB" + Troff(text) + "\\fR";
}

/// @param upper_name of the page
std::string PageHead(std::string name, const std::string& summary) {
  const std::string title = name;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  std::string version = results::Version();
  version = version.substr(0, version.find(' '));
  std::string brief = summary;
  if (brief.ends_with('.')) brief.pop_back();
  return ".TH \"" + Troff(name) + "\" 1 \"\" \"retrace " + Troff(version) + "\" \"Retrace\"\n.SH NAME\n" +
         Troff(title) + " \\- " + Troff(brief) + "\n";
}

std::string ExitStatus() {
  return ".SH EXIT STATUS\n"
         ".TP\n0\nSuccess.\n.TP\n1\nAn internal error.\n.TP\n2\nA mistake in the options or the configuration.\n"
         ".TP\n3\nA file that cannot be used as it is.\n.TP\n4\nA result below the tolerances.\n"
         ".TP\n5\nResults that cannot be written.\n.TP\n75\nStopped on request, with a checkpoint.\n";
}

std::string OptionItem(const cli::OptionText& option) {
  std::string item = ".TP\n";
  for (const std::string& name : option.names) {
    item.append(item.ends_with('\n') ? "" : ", ").append(Bold(name));
  }
  std::string type = option.type.substr(0, option.type.find(':'));
  for (const std::string& word : option.words) {
    if (&word == &option.words.front()) type.clear();
    type.append(type.empty() ? "" : "|").append(word);
  }
  if (!type.empty() && !option.positional) item.append(" \\fI").append(Troff(type)).append("\\fR");
  item.append("\n").append(Troff(option.text)).append(option.required ? ". Required" : "");
  if (!option.default_text.empty()) item.append(" [").append(Troff(option.default_text)).append("]");
  return item.append(".\n");
}

}  // namespace

std::string Overview(const std::string& family) {
  std::string text =
      "Retrace finds the physical control and the forces behind recorded motion, and replays them in a simulation.\n";
  text.append("Usage: retrace ").append(family.empty() ? "COMMAND" : family + " COMMAND").append(" [OPTIONS]\n");
  for (const std::string& group : Groups()) {
    std::string lines;
    for (const CommandEntry& entry : Commands()) {
      if (entry.group != group || (!family.empty() && !entry.name.starts_with(family + " "))) continue;
      lines.append("  ").append(Padded(entry.name, LongestName() + 2)).append(entry.summary).append("\n");
    }
    if (!lines.empty()) text.append("\n").append(group).append(":\n").append(lines);
  }
  return text.append(
      "\nretrace COMMAND --help shows the options of a command. retrace --list lists the commands, retrace --version\n"
      "prints the version. `reconstruct` is a program of its own, too.\n");
}

std::string CommandList() {
  std::string text;
  for (const CommandEntry& entry : Commands()) {
    text.append(Padded(entry.name, LongestName() + 2)).append(entry.summary).append("\n");
  }
  return text;
}

std::string ManualPage(const CommandEntry& entry) {
  const std::vector<cli::OptionText> options = OptionsOf(entry);
  std::string page = PageHead("retrace-" + HyphenatedName(entry), entry.summary);
  page.append(".SH SYNOPSIS\n").append(Bold("retrace " + entry.name)).append(" [\\fIOPTIONS\\fR]");
  for (const cli::OptionText& option : options) {
    if (!option.positional) continue;
    page.append(option.required ? " " : " [")
        .append("\\fI" + Troff(option.names[0]) + "\\fR")
        .append(option.repeatable ? "..." : "")
        .append(option.required ? "" : "]");
  }
  page.append("\n.SH DESCRIPTION\n").append(Troff(entry.summary)).append("\n");
  if (!entry.program_names.empty()) {
    page.append(".PP\nAs a program of its own it is called ").append(Bold(entry.program_names[0])).append(".\n");
  }
  std::string group;
  page.append(".SH OPTIONS\n");
  for (const cli::OptionText& option : options) {
    if (option.group != group && option.group != "Options") page.append(".SS \"" + Troff(option.group) + "\"\n");
    group = option.group;
    page.append(OptionItem(option));
  }
  return page.append(ExitStatus()).append(".SH SEE ALSO\n.BR retrace (1)\n");
}

std::string ManualPageOfProgram() {
  std::string page = PageHead("retrace", "recorded motion in, its physical control out");
  page.append(".SH SYNOPSIS\n.B retrace\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n");
  page.append(
      "Each command has a page of its own, such as\n.BR retrace\\-reconstruct (1),\nand shows its options with\n");
  page.append(Bold("--help")).append(".\n");
  for (const std::string& group : Groups()) {
    page.append(".SS \"" + group + "\"\n");
    for (const CommandEntry& entry : Commands()) {
      if (entry.group == group) page.append(".TP\n" + Bold(entry.name) + "\n" + Troff(entry.summary) + "\n");
    }
  }
  return page.append(ExitStatus());
}

}  // namespace retrace::apps
