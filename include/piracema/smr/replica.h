#pragma once

#include <piracema/error.h>
#include <piracema/smr/configuration.h>
#include <piracema/smr/figures.h>
#include <piracema/smr/groups.h>
#include <piracema/smr/invoker.h>
#include <piracema/smr/state_machine.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace piracema::smr {

struct ReplicaOptions {
  /// As in the configuration, [replica.ID].
  std::uint32_t id = 0;
  /// Made by `piracema kv keygen`; for its owner alone.
  std::string key_file;
  /// Where the replica keeps its log and checkpoints: for it alone, made if it is missing. It must
  /// stay what the replica has left there: an older copy of it is a lie about what was promised.
  std::string directory;
  /// Where it listens, if that is not where others reach it, as in a container or behind a
  /// translation of addresses: "0.0.0.0:7000". Empty: its address in the configuration.
  std::string listen = {};
  /// This replica starts for the first time ever: an empty directory is as it should be. Else it
  /// was lost with what the replica had promised, and the replica is silent until it has caught up.
  bool first_start = false;
  /// In place of `first_start`, for a replica that is started the same way each time: a file, in a
  /// directory that is there, which says that the replica was there before. It is made once the
  /// replica's own directory remembers it for good, and before the replica promises anything, and
  /// must not go with that directory. Its name begins with a letter.
  std::string began_file = {};
  /// If set, the group of invoke_parallel decides what is executed at the same time.
  std::optional<ConflictGroups> groups = {};

  /// Called on the thread of `run`, one at a time; each returns soon, as nothing is ordered
  /// meanwhile.
  ///
  /// This replica leads since `term`, which is larger than every leader's before; and it does not
  /// lead any more. Another one may lead already when the second comes, or before it comes:
  /// whatever a leader does outside of the order has to carry the term, and be refused after a
  /// larger one. Where members come or go and it leads on, the first comes again, with the larger
  /// term of the new members, and the second not before that; another one may have led in between.
  std::function<void(std::uint64_t term)> leads = {};
  std::function<void()> leads_no_longer = {};
  /// The machine has executed everything up to this place, or was restored there.
  std::function<void(std::uint64_t instance)> applied = {};
  /// How the replica is, about once a second while it runs.
  std::function<void(const ReplicaFigures&)> figures = {};

  /// An operation of this process that takes longer is an Errc::timeout; it may be executed all the
  /// same.
  std::chrono::milliseconds operation_timeout{10'000};
};

/// One replica of a service, in this process, which may ask the group as a Client does, but without
/// a key or a connection of its own: with crash faults alone, else Errc::refused.
class Replica final : public Invoker {
 public:
  /// Reads what the directory has, restores `machine` from it, and listens at its address.
  /// `machine` is as new, and outlives the replica. Errc::config for a configuration that is wrong
  /// or that has another key for this replica; Errc::io, Errc::refused (another process has the
  /// directory), Errc::corrupt.
  static Result<std::unique_ptr<Replica>> start(const Configuration& configuration,
                                                const ReplicaOptions& options,
                                                StateMachine& machine);
  /// What is not answered gets an error.
  ~Replica() override;
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  /// Takes part until `stop`, or until an administrator has removed it, on this thread (and those
  /// that the configuration asks for). Ends with Errc::config when others remember it with another
  /// memory and a directory that was lost was said to be new, Errc::io when the disk does
  /// not keep what it is given, Errc::failed when this replica must not go on, as when its state
  /// differs from the others'; the message says why.
  Result<Done> run();
  /// Any thread.
  void stop();

  /// Whether this replica leads or not; answered when it has executed the operation itself, so that
  /// the state of its machine has it. `done` is called on the thread of `run`, as all callbacks
  /// are: nothing is ordered meanwhile. Nothing is answered before `run` is called, and after it
  /// has ended everything with Errc::timeout. At most 65,536 at a time, else Errc::refused.
  void invoke_ordered(Bytes operation, Callback done) override;
  /// Is ordered where this replica does not lead: then `apply` gets the same bytes.
  void invoke_unordered(Bytes operation, Callback done) override;

 private:
  struct Parts;
  explicit Replica(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

/// `start` and `run` until SIGINT or SIGTERM, for the main function of a server: the exit code.
/// What is wrong is said on standard error.
int run_replica(const Configuration& configuration, const ReplicaOptions& options,
                StateMachine& machine);

}  // namespace piracema::smr
