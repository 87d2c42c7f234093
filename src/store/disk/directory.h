#pragma once

#include <piracema/error.h>

#include <functional>
#include <string>
#include <string_view>

/// Names in directories. Safe from any thread and process. Errors are Errc::io with the system's
/// reason, and name the path.
namespace piracema::store {

/// Calls `visit` for each name but "." and "..", until it returns false.
Result<Done> each_name(const std::string& path, const std::function<bool(std::string_view)>& visit);

/// Whether something has that name, be it a symbolic link that leads nowhere.
Result<bool> exists(const std::string& path);

/// Its parent exists. Something that has the name is left alone.
Result<Done> make_directory(const std::string& path);

/// A file's, if it is there.
Result<Done> remove_name(const std::string& path);

}  // namespace piracema::store
