// Small reductions, and those in the order of ranks.
#include "coll/mpi/reduce.h"

#include "coll/mpi/exchange/slices.h"
#include "coll/mpi/gather.h"
#include "coll/mpi/reduce_segments.h"

namespace piracema::coll::mpi {

namespace {

constexpr std::uint64_t in_order_bytes = 1'048'576;

Data of(const Reduction& reduction, const void* buffer) {
  return {const_cast<void*>(buffer), reduction.count, reduction.type};
}

void combine(const Reduction& reduction, const void* left, void* right_and_result) {
  must(PMPI_Reduce_local(left, right_and_result, reduction.count, reduction.type, reduction.op));
}

void reduce_along_tree(Group& group, const Reduction& reduction, Rank root) {
  Exchange& exchange = group.exchange();
  const Tree& up = group.windows().up(root, false);
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

/// Of a large one only so much at a time is at the root from each rank.
void reduce_large_in_order(Group& group, const Reduction& reduction, Rank root) {
  const Slices from(of(reduction, reduction.from), in_order_bytes);
  const Slices to(of(reduction, reduction.to), in_order_bytes);
  for (std::size_t i = 0; i < from.count(); ++i) {
    const Reduction part{from[i].buffer, to[i].buffer, from[i].count, reduction.type, reduction.op};
    reduce_in_order(group, part, root);
  }
}

bool along_tree(Group& group, const Reduction& reduction) {
  int commutes = 0;
  must(PMPI_Op_commutative(reduction.op, &commutes));
  return commutes != 0 && !group.world().settings().fixed_order;
}

bool is_large(const Reduction& reduction) {
  return bytes_of(of(reduction, nullptr)) > small_bytes_max;
}

}  // namespace

void reduce(Group& group, const Reduction& reduction, Rank root) {
  const bool large = is_large(reduction);
  if (along_tree(group, reduction)) {
    (large ? reduce_in_segments : reduce_along_tree)(group, reduction, root);
  } else {
    (large ? reduce_large_in_order : reduce_in_order)(group, reduction, root);
  }
}

void all_reduce(Group& group, const Reduction& reduction) {
  if (is_large(reduction) && along_tree(group, reduction)) {
    all_reduce_in_segments(group, reduction);
    return;
  }
  reduce(group, reduction, 0);
  broadcast(group, {reduction.to, reduction.count, reduction.type}, 0);
}

}  // namespace piracema::coll::mpi
