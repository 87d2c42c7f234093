#include <piracema/socket.h>

#include <stdexcept>
#include <utility>

#include "base/text.h"
#include "connect/streams/live.h"
#include "connect/streams/socket_server.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::detail {

namespace {

using Taken = SocketServer::Taken;

// Of a record of the journal, in the place of a length: a connection has ended.
constexpr std::uint32_t has_left = ~std::uint32_t{0};
constexpr std::size_t record_length_bytes = sizeof has_left;

void add_record(Buffer& to, const Taken::value_type& item) {
  wire::Writer writer(to);
  writer.number(item ? static_cast<std::uint32_t>(item->size()) : has_left);
  if (item) writer.raw(as_bytes(*item));
}

std::size_t record_bytes(const Taken::value_type& item) {
  return record_length_bytes + (item ? item->size() : 0);
}

}  // namespace

class SocketSource::Inside {
 public:
  Inside(const std::string& address, const SocketOptions& options, Framing framing)
      : server(address, options, framing) {}

  SocketServer server;
  /// Came, is in the journal if there is one, and has yet to become items.
  Taken taken;
  // Last, so that it goes first.
  Readiness readiness;
};

SocketSource::SocketSource(std::string address, SocketOptions options, Framing framing)
    : address_(std::move(address)),
      options_(std::move(options)),
      framing_(framing),
      journal_(options_.journal) {}

// A copy is one that was not started.
SocketSource::SocketSource(const SocketSource& other)
    : SocketSource(other.address_, other.options_, other.framing_) {}

SocketSource::~SocketSource() = default;

void SocketSource::start(const Context& context) {
  const std::string name = concat("socket '", address_, "'");
  check_live(name, context, options_, begun_ || !context.begins_job);
  if (options_.connections_max == 0) {
    throw std::runtime_error(concat(name, ": want at least 1 connection, found a limit of 0"));
  }
  if (options_.item_bytes_max >= has_left) {
    throw std::runtime_error(concat(name, ": want items of less than 4 GiB, found a limit of ",
                                    options_.item_bytes_max));
  }
  if (journal_.is_wanted()) journal_.open(context.begins_job, position_);
  inside_ = std::make_unique<Inside>(address_, options_, framing_);
  inside_->readiness.start(inside_->server.handle(), context.wake);
  begun_ = true;
}

Poll<std::string> SocketSource::operator()() {
  for (;;) {
    if (options_.ends_after != 0 && left_ >= options_.ends_after) return Poll<std::string>::end();
    auto next = again();
    if (!next) {
      if (inside_->taken.empty() && !take()) {
        inside_->readiness.ask();
        return Poll<std::string>::nothing_yet();
      }
      next = std::move(inside_->taken.front());
      inside_->taken.pop_front();
    }
    position_ += record_bytes(*next);
    if (*next) return **std::move(next);
    left_ += 1;
  }
}

// What came before the job went back.
std::optional<std::optional<std::string>> SocketSource::again() {
  // All that is in `taken` lies at the end of the journal, and nothing that was given is in it.
  if (!journal_.is_wanted() || !inside_->taken.empty()) return std::nullopt;
  const std::uint64_t left = journal_.length() - position_;
  if (left == 0) return std::nullopt;
  char length[record_length_bytes] = {};
  std::size_t found = journal_.read(position_, length, sizeof length);
  const auto bytes = wire::Reader(as_bytes({length, found})).number<std::uint32_t>();
  const std::uint64_t item_bytes = bytes == has_left ? 0 : bytes;
  if (found != sizeof length || item_bytes > left - record_length_bytes) {
    throw std::runtime_error(
        concat("journal '", journal_.path(), "' was changed: at byte ", position_, " is no item"));
  }
  if (bytes == has_left) return std::optional<std::string>();
  std::string item(bytes, '\0');
  found = journal_.read(position_ + record_length_bytes, item.data(), item.size());
  if (found != item.size()) {
    throw std::runtime_error(concat("journal '", journal_.path(), "' was cut at byte ",
                                    position_ + record_length_bytes + found));
  }
  return item;
}

// True if something has come; it is in the journal before it is given to anybody.
bool SocketSource::take() {
  if (!inside_->server.take(inside_->taken)) return false;
  if (!journal_.is_wanted()) return true;
  Buffer records;
  for (const auto& item : inside_->taken) add_record(records, item);
  journal_.append(reinterpret_cast<const char*>(records.data()), records.size());
  return true;
}

}  // namespace piracema::detail
