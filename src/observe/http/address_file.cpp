#include "observe/http/address_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "base/fd.h"
#include "base/text.h"

namespace piracema::observe {

// Whoever reads it sees one that is whole.
Result<std::unique_ptr<AddressFile>> AddressFile::write(const std::string& path,
                                                        const std::string& address) {
  const std::string next = concat(path, ".", ::getpid());
  const std::string line = address + "\n";
  ::unlink(next.c_str());
  const Fd file(::open(next.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  const bool is_there =
      file && ::write(file.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
      ::rename(next.c_str(), path.c_str()) == 0;
  if (is_there) return std::unique_ptr<AddressFile>(new AddressFile(path));
  const Error failed{Errc::io, with_errno(concat("cannot write the address into '", path, "'"))};
  ::unlink(next.c_str());
  return failed;
}

AddressFile::~AddressFile() { ::unlink(path_.c_str()); }

}  // namespace piracema::observe
