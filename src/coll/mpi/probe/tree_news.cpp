#include "coll/mpi/probe/tree_news.h"

#include <algorithm>

namespace piracema::coll::mpi {

namespace {

/// No communicator has this one (Group::Group).
constexpr std::uint64_t number_of_tree_news = std::uint64_t{1} << 62;
constexpr Time tells_at_most_every = std::chrono::seconds(1);
constexpr Time rank_0_hears_every = std::chrono::milliseconds(10);

}  // namespace

TreeNews::TreeNews(ProbeThread& probes, const MstRunner& mst, Rank me, Rank size)
    : probes_(probes),
      mst_(mst),
      me_(me),
      tells_every_(std::max(tells_at_most_every, rank_0_hears_every * size)),
      next_(me == 0 ? Time::max() : now() + tells_every_),
      parts_(size) {
  probes_.attach(number_of_tree_news, *this);
}

TreeNews::~TreeNews() { probes_.detach(number_of_tree_news); }

std::optional<Tree> TreeNews::tree() const {
  const auto round = mst_.round();
  if (!round) return std::nullopt;
  const auto own = mst_.part(*round);
  if (!own) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return parts_.tree(*round, own->neighbours);
}

void TreeNews::on_packet(Rank from, std::span<const char> bytes) {
  if (me_ != 0) return;
  const std::lock_guard lock(mutex_);
  parts_.on_part(from, bytes);
}

std::vector<Packet> TreeNews::due(Time now, const LinkMap&, const Detours&) {
  if (now < next_) return {};
  next_ = now + tells_every_;
  const auto round = mst_.round();
  const auto part = round ? mst_.part(*round) : std::nullopt;
  if (!part) return {};
  return {{0, TreeParts::encode(*round, part->neighbours)}};
}

Time TreeNews::next() const { return next_; }

}  // namespace piracema::coll::mpi
