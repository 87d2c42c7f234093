#pragma once

#include <piracema/bytes.h>
#include <piracema/codec.h>
#include <piracema/detail/block_operator.h>
#include <piracema/detail/callable.h>
#include <piracema/operator.h>

#include <cstdint>
#include <utility>

namespace piracema::detail {

using namespace engine;

template <class F, class Out>
class BlockSource final : public BlockOperator<F> {
 public:
  using BlockOperator<F>::BlockOperator;
  using BlockOperator<F>::code_;

  void lead_to(void* takes) override { next_ = static_cast<Takes<Out>*>(takes); }

  void open(const Context& context) override {
    first_id_ = std::uint64_t{context.replica} << 48;
    BlockOperator<F>::open(context);
    // Code that cannot go on from where it was begins again, and what it had sent is passed by:
    // here, unless it may have to wait for that.
    if constexpr (polls) return;
    for (std::uint64_t i = 0; i < to_pass_by_; ++i) code_();
    to_pass_by_ = 0;
  }

  Produced produce(Output& output) override {
    const Emit<Out> emit(output, 0, next_);
    do {
      output.begin_item(first_id_ + emitted_);
      if constexpr (polls) {
        Poll<Out> polled = code_();
        if (polled.is_end()) return Produced::end;
        if (!polled.has_item()) {
          output.take_back_item();
          return Produced::nothing_yet;
        }
        if (to_pass_by_ != 0) {
          to_pass_by_ -= 1;
          continue;
        }
        emit(*std::move(polled));
      } else {
        if (!emit.made([this] { return this->code_(); })) return Produced::end;
      }
      emitted_ += 1;
    } while (!output.full());
    return Produced::some;
  }

  void finish(Output&) override {
    if constexpr (requires { code_.finish(); }) code_.finish();
  }

  // What a snapshot sees: `emitted_` and the code's own state, both after the same item.
  void save(Buffer& out) override {
    Codec<std::uint64_t>::encode(emitted_, out);
    BlockOperator<F>::save(out);
  }
  void load(Bytes in) override {
    if (in.size() < sizeof emitted_) wrong_size(sizeof emitted_, in.size());
    emitted_ = Codec<std::uint64_t>::decode(in.first(sizeof emitted_));
    BlockOperator<F>::load(in.subspan(sizeof emitted_));
    if constexpr (!Saved<F>) to_pass_by_ = emitted_;
  }

  double progress() const override {
    if constexpr (requires { code_.progress(); }) return code_.progress();
    return -1;
  }

 private:
  static constexpr bool polls = SourceItemOf<F>::polls;

  Takes<Out>* next_ = nullptr;
  std::uint64_t first_id_ = 0;
  std::uint64_t emitted_ = 0;
  std::uint64_t to_pass_by_ = 0;
};

}  // namespace piracema::detail
