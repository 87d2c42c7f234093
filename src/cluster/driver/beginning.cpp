#include "cluster/driver/beginning.h"

#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "base/text.h"
#include "store/open_store.h"
#include "store/snapshot/directory_store.h"
#include "store/snapshot/file_job_lock.h"
#include "store/snapshot/snapshot_paths.h"

namespace piracema::cluster {

Error as_config(const Error& error) { return {Errc::config, error.message}; }

namespace {

Result<Done> check_resume(const Beginning& beginning, const std::vector<Error>& damaged) {
  if (beginning.newest) return Done{};
  const std::string& path = beginning.store->name();
  if (damaged.empty()) {
    return Error{Errc::config, concat("nothing to resume: ", path, " has no snapshot")};
  }
  return Error{Errc::lost, concat("nothing to resume: of the ", damaged.size(), " snapshots in ",
                                  path, " none is intact: ", damaged.front().message)};
}

Result<Done> check_start(const Beginning& beginning) {
  const std::string& path = beginning.store->name();
  if (beginning.found.empty()) return Done{};
  if (!beginning.newest) {
    return Error{Errc::config, concat(path, " has ", beginning.found.size(),
                                      " snapshots, none of them intact: give another directory")};
  }
  if (beginning.newest->finished) return Done{};
  return Error{Errc::config, concat(path, " has snapshot ", beginning.newest->snapshot,
                                    " of a run that has not ended: give --resume to go on from "
                                    "it, or another directory")};
}

// The job of a coordinator that was lost, if it may be gone on with. What is too old for any of its
// workers to be left is removed: what its snapshots say is all that counts then.
Result<std::optional<JobRecord::Found>> find_left(const Beginning& beginning, Start start,
                                                  std::optional<std::uint32_t> slots) {
  using Nothing = std::optional<JobRecord::Found>;
  // Where no files can be nobody could leave anything.
  if (beginning.store->directory() == nullptr) return Nothing{};
  const std::string& path = *beginning.store->directory();
  auto found = JobRecord::find(path);
  if (!found) return as_config(found.error());
  if (!*found) return Nothing{};
  const JobRecord::Found& left = **found;
  const auto now = std::chrono::system_clock::now();
  if (left.is_over(now) && start != Start::standby) {
    if (auto removed = JobRecord::remove(path); !removed) return as_config(removed.error());
    return Nothing{};
  }
  const auto may_run_for =
      std::chrono::ceil<std::chrono::seconds>(left.keep - (now - left.seen)).count();
  const std::string lost =
      concat(path, " has a job whose coordinator was lost and whose workers may still run, for ",
             std::max<std::int64_t>(may_run_for, 1), " s: ");
  if (start == Start::anew) {
    return Error{Errc::config, lost + "give --resume to go on with them, or another directory"};
  }
  if (!left.metadata) {
    return Error{Errc::config,
                 lost + "what it decided is not written down there; wait for them to end"};
  }
  if (!slots) {
    return Error{Errc::config,
                 lost + "piracema run --resume goes on with them; else wait for them to end"};
  }
  if (!beginning.found.empty() && !left.metadata->snapshots.knows(beginning.found.back())) {
    return Error{Errc::config, concat(lost, "what it wrote down does not know snapshot ",
                                      beginning.found.back(), "; wait for them to end")};
  }
  // It may have been scaled since the standby was started, or since the command was written.
  const std::uint32_t has = left.metadata->slots_wanted();
  if (has != *slots) {
    log(Level::warning, concat(path, ": goes on with the ", has, " workers that the job has; -n ",
                               *slots, " is for one that begins"));
  }
  return std::move(*found);
}

// The newest snapshot that is intact; what is damaged and newer is said, and given back.
Result<std::vector<Error>> find_newest(Beginning& beginning) {
  std::vector<Error> damaged;
  auto newest = store::newest_intact(*beginning.store, damaged);
  if (!newest) return as_config(newest.error());
  beginning.newest = *std::move(newest);
  if (beginning.newest) {
    for (const Error& error : damaged) {
      log(Level::warning,
          concat(error.message, "; snapshot ", beginning.newest->snapshot, " before it is used"));
    }
  }
  return damaged;
}

// What a sink has written after the savepoint it cuts off when it goes on from there. A snapshot
// that is newer then says more than its outputs have, or other bytes: nobody can go on from it.
Result<Done> find_savepoint(Beginning& beginning, const From& from) {
  store::SnapshotStore& store = *beginning.store;
  const std::string& path = beginning.store->name();
  const auto savepoints = store.savepoints();
  if (!savepoints) return as_config(savepoints.error());
  const auto wanted = store::find_savepoint(*savepoints, from.savepoint, path);
  if (!wanted) return as_config(wanted.error());
  for (const auto& [name, snapshot] : *savepoints) {
    if (snapshot <= *wanted) continue;
    return Error{Errc::config,
                 concat(path, ": savepoint '", name, "' is newer than '", from.savepoint,
                        "', and what sinks write from there on is not what it goes on from: delete "
                        "it first, or go on in a copy of the directory and of the outputs")};
  }
  std::string newer;
  for (const SnapshotId id : beginning.found) {
    if (id <= *wanted) continue;
    beginning.discarded.push_back(id);
    newer += concat(newer.empty() ? "" : ", ", id);
  }
  if (!newer.empty() && !from.discard_newer) {
    return Error{Errc::config, concat(path, ": newer than savepoint '", from.savepoint,
                                      "' (snapshot ", *wanted, ") are snapshots ", newer,
                                      "; --discard-newer removes them and goes back all the same")};
  }
  auto manifest = store::verify(store, *wanted);
  if (!manifest && manifest.error().code == Errc::timeout) return as_config(manifest.error());
  if (!manifest) {
    return Error{Errc::lost,
                 concat("savepoint '", from.savepoint, "': ", manifest.error().message)};
  }
  beginning.newest = *std::move(manifest);
  return Done{};
}

// A new run writes other outputs than those that its savepoints go on from.
Result<Done> check_no_savepoints(const Beginning& beginning) {
  const auto savepoints = beginning.store->savepoints();
  if (!savepoints) return as_config(savepoints.error());
  if (savepoints->empty()) return Done{};
  return Error{Errc::config,
               concat(beginning.store->name(), " has savepoint '", savepoints->begin()->first,
                      "' of the run before: delete it, or give another directory")};
}

}  // namespace

Result<Beginning> begin_in(
    const std::string& snapshots, Start start, std::optional<std::uint32_t> slots,
    const std::function<Result<Fd>(const std::string& lock_path, const std::string& why)>& wait,
    const From& from, const store::JobClaim& claim) {
  if (!from.savepoint.empty() && start != Start::resume) {
    return Error{Errc::config, concat("only a job that is resumed goes on from savepoint '",
                                      from.savepoint, "'")};
  }
  auto store = store::open_store(snapshots, start == Start::anew);
  if (!store) return as_config(store.error());
  Beginning beginning;
  beginning.store = *std::move(store);
  beginning.resume = start != Start::anew;
  const std::string* const directory = beginning.store->directory();
  if (start == Start::standby && directory == nullptr) {
    return Error{Errc::config, concat("a standby wants snapshots in a directory, found ",
                                      beginning.store->name())};
  }

  auto lock = beginning.store->lock(claim);
  const bool waited =
      !lock && start == Start::standby && lock.error().code == Errc::refused && wait;
  if (waited) {
    auto file = wait(store::SnapshotPaths(*directory).lock(), lock.error().message);
    if (!file) return file.error();
    lock = store::FileJobLock::of(*std::move(file));
  }
  if (!lock) return as_config(lock.error());
  beginning.lock = *std::move(lock);

  auto found = beginning.store->list();
  if (!found) return as_config(found.error());
  beginning.found = *std::move(found);

  auto left = find_left(beginning, start, slots);
  if (!left) return left.error();
  beginning.taken_over = *std::move(left);
  if (beginning.taken_over && !from.savepoint.empty()) {
    return Error{Errc::config,
                 concat(beginning.store->name(),
                        " has a job whose coordinator was lost and whose workers may still run: "
                        "they go on from where they are, not from savepoint '",
                        from.savepoint, "'; wait for them to end")};
  }
  // Workers that run need nothing of what is saved: it is not read.
  if (beginning.taken_over && beginning.taken_over->metadata->term != 0) return beginning;
  if (waited && !beginning.taken_over) return beginning;

  if (!from.savepoint.empty()) {
    if (auto chosen = find_savepoint(beginning, from); !chosen) return chosen.error();
    return beginning;
  }
  auto damaged = find_newest(beginning);
  if (!damaged) return damaged.error();

  if (beginning.taken_over) {
    beginning.resume = beginning.taken_over->metadata->settings.resume.has_value();
    return beginning;
  }
  if (start == Start::standby) {
    return Error{Errc::config,
                 concat("nothing to stand by for: ", beginning.store->name(),
                        " has no job whose workers outlive its coordinator; start one "
                        "with --keep-workers")};
  }
  auto checked = beginning.resume ? check_resume(beginning, *damaged) : check_start(beginning);
  if (checked && !beginning.resume) checked = check_no_savepoints(beginning);
  if (!checked) return checked.error();
  return beginning;
}

Result<Beginning> go_on_in(const std::string& snapshots, JobRecord::Found left,
                           const store::JobClaim& claim) {
  const auto as_it_is = [](const Error& error) {
    return error.code == Errc::timeout ? error : as_config(error);
  };
  auto store = store::open_store(snapshots, false);
  if (!store) return as_it_is(store.error());
  Beginning beginning;
  beginning.store = *std::move(store);
  if (beginning.store->directory() == nullptr) {
    auto lock = beginning.store->lock(claim);
    if (!lock) return as_it_is(lock.error());
    beginning.lock = *std::move(lock);
  }
  auto found = beginning.store->list();
  if (!found) return as_it_is(found.error());
  beginning.found = *std::move(found);
  beginning.taken_over = std::move(left);
  beginning.resume = true;
  if (beginning.taken_over->metadata->term != 0) return beginning;
  if (auto newest = find_newest(beginning); !newest) return newest.error();
  beginning.resume = beginning.taken_over->metadata->settings.resume.has_value();
  return beginning;
}

}  // namespace piracema::cluster
