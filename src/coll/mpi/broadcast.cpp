#include "coll/mpi/broadcast.h"

#include "base/ensure.h"
#include "coll/mpi/group.h"
#include "coll/mpi/probe/mst_runner.h"
#include "topology/trees/segments.h"

namespace piracema::coll::mpi {

namespace {

/// Data of up to so many bytes travels together with the header.
constexpr std::uint64_t inline_bytes_max = 8'192;
/// More is one message of the program's own type: segments are counted, and packed, by int.
constexpr std::uint64_t segmented_bytes_max = 1u << 30;
}  // namespace

Broadcast::Broadcast(Group& group, std::uint32_t operation, Data data, Rank root, bool tells_trees)
    : group_(group), operation_(operation), data_(data), is_root_(group.me() == root) {
  if (is_root_) begin_at_root(tells_trees);
}

bool Broadcast::step() {
  if (ended_) return true;
  if (!has_header_ && !take_header()) return false;
  if (!take_segments()) {
    pass_on();
    return false;
  }
  if (!pass_on() || !headers_.test()) return false;
  ended_ = true;
  if (is_root_) return true;
  if (const auto megabyte = transfer_.megabyte()) group_.trees().on_transfer(from_, *megabyte);
  if (segments_) {
    segments_->finish();
  } else {
    group_.exchange().unpack(header_.payload, data_);
    if (header_.payload.size() != bytes_of(data_)) throw MpiError{MPI_ERR_TRUNCATE};
  }
  return true;
}

void Broadcast::begin_at_root(bool tells_trees) {
  const Exchange& exchange = group_.exchange();
  const std::uint64_t bytes = bytes_of(data_);
  header_.operation = operation_;
  header_.data_bytes = bytes;
  choose_tree(bytes);
  if (tells_trees) group_.windows().tell_trees(header_);
  if (bytes <= inline_bytes_max) {
    const auto packed = exchange.pack(data_);
    header_.payload.assign(packed.begin(), packed.end());
  } else if (bytes <= segmented_bytes_max) {
    header_.segment_bytes = static_cast<std::uint32_t>(segment_bytes_for(bytes));
  } else {
    header_.segment_bytes = Header::whole;
  }
  ENSURE(find_children());
  spread();
}

void Broadcast::choose_tree(std::uint64_t bytes) {
  MstRunner* const mst = group_.mst();
  if (group_.world().settings().engine != Engine::mst) {
    header_.branches = group_.tree(bytes);
  } else if (const auto round = mst ? mst->round() : std::nullopt) {
    header_.round = *round;
    group_.mst_use().rounds[*round] += 1;
  } else {
    Group::MstUse& use = group_.mst_use();
    (group_.trees().all_measured() ? use.own_view : use.binomial) += 1;
    use.fallen_back += !use.rounds.empty();
    // Its first tree takes all ranks many round trips; the root's own view of one takes none.
    header_.branches = group_.tree(bytes);
  }
}

bool Broadcast::take_header() {
  if (!early_) {
    early_.emplace();
    if (!group_.exchange().poll_bytes(no_rank, tag(operation_, Kind::header), *early_)) {
      early_.reset();
      return false;
    }
  }
  if (early_->visible_at != Time{} && now() < early_->visible_at) return false;
  auto header = decode(early_->bytes, group_.size());
  if (!header || header->branches.front().rank != group_.me() || header->operation != operation_) {
    throw MpiError{MPI_ERR_OTHER};
  }
  if (header->segment_bytes != Header::whole && header->data_bytes > segmented_bytes_max) {
    throw MpiError{MPI_ERR_OTHER};
  }
  from_ = early_->from;
  header_ = *std::move(header);
  if (!find_children()) return false;
  spread();
  return true;
}

bool Broadcast::find_children() {
  children_.clear();
  if (header_.round == Header::no_round) {
    for (const auto child : children_of(header_.branches)) {
      children_.emplace_back(child.front().rank, Branches(child.begin(), child.end()));
    }
    return true;
  }
  // Every node knows its neighbours in the tree, and nothing else.
  MstRunner* const mst = group_.mst();
  if (mst == nullptr) throw MpiError{MPI_ERR_OTHER};
  const auto neighbours = mst->neighbours(header_.round);
  if (!neighbours) return false;
  for (const Rank to : *neighbours) {
    if (to != from_) children_.emplace_back(to, Branches{{to, 0}});
  }
  return true;
}

void Broadcast::spread() {
  Exchange& exchange = group_.exchange();
  has_header_ = true;
  for (const auto& [child, branches] : children_) {
    exchange.send_bytes(child, tag(operation_, Kind::header), encode(header_, branches), headers_);
  }
  if (header_.segment_bytes == 0) return;
  segments_.emplace(exchange, data_, header_.data_bytes, header_.segment_bytes, is_root_);
  if (is_root_) {
    here_ = segments_->count();
    return;
  }
  for (std::size_t i = 0; i < segments_->count(); ++i) {
    incoming_.emplace_back(exchange, from_, operation_, (*segments_)[i]);
  }
}

bool Broadcast::take_segments() {
  if (!segments_) return true;
  while (here_ < segments_->count() && incoming_[here_].ready()) {
    const Incoming& incoming = incoming_[here_];
    transfer_.on_segment(Time(incoming.stamp().sent_at), incoming.came_at(),
                         bytes_of((*segments_)[here_]));
    here_ += 1;
  }
  return here_ == segments_->count();
}

// One child after the other: the first one can pass on soon, and nobody gets half of a link.
bool Broadcast::pass_on() {
  if (!segments_) return true;
  while (child_ < children_.size()) {
    for (; sent_ < here_; ++sent_) {
      group_.exchange().send_data(children_[child_].first, operation_, (*segments_)[sent_],
                                  outbox_);
    }
    if (sent_ < segments_->count()) return false;
    if (!outbox_.test()) return false;
    child_ += 1;
    sent_ = 0;
  }
  return true;
}

void broadcast(Group& group, Data data, Rank root) {
  if (group.mst()) group.mst()->on_broadcast();
  if (group.me() == root) group.exchange().begin_as_root();
  Broadcast task(group, group.operation(), data, root, true);
  Patience patience = group.exchange().patience();
  while (!task.step()) patience.wait();
  group.windows().take_trees(task.header());
}

void barrier(Group& group) {
  // Up to rank 0 by the plan's tree, and down again.
  Exchange& exchange = group.exchange();
  const Tree& up = group.windows().up(0, false);
  const Tag token = tag(group.operation(), Kind::up);
  for (const Rank child : up.children[group.me()]) exchange.receive_bytes(child, token);
  Outbox outbox;
  if (group.me() != 0) exchange.send_bytes(up.parent[group.me()], token, {}, outbox);
  char nothing = 0;
  broadcast(group, {&nothing, 0, MPI_BYTE}, 0);
  outbox.wait();
}

}  // namespace piracema::coll::mpi
