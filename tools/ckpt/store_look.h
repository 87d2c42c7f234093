#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "tools/ckpt/keeper_board.h"

namespace piracema::tools {

/// Looks at where a job's images lie, every few seconds and when there is a new one, and puts it on
/// the board. By a thread of its own, which nobody waits for: a store may hang for hours.
class StoreLook {
 public:
  explicit StoreLook(std::shared_ptr<KeeperBoard> board);
  ~StoreLook();

  /// The job's directory; at once if it or `images`, how many were made, is another one than
  /// before.
  void look_at(const std::string& directory, std::uint64_t images);

 private:
  struct Wanted {
    std::mutex mutex;
    std::condition_variable changed;
    std::string directory;
    std::uint64_t images = 0;
    bool is_due = false, is_over = false;
  };
  static void run(const std::shared_ptr<Wanted>& wanted, const std::shared_ptr<KeeperBoard>& board);

  const std::shared_ptr<Wanted> wanted_ = std::make_shared<Wanted>();
};

}  // namespace piracema::tools
