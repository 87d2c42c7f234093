#pragma once

#include <piracema/error.h>

#include <memory>
#include <string>

namespace piracema::observe {

/// A file with the address of a job that is shown, for whoever wants to ask it something and did
/// not see what it said: for its owner alone, as the token is in it. Gone with this object.
class AddressFile {
 public:
  /// Takes the place of one that is there. Errc::io.
  static Result<std::unique_ptr<AddressFile>> write(const std::string& path,
                                                    const std::string& address);
  ~AddressFile();

 private:
  explicit AddressFile(std::string path) : path_(std::move(path)) {}
  const std::string path_;
};

}  // namespace piracema::observe
