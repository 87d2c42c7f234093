#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "sim/smr/errand.h"
#include "smr/request.h"
#include "smr/service/reply.h"

namespace piracema::smr_sim {

class World;

/// Asks one thing after the other, again and again until it is answered; trusts what so many
/// replicas say that one of them is correct.
class Client {
 public:
  Client(World& world, std::uint32_t index);

  /// Something may be due: a request, or one once more.
  void wake();
  void timer(std::uint64_t generation);
  void reply(smr::ReplicaId from, const smr::Reply& reply);
  /// Whether it is to be answered outside of the order.
  static bool is_read(const smr::Request& request) { return request.session >= first_read; }
  /// What it has asked for is all that it will.
  void give_up_asking() { total_ = asked_; }
  std::size_t unanswered() const { return open_.size() + total_ - asked_; }
  bool done() const { return asked_ == total_ && open_.empty() && opening_.tries == 0; }

  /// Its number among all clients; those who forge have other identities.
  static smr::ClientId id_of(std::uint32_t index) { return first + index; }
  static std::uint32_t index_of(smr::ClientId id) { return static_cast<std::uint32_t>(id - first); }

 private:
  static constexpr smr::ClientId first = 1'000;
  /// Stands for the session in a read; counts on with each try, so that answers to different tries
  /// are not put together.
  static constexpr std::uint64_t first_read = std::uint64_t{1} << 40;
  struct Open {
    std::shared_ptr<const smr::Request> request;
    std::size_t ticket = 0;
    Time again{};
    int tries = 0;
    std::map<smr::ReplicaId, std::uint64_t> heard;
  };
  std::unique_ptr<Errand> make_errand();
  void open_session();
  void opened(smr::ReplicaId from, const smr::Reply& reply);
  /// Whether so many replicas have answered this that one of them is correct.
  bool believes(Open& open, smr::ReplicaId from, const smr::Reply& reply);
  void ask();
  void send(Open& open);
  void begin_try(Open& open);
  void prove(smr::Request& request, bool bad);

  World& world_;
  const std::uint32_t index_;
  const smr::ClientId id_;
  std::uint32_t total_;
  Random random_;
  const std::unique_ptr<Errand> errand_;
  std::uint32_t asked_ = 0;
  Time next_at_{};
  std::optional<Time> planned_;
  std::uint64_t timer_ = 0;
  std::map<smr::Sequence, Open> open_;
  /// 0 until one was opened.
  std::uint64_t session_ = 0;
  Open opening_;
  /// Sessions that it has asked for.
  smr::Sequence opens_ = 0;
  std::size_t favourite_ = 0;
};

}  // namespace piracema::smr_sim
