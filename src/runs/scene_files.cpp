#include "scene_files.h"

#include <string_view>

#include "retrace/control/control_file.h"
#include "retrace/io/describe.h"
#include "retrace/runs/run_files.h"

namespace retrace::runs {

void WriteScene(results::RunFolder& folder, const control::Scene& scene, std::span<const SceneCharacter> characters,
                const std::string& title) {
  control::WriteControl(scene, [&](std::string_view piece) { folder.Append(results::kControlFile, piece); });
  folder.FinishFiles();
  const size_t count = scene.characters.size();
  const control::Trajectory whole = control::Replay(scene);
  std::vector<report::FilmedMotion> filmed;
  for (size_t c = 0; c < count; ++c) {
    const std::string number = ", character " + std::to_string(c + 1) + " (" + scene.characters[c].name + ")";
    MotionWriter writer(folder, results::CharacterPrefix(c, count),
                        {scene.characters[c], scene.world, characters[c].reference, title + number, whole.num_steps()});
    writer.Add(control::TrajectoryOf(whole, scene.layout(), c));
    writer.Finish();
    filmed.push_back(writer.filmed());
  }
  WriteFilmStrip(folder, filmed, scene.world, title);
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
