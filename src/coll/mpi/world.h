#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "coll/mpi/exchange/mpi_types.h"
#include "coll/mpi/figures_writer.h"
#include "coll/mpi/probe/emulator.h"
#include "coll/mpi/probe/probe_thread.h"
#include "coll/mpi/progress.h"
#include "coll/mpi/report.h"
#include "coll/plan/settings.h"
#include "coll/plan/waiting.h"

namespace piracema::coll::mpi {

class Group;

/// What the library knows of the whole job, from MPI_Init to MPI_Finalize.
class World {
 public:
  /// nullptr when every collective is the MPI library's own: before MPI_Init, with a single rank,
  /// with engine native, on one host, and from MPI_Finalize on.
  static World* get();
  /// Before it: the program's MPI has to be the one that this library was built for, since nothing
  /// that has another binary interface can be told apart later. Ends the process with code 3.
  static void expect_own_mpi();
  /// Right after the MPI library's own initialization; collective. Settings that are wrong end the
  /// job with code 3.
  static void begin();
  /// Right before the MPI library's own finalization; collective, but where all is left alone.
  static void end();

  const Settings& settings() const { return settings_; }
  Rank me() const { return me_; }
  Rank size() const { return size_; }
  MPI_Group group() const { return group_; }
  /// This rank alone; errors are returned. To ask the MPI library what it would say.
  MPI_Comm alone() const { return alone_; }
  int keyval() const { return keyval_; }
  /// nullptr where some rank has no MPI_THREAD_MULTIPLE: then nonblocking ones are not ours.
  Progress* progress() const { return progress_.get(); }
  const Waiting& waiting() const { return waiting_; }
  Emulator* emulator() const { return emulator_.get(); }
  ProbeThread* probes() const { return probes_.get(); }
  /// At rank 0, if somebody looks on; else nullptr.
  FiguresWriter* figures() const { return figures_; }

  /// Another number each time.
  std::uint32_t count_group() { return groups_made_++; }
  /// Groups that live; for the end. `groups`: how many.
  void add(Group*);
  void remove(Group*);
  int groups() const;
  /// A line of JSON about a tree that came into use, for the report.
  void note_tree(std::string line);
  Time begun() const { return begun_; }

 private:
  World(Settings settings, Rank me, Rank size);
  ~World() = default;
  friend struct std::default_delete<World>;
  /// Why there is nothing to be won by this library in this job; empty: there may be.
  /// Says in `figures` which rank is on which host.
  std::string meet(JobFigures& figures);
  /// Collective: writes it, if rank 0 is to.
  void report(const Job&);
  /// At rank 0, with a setting: the line at the end.
  static void say(const Job&, const World*);

  const Settings settings_;
  const Rank me_, size_;
  const Time begun_;
  MPI_Comm own_ = MPI_COMM_NULL;
  MPI_Comm alone_ = MPI_COMM_NULL;
  MPI_Group group_ = MPI_GROUP_NULL;
  int keyval_ = MPI_KEYVAL_INVALID;
  Waiting waiting_;
  std::unique_ptr<Emulator> emulator_;
  std::unique_ptr<ProbeThread> probes_;
  std::unique_ptr<Progress> progress_;
  FiguresWriter* figures_ = nullptr;
  std::unique_ptr<TreeNews> tree_news_;
  std::atomic<std::uint32_t> groups_made_{0};
  mutable std::mutex mutex_;
  std::set<Group*> groups_;
  std::vector<std::string> trees_;
};

/// Ends the job with one line and code 3.
[[noreturn]] void give_up(const std::string& why);

}  // namespace piracema::coll::mpi
