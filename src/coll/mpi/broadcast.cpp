// What goes down: the root puts the tree into the header, relays pass on what is below them.
#include <utility>

#include "coll/message/header.h"
#include "coll/mpi/collectives.h"
#include "coll/mpi/mst_runner.h"

namespace piracema::coll::mpi {

namespace {

struct Received {
  Rank from = no_rank;
  Header header;
};

Received receive_header(Group& group) {
  auto arrived = group.exchange().receive_bytes(no_rank, tag(group.operation(), Kind::header));
  auto header = decode(arrived.bytes, group.size());
  if (!header || header->branches.front().rank != group.me()) throw MpiError{MPI_ERR_OTHER};
  return {arrived.from, *std::move(header)};
}

/// The children, each with what is to be said to it.
std::vector<std::pair<Rank, Branches>> below(Group& group, const Received& received) {
  std::vector<std::pair<Rank, Branches>> out;
  if (group.world().settings().engine == Engine::mst) {
    // Every node knows its neighbours in the tree, and nothing else.
    for (const Rank to : group.mst().neighbours()) {
      if (to != received.from) out.emplace_back(to, Branches{{to, 0}});
    }
    return out;
  }
  for (const auto child : children_of(received.header.branches)) {
    out.emplace_back(child.front().rank, Branches(child.begin(), child.end()));
  }
  return out;
}

}  // namespace

void broadcast(Group& group, Data data, Rank root) {
  Exchange& exchange = group.exchange();
  const Settings& settings = group.world().settings();
  if (settings.engine == Engine::mst && group.operation() % settings.adapt_every == 0) {
    group.mst().adapt();
  }
  Received received;
  Header& header = received.header;
  const bool is_root = group.me() == root;
  if (is_root) {
    const std::uint64_t bytes = bytes_of(data);
    header.operation = group.operation();
    if (settings.engine != Engine::mst) header.branches = group.tree(bytes);
    header.data_follows = bytes > inline_bytes_max;
    if (!header.data_follows) {
      const auto packed = exchange.pack(data);
      header.payload.assign(packed.begin(), packed.end());
    }
  } else {
    received = receive_header(group);
    if (header.data_follows) exchange.receive_data(received.from, group.operation(), data);
  }
  Outbox outbox;
  for (const auto& [child, branches] : below(group, received)) {
    exchange.send_bytes(child, tag(group.operation(), Kind::header), encode(header, branches),
                        outbox);
    if (header.data_follows) exchange.send_data(child, group.operation(), data, outbox);
  }
  if (!is_root && !header.data_follows) exchange.unpack(header.payload, data);
  outbox.wait();
}

void barrier(Group& group) {
  // Up to rank 0 by the plan's tree, and down again.
  Exchange& exchange = group.exchange();
  const Tree& up = group.up(0);
  const int token = tag(group.operation(), Kind::up);
  for (const Rank child : up.children[group.me()]) exchange.receive_bytes(child, token);
  Outbox outbox;
  if (group.me() != 0) exchange.send_bytes(up.parent[group.me()], token, {}, outbox);
  char nothing = 0;
  broadcast(group, {&nothing, 0, MPI_BYTE}, 0);
  outbox.wait();
}

}  // namespace piracema::coll::mpi
