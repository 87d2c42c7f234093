#include "forecast/store/store_sample.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/text.h"

namespace piracema::ckpt {

namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;
constexpr double reserve = 0.05, margin = 4;

Error failed(const std::string& place) {
  return {Errc::io, with_errno(concat(place, ": cannot write a sample"))};
}

// Stores that compress or that keep what is equal once are not to be taken in by it.
class Noise {
 public:
  Noise() : piece_(piece_bytes / sizeof(std::uint64_t)) {
    for (auto& word : piece_) word = random_.next();
  }
  const void* next() {
    const std::uint64_t change = random_.next();
    for (auto& word : piece_) word ^= change;
    return piece_.data();
  }

 private:
  Random random_{static_cast<std::uint64_t>(now().count())};
  std::vector<std::uint64_t> piece_;
};

}  // namespace

Result<Fd> nameless_file(const std::string& place, const std::string& name) {
  Fd file(::open(place.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file) return file;
  const std::string path = concat(place, "/", name);
  file = Fd(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file || ::unlink(path.c_str()) != 0) return failed(place);
  return file;
}

bool has_room(double bytes, double free_bytes, double all_bytes) {
  return free_bytes >= margin * bytes && free_bytes >= reserve * all_bytes;
}

Result<bool> has_room(const std::string& place, std::uint64_t bytes) {
  struct statvfs room {};
  if (::statvfs(place.c_str(), &room) != 0) return failed(place);
  const double unit = static_cast<double>(room.f_frsize);
  return has_room(static_cast<double>(bytes), unit * static_cast<double>(room.f_bavail),
                  unit * static_cast<double>(room.f_blocks));
}

Result<double> write_sample(const std::string& place, const std::string& name, std::uint64_t bytes,
                            const std::function<bool()>& go_on) {
  const auto enough = has_room(place, bytes);
  if (!enough) return enough.error();
  if (!*enough) return Error{Errc::refused, concat(place, ": too little room for a sample")};
  const auto file = nameless_file(place, name);
  if (!file) return file.error();
  Noise noise;
  const Time begin = now();
  for (std::uint64_t written = 0; written < bytes;) {
    if (!go_on()) return Error{Errc::lost, "a sample is not wanted any more"};
    const auto piece = std::min<std::uint64_t>(piece_bytes, bytes - written);
    const ssize_t done = ::write(file->get(), noise.next(), piece);
    if (done <= 0) return failed(place);
    written += static_cast<std::uint64_t>(done);
  }
  if (::fsync(file->get()) != 0) return failed(place);
  return std::chrono::duration<double>(now() - begin).count();
}

}  // namespace piracema::ckpt
