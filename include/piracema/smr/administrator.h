#pragma once

#include <piracema/error.h>
#include <piracema/smr/configuration.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace piracema::smr {

/// The replicas of a group as they are now.
struct Members {
  /// How many changes there were.
  std::uint32_t view = 0;
  std::uint32_t f = 0;
  /// By ascending id.
  std::vector<Configuration::Replica> replicas;
};

/// What becomes of the replicas, all at once. To replace one is to remove it and to add another
/// one, of a number that none ever had.
struct MembersChange {
  std::vector<std::uint32_t> remove;
  std::vector<Configuration::Replica> add;
  /// Faults to outlive from then on.
  std::optional<std::uint32_t> f = {};
  /// Does not wait until those that are added have caught up: until they have, each of them counts
  /// like a fault.
  bool at_once = false;
};

struct AdministratorOptions {
  /// Of Configuration::administrator; for its owner alone.
  std::string key_file;
  /// For each call. A change that takes longer may come all the same. While replicas that are to be
  /// added catch up, it is how long none of them may come nearer.
  std::chrono::milliseconds timeout{10'000};
  /// Told what a change waits for, one line, once a second while it waits for replicas that are to
  /// be added; by the thread that has called.
  std::function<void(const std::string& what)> waits_for = {};
  /// Asked many times a second while a call waits, by the thread that has called: true ends the
  /// call, and every later one, with Errc::refused. What was asked for by then may come all the
  /// same.
  std::function<bool()> given_up = {};
};

/// Changes who the replicas and clients of a group are, while it runs (paper 003, section 2.1:
/// replicas join and leave, n and f change at run time). Each change has its place in the order of
/// all operations. One thread.
///
/// Errors of calls: timeout; refused (also where its owner has given up), config (the change is
/// none, or no group comes of it).
class Administrator {
 public:
  /// Connects in the background. Errc::config if the configuration has no administrator, or one of
  /// another key.
  static Result<std::unique_ptr<Administrator>> open(const Configuration& configuration,
                                                     const AdministratorOptions& options);
  ~Administrator();
  Administrator(const Administrator&) = delete;
  Administrator& operator=(const Administrator&) = delete;

  /// What a quorum says.
  Result<Members> members();

  /// Waits until those that are to be added have caught up with the group but for half a second, as
  /// learners that count in no quorum; start them before, as for the first time. An
  /// Errc::timeout while it waits, or the end of this process, leaves the group as it was. Then
  /// makes the change, and returns when it is in force, so that those that are removed may be
  /// stopped, and those that were added are level. Whoever leads leads on, if it stays.
  Result<Members> change(const MembersChange& change);

  /// From now on `client` is who has this key: a new client, or another key for one that there is.
  Result<Done> admit(std::uint64_t client, const std::string& public_key);
  /// When this returns nothing of that client is executed any more.
  Result<Done> dismiss(std::uint64_t client);

 private:
  struct Parts;
  explicit Administrator(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace piracema::smr
