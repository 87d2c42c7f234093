#pragma once

#include <climits>
#include <new>
#include <vector>

#include "coll/mpi/broadcast.h"
#include "coll/mpi/exchange/mpi_types.h"
#include "coll/mpi/gather.h"
#include "coll/mpi/probe/seen.h"
#include "coll/mpi/reduce.h"
#include "coll/mpi/world.h"

/// What the functions share that the program calls in place of the MPI library's. Each hands over
/// to that one (PMPI_) what is not to be improved: wrong arguments, intercommunicators, what the
/// plan says.
namespace piracema::coll::mpi {

/// Whether a root is one, and counts and types can be asked for their size.
inline bool is_root_of(MPI_Comm comm, int root) {
  int size = 0, inter = 0;
  if (comm == MPI_COMM_NULL || World::get() == nullptr) return false;
  if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter != 0) return false;
  return PMPI_Comm_size(comm, &size) == MPI_SUCCESS && root >= 0 && root < size;
}
inline bool is_good(MPI_Count count, MPI_Datatype type) {
  return count >= 0 && type != MPI_DATATYPE_NULL;
}

/// MPI forbids that one argument is another. MPICH finds it, before anything is sent, and so do we
/// under it; under Open MPI it works, mostly.
inline void refuse_alias([[maybe_unused]] const void* from, [[maybe_unused]] const void* to,
                         [[maybe_unused]] MPI_Count count) {
#ifdef MPICH_VERSION
  if (from == to && from != MPI_IN_PLACE && count > 0) throw MpiError{MPI_ERR_BUFFER};
#endif
}

/// Values of any count, as MPI 4 has them: more than an int counts are one value of a type that is
/// made for them, and lives as long as this. Errors of MPI are thrown.
class LargeCounts {
 public:
  LargeCounts() = default;
  LargeCounts(const LargeCounts&) = delete;
  LargeCounts& operator=(const LargeCounts&) = delete;
  ~LargeCounts() {
    for (MPI_Datatype& type : made_) PMPI_Type_free(&type);
  }
  Data data(const void* buffer, MPI_Count count, MPI_Datatype type) {
    void* const place = const_cast<void*>(buffer);
    if (count <= INT_MAX) return {place, static_cast<int>(count), type};
#if MPI_VERSION >= 4
    MPI_Datatype made = MPI_DATATYPE_NULL;
    must(PMPI_Type_contiguous_c(count, type, &made));
    made_.push_back(made);
    must(PMPI_Type_commit(&made_.back()));
    return {place, 1, made};
#else
    throw MpiError{MPI_ERR_COUNT};
#endif
  }

 private:
  std::vector<MPI_Datatype> made_;
};

inline std::uint64_t bytes_of(MPI_Count count, MPI_Datatype type) {
  return bytes_of(Data{nullptr, 1, type}) * static_cast<std::uint64_t>(count);
}

/// Errors go to the error handler of the program's communicator.
template <class Work>
int guarded(MPI_Comm comm, Work work) {
  try {
    return work();
  } catch (const MpiError& error) {
    PMPI_Comm_call_errhandler(comm, error.code);
    return error.code;
  } catch (const std::bad_alloc&) {
    PMPI_Comm_call_errhandler(comm, MPI_ERR_NO_MEM);
    return MPI_ERR_NO_MEM;
  }
}

/// Runs a collective the way that the plan says, and measures it. `bytes`, and all else that the
/// way depends on, are the same at every rank. `always_ours`: whatever the plan says.
template <class Native, class Ours>
int collective(MPI_Comm comm, Call call, std::uint64_t bytes, Native native, Ours ours,
               bool always_ours = false) {
  World* world = World::get();
  if (world == nullptr || comm == MPI_COMM_NULL) return native();
  // The paper's engine broadcasts, and leaves the rest alone.
  if (world->settings().engine == Engine::mst && call != Call::broadcast) return native();
  Group* group = Group::of(*world, comm);
  if (group == nullptr) return native();
  seen.intercepted += 1;
  const Way way = group->begin_operation(call, bytes, always_ours);
  const Time began = now();
  int code = MPI_SUCCESS;
  // The MPI library's own knows nothing of emulated links: a binomial tree of ours stands for it.
  if (way == Way::theirs && world->emulator() == nullptr) {
    code = native();
  } else {
    seen.ours += way == Way::ours;
    ours(*group);
  }
  group->end_operation(now() - began);
  return code;
}

}  // namespace piracema::coll::mpi
