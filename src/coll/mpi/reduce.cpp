#include "coll/mpi/collectives.h"

namespace piracema::coll::mpi {

namespace {

/// Room for elements of a type, which may begin before or behind their address.
class Room {
 public:
  Room(int count, MPI_Datatype type) : count_(count), type_(type) {
    MPI_Count low = 0, extent = 0, true_low = 0, true_extent = 0;
    must(PMPI_Type_get_extent_x(type, &low, &extent));
    must(PMPI_Type_get_true_extent_x(type, &true_low, &true_extent));
    const MPI_Count span =
        true_extent + (count > 0 ? (count - 1) * (extent < 0 ? -extent : extent) : 0);
    memory_.resize(static_cast<std::size_t>(span) + 1);
    begin_ = memory_.data() - true_low;
    if (extent < 0 && count > 0) begin_ -= (count - 1) * extent;
  }
  void* get() { return begin_; }
  Data data() { return {begin_, count_, type_}; }

 private:
  int count_;
  MPI_Datatype type_;
  std::vector<char> memory_;
  char* begin_;
};

Data of(const Reduction& reduction, const void* buffer) {
  return {const_cast<void*>(buffer), reduction.count, reduction.type};
}

void combine(const Reduction& reduction, const void* left, void* right_and_result) {
  must(PMPI_Reduce_local(left, right_and_result, reduction.count, reduction.type, reduction.op));
}

void reduce_along_tree(Group& group, const Reduction& reduction, Rank root) {
  Exchange& exchange = group.exchange();
  const Tree& up = group.up(root);
  const auto& children = up.children[group.me()];
  Outbox outbox;
  if (children.empty() && group.me() != root) {
    exchange.send_data(up.parent[group.me()], group.operation(), of(reduction, reduction.from),
                       outbox);
    outbox.wait();
    return;
  }
  Room own(reduction.count, reduction.type), theirs(reduction.count, reduction.type);
  Data sum = group.me() == root ? of(reduction, reduction.to) : own.data();
  exchange.copy(of(reduction, reduction.from), sum);
  for (const Rank child : children) {
    exchange.receive_data(child, group.operation(), theirs.data());
    combine(reduction, theirs.get(), sum.buffer);
  }
  if (group.me() == root) return;
  exchange.send_data(up.parent[group.me()], group.operation(), sum, outbox);
  outbox.wait();
}

void reduce_in_order(Group& group, const Reduction& reduction, Rank root) {
  const bool is_root = group.me() == root;
  std::vector<Room> parts;
  for (Rank rank = 0; is_root && rank < group.size(); ++rank) {
    parts.emplace_back(reduction.count, reduction.type);
  }
  gather(
      group, of(reduction, reduction.from), [&](Rank rank) { return parts[rank].data(); }, root);
  if (!is_root) return;
  Room& sum = parts.back();
  for (Rank rank = group.size() - 1; rank-- > 0;) {
    combine(reduction, parts[rank].get(), sum.get());
  }
  group.exchange().copy(sum.data(), of(reduction, reduction.to));
}

}  // namespace

void reduce(Group& group, const Reduction& reduction, Rank root) {
  int commutes = 0;
  must(PMPI_Op_commutative(reduction.op, &commutes));
  if (commutes != 0 && !group.world().settings().fixed_order) {
    reduce_along_tree(group, reduction, root);
  } else {
    reduce_in_order(group, reduction, root);
  }
}

void all_reduce(Group& group, const Reduction& reduction) {
  reduce(group, reduction, 0);
  broadcast(group, {reduction.to, reduction.count, reduction.type}, 0);
}

}  // namespace piracema::coll::mpi
