/// Writing and reading back gives the same motion, for random trees and poses, gimbal lock and moving joints included.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "recordings/motion_laws.h"
#include "recordings/random_clip.h"
#include "retrace/recordings/asf_amc.h"
#include "retrace/recordings/bvh.h"

namespace retrace::motion {
namespace {

Clip AnyClip() {
  const auto seed = *rc::gen::arbitrary<uint64_t>().as("seed");
  const auto joint_count = *rc::gen::inRange(2, 24).as("joints");
  return laws::RandomClip(seed, joint_count, *rc::gen::arbitrary<bool>().as("root named root"));
}

RC_GTEST_PROP(RoundTrip, Bvh, ()) {
  const Clip clip = AnyClip();
  const Clip again = ParseBvh(FormatBvh(clip), "clip.bvh");
  RC_ASSERT(laws::Difference(clip, again) == "");
  RC_ASSERT(again.skeleton.joints.size() == clip.skeleton.joints.size());
}

RC_GTEST_PROP(RoundTrip, BvhKeepsLengthsToTheBit, ()) {
  const Clip again = ParseBvh(FormatBvh(AnyClip()), "clip.bvh");
  const Clip third = ParseBvh(FormatBvh(again), "clip.bvh");
  for (size_t j = 0; j < again.skeleton.joints.size(); ++j) {
    RC_ASSERT(third.skeleton.joints[j].name == again.skeleton.joints[j].name);
    RC_ASSERT(third.skeleton.joints[j].offset == again.skeleton.joints[j].offset);
    RC_ASSERT(third.frames[0].translations[j] == again.frames[0].translations[j]);
  }
}

RC_GTEST_PROP(RoundTrip, AsfAmc, ()) {
  Clip clip = AnyClip();
  const double units[] = {0, 0.0254 / 0.45, 1};
  clip.unit = units[*rc::gen::inRange(0, 3)];
  const Clip again = ParseAsfAmc(FormatAsf(clip), "clip.asf", FormatAmc(clip), "clip.amc");
  RC_ASSERT(laws::Difference(clip, again, [](std::string name) {
              std::replace(name.begin(), name.end(), ' ', '_');
              return name;
            }) == "");
}

}  // namespace
}  // namespace retrace::motion
