#pragma once

#include <piracema/error.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/fd.h"
#include "loop/poller.h"
#include "net/rings/byte_channel.h"
#include "net/socket/address.h"
#include "net/socket/frame_reader.h"
#include "net/socket/frame_writer.h"
#include "net/socket/records.h"
#include "net/socket/send_queue.h"
#include "net/socket/tcp_state.h"
#include "wire/frame.h"

namespace piracema::net {

/// A stream socket that carries frames; a channel may carry them instead (`use`), shared memory
/// or MPI, and the socket then only tells when the other one is gone.
///
/// It begins with a stranger, who may send small frames only and has a few seconds to say who he
/// is; `trust` ends that. It lives until it is closed or lost, whoever else holds it. All but
/// `send` belongs to the poller's thread, on which the events are called.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  struct Events {
    std::function<void(wire::Frame frame)> received;
    /// Once, and nothing after it; not after `close`. Errc::corrupt for bytes that are no frame,
    /// Errc::timeout for a stranger who was silent, Errc::io for all else.
    std::function<void(Error why)> lost;
  };

  static constexpr FrameLimits stranger_limits{4096, 0};
  static constexpr std::chrono::milliseconds stranger_timeout{5'000};

  /// Takes a connected stream socket over. `limits` are a stranger's.
  static std::shared_ptr<Connection> open(Poller& poller, Fd socket, Events events,
                                          std::chrono::milliseconds timeout = stranger_timeout,
                                          FrameLimits limits = stranger_limits);
  ~Connection();

  /// Queues a frame, within the limits of wire/frame.h, and writes what the socket takes; never
  /// waits. Drops it when the connection has ended. Frames of one thread stay in order. Any
  /// thread.
  void send(wire::Frame frame);
  /// The same for several, which are written together as far as the socket takes them.
  void send(std::vector<wire::Frame> frames);

  /// The stranger has said a part of who he is: what he may send from the next frame on.
  void allow(const FrameLimits& limits) { reader_.set_limits(limits); }

  /// The peer has said who he is: no deadline, and frames of any size, from the next one on,
  /// which goes to `events`.
  void trust(Events events);

  /// From here on frames go and come by this channel; what the socket says counts only by its end.
  /// Before any other thread may send. Errc::corrupt if more than the greetings came by the socket.
  Result<Done> use(std::unique_ptr<ByteChannel> channel);

  /// From the next frame on, all that goes and comes by the socket is sealed with these keys.
  /// Before any other thread may send. Errc::io if what was sent before is not written yet.
  Result<Done> seal(const SealKeys& keys);

  /// What a stranger on a local socket has handed over, as far as it has come.
  std::vector<Fd> take_descriptors() { return std::move(descriptors_); }
  bool is_local() const { return reach_ == Reach::local_socket; }
  Reach reach() const { return reach_; }
  /// nullopt unless frames go by TCP to another host.
  std::optional<TcpState> tcp_state() const;

  /// Ends the connection, without an event. What is not written is dropped.
  void close();

 private:
  Connection(Poller& poller, Fd socket, Events events);

  void ready(std::uint32_t events);
  void read();
  ssize_t read_socket(std::span<iovec> room);
  void open_records();
  void deliver();
  void rung();
  std::optional<std::size_t> read_channel(std::size_t bytes_max);
  void ended();
  void finish_when_over();
  void write();
  bool wait_for_room();
  void fail(Error why);
  Events& events();

  Poller& poller_;
  const Fd socket_;

  // Of the poller's thread.
  bool open_ = true;
  const Reach reach_;
  std::vector<Fd> descriptors_;
  /// The socket has ended, and what the channel holds is waited for until then.
  std::optional<Time> over_by_;
  FrameReader reader_{stranger_limits};
  Events events_;
  /// What `trust` was given. Set aside, as it may come from within a call of the ones it replaces.
  std::optional<Events> next_events_;
  std::optional<Poller::Timer> deadline_;

  // Of all threads.
  SendQueue queue_;
  /// Why nothing can be written any more; 0 while it can.
  std::atomic<int> write_error_ = 0;
  /// The writer waits for room in the socket and left its role to the poller.
  std::atomic<bool> blocked_ = false;

  /// Set before anybody else may send, and for good. Of the writer and of the poller's thread.
  std::unique_ptr<ByteChannel> channel_;
  /// The same: of the poller's thread, and of the writer. Both or none.
  std::unique_ptr<RecordReader> records_in_;
  std::unique_ptr<RecordWriter> records_out_;

  // Of the writer.
  FrameWriter writer_;
  bool asked_for_room_ = false;
};

}  // namespace piracema::net
