#include "ckpt/hosts/job_program.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"

namespace piracema::ckpt {

std::string job_program(const JobDirectory& directory) {
  return directory.path() + "/bin/piracema";
}

Result<Done> copy_job_program(const JobDirectory& directory, const std::string& program) {
  // The remote shell's other end reads it as a word.
  if (directory.path().find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                         "0123456789/._-+=,@") != std::string::npos) {
    return Error{Errc::config, concat(directory.path(), ": for several hosts, want a directory ",
                                      "whose name a shell reads as it is")};
  }
  const std::string path = job_program(directory), place = directory.path() + "/bin";
  const auto failed = [](const std::string& what) { return Error{Errc::io, with_errno(what)}; };
  if (::mkdir(place.c_str(), 0700) != 0 && errno != EEXIST) return failed(place);
  // A host that was given up may still run the old one.
  ::unlink(path.c_str());
  const Fd from(::open(program.c_str(), O_RDONLY | O_CLOEXEC));
  const Fd to(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755));
  struct stat status {};
  if (!from || ::fstat(from.get(), &status) != 0) return failed(program);
  if (!to) return failed(path);
  for (off_t at = 0; at < status.st_size;) {
    if (::sendfile(to.get(), from.get(), &at, static_cast<std::size_t>(status.st_size - at)) <= 0) {
      return failed(path);
    }
  }
  if (::fsync(to.get()) != 0) return failed(path);
  return Done{};
}

}  // namespace piracema::ckpt
