#pragma once

#include <cstdint>
#include <vector>

#include "control/messages/control.h"

namespace piracema::runtime {

/// What a process keeps so that another coordinator can take its job over: the highest term that it
/// has heard of, and what it has said of its epoch. No thread or clock inside.
class Attachment {
 public:
  /// Whether a coordinator of this term is heeded: not once there was one of a higher term.
  bool admit(std::uint64_t term);
  std::uint64_t term() const { return term_; }

  /// What the coordinator says goes through here first. False for a Deploy that is not above the last
  /// one: it was said twice, and nobody begins anew for it.
  bool heard(const ToWorker& message);
  /// And what is said to it. Whatever no later message makes up for is kept until the next Deploy.
  void said(const FromWorker& message);
  /// To a coordinator that was admitted: where this process is, and what it may not have heard.
  std::vector<FromWorker> answer() const;

 private:
  std::uint64_t term_ = 0;
  Epoch epoch_ = 0;
  /// Of `epoch_`, in their order; at most some for each replica.
  std::vector<FromWorker> said_;
};

}  // namespace piracema::runtime
