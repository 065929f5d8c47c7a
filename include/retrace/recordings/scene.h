/// Animated scenes: FBX, glTF (GLB) and Collada files, whatever tool wrote them.
///
/// A file is read by Assimp, in a process of its own: what a broken file does to a library that reads a dozen formats
/// ends with that process.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "retrace/math/types.h"
#include "retrace/motion/clip.h"
#include "retrace/recordings/choice.h"

namespace retrace::recordings {

using Mat4 = Eigen::Matrix<double, 4, 4, Eigen::DontAlign>;

/// What is used of a file: a tree of nodes, and animations of their positions. y is up.
struct Scene {
  /// A position in its parent's frame; parents come before children, and the root's parent is -1.
  struct Node {
    std::string name;
    int parent = -1;
    Mat4 place = Mat4::Identity();  ///< where no animation moves it
    bool has_mesh = false;
    /// The node that carries a skin of which this one is a bone; -1: it is none.
    int skin = -1;
    /// Where the bone was when the skin was bound to it: from the frame of the skin's vertices to the bone's.
    Mat4 bind = Mat4::Identity();

    bool bone() const { return skin >= 0; }
  };
  template <typename Value>
  struct Key {
    double time = 0;  ///< [s]
    Value value;
  };
  /// What moves one node: it is turned, then moved, in its parent's frame. Empty lists: that part does not move.
  struct Channel {
    int node = 0;
    std::vector<Key<Vec3>> positions;
    std::vector<Key<Quat>> rotations;
    std::vector<Key<Vec3>> scales;
  };
  struct Animation {
    std::string name;
    double rate = 0;  ///< frames per second where the format states them, else 0
    std::vector<Channel> channels;
  };

  std::vector<Node> nodes;
  std::vector<Animation> animations;
  double unit = 0;  ///< meters per unit of length where the file states it, else 0
};

/// The scene in the bytes of a file. `name` stands for it in messages, and its ending tells the format.
/// @param beside bytes of the files that a .gltf file names, by those names
/// Throws InputError for what is no such file.
Scene ReadScene(std::string_view bytes, const std::string& name,
                const std::map<std::string, std::string_view>& beside = {});

/// The motion of a skeleton of a scene. The joints are the bones of skins, what lies between them and what hangs on
/// them; without skins, the animated nodes. Nodes that Assimp makes of the pivots of FBX become part of their joint. At
/// rest they are where the skin was bound, or where nothing is animated. Frames are evenly spaced, at the rate of the
/// file or else at that of its keys; between keys positions and scales are mixed, and rotations along the shorter arc.
/// Scales count in places, and are left out of rotations. Throws InputError where there is no motion, and UsageError
/// where what is chosen is not there: a performer is the name of the root joint of a skeleton, or of a node above it,
/// by default that of the largest skeleton; an animation by default the first that moves it.
motion::Clip ClipOfScene(const Scene& scene, const std::string& name, const Choice& choice = {});

}  // namespace retrace::recordings
