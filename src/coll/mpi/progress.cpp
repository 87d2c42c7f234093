#include "coll/mpi/progress.h"

#include <new>

#include "base/no_signals.h"
#include "coll/mpi/group.h"

namespace piracema::coll::mpi {

namespace {

/// Between two looks at what has come. The program's own work matters more.
constexpr std::chrono::microseconds progress_every{50};

}  // namespace

int answer_for_request(void* state, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return static_cast<Progress::UnderWay*>(state)->code;
}
int free_request(void* state) {
  delete static_cast<Progress::UnderWay*>(state);
  return MPI_SUCCESS;
}

extern "C" {
static int on_query(void* state, MPI_Status* status) { return answer_for_request(state, status); }
static int on_free(void* state) { return free_request(state); }
/// Collectives cannot be cancelled.
static int on_cancel(void*, int) { return MPI_SUCCESS; }
}

Progress::~Progress() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

MPI_Request Progress::start(Group& group, std::uint32_t operation, Data data, Rank root) {
  auto under_way = std::make_unique<UnderWay>();
  under_way->group = &group;
  if (!is_named(data.type)) {
    must(PMPI_Type_dup(data.type, &under_way->own_type));
    data.type = under_way->own_type;
  }
  under_way->task = std::make_unique<Broadcast>(group, operation, data, root);
  must(PMPI_Grequest_start(on_query, on_free, on_cancel, under_way.get(), &under_way->request));
  UnderWay* const kept = under_way.release();
  const MPI_Request request = kept->request;
  const std::lock_guard lock(mutex_);
  under_way_.push_back(kept);
  if (!thread_.joinable()) {
    const NoSignals no_signals;
    thread_ = std::thread([this] { run(); });
  }
  changed_.notify_all();
  return request;
}

void Progress::wait_for(const Group& group) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] {
    for (const UnderWay* one : under_way_) {
      if (one->group == &group) return false;
    }
    return true;
  });
}

bool Progress::step(UnderWay& one) {
  try {
    return one.task->step();
  } catch (const MpiError& error) {
    one.code = error.code;
  } catch (const std::bad_alloc&) {
    one.code = MPI_ERR_NO_MEM;
  }
  return true;
}

void Progress::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (under_way_.empty()) {
      changed_.wait(lock, [&] { return stopping_ || !under_way_.empty(); });
      continue;
    }
    for (auto at = under_way_.begin(); at != under_way_.end();) {
      UnderWay* const one = *at;
      if (!step(*one)) {
        ++at;
        continue;
      }
      at = under_way_.erase(at);
      // Here, since MPICH holds its lock when it calls `on_free`.
      one->task.reset();
      if (one->own_type != MPI_DATATYPE_NULL) PMPI_Type_free(&one->own_type);
      // From here on the program may have MPI free it.
      PMPI_Grequest_complete(one->request);
      changed_.notify_all();
    }
    changed_.wait_for(lock, progress_every, [&] { return stopping_; });
  }
}

}  // namespace piracema::coll::mpi
