/// Which law holds where two things of a world touch.
#pragma once

#include <vector>

#include "retrace/simulation/world_options.h"
#include "step.h"

namespace retrace::simulation {

/// Things that have a material of their own, for the laws of contacts: the character, the ground, the boxes, the height
/// field (counted whether there is one or not), the free bodies.
class ContactLaws {
 public:
  static constexpr int kCharacter = 0;
  static constexpr int kGround = 1;
  int OwnerOfBox(size_t box) const { return 2 + static_cast<int>(box); }
  int OwnerOfHeightField() const { return 2 + static_cast<int>(boxes_); }
  int OwnerOfFreeBody(size_t body) const { return 3 + static_cast<int>(boxes_ + body); }

  /// `plain` is the law of things without one of their own.
  ContactLaws(const WorldOptions& options, const ContactLaw& plain);

  /// Index of the law as StepLaw::Contact takes it.
  int Of(int owner, int other) const {
    return table_[static_cast<size_t>(owner) * owners_ + static_cast<size_t>(other)];
  }
  /// The laws from index 1 on.
  const std::vector<ContactLaw>& others() const { return others_; }

 private:
  size_t boxes_;
  size_t owners_ = 0;
  std::vector<int> table_;  // (owners x owners)
  std::vector<ContactLaw> others_;
};

}  // namespace retrace::simulation
