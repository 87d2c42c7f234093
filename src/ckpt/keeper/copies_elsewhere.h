#pragma once

#include <piracema/error.h>

#include <functional>
#include <optional>
#include <string>

#include "ckpt/image/local_images.h"
#include "ckpt/keeper/draining.h"
#include "ckpt/keeper/partner_copies.h"
#include "loop/poller.h"

namespace piracema::ckpt {

/// Where images get to that a disk of this node has: to the store, and before that to the disk of a
/// partner, if there is one. What others have as well goes from here. Belongs to the poller's
/// thread.
class CopiesElsewhere {
 public:
  struct Settings {
    /// This program's file.
    std::string program;
    std::optional<Partner> partner;
    /// The remote shell that reaches it.
    std::string rsh;
  };
  struct Calls {
    /// Makes room for so many bytes in the store. Errc::failed if there is none.
    std::function<Result<Done>(std::uint64_t bytes)> find_room;
    /// The store has an image more.
    std::function<void()> in_store;
    /// For people.
    std::function<void(const std::string& text)> note;
  };
  /// `job` has the mark of its place on this node. What it is given by reference outlives it.
  CopiesElsewhere(net::Poller& poller, const Settings& settings, const JobFile& job,
                  LocalImages& local, JobDirectory& store, Calls calls);

  /// Begins to copy what is missing there, and drops what is not needed here any more. Whenever
  /// something has changed.
  void look();
  /// The store is left to an image that is written there; nothing is begun meanwhile.
  void leave_store_alone(bool is_left);

  /// The machine is wanted: nothing is copied before the next `look`, and what lies here alone is
  /// said. Images stay.
  void stop();

  /// The newest image begins to get to the store, if it lacks that: for whoever ends, while
  /// `is_getting_to_store`.
  void get_newest_to_store();
  bool is_getting_to_store() const { return draining_.is_under_way(); }
  /// The last call. Where the job is over all images go, the partner's as well. Else they go from
  /// here if the store has the newest; if not, they stay, and that is said.
  void end(bool is_over);

 private:
  void open_partner(const Settings& settings, const JobFile& job);
  void has_come(ImageId image, const std::string& where, Time took) const;
  void stop_both();
  void say_what_is_here_alone() const;

  net::Poller& poller_;
  LocalImages& local_;
  JobDirectory& store_;
  const Calls calls_;
  Draining draining_;
  std::optional<PartnerCopies> partner_;
};

}  // namespace piracema::ckpt
