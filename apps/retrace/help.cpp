/// retrace help: all commands, or the options of one; manual pages for man(1).
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

#include "commands.h"
#include "overview.h"
#include "retrace/io/error.h"
#include "retrace/io/file.h"

namespace retrace::apps::help_command {
namespace {

struct Options {
  std::vector<std::string> command;
  bool man = false, links = false;
  std::string man_pages;
};

void AddOptions(cli::Command& command, Options& o) {
  command.Add("command", o.command, "The command [all]").Type("COMMAND");
  command.AddFlag("--man", o.man, "Print the manual page, as man takes it");
  command.Add("--man-pages", o.man_pages, "Write the manual pages of all commands into this folder").Type("DIR");
  command.AddFlag("--links", o.links, "List the names under which links to this program are a command each");
}

/// A page for each command, and one that leads to it for its name as a program.
void WriteManualPages(const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw OutputError(folder.string() + ": " + failure.message());
  io::WriteFile(folder / "retrace.1", ManualPageOfProgram());
  for (const CommandEntry& entry : Commands()) {
    io::WriteFile(folder / ("retrace-" + HyphenatedName(entry) + ".1"), ManualPage(entry));
  }
  io::WriteFile(folder / "reconstruct.1", ".so man1/retrace-reconstruct.1\n");
}

int Help(const Options& o) {
  if (!o.man_pages.empty()) {
    WriteManualPages(o.man_pages);
    return 0;
  }
  if (o.links) {
    for (const CommandEntry& entry : Commands()) {
      if (!entry.program_names.empty()) std::printf("%s\n", entry.program_names[0].c_str());
    }
    return 0;
  }
  std::string name;
  for (const std::string& word : o.command) name.append(name.empty() ? "" : " ").append(word);
  if (name.empty() || name == "retrace") {
    std::fputs((o.man ? ManualPageOfProgram() : Overview()).c_str(), stdout);
    return 0;
  }
  const CommandEntry* entry = FindCommand(name);
  if (entry == nullptr) RefuseCommand(o.command);
  if (o.man) {
    std::fputs(ManualPage(*entry).c_str(), stdout);
    return 0;
  }
  cli::Command command("retrace " + entry->name, entry->summary);
  entry->define(command);
  command.AddVersion("");
  std::fputs(command.Help().c_str(), stdout);
  return 0;
}

}  // namespace

Body Define(cli::Command& command) {
  const auto options = std::make_shared<Options>();
  AddOptions(command, *options);
  return [options](const Call&) { return Help(*options); };
}

}  // namespace retrace::apps::help_command
