/// Draws pictures: perspective, soft light with shadows, forces as arrows. The processor does it alone, so that no
/// display and no graphics card is needed and every machine draws the same.
#pragma once

#include "retrace/rendering/image.h"
#include "retrace/rendering/picture.h"

namespace retrace::rendering {

/// @param sharpness samples of a pixel are its square
/// @param threads that draw, at least 1; the picture does not depend on their number
Image Draw(const Picture& picture, int width, int height, int threads = 1, int sharpness = 2);

}  // namespace retrace::rendering
