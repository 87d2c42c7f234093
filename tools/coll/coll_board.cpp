#include "tools/coll/coll_board.h"

#include "base/text.h"

namespace piracema::tools {

namespace {

/// Before this a job is still about to begin.
constexpr Time begins_within = std::chrono::seconds(10);
/// Before this none of its links has to be known.
constexpr double measures_within = 3;

}  // namespace

std::string CollSight::trouble(Time now) const {
  if (!figures) {
    if (!unread.empty()) return unread;
    if (now - start.at < begins_within) return "no rank has called MPI_Init yet";
    return "rank 0 has shown nothing: it has not called MPI_Init, or it runs on a host that does "
           "not see the file of its figures (--figures FILE names another one)";
  }
  if (figures->is_over) return "the program has called MPI_Finalize";
  if (now - at < coll_silent_for) return "";
  if (!unread.empty()) return unread;
  return "rank 0 has shown nothing for a while: it has ended without MPI_Finalize, stands still, "
         "or "
         "waits for the file of its figures";
}

std::vector<std::string> CollSight::remarks() const {
  std::vector<std::string> remarks;
  if (!figures) return remarks;
  const coll::JobFigures& known = *figures;
  if (!known.left_alone.empty()) {
    remarks.push_back(concat("All calls are left to the MPI library: ", known.left_alone, "."));
    return remarks;
  }
  if (const auto others = known.calls - known.intercepted; others > 0) {
    remarks.push_back(concat(others,
                             " calls of rank 0 were not looked at: collectives that are not "
                             "replaced, empty ones, and those on a single rank."));
  }
  if (known.pairs > 0 && known.pairs_measured == 0 && known.ran > measures_within &&
      known.engine != "binomial") {
    remarks.push_back(
        "No link was measured: UDP may be shut out between the hosts. Trees do not follow the "
        "network.");
  }
  if (!known.nonblocking && known.engine != "mst") {
    remarks.push_back(
        "MPI_Ibcast is the MPI library's own: a rank has no MPI_THREAD_MULTIPLE "
        "(PIRACEMA_COLL_NONBLOCKING=1 asks for it).");
  }
  if (known.engine == "mst") {
    remarks.push_back("Only broadcasts go along the distributed tree; all else is left alone.");
    const auto& mst = known.mst;
    if (mst.binomial > 0) {
      remarks.push_back(
          concat(mst.binomial,
                 " broadcasts of rank 0 went along a binomial tree: no round was over "
                 "and not all links were measured."));
    }
    if (mst.own_view > 0) {
      remarks.push_back(concat(mst.own_view,
                               " broadcasts of rank 0 went along a tree of its own: no round was "
                               "over."));
    }
    if (mst.fallen_back > 0) {
      remarks.push_back(concat(mst.fallen_back, " of these came after a round was over."));
    }
  }
  if (known.emulates) remarks.push_back("Links are emulated (--emulate).");
  return remarks;
}

CollBoard::CollBoard(CollStart start) {
  auto sight = std::make_shared<CollSight>();
  sight->start = std::move(start);
  latest_ = std::move(sight);
}

void CollBoard::show(Result<coll::JobFigures> found, Time now) {
  const auto before = latest();
  if (found && before->figures && before->figures->number == found->number &&
      before->figures->process == found->process && before->unread.empty()) {
    return;
  }
  if (!found && before->unread == found.error().message) return;
  auto sight = std::make_shared<CollSight>(*before);
  sight->unread = found ? "" : found.error().message;
  if (found) {
    const bool is_new = !before->figures || before->figures->number != found->number ||
                        before->figures->process != found->process;
    if (is_new) sight->at = now;
    sight->figures = *std::move(found);
  }
  const std::lock_guard lock(mutex_);
  latest_ = std::move(sight);
}

std::shared_ptr<const CollSight> CollBoard::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

}  // namespace piracema::tools
