#include "smr/service/executor/group_check.h"

namespace piracema::smr {

std::uint64_t GroupCheck::widen(const Keys& keys, std::uint64_t threads, std::uint64_t all) {
  if (threads == all || keys.all || !fits(keys, threads)) {
    users_.clear();  // All threads come together here: what was before is over.
    threads = all;
  }
  for (const std::uint64_t key : keys.reads) {
    Users& users = users_.at(key);
    users.every_reader = users.any_reader == 0 ? threads : users.every_reader & threads;
    users.any_reader |= threads;
  }
  for (const std::uint64_t key : keys.writes) users_.at(key) = {threads, 0, 0};
  return threads;
}

bool GroupCheck::fits(const Keys& keys, std::uint64_t threads) {
  for (const std::uint64_t key : keys.reads) {
    const std::uint64_t writer = users_.at(key).writer;
    if (writer != 0 && (writer & threads) == 0) return false;
  }
  for (const std::uint64_t key : keys.writes) {
    const Users& users = users_.at(key);
    if (users.writer != 0 && (users.writer & threads) == 0) return false;
    // A thread that all readers share, or all threads of all readers: either meets each of them.
    const bool meets_readers = users.any_reader == 0 || (users.every_reader & threads) != 0 ||
                               (users.any_reader & ~threads) == 0;
    if (!meets_readers) return false;
  }
  return true;
}

}  // namespace piracema::smr
