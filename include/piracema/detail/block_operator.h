#pragma once

#include <piracema/bytes.h>
#include <piracema/codec.h>
#include <piracema/detail/callable.h>
#include <piracema/detail/restored.h>
#include <piracema/detail/state_layout.h>
#include <piracema/operator.h>

#include <chrono>
#include <cstddef>
#include <ios>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

namespace piracema::detail {

using namespace engine;

/// A state as it is taken over: says how far that is.
class StateReader : public BufferReader {
 public:
  using BufferReader::BufferReader;
  ~StateReader() override { note_restored(unsaid_); }

 private:
  std::streamsize xsgetn(char* to, std::streamsize count) override {
    unsaid_ += static_cast<std::size_t>(count);
    if (unsaid_ >= said_each) note_restored(std::exchange(unsaid_, 0));
    return BufferReader::xsgetn(to, count);
  }

  static constexpr std::size_t said_each = std::size_t{16} << 10;
  std::size_t unsaid_ = 0;
};

/// What all blocks have in common: their code, and its hooks as far as it has them.
template <class F>
class BlockOperator : public Operator {
 public:
  explicit BlockOperator(const F& code) : code_(code) {}

  void open(const Context& context) override {
    if constexpr (requires { code_.start(context); }) code_.start(context);
  }
  void save(Buffer& out) override {
    if constexpr (Positioned<F>) {
      Codec<std::decay_t<decltype(code_.position())>>::encode(code_.position(), out);
    } else if constexpr (Archived<F>) {
      // Not by Codec<F>, which copies what is trivially copyable: `serialize` names the state.
      BufferWriter writer(out);
      std::ostream stream(&writer);
      cereal::BinaryOutputArchive archive(stream);
      archive(code_);
    }
  }
  void load(Bytes in) override {
    if constexpr (Positioned<F>) {
      code_.seek(Codec<std::decay_t<decltype(code_.position())>>::decode(in));
    } else if constexpr (Archived<F>) {
      StateReader reader(in);
      std::istream stream(&reader);
      try {
        cereal::BinaryInputArchive archive(stream);
        archive(code_);
      } catch (const cereal::Exception& error) {
        throw DecodeError("the " + std::to_string(in.size()) +
                          " bytes of its state are not what it reads: " + error.what());
      }
      const std::streamsize rest = reader.in_avail();
      if (rest > 0) left_over(static_cast<std::size_t>(rest), in.size());
    } else {
      Operator::load(in);
    }
  }

  EventTime advance(EventTime come, Output&) override { return own_event_time(come); }
  bool gives_event_time() const override { return GivesEventTime<F>; }
  std::optional<std::chrono::nanoseconds> idle_after() const override {
    if constexpr (TakesIdle<F>) return code_.idle_after();
    return std::nullopt;
  }
  void idle(WallTime now) override {
    if constexpr (TakesIdle<F>) code_.idle(now);
  }
  std::uint64_t items_late() const override {
    if constexpr (requires { code_.items_late(); }) return code_.items_late();
    return 0;
  }

  std::string layout() override {
    StateLayout layout;
    if constexpr (Positioned<F>) {
      layout.encoded<std::decay_t<decltype(code_.position())>>();
    } else if constexpr (Archived<F>) {
      layout.read(code_);
    }
    return layout.says_nothing() ? "nothing" : layout.text();
  }

 protected:
  /// Calls `use` with what the code emits by: nothing, if it does not.
  template <class Use>
  void with_emits(Output&, const Use& use) const {
    use();
  }

  EventTime own_event_time(EventTime come) const {
    if constexpr (GivesEventTime<F>) {
      return code_.event_time();
    } else if constexpr (requires { code_.event_time_behind(come); }) {
      return code_.event_time_behind(come);
    } else {
      return come;
    }
  }

  F code_;
};

}  // namespace piracema::detail
