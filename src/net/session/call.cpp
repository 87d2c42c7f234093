#include "net/session/call.h"

#include "base/text.h"
#include "net/socket/descriptors.h"

namespace piracema::net {

namespace {
constexpr std::chrono::milliseconds retry_interval{20};
}  // namespace

Call::Call(Poller& poller, std::string token, Greeting mine, Whom whom, SharedMemory shared_memory,
           Sealed sealed, MpiWorld* mpi, Time deadline, OnDone on_done)
    : poller_(poller),
      token_(std::move(token)),
      mine_(std::move(mine)),
      whom_(std::move(whom)),
      shared_memory_(shared_memory),
      sealed_(sealed),
      mpi_(mpi),
      deadline_(deadline),
      on_done_(std::move(on_done)) {
  auto addresses = Addresses::parse(whom_.address);
  if (addresses && !addresses->local && shared_memory_ == SharedMemory::required) {
    addresses = Error{Errc::config,
                      concat("address: want one with a local socket, found '", whom_.address, "'")};
  }
  if (addresses) {
    addresses_ = *addresses;
    dial();
  } else {
    next_ = poller.at(now(), [this, error = addresses.error()] { finish(error); });
  }
}

Call::~Call() {
  poller_.cancel(next_);
  if (connection_) connection_->close();
}

// A local socket that is not there tells at once: the peer is on another host, or gone.
void Call::dial() {
  const bool locally = addresses_.local && shared_memory_ != SharedMemory::never;
  tried_locally_ = locally && (shared_memory_ == SharedMemory::required || !tried_locally_);
  if (!tried_locally_) return dial(addresses_.tcp, false);
  dial(*addresses_.local, true);
}

void Call::dial(const Address& address, bool offer) {
  dial_ = std::make_unique<Dial>(poller_, address, deadline_, [this, offer](Result<Fd> socket) {
    if (socket && offer) {
      if (auto offered = this->offer(*socket); !offered) return failed(offered.error());
    }
    if (socket) return greet(std::move(*socket));
    if (!offer || shared_memory_ == SharedMemory::required) return failed(socket.error());
    tried_locally_ = false;
    dial(addresses_.tcp, false);
  });
}

wire::Frame Call::begin(Reach reach) {
  handshake_.emplace(token_, Purpose::frames, draw_nonce(), sealing_for(reach, sealed_));
  return handshake_->call(to_bytes(mine_));
}

// The call goes first, with the descriptors; who finds them right answers by the socket, and all
// that follows the proof goes by the rings.
Result<Done> Call::offer(const Fd& socket) {
  auto rings = Rings::create();
  if (!rings) return rings.error();
  const wire::Frame call = begin(Reach::local_socket);
  Buffer bytes;
  wire::write_header(call, bytes.extend(wire::frame_header_bytes));
  bytes.append(call.head.data(), call.head.size());
  const auto descriptors = (*rings)->descriptors();
  if (auto sent = send_with_descriptors(socket.get(), bytes, descriptors); !sent) return sent;
  rings_ = std::move(*rings);
  return Done{};
}

void Call::greet(Fd socket) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline_ - now());
  connection_ = Connection::open(poller_, std::move(socket),
                                 {.received = [this](wire::Frame frame) { answered(frame); },
                                  .lost = [this](Error why) { failed(std::move(why)); }},
                                 left);
  if (rings_) return;  // It has been said.
  if (mpi_ != nullptr) {
    mpi_channel_ = mpi_->open_channel();
    mine_.mpi_world = mpi_->id();
    mine_.mpi_rank = mpi_->rank();
    mine_.mpi_tag = mpi_channel_->tag();
  }
  connection_->send(begin(connection_->reach()));
}

void Call::answered(const wire::Frame& frame) {
  auto right = check(frame);
  if (right) {
    connection_->send(handshake_->proof());
    if (auto chosen = choose_channel(*right); !chosen) right = chosen.error();
  }
  if (right) {
    finish(std::move(connection_));
  } else {
    connection_->close();
    failed(right.error());
  }
}

Result<Done> Call::choose_channel(const Greeting& theirs) {
  if (rings_) return connection_->use(std::move(rings_));
  const bool by_mpi = mpi_channel_ && theirs.mpi_world == mine_.mpi_world && theirs.mpi_tag != 0;
  if (!by_mpi) {
    mpi_channel_.reset();
    const auto keys = handshake_->keys();
    return keys ? connection_->seal(*keys) : Done{};
  }
  mpi_channel_->join(theirs.mpi_rank, theirs.mpi_tag);
  return connection_->use(std::move(mpi_channel_));
}

Result<Greeting> Call::check(const wire::Frame& frame) {
  auto about = handshake_->take_answer(frame);
  if (!about) return about.error();
  auto greeting = read_greeting(*about);
  if (!greeting) return greeting.error();
  if (greeting->slot != whom_.slot || greeting->incarnation != whom_.incarnation) {
    return Error{Errc::refused,
                 concat("handshake: want slot ", whom_.slot, ", incarnation ", whom_.incarnation,
                        ", found slot ", greeting->slot, ", incarnation ", greeting->incarnation)};
  }
  return greeting;
}

void Call::failed(Error why) {
  connection_.reset();
  rings_.reset();
  mpi_channel_.reset();
  if (why.code == Errc::timeout && refusal_) why = *refusal_;
  if (why.code != Errc::timeout) refusal_ = why;
  const Time next = now() + retry_interval;
  if (next >= deadline_) return finish(std::move(why));
  next_ = poller_.at(next, [this] { dial(); });
}

void Call::finish(Result<std::shared_ptr<Connection>> result) {
  const auto on_done = std::move(on_done_);
  on_done(std::move(result));  // The last step: it may have destroyed this.
}

}  // namespace piracema::net
