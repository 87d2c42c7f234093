#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "loop/poller.h"
#include "smr/link/handshake.h"
#include "smr/link/message_link.h"
#include "smr/link/read_turns.h"

namespace piracema::smr {

class Link;

/// Links that have something to write; flushed once for all that was said meanwhile.
class FlushList {
 public:
  void add(std::shared_ptr<Link> link) { links_.push_back(std::move(link)); }
  void flush();

 private:
  std::vector<std::shared_ptr<Link>> links_, taken_;
};

/// An authenticated connection: a stream socket that carries messages, many to a record, which is
/// guarded by a tag, and encrypted if it leaves this host (docs/formats/smr_wire.md).
///
/// It begins with a stranger, who gets half a kilobyte and a few seconds to show who he is. All of
/// it belongs to the poller's thread, on which the events are called. It lives until it is closed
/// or lost, whoever else holds it.
class Link final : public MessageLink, public std::enable_shared_from_this<Link> {
 public:
  struct Events {
    /// The peer has shown who he is. Once, before anything is received.
    std::function<void(Link&)> known;
    /// Whoever is known says something; the bytes are there for as long as the call.
    std::function<void(Link&, std::uint8_t kind, Bytes message)> received;
    /// Once, and nothing after it; not after `close`.
    std::function<void(Link&, const Error& why)> lost;
  };

  struct Limits {
    /// Of one message that the peer sends.
    std::size_t message_bytes = std::size_t{64} << 20;
    /// What may wait to be written; what is more is not sent.
    std::size_t waiting_bytes = std::size_t{64} << 20;
    std::chrono::milliseconds stranger_time{5'000};
  };

  /// Takes a connected socket over, for the side that dialled or accepted as `handshake` says.
  static std::shared_ptr<Link> open(net::Poller& poller, FlushList& flush_list, Fd socket,
                                    Handshake handshake, bool dialled, Events events,
                                    const Limits& limits);

  /// Until the flush list is flushed.
  bool send(std::uint8_t kind, Bytes first, Bytes second = {}) override;
  void pause(bool paused) override;

  /// From now on it is read when the turn of `source` comes, or at once if `turns` is null; `turns`
  /// outlives what the link receives. A link that waits for turns and is paused also keeps whole
  /// records that it has read, until it goes on.
  void read_in_turn(ReadTurns* turns, std::string source);
  void limit_messages(std::size_t bytes) override { message_bytes_ = bytes; }
  std::size_t kept_bytes() const override { return in_.size() + out_.size() - written_; }
  void close() override;

  bool is_known() const { return known_; }
  bool is_open() const { return open_; }
  /// The peer has said that it does not know us.
  bool is_refused() const { return handshake_.is_refused(); }
  /// Once known.
  const PeerName& peer() const override { return handshake_.peer(); }

 private:
  friend class FlushList;
  friend class ReadTurns;
  Link(net::Poller& poller, FlushList& flush_list, Fd socket, Handshake handshake, Events events,
       const Limits& limits);

  void ready(std::uint32_t events);
  void read(int times);
  void take_turn();
  bool stands_still() const { return paused_ && turns_ != nullptr; }
  std::size_t take_records(std::span<std::byte> bytes);
  bool take_record(std::span<std::byte> record);
  bool take_greeting(Bytes payload);
  bool take_messages(Bytes payload);
  void become_known();

  void put_plain(Bytes payload);
  void begin_record();
  void seal();
  void flush();
  /// Has the poller tell what this link can do something about.
  void watch();
  void fail(Error why);

  net::Poller& poller_;
  FlushList& flush_list_;
  const Fd socket_;
  Handshake handshake_;
  Events events_;
  const Limits limits_;
  std::size_t message_bytes_;

  bool open_ = true, known_ = false, paused_ = false, listed_ = false, full_ = false;
  /// Null: read at once. `waits_`: for its turn; with `has_whole_` `in_` may have whole records.
  ReadTurns* turns_ = nullptr;
  std::string source_;
  bool waits_ = false, has_whole_ = false;
  std::uint32_t wanted_ = 0;
  std::optional<net::Poller::Timer> deadline_;

  /// Once known.
  std::optional<RecordGuard> sent_, received_;
  /// Of a record that is not there as a whole.
  Buffer in_;

  Buffer out_;
  std::size_t written_ = 0;
  /// Where in `out_` the record begins that is still being filled.
  std::optional<std::size_t> record_;
};

}  // namespace piracema::smr
