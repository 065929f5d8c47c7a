#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>

#include "cli/program.h"
#include "commands.h"
#include "overview.h"
#include "retrace/io/error.h"
#include "retrace/io/nearest_words.h"
#include "retrace/parallel/task_farm.h"
#include "retrace/results/provenance.h"

namespace retrace::apps {
namespace {

const char* const kProgram = "retrace";

/// @param name what the messages of the command begin with
/// @param arguments its options
int RunCommand(const CommandEntry& entry, const std::string& name, const std::vector<std::string>& arguments, int argc,
               char** argv) {
  Call call{name, cli::CommandLine(argc, argv)};
  std::optional<parallel::MpiSession> mpi;
  if (entry.runs_under_mpi) {
    const int failure = cli::RunProgram(name, true, [&] { return mpi.emplace(&argc, &argv), 0; });
    if (!mpi) return failure;
    call.mpi = &*mpi;
  }
  const bool prints = !mpi || mpi->rank() == 0;
  cli::Command command(name, entry.summary);
  const Body body = entry.define(command);
  command.AddVersion(name + " " + results::Version());
  int exit_code = 0;
  if (!command.Parse(arguments, prints, exit_code)) return exit_code;
  return cli::RunProgram(name, prints, [&] { return body(call); });
}

/// The first words of commands of two words.
bool IsFamily(const std::string& word) {
  for (const CommandEntry& entry : Commands()) {
    if (entry.name.starts_with(word + " ")) return true;
  }
  return false;
}

/// What may have been meant by words that name no command.
std::string MeantBy(const std::string& word, const std::string& next) {
  std::vector<std::string> names, words;
  for (const CommandEntry& entry : Commands()) {
    names.push_back(entry.name);
    words.push_back(entry.name);
    const size_t blank = entry.name.find(' ');
    if (blank == std::string::npos) continue;
    const std::string family = entry.name.substr(0, blank);
    if (words.size() < 2 || words[words.size() - 2] != family) words.insert(words.end() - 1, family);
    words.push_back(entry.name.substr(blank + 1));  // alone, it stands for the whole
  }
  std::string meant = next.empty() ? "" : io::DidYouMean(word + " " + next, names);
  if (meant.empty()) {
    std::vector<std::string> nearest;
    std::set<std::string> seen;
    for (const std::string& found : io::NearestWords(word, words)) {
      std::string whole = found;
      for (const CommandEntry& entry : Commands()) {
        if (entry.name.ends_with(" " + found)) whole = entry.name;
      }
      if (seen.insert(whole).second) nearest.push_back(whole);
    }
    if (!nearest.empty()) return io::DidYouMean(nearest.front(), nearest);
  }
  return meant;
}

}  // namespace

void RefuseCommand(const std::vector<std::string>& arguments) {
  const std::string& word = arguments[0];
  const std::string next = arguments.size() > 1 && !arguments[1].starts_with("-") ? arguments[1] : "";
  std::string found = word;
  if (IsFamily(word)) {
    std::string list;
    std::vector<std::string> members;
    for (const CommandEntry& entry : Commands()) {
      if (entry.name.starts_with(word + " ")) members.push_back(entry.name);
    }
    for (const std::string& member : members) list.append(list.empty() ? "" : ", ").append(member);
    if (!next.empty()) found.append(" ").append(next);
    const std::string meant = next.empty() ? "" : io::DidYouMean(found, members);
    throw UsageError("found the command \"" + found + "\"" +
                     (meant.empty() ? ", expected" : ", " + meant + " Expected") + " one of " + list);
  }
  const bool option = word.starts_with("-");
  const std::string meant = option ? io::DidYouMean(word, {"--help", "--list", "--version"}) : MeantBy(word, next);
  throw UsageError(std::string("found ") + (option ? "" : "the command ") + "\"" + word + "\", " +
                   (meant.empty() ? "expected" : meant + " Expected") + " a command: retrace --list lists them");
}

namespace {

int RunTopLevel(const std::vector<std::string>& arguments) {
  return cli::RunProgram(kProgram, true, [&] {
    if (arguments.empty()) throw UsageError("a command is needed: retrace --help shows them");
    const std::string& word = arguments[0];
    if (word == "--help" || word == "-h") {
      std::fputs(Overview().c_str(), stdout);
    } else if (word == "--list") {
      std::fputs(CommandList().c_str(), stdout);
    } else if (word == "--version") {
      std::printf("%s %s\n", kProgram, results::Version().c_str());
    } else if (IsFamily(word) && arguments.size() > 1 && (arguments[1] == "--help" || arguments[1] == "-h")) {
      std::fputs(Overview(word).c_str(), stdout);
    } else {
      RefuseCommand(arguments);
    }
    return 0;
  });
}

}  // namespace

int Dispatch(int argc, char** argv) {
  cli::PrepareProcess(kProgram);
  std::vector<std::string> arguments = cli::Arguments(argc, argv);
  const std::string program = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : kProgram;
  if (program != kProgram) {
    if (const CommandEntry* entry = FindCommand(program)) return RunCommand(*entry, program, arguments, argc, argv);
  }
  for (size_t words = std::min<size_t>(2, arguments.size()); words > 0; --words) {
    const CommandEntry* entry = FindCommand(words == 2 ? arguments[0] + " " + arguments[1] : arguments[0]);
    if (entry == nullptr) continue;
    arguments.erase(arguments.begin(), arguments.begin() + static_cast<long>(words));
    return RunCommand(*entry, std::string(kProgram) + " " + entry->name, arguments, argc, argv);
  }
  return RunTopLevel(arguments);
}

}  // namespace retrace::apps
