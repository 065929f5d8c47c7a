#include "retrace/runs/inputs/character_input.h"

#include "retrace/retargeting/subject.h"
#include "retrace/robots/read_robot.h"
#include "retrace/robots/robot_character.h"
#include "retrace/runs/inputs/data_files.h"

namespace retrace::runs {

bool IsSubject(const std::string& character) {
  return character == character::kSubjectName;
}

std::filesystem::path CharacterFile(const std::string& name_or_file) {
  return FindCharacter(IsSubject(name_or_file) ? kSubjectModel : name_or_file);
}

character::Character ParseCharacterFile(const InputFile& file, std::vector<std::string>* notes) {
  const std::filesystem::path& path = file.record.name.path;
  if (!robots::LooksLikeXml(file.bytes)) return character::ParseCharacter(file.Parse(), path.string());
  robots::RobotCharacter made = robots::MakeRobotCharacter(robots::ReadRobot(file.bytes, path), path.string());
  if (notes != nullptr) notes->insert(notes->end(), made.notes.begin(), made.notes.end());
  return std::move(made.character);
}

character::Character CharacterFor(const std::string& name_or_file, const InputFile& file, const motion::Clip& clip,
                                  const std::string& clip_name, const character::ReferenceOptions& options,
                                  std::vector<std::string>& notes) {
  character::Character character = ParseCharacterFile(file, &notes);
  return IsSubject(name_or_file) ? character::MakeSubject(character, clip, clip_name, options, notes) : character;
}

}  // namespace retrace::runs
