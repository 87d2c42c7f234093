#pragma once

#include <piracema/operators.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/engine.h"

namespace piracema::operators::detail {

/// A source that pushes (paper 000, Code 2) made into one that is asked: `onProduce` runs on a
/// thread of its own and leaves its messages in a short queue. So a source that waits for the
/// outside world keeps nobody else waiting, snapshots included.
///
/// What the user stores travels with the next message and becomes part of the state when that is
/// sent: a snapshot sees both or none of them, and does not wait for what is in the queue.
class PushSource final : public Operator {
 public:
  explicit PushSource(const Maker<ISourceOperator>& make) : make_(make) {}
  ~PushSource() override;

  void open(const Context& context) override;
  Produced produce(Output& output) override;
  void save(Buffer& out) override;
  void load(Bytes in) override;

 private:
  struct Queued {
    std::uint64_t id = 0;
    std::optional<std::uint64_t> key;
    std::string value;
    /// What was stored since the message before.
    KeyStore stored;
    std::size_t bytes() const { return value.size() + stored.bytes(); }
  };

  void run();
  void emit(std::uint64_t id, std::optional<std::uint64_t> key, std::string value);
  void send_one(Output& output);

  const Maker<ISourceOperator>& make_;
  Context context_;
  /// What a snapshot sees: as of the last message that was sent.
  KeyStore sent_store_;
  std::optional<std::uint64_t> sent_id_;

  std::mutex mutex_;
  std::condition_variable room_;
  std::deque<Queued> queue_;
  std::size_t queued_bytes_ = 0;
  /// What the user sees, and what of it he has stored since the last message; his thread's alone.
  KeyStore store_;
  KeyStore ahead_{&store_};
  /// The first message after a recovery may be the last one before it.
  std::optional<std::uint64_t> restored_id_;
  /// `onProduce` has returned, and has stored this after its last message.
  bool over_ = false;
  KeyStore stored_last_;
  bool stop_ = false;
  std::exception_ptr thrown_;
  std::thread thread_;
};

}  // namespace piracema::operators::detail
