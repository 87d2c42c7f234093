#include "smr/link/caller.h"

#include <algorithm>

namespace piracema::smr {

namespace {
constexpr std::chrono::milliseconds first_pause{10};
constexpr std::chrono::milliseconds longest_pause{500};
constexpr std::chrono::seconds dial_time{2};
/// A link that has stood for so long is called again at once.
constexpr std::chrono::seconds settled{1};
}  // namespace

Caller::Caller(net::Poller& poller, FlushList& flush_list, const Self& self, Whom whom,
               Link::Events events, const Link::Limits& limits, OnFailed on_failed)
    : poller_(poller),
      flush_list_(flush_list),
      self_(self),
      whom_(std::move(whom)),
      events_(std::move(events)),
      limits_(limits),
      on_failed_(std::move(on_failed)),
      pause_(first_pause) {
  dial();
}

Caller::~Caller() {
  if (next_) poller_.cancel(*next_);
  if (link_) link_->close();
}

// A name is looked up each time: it may lead elsewhere by now. Of several addresses each is tried.
void Caller::dial() {
  if (const auto address = whom_.address.numeric()) return connect(*address);
  lookup_ = std::make_unique<net::Lookup>(poller_, whom_.address,
                                          [this](Result<std::vector<net::Address>> found) {
                                            lookup_.reset();
                                            if (found)
                                              return connect((*found)[attempts_++ % found->size()]);
                                            failed(found.error());
                                          });
}

void Caller::connect(const net::Address& address) {
  dial_ =
      std::make_unique<net::Dial>(poller_, address, now() + dial_time, [this](Result<Fd> socket) {
        if (!socket) return failed(socket.error());
        greet(*std::move(socket));
      });
}

void Caller::greet(Fd socket) {
  Link::Events events;
  events.received = events_.received;
  events.known = [this](Link& link) {
    known_at_ = now();
    why_.clear();
    if (events_.known) events_.known(link);
  };
  events.lost = [this](Link& link, const Error& why) {
    const bool was_known = link.is_known();
    // One that ends as soon as it stands, as with a key that the peer does not take, is no better
    // than none.
    if (was_known && now() - known_at_ >= settled) pause_ = first_pause;
    const auto gone = std::move(link_);
    failed(why, link.is_refused());
    if (was_known && events_.lost) events_.lost(link, why);
  };
  link_ = Link::open(poller_, flush_list_, std::move(socket),
                     Handshake(self_, whom_.name, whom_.key), true, std::move(events), limits_);
}

void Caller::failed(const Error& why, bool is_refused) {
  why_ = why.message;
  next_ = poller_.at(now() + pause_, [this] {
    next_.reset();
    dial();
  });
  pause_ = std::min(2 * pause_, longest_pause);
  if (on_failed_) on_failed_(why, is_refused);
}

}  // namespace piracema::smr
