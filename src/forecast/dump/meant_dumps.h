#pragma once

#include <cstdint>
#include <string>

namespace piracema::ckpt {

/// Dumps to a store that keepers have told each other of, before they make them: one file for each
/// keeper, in the store's place (store_record.h). Waits as long as the store does.
class MeantDumps {
 public:
  /// Ours is known by `host` and this process's number.
  MeantDumps(const std::string& place, const std::string& host);

  /// We mean to write so many bytes from then to then, in seconds since 1970.
  void say(double from, double to, double bytes);
  void take_back() const;

  /// What others mean to write while we do; nothing before we have said something.
  struct Others {
    std::uint32_t writers = 0, hosts = 0;
    double bytes = 0;
  };
  Others others() const;

 private:
  /// The bytes of one that meets ours; less than 0 if it does not.
  double bytes_that_meet_us(const std::string& path) const;

  const std::string place_, name_;
  double from_ = 0, to_ = 0;
};

}  // namespace piracema::ckpt
