#pragma once

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "coll/mpi/broadcast.h"

namespace piracema::coll::mpi {

/// Nonblocking broadcasts, and the thread that has them go on while the program computes, or waits
/// inside of MPI for something else: a relay must not keep those below it waiting. It wants
/// MPI_THREAD_MULTIPLE, and runs only while there are broadcasts. Safe from any thread.
class Progress {
 public:
  Progress() = default;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Broadcasts that are still under way are given up.
  ~Progress();

  /// Begins a broadcast. The request is one of MPI's own (a generalized one), so that all of its
  /// functions take it. Errors of the broadcast are those of the function that completes it.
  MPI_Request start(Group&, std::uint32_t operation, Data, Rank root);
  /// Waits until none of a group's are under way.
  void wait_for(const Group&);

 private:
  /// Lives until the program has seen the request's end.
  struct UnderWay {
    const Group* group = nullptr;
    /// The program may free its type at once.
    MPI_Datatype own_type = MPI_DATATYPE_NULL;
    std::unique_ptr<Broadcast> task;
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS;
  };
  friend int answer_for_request(void*, MPI_Status*);
  friend int free_request(void*);

  void run();
  bool step(UnderWay&);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<UnderWay*> under_way_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace piracema::coll::mpi
