#pragma once

#include <piracema/error.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/fd.h"
#include "loop/poller.h"

/// How `piracema ckpt save` and `stop` reach the keeper of a job on this host: a socket in the
/// job's directory, one packet each way.
namespace piracema::ckpt {

/// The keeper's end. Belongs to the poller's thread.
class ControlDoor {
 public:
  /// `asked` gets a number for the caller, and the word he sent.
  using Asked = std::function<void(std::uint64_t caller, const std::string& word)>;
  /// A socket that a dead keeper has left is taken away. Errc::io.
  static Result<std::unique_ptr<ControlDoor>> open(net::Poller& poller, const std::string& path,
                                                   Asked asked);
  ~ControlDoor();

  /// Nothing happens if he has gone.
  void answer(std::uint64_t caller, bool ok, const std::string& text);

 private:
  ControlDoor(net::Poller& poller, Fd listener, std::string path, Asked asked);
  void accept();
  void hear(std::uint64_t caller);
  void drop(std::uint64_t caller);

  net::Poller& poller_;
  Fd listener_;
  std::string path_;
  Asked asked_;
  std::map<std::uint64_t, Fd> callers_;
  std::uint64_t count_ = 0;
};

/// Asks and waits for the answer, as long as that takes. Errc::not_found if no keeper is there,
/// Errc::failed with his reason, Errc::lost if he dies meanwhile.
Result<std::string> ask_keeper(const std::string& path, const std::string& word);

/// Says it to the keeper, if one is there, and waits for nothing.
void tell_keeper(const std::string& path, const std::string& word);

}  // namespace piracema::ckpt
