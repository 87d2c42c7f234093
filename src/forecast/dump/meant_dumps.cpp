#include "forecast/dump/meant_dumps.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <memory>
#include <set>
#include <string_view>

#include "base/fd.h"
#include "base/text.h"
#include "store/disk/files.h"
#include "store/document.h"

namespace piracema::ckpt {

namespace {

constexpr const char* writer_format = "piracema writer";
constexpr std::string_view prefix = "writer-";
constexpr std::size_t text_bytes_max = 4096;
/// One that has not said so again for as long has gone.
constexpr time_t stale_seconds = 30;

}  // namespace

MeantDumps::MeantDumps(const std::string& place, const std::string& host)
    : place_(place), name_(concat(prefix, host, ".", ::getpid())) {}

void MeantDumps::say(double from, double to, double bytes) {
  from_ = from;
  to_ = to;
  const std::string text = seal(writer_format, {{"from", from}, {"to", to}, {"bytes", bytes}});
  const Fd file(::open(concat(place_, "/", name_).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  // Whoever reads half of it takes it for nothing, this once.
  if (::pwrite(file.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size())) {
    (void)!::ftruncate(file.get(), static_cast<off_t>(text.size()));
  }
}

void MeantDumps::take_back() const { ::unlink(concat(place_, "/", name_).c_str()); }

double MeantDumps::bytes_that_meet_us(const std::string& path) const {
  double bytes = -1;
  const auto text = store::read_file(path, text_bytes_max);
  if (!text) return bytes;
  const auto read = read_document(path, writer_format, *text, [&](const nlohmann::json& content) {
    const auto from = member(content, "from").get<double>(),
               to = member(content, "to").get<double>(),
               brings = member(content, "bytes").get<double>();
    if (from < to_ && from_ < to) bytes = std::isfinite(brings) && brings > 0 ? brings : 0;
  });
  return read.ok() ? bytes : -1;
}

MeantDumps::Others MeantDumps::others() const {
  Others others;
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(place_.c_str()), ::closedir);
  if (!directory) return others;
  struct stat mine {
  }, other{};
  // By the clock of the store, whatever those of the hosts show.
  if (::stat(concat(place_, "/", name_).c_str(), &mine) != 0) return others;
  std::set<std::string> hosts;
  while (const dirent* entry = ::readdir(directory.get())) {
    const std::string name = entry->d_name, path = concat(place_, "/", name);
    if (!name.starts_with(prefix) || name == name_) continue;
    if (::stat(path.c_str(), &other) != 0) continue;
    if (other.st_mtime + stale_seconds < mine.st_mtime) {
      if (other.st_mtime + 100 * stale_seconds < mine.st_mtime) ::unlink(path.c_str());
      continue;
    }
    const double bytes = bytes_that_meet_us(path);
    if (bytes < 0) continue;
    others.writers += 1;
    others.bytes += bytes;
    hosts.insert(name.substr(prefix.size(), name.rfind('.') - prefix.size()));
  }
  others.hosts = static_cast<std::uint32_t>(hosts.size());
  return others;
}

}  // namespace piracema::ckpt
