#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <piracema/operators.h>

namespace piracema::operators::detail {

/// A source that pushes (paper 000, Code 2) made into one that is asked: `onProduce` runs on a
/// thread of its own and leaves its messages in a short queue. So a source that waits for the
/// outside world keeps nobody else waiting, snapshots included.
///
/// What the user stores becomes part of the state with the next `Emit`, under the same lock as
/// the message: a snapshot sees both or none of them.
class PushSource final : public Operator {
 public:
  explicit PushSource(const Maker<ISourceOperator>& make) : make_(make) {}
  ~PushSource() override;

  void open(const Context& context) override;
  Produced produce(Output& output) override;
  void prepare(std::uint64_t snapshot) override;
  void save(Buffer& out) override;
  void load(Bytes in) override;

 private:
  struct Queued {
    std::uint64_t id = 0;
    std::optional<std::uint64_t> key;
    std::string value;
  };

  void run();
  void emit(std::uint64_t id, std::optional<std::uint64_t> key, std::string value);
  void send_one(Output& output);

  const Maker<ISourceOperator>& make_;
  Context context_;
  Output* output_ = nullptr;
  Buffer saved_;

  std::mutex mutex_;
  std::condition_variable room_;
  std::deque<Queued> queue_;
  std::size_t queued_bytes_ = 0;
  /// What belongs to the messages up to the last one; written by the user's thread alone.
  KeyStore store_;
  /// What the user has stored since then; used by the user's thread alone.
  KeyStore ahead_{&store_};
  std::optional<std::uint64_t> last_id_;
  /// The first message after a recovery may be the last one before it.
  bool just_restored_ = false;
  bool over_ = false;
  bool stop_ = false;
  std::exception_ptr thrown_;
  std::thread thread_;
};

}  // namespace piracema::operators::detail
