/// Pixels of a finished picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace retrace::rendering {

/// Rows from the top, pixels from the left, three bytes each: red, green, blue as a screen shows them (sRGB).
struct Image {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> pixels;

  Image() = default;
  Image(int w, int h) : width(w), height(h), pixels(3 * static_cast<size_t>(w) * static_cast<size_t>(h)) {}
  uint8_t* Row(int y) { return pixels.data() + 3 * static_cast<size_t>(y) * static_cast<size_t>(width); }
  const uint8_t* Row(int y) const { return pixels.data() + 3 * static_cast<size_t>(y) * static_cast<size_t>(width); }
};

/// Copies an image into another one, which holds it whole, with its upper left corner at a pixel.
void Paste(const Image& from, int x, int y, Image& onto);

/// Bytes of a PNG file. Throws OutputError when it cannot be made.
std::string EncodePng(const Image& image);

/// Writes a line of text with strokes of its own: letters, digits and . , : - + / ( ) %; what else there is leaves a
/// gap.
/// @param x, y of the lower left corner of the first letter [px]
/// @param size height of a capital letter [px]
/// @param color red, green, blue, 0 to 255
/// @return the width of the text [px]
double DrawText(Image& image, const std::string& text, double x, double y, double size, const uint8_t (&color)[3]);
double WidthOfText(const std::string& text, double size);

}  // namespace retrace::rendering
