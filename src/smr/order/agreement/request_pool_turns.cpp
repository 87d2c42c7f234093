#include <algorithm>
#include <utility>

#include "smr/order/agreement/request_pool.h"
#include "smr/order/messages/batch.h"

/// Whose request is proposed next: clients take turns.
namespace piracema::smr {

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
