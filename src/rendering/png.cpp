#include <png.h>

#include <cstring>

#include "retrace/io/error.h"
#include "retrace/rendering/image.h"

namespace retrace::rendering {

void Paste(const Image& from, int x, int y, Image& onto) {
  for (int row = 0; row < from.height; ++row) {
    std::memcpy(onto.Row(y + row) + 3 * static_cast<size_t>(x), from.Row(row), 3 * static_cast<size_t>(from.width));
  }
}

std::string EncodePng(const Image& image) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = 0;
  std::string bytes;
  if (png_image_write_to_memory(&header, nullptr, &size, 0, image.pixels.data(), 0, nullptr) != 0) {
    bytes.resize(size);
    if (png_image_write_to_memory(&header, bytes.data(), &size, 0, image.pixels.data(), 0, nullptr) != 0) return bytes;
  }
  throw OutputError(std::string("the picture cannot be made: ") + header.message);
}

}  // namespace retrace::rendering
