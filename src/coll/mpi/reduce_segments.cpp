#include "coll/mpi/reduce_segments.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <optional>

#include "coll/mpi/exchange/slices.h"
#include "topology/trees/segments.h"

namespace piracema::coll::mpi {

namespace {

/// Slices of one child that are awaited at the same time.
constexpr std::size_t ahead = 4;

/// What one child sends: its next slices, each in a room of its own until it is combined.
class Child {
 public:
  Child(Group& group, Rank rank, const Slices& slices)
      : group_(group), rank_(rank), slices_(slices) {
    for (std::size_t i = 0; i < std::min(ahead, slices.count()); ++i) post();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool ready() { return coming_.front().incoming->ready(); }
  void* slice() { return coming_.front().room->get(); }
  /// The slice has been combined; its room is for a later one.
  void next() {
    auto room = std::move(coming_.front().room);
    coming_.pop_front();
    free_.push_back(std::move(room));
    if (posted_ < slices_.count()) post();
  }

 private:
  struct Coming {
    std::unique_ptr<Room> room;
    std::unique_ptr<Incoming> incoming;
  };
  void post() {
    std::unique_ptr<Room> room;
    if (free_.empty()) {
      room = std::make_unique<Room>(slices_.length(), slices_[0].type);
    } else {
      room = std::move(free_.back());
      free_.pop_back();
    }
    const Data into{room->get(), slices_[posted_].count, slices_[posted_].type};
    auto incoming = std::make_unique<Incoming>(group_.exchange(), rank_, group_.operation(), into);
    coming_.push_back({std::move(room), std::move(incoming)});
    posted_ += 1;
  }

  Group& group_;
  const Rank rank_;
  const Slices& slices_;
  std::vector<std::unique_ptr<Room>> free_;
  std::deque<Coming> coming_;
  std::size_t posted_ = 0;
};

/// Results on their way down: from the parent, or made here, to the children.
class Down {
 public:
  Down(Group& group, const Tree& tree, const Slices& slices)
      : group_(group), children_(tree.children[group.me()]), slices_(slices) {
    if (group.me() == tree.root) return;
    for (std::size_t i = 0; i < slices.count(); ++i) {
      incoming_.emplace_back(group.exchange(), tree.parent[group.me()], group.operation(),
                             slices[i]);
    }
  }
  void pass_on() {
    for (const Rank child : children_) {
      group_.exchange().send_data(child, group_.operation(), slices_[here_], outbox_);
    }
    here_ += 1;
  }
  void step() {
    while (here_ < incoming_.size() && incoming_[here_].ready()) pass_on();
  }
  bool through() { return here_ == slices_.count() && outbox_.test(); }

 private:
  Group& group_;
  const std::vector<Rank>& children_;
  const Slices& slices_;
  std::deque<Incoming> incoming_;
  std::size_t here_ = 0;
  Outbox outbox_;
};

/// `own` has this rank's values, and is where they are combined.
void run(Group& group, const Reduction& reduction, const Tree& tree, const Slices& own,
         Down* down) {
  Exchange& exchange = group.exchange();
  const bool is_root = group.me() == tree.root;
  std::deque<Child> children;
  for (const Rank child : tree.children[group.me()]) children.emplace_back(group, child, own);
  Outbox up;
  Patience patience = exchange.patience();
  const auto wait_for = [&](const std::function<bool()>& done) {
    while (!done()) {
      if (down) down->step();
      patience.wait();
    }
  };
  for (std::size_t i = 0; i < own.count(); ++i) {
    for (Child& child : children) {
      wait_for([&] { return child.ready(); });
      must(PMPI_Reduce_local(child.slice(), own[i].buffer, own[i].count, reduction.type,
                             reduction.op));
      child.next();
    }
    if (!is_root) {
      exchange.send_data(tree.parent[group.me()], group.operation(), own[i], up);
    } else if (down) {
      down->pass_on();
    }
  }
  wait_for([&] { return up.test() && (!down || down->through()); });
}

std::uint64_t slice_bytes(const Reduction& reduction) {
  return segment_bytes_for(bytes_of({nullptr, reduction.count, reduction.type}));
}

}  // namespace

void reduce_in_segments(Group& group, const Reduction& reduction, Rank root) {
  const Tree& tree = group.windows().up(root, true);
  const Data from{const_cast<void*>(reduction.from), reduction.count, reduction.type};
  const bool is_leaf = tree.children[group.me()].empty() && group.me() != root;
  // A leaf sends as it is; others combine where they may write.
  std::optional<Room> room;
  Data sum = from;
  if (group.me() == root) {
    sum.buffer = reduction.to;
  } else if (!is_leaf) {
    sum = room.emplace(reduction.count, reduction.type).data();
  }
  group.exchange().copy(from, sum);
  run(group, reduction, tree, Slices(sum, slice_bytes(reduction)), nullptr);
}

void all_reduce_in_segments(Group& group, const Reduction& reduction) {
  const Tree& tree = group.windows().up(0, true);
  const Data from{const_cast<void*>(reduction.from), reduction.count, reduction.type};
  const Data to{reduction.to, reduction.count, reduction.type};
  const bool is_root = group.me() == 0;
  const bool is_leaf = tree.children[group.me()].empty() && !is_root;
  std::optional<Room> room;
  Data sum = is_root ? to : from;
  // Results come into `to` while values go up: those must not be in the same place.
  if (!is_root && (!is_leaf || from.buffer == to.buffer)) {
    sum = room.emplace(reduction.count, reduction.type).data();
  }
  group.exchange().copy(from, sum);
  const Slices results(to, slice_bytes(reduction));
  Down down(group, tree, results);
  run(group, reduction, tree, Slices(sum, slice_bytes(reduction)), &down);
}

}  // namespace piracema::coll::mpi
