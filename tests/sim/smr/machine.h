#pragma once

#include <piracema/smr/state_machine.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "linearizability/models.h"

namespace piracema::smr_sim {

using linearizability::LeaseModel;
using linearizability::MapModel;

/// An operation of the simulated service.
struct Op {
  enum class Kind : std::uint64_t { get, put, remove, cas, append, acquire, renew, release };
  Kind kind = Kind::get;
  std::uint64_t key = 0;
  /// Of a lease: for how long.
  std::uint64_t value = 0;
  std::optional<std::uint64_t> expected;
  /// Who asks, for leases, and which of its operations this is: none is done twice.
  std::uint64_t client = 0, number = 0;
};
inline bool is_lease(const Op& op) { return op.kind >= Op::Kind::acquire; }
struct OpReply {
  /// Of map operations: what was there before. Of leases: the token.
  std::optional<std::uint64_t> value;
  bool done = false;
  std::uint64_t time = 0;
};
Buffer encode(const Op& op);
Buffer encode(const OpReply& reply);
std::optional<Op> decode_op(Bytes bytes);
std::optional<OpReply> decode_reply(Bytes bytes);

/// A service of a simulated replica.
class SimMachine : public smr::StateMachine {
 public:
  using Complain = std::function<void(std::string)>;
  /// Of all of its state; cheap.
  virtual std::uint64_t hash() const = 0;
  std::uint64_t state_bytes() const override { return says_bytes; }

  /// How large it says that it is.
  std::uint64_t says_bytes = 0;
};

/// A map with leases that knows which operations it has done, so that it notices one that comes
/// twice.
class Machine final : public SimMachine {
 public:
  /// Its images have so many bytes more than they need.
  explicit Machine(Complain complain, std::uint32_t ballast = 0)
      : complain_(std::move(complain)), ballast_(ballast) {}

  Buffer apply(Bytes operation, const smr::Context& context) override;
  Buffer query(Bytes operation) const override;
  smr::Keys keys(Bytes operation) const override;
  Image snapshot() override;
  bool restore(Bytes image) override;

  std::uint64_t hash() const override { return hash_; }

 private:
  struct Lease {
    std::uint64_t holder = 0, token = 0, until = 0;
  };
  OpReply lease(const Op& op, std::uint64_t time);
  void note(const Op& op);

  Complain complain_;
  std::uint32_t ballast_;
  std::map<std::uint64_t, std::uint64_t> values_;
  std::map<std::uint64_t, Lease> leases_;
  /// Numbers done, by client: all below the first, and those.
  struct Numbers {
    std::uint64_t below = 0;
    std::set<std::uint64_t> above;
  };
  std::map<std::uint64_t, Numbers> done_;
  std::uint64_t hash_ = 0;
  /// Of the last operation since it was restored.
  std::uint64_t time_ = 0;
};

}  // namespace piracema::smr_sim
