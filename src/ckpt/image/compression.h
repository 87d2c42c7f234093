#pragma once

#include <piracema/error.h>

#include <string>

/// The memory of an image in less room, by the program zstd. criu reads it as it wrote it, so that
/// it is expanded beside, for as long as a restart takes.
namespace piracema::ckpt {

/// Errc::config if there is no zstd.
Result<Done> find_zstd();

/// In the directory of an image's parts, before it is complete: `pages-*.img` become
/// `pages-*.img.zst`. Errc::config, Errc::io.
Result<Done> compress_pages(const std::string& parts);

/// What criu reads, where `compress_pages` was; else nothing is done. Errc::config, Errc::io.
Result<Done> expand_pages(const std::string& parts);
/// Takes that away again.
void drop_expanded_pages(const std::string& parts);

}  // namespace piracema::ckpt
