/// make-body, and make_meshes, which makes what it needs, as a user meets them.
#include <nlohmann/json.hpp>

#include "apps/command_line.h"
#include "retrace/io/json.h"

namespace retrace::apps {
namespace {

const std::string kMakeMeshes = RETRACE_MAKE_MESHES;

using testing::HasSubstr;

const std::string kCharacters = std::string(RETRACE_SOURCE_DIR) + "/data/characters/";

class MakeBody : public CommandLine {
 protected:
  /// The slim body on a coarse grid, which takes less time.
  std::string Mesh() {
    EXPECT_EQ(Execute(kMakeMeshes + " --spacing 0.04 --output " + Path("meshes")).code, 0);
    return Path("meshes/slim.glb");
  }
};

TEST_F(MakeBody, MakesTheShippedBodies) {
  ASSERT_EQ(Execute(kMakeMeshes + " --output " + Path("meshes")).code, 0);
  for (const std::string body : {"slim", "medium", "heavy"}) {
    const Outcome outcome =
        Execute(kCharacterFromMesh + " " + Path("meshes/" + body + ".glb") + " --output " + Path(body + ".json"));
    ASSERT_EQ(outcome.code, 0) << outcome.text;
    EXPECT_THAT(outcome.text, HasSubstr("joints recognized by: HumanIK"));
    EXPECT_EQ(io::ReadFile(Path(body + ".json")), io::ReadFile(kCharacters + body + ".json"));
  }
}

TEST_F(MakeBody, TheCharacterPerforms) {
  const std::string file = Path("somebody.json");
  const Outcome made = Execute(kCharacterFromMesh + " " + Mesh() + " --mass 61.5 --name Somebody --output " + file);
  ASSERT_EQ(made.code, 0) << made.text;
  EXPECT_THAT(made.text, HasSubstr("mass    61.50 kg"));
  EXPECT_EQ(io::ReadJson(file)["name"], "Somebody");
  const Outcome run =
      Execute(kReconstruct + " " + std::string(RETRACE_SOURCE_DIR) +
              "/data/clips/walk.bvh --end 1 --method tracking --character " + file + " --output " + Path("run"));
  EXPECT_EQ(run.code, 0) << run.text;
  EXPECT_EQ(Execute(kReplay + " " + Path("run") + " --verify").code, 0);
}

TEST_F(MakeBody, RefusesWithWhatWasFound) {
  const std::string mesh = Mesh();
  const std::string output = " --output " + Path("body.json");
  const std::string text = Write("scene.gltf", "{}");
  const std::string map = Write("map.json", R"({"pelvis": "Hüfte"})");
  const std::string occupied = Write("occupied.json", "a file of somebody");
  const std::string bytes = io::ReadFile(mesh);
  const std::string cut = Write("cut.glb", bytes.substr(0, bytes.size() / 2));
  ExpectRefusals(kCharacterFromMesh,
                 {{"", 2, "mesh is required"},
                  {mesh, 2, "--output is required"},
                  {mesh + output + " --density 1", 2, "--density"},
                  {mesh + output + " --mass 0", 2, "--mass"},
                  {mesh + output + " --template nobody", 2, "nobody"},
                  {mesh + output + " --name '{'", 2, "--name"},
                  {Path("missing.glb") + output, 3, "missing.glb"},
                  {text + output, 3, "scene.gltf: found a text file, which may be glTF in JSON, expected a binary"},
                  {cut + output, 3, "as its header says"},
                  {mesh + output + " --map " + map, 3, "map.json: /pelvis"},
                  {mesh + " --output " + occupied, 2, "found another file"},
                  {mesh + output + " --template asimo", 3, "character \"asimo\": found no body pelvis"}});
  EXPECT_EQ(io::ReadFile(occupied), "a file of somebody");
}

TEST_F(MakeBody, MakeMeshesRefusesWithTheCodesOfTheHouse) {
  const std::string file = Write("file", "");
  ExpectRefusals(kMakeMeshes, {{"", 2, "make_meshes: --output is required"},
                               {"--arms 90 --output " + Path("m"), 2, "--arms"},
                               {"--spacing 0.04 --output " + file + "/below", 5, "make_meshes: "}});
}

}  // namespace
}  // namespace retrace::apps
