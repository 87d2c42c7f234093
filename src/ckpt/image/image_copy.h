#pragma once

#include <piracema/error.h>

#include <string>
#include <vector>

#include "ckpt/image/job_directory.h"
#include "ckpt/image/manifest.h"
#include "store/disk/files.h"

namespace piracema::ckpt {

/// The parts of an image, from one directory into another one that is empty; synced, and read as
/// the manifest says. What is written is synced piece by piece, so that whoever ends this process
/// does not wait for a store. Errc::corrupt for a part that is not what the manifest says,
/// Errc::io.
Result<Done> copy_image(const std::string& from, const std::string& to, const Manifest& manifest);

/// A part of an image, to be read. Errc::corrupt if it has another size, Errc::io.
Result<store::ReadableFile> open_part(const std::string& from, const ImagePart& part);
/// By its file, whose name has the number of the image. Errc::corrupt, Errc::io.
Result<Manifest> read_manifest(const std::string& path);

/// A copy (JobDirectory::make_copy_place) becomes the image that it is of. Errc::io.
Result<Done> adopt_copy(JobDirectory& directory, const Manifest& manifest);

/// This process copies for the keeper with that number, and ends with it; the job comes first.
/// Whether it is still there.
bool end_with_keeper(const std::string& keeper);

/// The words of a program's `run_copy`, which does it in a process of its own.
std::vector<std::string> copy_command(const std::string& program, const std::string& from,
                                      const std::string& to, const std::string& manifest);

/// `words` are those behind `copy_command`'s first ones: the exit code. What went wrong is a line
/// of standard output. It ends with the process that has started it.
int run_copy(const std::vector<std::string>& words);

}  // namespace piracema::ckpt
