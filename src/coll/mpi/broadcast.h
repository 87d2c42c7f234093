#pragma once

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "coll/mpi/exchange/segments.h"
#include "topology/measure/transfer.h"
#include "topology/message/header.h"

namespace piracema::coll::mpi {

class Group;

/// One broadcast at one rank, step by step: the root puts the tree into the header, relays pass on
/// what is below them, large data segment by segment as it comes. Errors of MPI are thrown.
class Broadcast {
 public:
  /// `data` stays the caller's until it is done. With `tells_trees` rank 0 sends trees along that
  /// are to be used from the next operation on: all ranks are through with this one before.
  Broadcast(Group&, std::uint32_t operation, Data data, Rank root, bool tells_trees = false);
  /// Goes on as far as it can without waiting. True when this rank is through.
  bool step();
  /// What has come, or was sent.
  const Header& header() const { return header_; }

 private:
  using Children = std::vector<std::pair<Rank, Branches>>;

  void begin_at_root(bool tells_trees);
  /// The tree that it goes along, as the root has it now.
  void choose_tree(std::uint64_t bytes);
  bool take_header();
  /// False as long as the tree that the header names is not there.
  bool find_children();
  /// Tells the children, and posts what is to come.
  void spread();
  bool take_segments();
  bool pass_on();

  Group& group_;
  const std::uint32_t operation_;
  const Data data_;
  const bool is_root_;
  std::optional<Exchange::Arrived> early_;
  Rank from_ = no_rank;
  Header header_;
  bool has_header_ = false;
  Children children_;
  std::optional<Segments> segments_;
  std::deque<Incoming> incoming_;
  std::size_t here_ = 0;
  /// The child that gets segments, and how many it got.
  std::size_t child_ = 0, sent_ = 0;
  bool ended_ = false;
  Outbox outbox_, headers_;
  Transfer transfer_;
};

/// Arguments are right as far as one rank can see. Errors of MPI are thrown. Each is one operation
/// of its group (`Group::begin_operation` was called).
void broadcast(Group&, Data, Rank root);
/// All wait for all.
void barrier(Group&);

}  // namespace piracema::coll::mpi
