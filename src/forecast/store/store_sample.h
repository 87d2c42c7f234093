#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <functional>
#include <string>

#include "base/fd.h"

/// A bounded piece written to a store as a dump is: how the store fares today, among all who use
/// it.
namespace piracema::ckpt {

/// A file of the directory `place` that has no name, so that nothing is left of it when whoever
/// writes it is killed; where file systems have none such it is `name` for an instant. Errc::io.
Result<Fd> nameless_file(const std::string& place, const std::string& name);

/// Whether so many bytes, written for a moment, leave a file system its reserve: four times as many
/// and a twentieth of it are free.
bool has_room(double bytes, double free_bytes, double all_bytes);
/// The same of the file system of a directory. Errc::io.
Result<bool> has_room(const std::string& place, std::uint64_t bytes);

/// Writes `bytes` to a nameless file of `place` and syncs it: the seconds until they were safe. In
/// pieces, before each of which `go_on` is asked. Waits as long as the store does. Errc::refused
/// for a store that is nearly full, Errc::lost if it was not to go on, Errc::io.
Result<double> write_sample(const std::string& place, const std::string& name, std::uint64_t bytes,
                            const std::function<bool()>& go_on);

}  // namespace piracema::ckpt
