#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "smr/ids.h"
#include "smr/service/reply.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::smr {

/// One client's requests and what was answered to the last of them, so that one that comes again
/// is answered again and not executed again. Part of the replicated state: it changes by ordered
/// requests alone.
class Session {
 public:
  /// Requests whose replies are kept. Not an option: replicas that differ in it would differ in
  /// what they execute.
  static constexpr std::uint32_t window = 256;
  /// Of all replies that are kept; the last one is kept however long it is.
  static constexpr std::size_t reply_bytes_max = std::size_t{64} << 10;

  enum class Standing {
    fresh,      ///< Execute it.
    under_way,  ///< Being executed; its reply will come.
    answered,   ///< Executed; `reply` has what was answered.
    forgotten,  ///< Too old, or its reply was too long to be kept.
  };

  Session(ClientId client, Sequence opened_by, std::uint64_t life = 0)
      : client_(client), opened_by_(opened_by), life_(life) {}

  ClientId client() const { return client_; }
  /// The number of the request that opened it.
  Sequence opened_by() const { return opened_by_; }
  /// Of the process that opened it (Opens).
  std::uint64_t life() const { return life_; }

  /// `sequence` is not 0.
  Standing standing(Sequence sequence) const;
  std::shared_ptr<const Buffer> reply(Sequence sequence) const;

  /// It is going to be executed: `fresh` until now.
  void begin(Sequence sequence);
  /// It was executed. Called in the order of the requests.
  void end(Sequence sequence, std::shared_ptr<const Buffer> reply);

  /// Nothing is under way.
  void write(wire::Writer& out) const;
  /// Anything may be in the bytes: ask `in` whether it was right.
  /// `has_life`: images of before version 4 have none.
  static Session read(wire::Reader& in, bool has_life = true);

  /// Larger with each request; who was used longest ago is evicted first.
  std::uint64_t used = 0;
  /// Of Sessions: when it was copied last.
  std::uint64_t generation = 0;

 private:
  struct Answer {
    /// 0: none.
    Sequence sequence = 0;
    /// Null: too long to be kept.
    std::shared_ptr<const Buffer> reply;
  };
  const Answer* find(Sequence sequence) const;
  void forget(Answer& answer);

  ClientId client_;
  Sequence opened_by_;
  std::uint64_t life_;

  // What was begun and what was answered are kept apart, each a function of the order alone: how
  // far execution is behind the order differs between replicas.
  /// The highest that was begun; those that are `window` below are forgotten.
  Sequence begun_highest_ = 0;
  /// By sequence modulo window, as are the answers.
  std::vector<Sequence> begun_;
  Sequence answered_highest_ = 0;
  std::vector<Answer> answers_;
  /// Of the replies that are kept.
  std::size_t reply_bytes_ = 0;
};

}  // namespace piracema::smr
