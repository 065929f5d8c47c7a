#include "retrace/runs/stored/scene_files.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "retrace/control/control_file.h"
#include "retrace/io/describe.h"
#include "retrace/runs/stored/run_files.h"

namespace retrace::runs {

std::string NumberOf(const std::vector<character::Character>& characters, size_t character) {
  if (characters.size() == 1) return "";
  return ", character " + std::to_string(character + 1) + " (" + characters[character].name + ")";
}

void WriteMotions(results::RunFolder& folder, const std::vector<character::Character>& characters,
                  const simulation::WorldOptions& world, std::span<const CharacterMotion> motions,
                  const std::string& title) {
  std::vector<report::FilmedMotion> filmed;
  for (size_t c = 0; c < motions.size(); ++c) {
    const auto& [motion, reference] = motions[c];
    MotionWriter writer(folder, results::CharacterPrefix(c, motions.size()),
                        {characters[c], world, reference, title + NumberOf(characters, c), motion.num_steps()});
    writer.Add(motion);
    writer.Finish();
    filmed.push_back(writer.filmed());
  }
  if (filmed.size() > 1) WriteFilmStrip(folder, filmed, world, title);
}

void WriteScene(results::RunFolder& folder, const control::Scene& scene, std::span<const SceneCharacter> characters,
                const std::string& title) {
  control::WriteControl(scene, [&](std::string_view piece) { folder.Append(results::kControlFile, piece); });
  folder.FinishFiles();
  const control::Trajectory whole = control::Replay(scene);
  std::vector<control::Trajectory> parts;
  for (size_t c = 0; c < characters.size(); ++c) parts.push_back(control::TrajectoryOf(whole, scene.layout(), c));
  std::vector<CharacterMotion> motions;
  for (size_t c = 0; c < characters.size(); ++c) motions.push_back({parts[c], characters[c].reference});
  WriteMotions(folder, scene.characters, scene.world, motions, title);
}

io::Json CharactersMember(const control::Scene& scene, std::span<const SceneCharacter> characters) {
  io::Json list = io::Json::array();
  for (size_t c = 0; c < characters.size(); ++c) {
    const SceneCharacter& character = characters[c];
    std::string folder = results::CharacterPrefix(c, characters.size());
    folder.pop_back();
    list.push_back({{"name", scene.characters[c].name},
                    {"folder", folder},
                    {"run", character.source},
                    {"control_sha256", character.control_sha256},
                    {"heading", 0},
                    {"offset", io::ToJson(Vec3::Zero())},
                    {"gates", io::Write(character.gates)},
                    {"reference", character.reference_text},
                    {"evaluation", character.evaluation.ToJson()}});
  }
  return list;
}

}  // namespace retrace::runs
