#include "retrace/runs/inputs/character_input.h"

#include "retrace/retargeting/subject.h"
#include "retrace/runs/inputs/data_files.h"

namespace retrace::runs {

bool IsSubject(const std::string& character) {
  return character == character::kSubjectName;
}

std::filesystem::path CharacterFile(const std::string& name_or_file) {
  return FindCharacter(IsSubject(name_or_file) ? kSubjectModel : name_or_file);
}

character::Character CharacterFor(const std::string& name_or_file, const InputFile& file, const motion::Clip& clip,
                                  const std::string& clip_name, const character::ReferenceOptions& options,
                                  std::vector<std::string>& notes) {
  character::Character character = character::ParseCharacter(file.Parse(), file.record.name.path.string());
  return IsSubject(name_or_file) ? character::MakeSubject(character, clip, clip_name, options, notes) : character;
}

}  // namespace retrace::runs
