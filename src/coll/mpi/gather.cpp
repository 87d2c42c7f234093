#include "coll/mpi/gather.h"

#include <algorithm>
#include <list>

#include "coll/mpi/exchange/pieces.h"
#include "topology/message/header.h"

namespace piracema::coll::mpi {

namespace {

/// A larger part goes straight to its receiver.
constexpr std::uint64_t relayed_bytes_max = 65'536;

Piece piece_of(const Exchange& exchange, Rank rank, Data data) {
  if (data.count == 0) return {rank, false, {}};
  if (bytes_of(data) > relayed_bytes_max) return {rank, true, {}};
  return {rank, false, exchange.pack(data)};
}

std::vector<Piece> must_read(std::span<const char> in, Rank size) {
  auto pieces = read_pieces(in, size);
  if (!pieces) throw MpiError{MPI_ERR_OTHER};
  return *std::move(pieces);
}

/// All pieces at the root; nothing elsewhere.
std::vector<char> bring_up(Group& group, Piece mine, Rank root) {
  Exchange& exchange = group.exchange();
  const Tree& up = group.windows().up(root, false);
  const Tag upwards = tag(group.operation(), Kind::up);
  std::vector<char> all;
  append(all, mine);
  for (const Rank child : up.children[group.me()]) {
    const auto arrived = exchange.receive_bytes(child, upwards);
    all.insert(all.end(), arrived.bytes.begin(), arrived.bytes.end());
  }
  if (group.me() == root) return all;
  Outbox outbox;
  exchange.send_bytes(up.parent[group.me()], upwards, all, outbox);
  outbox.wait();
  return {};
}

}  // namespace

void gather(Group& group, Data mine, const Part& part, Rank root) {
  Exchange& exchange = group.exchange();
  if (group.me() != root) {
    const Piece piece = piece_of(exchange, group.me(), mine);
    Outbox outbox;
    if (piece.direct) exchange.send_data(root, group.operation(), mine, outbox);
    bring_up(group, piece, root);
    outbox.wait();
    return;
  }
  if (mine.type != MPI_DATATYPE_NULL) exchange.copy(mine, part(root));
  for (const Piece& piece : must_read(bring_up(group, {root, false, {}}, root), group.size())) {
    if (piece.of == root) continue;
    if (piece.direct) {
      exchange.receive_data(piece.of, group.operation(), part(piece.of));
    } else {
      exchange.unpack(piece.bytes, part(piece.of));
    }
  }
}

void scatter(Group& group, const Part& part, Data mine, Rank root) {
  Exchange& exchange = group.exchange();
  const Tag downwards = tag(group.operation(), Kind::header);
  Header header;
  std::vector<Piece> pieces;
  Outbox outbox;
  if (group.me() == root) {
    header.operation = group.operation();
    header.branches = group.tree(0);
    for (Rank rank = 0; rank < group.size(); ++rank) {
      if (rank != root) pieces.push_back(piece_of(exchange, rank, part(rank)));
    }
    if (mine.type != MPI_DATATYPE_NULL) exchange.copy(part(root), mine);
  } else {
    const auto arrived = exchange.receive_bytes(no_rank, downwards);
    auto decoded = decode(arrived.bytes, group.size());
    if (!decoded || decoded->branches.front().rank != group.me()) throw MpiError{MPI_ERR_OTHER};
    header = *std::move(decoded);
    pieces = must_read(header.payload, group.size());
  }
  for (const auto child : children_of(header.branches)) {
    std::vector<bool> below(group.size(), false);
    for (const Branch& branch : child) below[branch.rank] = true;
    std::vector<char> theirs;
    for (const Piece& piece : pieces) {
      if (below[piece.of]) append(theirs, piece);
    }
    const Header down{.operation = header.operation,
                      .payload = std::string(theirs.begin(), theirs.end())};
    exchange.send_bytes(child.front().rank, downwards, encode(down, child), outbox);
  }
  if (group.me() == root) {
    // Straight to those whose parts are large, now that all know of it.
    for (const Piece& piece : pieces) {
      if (piece.direct) exchange.send_data(piece.of, group.operation(), part(piece.of), outbox);
    }
  } else {
    const auto own = std::find_if(pieces.begin(), pieces.end(),
                                  [&](const Piece& piece) { return piece.of == group.me(); });
    if (own == pieces.end()) throw MpiError{MPI_ERR_OTHER};
    if (own->direct) {
      exchange.receive_data(root, group.operation(), mine);
    } else {
      exchange.unpack(own->bytes, mine);
    }
  }
  outbox.wait();
}

// Every part goes over every edge of the tree once: whoever gets it from one neighbour passes it on
// to the others. Nobody has all of the work, and far links carry nothing twice.
void all_gather(Group& group, Data mine, const Part& part, bool large) {
  Exchange& exchange = group.exchange();
  const std::uint32_t operation = group.operation();
  const Tree& tree = group.windows().up(0, large);
  std::vector<Rank> neighbours = tree.children[group.me()];
  if (group.me() != 0) neighbours.push_back(tree.parent[group.me()]);
  Outbox outbox;
  const auto pass_on = [&](Rank of, Rank came_from) {
    for (const Rank to : neighbours) {
      if (to != came_from) exchange.send_data(to, operation, part(of), outbox, of);
    }
  };
  struct OnItsWay {
    Rank of, from;
    std::unique_ptr<Incoming> incoming;
  };
  std::list<OnItsWay> parts;
  std::vector<bool> is_known(group.size(), false);
  is_known[group.me()] = true;
  exchange.copy(mine, part(group.me()));
  pass_on(group.me(), no_rank);
  Patience patience = exchange.patience();
  for (Rank here = 1; here < group.size();) {
    Rank from = no_rank;
    Stamp stamp;
    while (exchange.poll_stamp(operation, from, stamp)) {
      if (stamp.of >= group.size() || is_known[stamp.of]) throw MpiError{MPI_ERR_OTHER};
      is_known[stamp.of] = true;
      parts.push_back(
          {stamp.of, from,
           std::make_unique<Incoming>(exchange, from, operation, part(stamp.of), stamp)});
    }
    const Rank before = here;
    for (auto at = parts.begin(); at != parts.end();) {
      if (!at->incoming->ready()) {
        ++at;
        continue;
      }
      pass_on(at->of, at->from);
      at = parts.erase(at);
      here += 1;
    }
    if (here == before) patience.wait();
  }
  outbox.wait();
}

}  // namespace piracema::coll::mpi
