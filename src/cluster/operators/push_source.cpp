#include "cluster/operators/push_source.h"

#include <utility>

#include "cluster/operators/place.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::operators::detail {

namespace {

constexpr std::size_t queue_items_max = 256;
constexpr std::size_t queue_bytes_max = std::size_t{1} << 20;

/// Takes the user's thread out of `onProduce`.
struct Stop {};

}  // namespace

PushSource::~PushSource() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  room_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void PushSource::open(const Context& context) { context_ = context; }

Produced PushSource::produce(Output& output) {
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  std::unique_lock lock(mutex_);
  if (queue_.empty()) {
    if (thrown_) std::rethrow_exception(thrown_);
    if (!over_) return Produced::nothing_yet;
    stored_last_.copy_into(sent_store_);
    return Produced::end;
  }
  while (!queue_.empty() && !output.full()) send_one(output);
  lock.unlock();
  room_.notify_one();
  return Produced::some;
}

void PushSource::send_one(Output& output) {
  const Queued message = std::move(queue_.front());
  queue_.pop_front();
  queued_bytes_ -= message.bytes();
  message.stored.copy_into(sent_store_);
  sent_id_ = message.id;
  output.begin_item(message.id);
  if (message.key) {
    output.emit_to_key(*message.key, message.value);
  } else {
    output.emit(message.value);
  }
}

void PushSource::run() {
  const Place place(context_);
  const KeyStore::Use use(ahead_);
  std::exception_ptr thrown;
  try {
    const Held<ISourceOperator> source = make_();
    const std::unique_lock turn =
        source.turn ? std::unique_lock(*source.turn) : std::unique_lock<std::mutex>();
    source.object->attach([this](std::uint64_t id, std::optional<std::uint64_t> key,
                                 std::string value) { emit(id, key, std::move(value)); });
    source.object->onProduce();
  } catch (const Stop&) {
    return;
  } catch (...) {
    thrown = std::current_exception();
  }
  std::lock_guard lock(mutex_);
  ahead_.copy_into(stored_last_);
  thrown_ = thrown;
  over_ = true;
  context_.wake();
}

void PushSource::emit(std::uint64_t id, std::optional<std::uint64_t> key, std::string value) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [this] {
    return stop_ || (queue_.size() < queue_items_max && queued_bytes_ < queue_bytes_max);
  });
  if (stop_) throw Stop{};
  Queued message{id, key, std::move(value), KeyStore()};
  ahead_.copy_into(message.stored);
  ahead_.copy_into(store_);
  ahead_.clear();
  if (std::exchange(restored_id_, std::nullopt) == id) {
    // Sent before the snapshot; what was stored since then belongs to it.
    message.stored.copy_into(ahead_);
    return;
  }
  queued_bytes_ += message.bytes();
  queue_.push_back(std::move(message));
  if (queue_.size() == 1) context_.wake();
}

void PushSource::save(Buffer& out) {
  wire::Writer writer(out);
  writer.number(static_cast<std::uint8_t>(sent_id_.has_value()));
  writer.number(sent_id_.value_or(0));
  Buffer values;
  sent_store_.save(values);
  writer.bytes(values);
}

void PushSource::load(Bytes in) {
  wire::Reader reader(in);
  const bool has_last = reader.number<std::uint8_t>() != 0;
  const auto last = reader.number<std::uint64_t>();
  const Bytes values = reader.bytes();
  if (auto read = reader.finish(); !read) throw DecodeError("source: " + read.error().message);
  sent_store_.load(values);
  sent_store_.copy_into(store_);
  if (has_last) sent_id_ = restored_id_ = last;
}

}  // namespace piracema::operators::detail
