// Canvas::write_png, apart because libpng reports errors by longjmp: no object with a destructor may live between
// setjmp and the calls that can jump.
#include "cli/canvas.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace kith::cli {

namespace {

struct Image {
    int width;
    int height;
    png_bytepp rows;
    png_textp notes;
    int note_count;
};

/// In place of libpng's own, which would write to stderr.
[[noreturn]] void jump_back(png_structp png, png_const_charp /*text*/) {
    png_longjmp(png, 1);
}
void say_nothing(png_structp /*png*/, png_const_charp /*text*/) {}

/// True if all of it was written.
bool encode(std::FILE* file, const Image& image) {
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, jump_back, say_nothing);
    png_infop info = png != nullptr ? png_create_info_struct(png) : nullptr;
    if (info == nullptr || setjmp(png_jmpbuf(png)) != 0) {
        png_destroy_write_struct(&png, &info);
        return false;
    }
    png_init_io(png, file);
    png_set_IHDR(png, info, static_cast<png_uint_32>(image.width), static_cast<png_uint_32>(image.height), 8,
                 PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB_gAMA_and_cHRM(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_set_text(png, info, image.notes, image.note_count);
    png_write_info(png, info);
    png_write_image(png, image.rows);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return true;
}

} // namespace

void Canvas::write_png(const std::filesystem::path& path,
                       const std::vector<std::pair<std::string, std::string>>& notes) const {
    std::vector<png_byte> bytes;
    bytes.reserve(pixels_.size() * 3);
    for (const Color& color : pixels_) {
        for (const float channel : {color.red, color.green, color.blue}) {
            bytes.push_back(static_cast<png_byte>(std::lround(255 * std::clamp(channel, 0.0F, 1.0F))));
        }
    }
    std::vector<png_bytep> rows;
    rows.reserve(height_);
    for (int y = 0; y < height_; ++y) {
        rows.push_back(bytes.data() + static_cast<std::size_t>(y) * width_ * 3);
    }
    std::vector<std::pair<std::string, std::string>> texts = notes;
    std::vector<png_text> entries;
    for (auto& [key, value] : texts) {
        png_text entry = {};
        const bool is_ascii = std::all_of(value.begin(), value.end(), [](unsigned char c) { return c < 128; });
        entry.compression = is_ascii ? PNG_TEXT_COMPRESSION_NONE : PNG_ITXT_COMPRESSION_NONE; // which is UTF-8
        entry.key = key.data();
        entry.text = value.data();
        entry.text_length = value.size();
        entries.push_back(entry);
    }

    std::FILE* file = std::fopen(path.c_str(), "wb");
    bool complete = false;
    if (file != nullptr) {
        complete = encode(file, {width_, height_, rows.data(), entries.data(), static_cast<int>(entries.size())});
        complete = (std::fclose(file) == 0) && complete;
    }
    if (!complete) {
        throw Error(ErrorKind::file, fmt::format("the picture could not be written to '{}' ({}); check the space left "
                                                 "and the permissions there",
                                                 path.string(), std::strerror(errno)));
    }
}

} // namespace kith::cli
