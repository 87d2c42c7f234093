#include "smr/client/session_window.h"

#include <algorithm>

#include "base/ensure.h"

namespace piracema::smr::client {

namespace {
// A replica says how wide it is, and may lie.
constexpr std::uint32_t width_max = 65'536;
}  // namespace

void SessionWindow::open(std::uint64_t session, std::uint32_t width) {
  ENSURE(session != 0 && width != 0);
  session_ = session;
  width_ = std::min(width, width_max);
  next_ = oldest_ = 1;
  slots_.clear();
  slots_.resize(width_);
}

std::vector<PendingPtr> SessionWindow::end() {
  std::vector<PendingPtr> lost;
  for (; oldest_ < next_; ++oldest_) {
    if (slot(oldest_)) lost.push_back(std::move(slot(oldest_)));
  }
  session_ = 0;
  next_ = oldest_ = 1;
  return lost;
}

PendingRequest& SessionWindow::add(PendingPtr pending) {
  ENSURE(has_room());
  pending->request.session = session_;
  pending->request.sequence = next_++;
  PendingPtr& place = slot(pending->request.sequence);
  place = std::move(pending);
  return *place;
}

PendingRequest* SessionWindow::find(std::uint64_t session, Sequence sequence) {
  if (session_ == 0 || session != session_) return nullptr;
  PendingPtr& found = slot(sequence);
  if (found && found->request.sequence == sequence) return found.get();
  return nullptr;
}

PendingPtr SessionWindow::take(const PendingRequest& found) {
  PendingPtr taken = std::move(slot(found.request.sequence));
  while (oldest_ < next_ && !slot(oldest_)) oldest_ += 1;
  return taken;
}

}  // namespace piracema::smr::client
