/// Finds the symbols that a static library of the project must have under names of its own, so that what it computes
/// does not depend on the program that links it.
///
/// usage: own_names LIBRARY.a LIST NAME ...
///
/// Writes LIST for `objcopy --redefine-syms`, one "old new" a line:
///   NAME -> retrace_NAME     functions of the C library that the project replaces (retrace/math/elementary.h);
///   f    -> f.retrace        every inline function, template instance and table f of LIBRARY.a that uses one of those,
///                            directly or through others of its kind. Of several copies of such an f (a COMDAT group)
///                            the linker keeps the first, which may be that of the application, where it calls the C
///                            library. Under a name of its own the project's copy stays.
///
/// Reads ELF of 64 bits as the machine writes it. LIBRARY.a is not changed.
#include <elf.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

/// What may use something: a COMDAT group, which all objects share, or a section of one object.
struct Node {
  std::set<size_t> users;         // nodes that use this one
  std::set<std::string> symbols;  // global symbols that a COMDAT group defines, and its own name
  bool replaced = false;
};

class Graph {
 public:
  explicit Graph(std::set<std::string> functions) : functions_(std::move(functions)) {}

  void AddObject(std::string_view bytes);

  /// Symbols of all groups that use the functions, directly or through others.
  std::set<std::string> Replaced() {
    std::vector<size_t> waiting = callers_;
    std::set<std::string> result;
    while (!waiting.empty()) {
      Node& node = nodes_[waiting.back()];
      waiting.pop_back();
      if (node.replaced) continue;
      node.replaced = true;
      result.insert(node.symbols.begin(), node.symbols.end());
      waiting.insert(waiting.end(), node.users.begin(), node.users.end());
    }
    return result;
  }

 private:
  size_t NewNode() {
    nodes_.emplace_back();
    return nodes_.size() - 1;
  }

  std::set<std::string> functions_;
  std::vector<Node> nodes_;
  std::map<std::string, size_t> groups_;  // by signature
  std::vector<size_t> callers_;           // of the functions
};

template <typename T>
const T* At(std::string_view bytes, size_t offset, size_t count = 1) {
  if (offset > bytes.size() || count > (bytes.size() - offset) / sizeof(T)) throw std::runtime_error("cut off");
  return reinterpret_cast<const T*>(bytes.data() + offset);
}

void Graph::AddObject(std::string_view bytes) {
  const auto& header = *At<Elf64_Ehdr>(bytes, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) {
    throw std::runtime_error("an object that is not ELF of 64 bits (link-time optimization is not possible here)");
  }
  const size_t section_count = header.e_shnum != 0 ? header.e_shnum : At<Elf64_Shdr>(bytes, header.e_shoff)->sh_size;
  const Elf64_Shdr* sections = At<Elf64_Shdr>(bytes, header.e_shoff, section_count);
  const Elf64_Sym* symbols = nullptr;
  const Elf64_Word* wide_sections = nullptr;  // section of each symbol, where there are too many for st_shndx
  size_t symbol_count = 0;
  const char* names = nullptr;
  for (size_t s = 0; s < section_count; ++s) {
    if (sections[s].sh_type == SHT_SYMTAB) {
      symbol_count = sections[s].sh_size / sizeof(Elf64_Sym);
      symbols = At<Elf64_Sym>(bytes, sections[s].sh_offset, symbol_count);
      names = At<char>(bytes, sections[sections[s].sh_link].sh_offset);
    } else if (sections[s].sh_type == SHT_SYMTAB_SHNDX) {
      wide_sections = At<Elf64_Word>(bytes, sections[s].sh_offset);
    }
  }
  if (symbols == nullptr) return;
  const auto section_of = [&](size_t symbol) -> size_t {
    const size_t index = symbols[symbol].st_shndx;
    if (index == SHN_XINDEX && wide_sections != nullptr) return wide_sections[symbol];
    return index >= SHN_LORESERVE ? 0 : index;
  };

  // A node for every section: that of its group, or one of its own.
  constexpr size_t kNone = static_cast<size_t>(-1);
  std::vector<size_t> node_of(section_count, kNone);
  std::vector<bool> shared(section_count, false);
  for (size_t s = 0; s < section_count; ++s) {
    if (sections[s].sh_type != SHT_GROUP) continue;
    const size_t words = sections[s].sh_size / sizeof(Elf64_Word);
    const Elf64_Word* members = At<Elf64_Word>(bytes, sections[s].sh_offset, words);
    if (words == 0 || (members[0] & GRP_COMDAT) == 0) continue;
    const std::string signature = names + symbols[sections[s].sh_info].st_name;
    const auto [found, added] = groups_.try_emplace(signature, nodes_.size());
    if (added) nodes_[NewNode()].symbols.insert(signature);
    for (size_t i = 1; i < words; ++i) {
      node_of[members[i]] = found->second;
      shared[members[i]] = true;
    }
  }
  for (size_t s = 0; s < section_count; ++s) {
    if (node_of[s] == kNone) node_of[s] = NewNode();
  }
  for (size_t i = 0; i < symbol_count; ++i) {
    const size_t section = section_of(i);
    if (section == 0 || !shared[section] || ELF64_ST_BIND(symbols[i].st_info) == STB_LOCAL) continue;
    nodes_[node_of[section]].symbols.insert(names + symbols[i].st_name);
  }

  for (size_t s = 0; s < section_count; ++s) {
    if (sections[s].sh_type != SHT_RELA) continue;
    const size_t user_section = sections[s].sh_info;
    if ((sections[user_section].sh_flags & SHF_ALLOC) == 0) continue;  // for debuggers
    const size_t user = node_of[user_section];
    const size_t count = sections[s].sh_size / sizeof(Elf64_Rela);
    const Elf64_Rela* relocations = At<Elf64_Rela>(bytes, sections[s].sh_offset, count);
    for (size_t i = 0; i < count; ++i) {
      const size_t symbol = ELF64_R_SYM(relocations[i].r_info);
      const bool local = ELF64_ST_BIND(symbols[symbol].st_info) == STB_LOCAL;
      const size_t section = section_of(symbol);
      if (section == 0) {
        if (functions_.count(names + symbols[symbol].st_name) != 0) callers_.push_back(user);
      } else if ((local || shared[section]) && node_of[section] != user) {
        // What is global and no COMDAT is the project's by its name already.
        nodes_[node_of[section]].users.insert(user);
      }
    }
  }
}

size_t ReadSize(const char* digits, size_t width) {
  return static_cast<size_t>(std::strtoull(std::string(digits, width).c_str(), nullptr, 10));
}

/// Calls take(bytes) for every object of a library.
template <typename Take>
void ForEachObject(std::string_view library, Take take) {
  constexpr std::string_view kMagic = "!<arch>\n";
  if (library.substr(0, kMagic.size()) != kMagic) throw std::runtime_error("not a static library");
  for (size_t at = kMagic.size(); at < library.size();) {
    const char* header = At<char>(library, at, 60);
    const size_t size = ReadSize(header + 48, 10);
    if (header[0] != '/' || (header[1] >= '0' && header[1] <= '9')) {  // no table of symbols or of names
      // Copied, so that the tables are aligned.
      const std::vector<char> object(At<char>(library, at + 60, size), At<char>(library, at + 60, size) + size);
      take(std::string_view(object.data(), object.size()));
    }
    at += 60 + size + size % 2;
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) throw std::invalid_argument("usage: own_names LIBRARY.a LIST NAME ...");
  std::ifstream file(argv[1], std::ios::binary);
  if (!file) throw std::runtime_error("cannot be read");
  const std::string library{std::istreambuf_iterator<char>(file), {}};
  Graph graph({argv + 3, argv + argc});
  ForEachObject(library, [&](std::string_view object) { graph.AddObject(object); });
  std::ofstream list(argv[2]);
  for (int i = 3; i < argc; ++i) list << argv[i] << " retrace_" << argv[i] << "\n";
  for (const std::string& symbol : graph.Replaced()) list << symbol << " " << symbol << ".retrace\n";
  if (!list.flush()) throw std::runtime_error(std::string(argv[2]) + " cannot be written");
  return EXIT_SUCCESS;
} catch (const std::exception& error) {
  std::fprintf(stderr, "own_names: %s: %s\n", argc > 1 ? argv[1] : "", error.what());
  return EXIT_FAILURE;
}
