#include "smr/link/caller.h"

#include <algorithm>

namespace piracema::smr {

namespace {
constexpr std::chrono::milliseconds first_pause{10};
constexpr std::chrono::milliseconds longest_pause{500};
constexpr std::chrono::seconds dial_time{2};
}  // namespace

Caller::Caller(net::Poller& poller, FlushList& flush_list, const Self& self, Whom whom,
               Link::Events events, const Link::Limits& limits)
    : poller_(poller),
      flush_list_(flush_list),
      self_(self),
      whom_(std::move(whom)),
      events_(std::move(events)),
      limits_(limits),
      pause_(first_pause) {
  dial();
}

Caller::~Caller() {
  if (next_) poller_.cancel(*next_);
  if (link_) link_->close();
}

void Caller::dial() {
  dial_ = std::make_unique<net::Dial>(poller_, whom_.address, now() + dial_time,
                                      [this](Result<Fd> socket) {
                                        if (!socket) {
                                          refused_since_.reset();
                                          return failed(socket.error());
                                        }
                                        greet(*std::move(socket));
                                      });
}

void Caller::greet(Fd socket) {
  Link::Events events;
  events.received = events_.received;
  events.known = [this](Link& link) {
    pause_ = first_pause;
    why_.clear();
    refused_since_.reset();
    if (events_.known) events_.known(link);
  };
  events.lost = [this](Link& link, const Error& why) {
    const bool was_known = link.is_known();
    const auto gone = std::move(link_);
    if (!link.is_refused()) {
      refused_since_.reset();
    } else if (!refused_since_) {
      refused_since_ = now();
    }
    failed(why);
    if (was_known && events_.lost) events_.lost(link, why);
  };
  link_ = Link::open(poller_, flush_list_, std::move(socket),
                     Handshake(self_, whom_.name, whom_.key), true, std::move(events), limits_);
}

void Caller::failed(const Error& why) {
  why_ = why.message;
  next_ = poller_.at(now() + pause_, [this] {
    next_.reset();
    dial();
  });
  pause_ = std::min(2 * pause_, longest_pause);
}

}  // namespace piracema::smr
