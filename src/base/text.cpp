#include "base/text.h"

#include <sys/resource.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/hint.h"

namespace piracema {

namespace {

std::string with_unit(double value, const char* unit) {
  char text[48];
  const int digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  std::snprintf(text, sizeof text, "%.*f %s", digits, value, unit);
  return text;
}

// What somebody who runs the program can do about it.
std::string_view hint_for(int number) {
  switch (number) {
    case ENOSPC:
      return "make room on that disk, or name a directory on another one";
    case EDQUOT:
      return "make room within the quota of that user, or name a directory elsewhere";
    case EADDRINUSE:
      return "take another port, or end what listens there; ss -ltnp says what that is";
    case EADDRNOTAVAIL:
      return "take an address of this host, or 0.0.0.0 for all; ip addr lists them";
    case EMFILE:
      return "allow the process more open files: ulimit -n";
    case EROFS:
      return "name a directory on a disk that can be written to";
    default:
      return {};
  }
}

}  // namespace

std::string with_errno(std::string_view what) {
  const int number = errno;
  std::string text = concat(what, ": ", std::string_view(std::strerror(number)));
  rlimit limit{};
  if (number == EFBIG && ::getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
      limit.rlim_cur != RLIM_INFINITY) {
    text += concat(": files may have ", limit.rlim_cur, " bytes here (ulimit -f)");
  }
  return with_hint(text, hint_for(number));
}

Error io_error(const std::string& path, std::string_view what) {
  return {Errc::io, with_errno(concat(path, ": ", what))};
}

std::string human_bytes(double bytes) {
  static const char* const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(units)) {
    bytes /= 1000;
    unit += 1;
  }
  if (unit == 0) return concat(static_cast<long>(bytes), " B");
  return with_unit(bytes, units[unit]);
}

std::string human_seconds(double seconds) {
  if (seconds < 1) return concat(std::lround(seconds * 1000), " ms");
  if (seconds < 60) return with_unit(seconds, "s");
  const long whole = std::lround(seconds);
  if (whole < 3600) return concat(whole / 60, " min ", whole % 60, " s");
  return concat(whole / 3600, " h ", whole % 3600 / 60, " min");
}

}  // namespace piracema
