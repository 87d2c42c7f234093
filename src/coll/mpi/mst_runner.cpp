#include "coll/mpi/mst_runner.h"

#include <unistd.h>

#include <cstring>

#include "coll/mpi/group.h"

namespace piracema::coll::mpi {

MstRunner::MstRunner(Group& group)
    : group_(group), node_(group.me()), agreement_(group.world().settings().threshold) {}

void MstRunner::adapt() {
  const LinkTable links = group_.links();
  std::vector<std::pair<Rank, double>> costs;
  for (Rank to = 0; to < group_.size(); ++to) {
    if (to != group_.me()) costs.emplace_back(to, links.at(group_.me(), to).latency);
  }
  agreement_.measured(costs);
  started_ = false;
  for (const auto& [to, cost] : costs) send(to, {.offer = cost, .heaviest = agreement_.heaviest()});
  begin_if_agreed();
  while (!started_ || !node_.idle()) {
    const auto arrived = next();
    Letter letter;
    if (arrived.bytes.size() != sizeof letter) throw MpiError{MPI_ERR_OTHER};
    std::memcpy(&letter, arrived.bytes.data(), sizeof letter);
    for (const Letter& ready : order_.on(arrived.from, letter.number, letter)) {
      handle(arrived.from, ready);
    }
  }
  outbox_.wait();
}

// The others may have sent all their offers during the round before.
void MstRunner::begin_if_agreed() {
  if (started_) return;
  if (const auto agreed = agreement_.agreed()) {
    started_ = true;
    send(node_.start(*agreed));
  }
}

void MstRunner::handle(Rank from, const Letter& letter) {
  if (letter.offer < 0) {
    send(node_.on(from, letter.message));
    return;
  }
  agreement_.on_offer(from, letter.offer, letter.heaviest);
  begin_if_agreed();
}

// In the order in which links, emulated ones too, deliver.
Exchange::Arrived MstRunner::next() {
  Exchange& exchange = group_.exchange();
  const int any = tag(0, Kind::tree);
  if (!exchange.emulating()) return exchange.receive_bytes(no_rank, any);
  while (true) {
    Exchange::Arrived arrived;
    while (exchange.poll_bytes(no_rank, any, arrived)) held_.push(std::move(arrived));
    if (!held_.empty() && held_.top().visible_at <= now()) {
      arrived = held_.top();
      held_.pop();
      return arrived;
    }
    ::usleep(100);
  }
}

void MstRunner::send(Rank to, Letter letter) {
  letter.number = order_.number_for(to);
  char bytes[sizeof letter];
  std::memcpy(bytes, &letter, sizeof letter);
  group_.exchange().send_bytes(to, tag(0, Kind::tree), bytes, outbox_);
  messages_ += 1;
}

void MstRunner::send(const mst::Sends& sends) {
  for (const auto& [to, message] : sends) send(to, {.message = message});
}

}  // namespace piracema::coll::mpi
