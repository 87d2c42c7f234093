#include "smr/order/agreement/request_pool.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"
#include "smr/order/messages/batch.h"

namespace piracema::smr {

namespace {
// Sessions whose last requests are remembered, so that a copy that comes late is not ordered again.
constexpr std::size_t sessions_max = 16'384;
}  // namespace

bool RequestPool::Session::knows(Sequence sequence) const {
  if (sequence > highest) return false;
  const Sequence back = highest - sequence;
  // What is too old to be remembered counts as fresh: at worst it is ordered twice, and the
  // service's own session knows better. The other way round a request could be lost.
  return back < remembered && decided.test(static_cast<std::size_t>(back));
}

namespace {
constexpr auto by_sequence = [](const auto& pending, Sequence sequence) {
  return pending.sequence < sequence;
};
}  // namespace

const RequestPool::Entries::iterator* RequestPool::Session::find(Sequence sequence) const {
  const auto at = std::lower_bound(pending.begin(), pending.end(), sequence, by_sequence);
  return at != pending.end() && at->sequence == sequence ? &at->entry : nullptr;
}

void RequestPool::Session::insert(Sequence sequence, Entries::iterator entry) {
  const auto at = std::lower_bound(pending.begin(), pending.end(), sequence, by_sequence);
  pending.insert(at, {sequence, entry});
}

void RequestPool::Session::remove(Sequence sequence) {
  pending.erase(std::lower_bound(pending.begin(), pending.end(), sequence, by_sequence));
}

void RequestPool::Session::note(Sequence sequence) {
  if (sequence > highest) {
    const Sequence by = sequence - highest;
    decided = by < remembered ? decided << static_cast<std::size_t>(by) : 0;
    highest = sequence;
  }
  const Sequence back = highest - sequence;
  if (back < remembered) decided.set(static_cast<std::size_t>(back));
}

RequestPool::RequestPool(const Settings& settings)
    : settings_(settings), forget_at_(sessions_max) {}

RequestPool::Added RequestPool::add(Request request, Time now, std::optional<std::size_t> voucher) {
  if (sessions_ >= forget_at_) forget_idle_clients();
  Client& client = clients_[request.client];
  client.id = request.client;
  const auto [at, is_new] = client.sessions.try_emplace(request.session);
  sessions_ += is_new;
  Session& session = at->second;
  if (session.knows(request.sequence)) return Added::known;
  if (const auto* waits = session.find(request.sequence)) {
    vouch(*waits, voucher);
    return Added::known;
  }
  const std::size_t bytes = encoded_bytes(request);
  if (client.count >= settings_.client_requests || size_ >= settings_.pool_requests ||
      client.bytes + bytes > settings_.client_bytes || bytes_ + bytes > settings_.pool_bytes) {
    return Added::full;
  }
  const auto entry = fresh_.emplace(fresh_.end());
  session.insert(request.sequence, entry);
  entry->request = std::move(request);
  entry->client = &client;
  entry->session = &session;
  entry->since = now;
  entry->bytes = bytes;
  client.count += 1;
  client.bytes += bytes;
  size_ += 1;
  bytes_ += bytes;
  vouch(entry, voucher);
  queue(entry);
  return Added::fresh;
}

bool RequestPool::holds(const Request& request) const {
  const auto client = clients_.find(request.client);
  if (client == clients_.end()) return false;
  const auto session = client->second.sessions.find(request.session);
  if (session == client->second.sessions.end()) return false;
  const auto* waits = session->second.find(request.sequence);
  if (waits == nullptr) return false;
  const Request& one = request_of(**waits);
  return one.kind == request.kind && one.group == request.group &&
         as_text(one.operation) == as_text(request.operation);
}

void RequestPool::decided(const std::vector<Request>& requests) {
  for (const Request& request : requests) {
    Client& client = clients_[request.client];
    client.id = request.client;
    client.failures = client.vouchers_wanted = 0;
    const auto [at, is_new] = client.sessions.try_emplace(request.session);
    sessions_ += is_new;
    Session& session = at->second;
    session.note(request.sequence);
    if (const auto* waits = session.find(request.sequence)) erase(*waits);
  }
  if (sessions_ >= forget_at_) forget_idle_clients();
}

void RequestPool::erase(Entries::iterator entry) {
  Client& client = *entry->client;
  unqueue(entry);
  entry->session->remove(request_of(*entry).sequence);
  client.count -= 1;
  client.bytes -= entry->bytes;
  size_ -= 1;
  bytes_ -= entry->bytes;
  (entry->forwarded ? forwarded_ : fresh_).erase(entry);
}

void RequestPool::forget_waiting() {
  for (Entries* list : {&fresh_, &forwarded_}) {
    while (!list->empty()) erase(list->begin());
  }
}

void RequestPool::start_again(Time now) {
  for (Entry& entry : forwarded_) entry.forwarded = false;
  fresh_.splice(fresh_.end(), forwarded_);
  for (auto entry = fresh_.begin(); entry != fresh_.end(); ++entry) {
    entry->since = now;
    if (!entry->batch) continue;
    entry->request = entry->batch->requests[entry->index];
    entry->batch = nullptr;
    queue(entry);
  }
}

RequestPool::Expired RequestPool::expire(Time now, Patience patience) {
  Expired expired;
  while (!forwarded_.empty() && forwarded_.front().since + patience.forwarded <= now) {
    expired.overdue = true;
    forwarded_.front().since = now;
    forwarded_.splice(forwarded_.end(), forwarded_, forwarded_.begin());
  }
  while (!fresh_.empty() && fresh_.front().since + patience.fresh <= now) {
    Entry& entry = fresh_.front();
    expired.forward.push_back(request_of(entry));
    entry.since = now;
    entry.forwarded = true;
    forwarded_.splice(forwarded_.end(), fresh_, fresh_.begin());
  }
  return expired;
}

std::optional<Time> RequestPool::next_deadline(Patience patience) const {
  std::optional<Time> next;
  const auto by = [&next](const Entries& list, Time time) {
    if (!list.empty() && (!next || list.front().since + time < *next)) {
      next = list.front().since + time;
    }
  };
  by(fresh_, patience.fresh);
  by(forwarded_, patience.forwarded);
  return next;
}

void RequestPool::forgive(Time late) {
  for (Entries* list : {&fresh_, &forwarded_}) {
    for (Entry& entry : *list) entry.since += late;
  }
}

void RequestPool::forget_idle_clients() {
  for (auto client = clients_.begin(); client != clients_.end();) {
    if (client->second.count == 0) {
      sessions_ -= client->second.sessions.size();
      client = clients_.erase(client);
    } else {
      ++client;
    }
  }
  // So that a sweep pays for itself even if all of them are busy.
  forget_at_ = std::max(sessions_max, 2 * sessions_);
}

// ---- whose request is proposed next: clients take turns

void RequestPool::vouch(Entries::iterator entry, std::optional<std::size_t> voucher) {
  if (!voucher) return;
  entry->vouchers |= std::uint64_t{1} << (*voucher % 64);
  queue(entry);
}

void RequestPool::queue(Entries::iterator entry) {
  Client& client = *entry->client;
  if (entry->queued || entry->batch) return;
  const auto vouchers = static_cast<std::size_t>(__builtin_popcountll(entry->vouchers));
  if (vouchers < client.vouchers_wanted) return;
  entry->queued = true;
  client.waiting.push_back(entry);
  if (!client.has_turn) turns_.push_back(&client);
  client.has_turn = true;
}

BatchPtr RequestPool::propose(std::uint64_t time) {
  std::vector<Request> requests;
  std::vector<Entries::iterator> taken;
  std::size_t bytes = 0;
  while (!turns_.empty() && requests.size() < settings_.batch_requests) {
    Client& client = *turns_.front();
    const auto entry = client.waiting.front();
    if (!requests.empty() && bytes + entry->bytes > settings_.batch_bytes) break;
    bytes += entry->bytes;
    client.waiting.pop_front();
    entry->queued = false;
    entry->index = requests.size();
    requests.push_back(std::move(entry->request));
    taken.push_back(entry);
    turns_.pop_front();
    client.has_turn = !client.waiting.empty();
    if (client.has_turn) turns_.push_back(&client);
  }
  BatchPtr batch = make_batch(time, std::move(requests));
  for (const auto& entry : taken) entry->batch = batch;
  return batch;
}

void RequestPool::proposed(const BatchPtr& batch) {
  for (std::size_t i = 0; i < batch->requests.size(); ++i) {
    const Request& request = batch->requests[i];
    const auto client = clients_.find(request.client);
    if (client == clients_.end()) continue;
    const auto session = client->second.sessions.find(request.session);
    if (session == client->second.sessions.end()) continue;
    const auto* waits = session->second.find(request.sequence);
    if (waits == nullptr || (*waits)->batch) continue;
    const Entries::iterator entry = *waits;
    unqueue(entry);
    entry->batch = batch;
    entry->index = i;
  }
}

void RequestPool::unqueue(Entries::iterator entry) {
  if (!entry->queued) return;
  Client& client = *entry->client;
  entry->queued = false;
  client.waiting.erase(std::find(client.waiting.begin(), client.waiting.end(), entry));
  if (!client.waiting.empty()) return;
  turns_.erase(std::find(turns_.begin(), turns_.end(), &client));
  client.has_turn = false;
}

void RequestPool::suspect(ClientId id, std::size_t vouchers_wanted) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  Client& client = found->second;
  client.failures += 1;
  if (client.failures < 2) return;
  client.vouchers_wanted = vouchers_wanted;
  if (client.has_turn) turns_.erase(std::find(turns_.begin(), turns_.end(), &client));
  client.has_turn = false;
  const auto waiting = std::exchange(client.waiting, {});
  for (const auto& entry : waiting) {
    entry->queued = false;
    queue(entry);
  }
}

}  // namespace piracema::smr
