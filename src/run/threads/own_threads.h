#pragma once

#include <cstdint>
#include <map>
#include <thread>
#include <vector>

#include "run/threads/actor.h"
#include "run/threads/lead.h"

namespace piracema::runtime {

/// A thread for each actor.
class OwnThreads final : public Threads {
 public:
  /// Each thread keeps to one of `cores`, in the order in which they start (paper 004, section 3:
  /// threadMapping); none: they go where the system puts them.
  /// With a `lead` the first actor waits in it where it may.
  explicit OwnThreads(std::vector<std::uint32_t> cores, Lead* lead = nullptr)
      : cores_(std::move(cores)), lead_(lead) {}

  void start(Actor& actor) override;
  void join(Actor& actor) override;
  void wait(Actor& actor, std::optional<Time> longest) override { rest(actor, longest); }

 private:
  void live(Actor& actor);
  void rest(Actor& actor, std::optional<Time> longest);

  const std::vector<std::uint32_t> cores_;
  Lead* const lead_;
  std::map<Actor*, std::thread> threads_;
  std::size_t started_ = 0;
  /// Who may have the lead; set before its thread is there.
  Actor* guest_ = nullptr;
};

/// Keeps the calling thread to one core. Quiet where that cannot be: it is about speed alone.
void keep_to_core(std::uint32_t core);

}  // namespace piracema::runtime
