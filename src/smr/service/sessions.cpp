#include "smr/service/sessions.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/ensure.h"

namespace piracema::smr {

std::uint64_t Sessions::open(ClientId client, Sequence sequence, std::uint64_t life) {
  Client& known = clients_[client];
  if (const auto number = opened_by(client, sequence)) return number;
  // An old `open` that somebody plays again would push out a session that is in use.
  if (sequence <= known.last_open) return 0;
  make_room(known);
  const std::uint64_t number = next_number_++;
  auto session = std::make_shared<Session>(client, sequence, life);
  session->used = ++uses_;
  session->generation = generation_;
  sessions_.emplace(number, std::move(session));
  known.last_open = sequence;
  known.used = uses_;
  known.sessions.push_back(number);
  forget_past_client();
  return number;
}

std::uint64_t Sessions::opened_by(ClientId client, Sequence sequence) const {
  const auto known = clients_.find(client);
  if (known == clients_.end()) return 0;
  for (const std::uint64_t number : known->second.sessions) {
    if (sessions_.at(number)->opened_by() == sequence) return number;
  }
  return 0;
}

bool Sessions::open_is_gone(ClientId client, Sequence sequence) const {
  const auto known = clients_.find(client);
  return known != clients_.end() && sequence <= known->second.last_open &&
         opened_by(client, sequence) == 0;
}

Sequence Sessions::last_open(ClientId client) const {
  const auto known = clients_.find(client);
  return known == clients_.end() ? 0 : known->second.last_open;
}

// By use and by number alone: all replicas evict the same one.
void Sessions::make_room(const Client& client) {
  const auto used_before = [this](std::uint64_t a, std::uint64_t b) {
    return sessions_.at(a)->used < sessions_.at(b)->used;
  };
  if (client.sessions.size() >= limits_.sessions_of_client) {
    const auto& own = client.sessions;
    return erase(*std::min_element(own.begin(), own.end(), used_before));
  }
  if (sessions_.size() < limits_.sessions) return;
  const auto oldest = std::min_element(
      sessions_.begin(), sessions_.end(),
      [](const auto& a, const auto& b) { return a.second->used < b.second->used; });
  erase(oldest->first);
}

void Sessions::forget_past_client() {
  if (clients_.size() <= limits_.sessions + limits_.past_clients) return;
  const auto oldest =
      std::min_element(clients_.begin(), clients_.end(), [](const auto& a, const auto& b) {
        const bool a_past = a.second.sessions.empty(), b_past = b.second.sessions.empty();
        if (a_past != b_past) return a_past;
        return a.second.used < b.second.used;
      });
  ENSURE(oldest->second.sessions.empty());  // There are more clients than sessions.
  clients_.erase(oldest);
}

void Sessions::close(ClientId client, std::uint64_t session) {
  if (find(client, session) != nullptr) erase(session);
}

void Sessions::close_all(ClientId client) {
  const auto known = clients_.find(client);
  if (known == clients_.end()) return;
  const std::vector<std::uint64_t> own = known->second.sessions;
  for (const std::uint64_t number : own) erase(number);
}

void Sessions::erase(std::uint64_t number) {
  const auto found = sessions_.find(number);
  Client& owner = clients_.at(found->second->client());
  std::erase(owner.sessions, number);
  owner.used = ++uses_;
  sessions_.erase(found);
}

const Session* Sessions::find(ClientId client, std::uint64_t session) const {
  const auto found = sessions_.find(session);
  return found == sessions_.end() || found->second->client() != client ? nullptr
                                                                       : found->second.get();
}

Session* Sessions::use(ClientId client, std::uint64_t session) {
  Session* mine = find_to_settle(client, session);
  if (mine != nullptr) mine->used = ++uses_;
  return mine;
}

Session* Sessions::find_to_settle(ClientId client, std::uint64_t session) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || found->second->client() != client) return nullptr;
  return &writable(found->second);
}

// A copy, if somebody may still be writing this one.
Session& Sessions::writable(std::shared_ptr<Session>& session) {
  if (session->generation != generation_) {
    session = std::make_shared<Session>(*session);
    session->generation = generation_;
  }
  return *session;
}

std::function<void(wire::Writer&)> Sessions::snapshot() {
  generation_ += 1;
  std::vector<std::pair<std::uint64_t, std::shared_ptr<const Session>>> sessions(sessions_.begin(),
                                                                                 sessions_.end());
  std::vector<std::tuple<ClientId, Sequence, std::uint64_t>> clients;
  for (const auto& [id, client] : clients_) clients.emplace_back(id, client.last_open, client.used);
  return [sessions = std::move(sessions), clients = std::move(clients), next = next_number_,
          uses = uses_](wire::Writer& out) mutable {
    out.number(next);
    out.number(uses);
    std::sort(clients.begin(), clients.end());
    out.number(static_cast<std::uint64_t>(clients.size()));
    for (const auto& [id, last_open, used] : clients) {
      out.number(id);
      out.number(last_open);
      out.number(used);
    }
    std::sort(sessions.begin(), sessions.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    out.number(static_cast<std::uint64_t>(sessions.size()));
    for (const auto& [number, session] : sessions) {
      out.number(number);
      session->write(out);
    }
  };
}

void Sessions::read(wire::Reader& in, bool has_lives) {
  sessions_.clear();
  clients_.clear();
  next_number_ = in.number<std::uint64_t>();
  uses_ = in.number<std::uint64_t>();
  const std::size_t clients = in.count(24);
  for (std::size_t i = 0; i < clients && in.ok(); ++i) {
    const auto id = in.number<ClientId>();
    const auto last_open = in.number<Sequence>();
    clients_[id] = {last_open, in.number<std::uint64_t>(), {}};
  }
  const std::size_t sessions = in.count(has_lives ? 52 : 44);
  for (std::size_t i = 0; i < sessions && in.ok(); ++i) {
    const auto number = in.number<std::uint64_t>();
    auto session = std::make_shared<Session>(Session::read(in, has_lives));
    const auto owner = clients_.find(session->client());
    if (owner == clients_.end() || number >= next_number_ || sessions_.contains(number)) {
      return in.fail("a session of nobody");
    }
    session->generation = generation_;
    owner->second.sessions.push_back(number);
    sessions_.emplace(number, std::move(session));
  }
}

}  // namespace piracema::smr
