#pragma once

#include <utility>

#include "base/text.h"
#include "sim/smr/machine.h"
#include "sim/smr/sim_keys.h"
#include "smr/kv/machine.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::smr_sim {

/// The real key-value map, with a digest of all that it was told and has answered.
class KvService final : public SimMachine {
 public:
  explicit KvService(Complain complain) : complain_(std::move(complain)) {}

  Buffer apply(Bytes operation, const smr::Context& context) override {
    if (context.time < time_) complain_(concat("time goes back to ", context.time));
    time_ = context.time;
    Buffer reply = kv_.apply(operation, context);
    hash_ = Keys::hash(Keys::hash(Keys::mix(hash_, context.time), operation), reply);
    return reply;
  }
  Buffer query(Bytes operation) const override { return kv_.query(operation); }
  smr::Keys keys(Bytes operation) const override { return kv_.keys(operation); }
  std::optional<std::uint64_t> next_deadline() const override { return kv_.next_deadline(); }
  void on_time(const smr::Context& context) override {
    if (context.time < time_) complain_(concat("time goes back to ", context.time));
    time_ = context.time;
    kv_.on_time(context);
    hash_ = Keys::mix(hash_, context.time);
  }
  Image snapshot() override {
    return [hash = hash_, write = kv_.snapshot()](const Sink& sink) {
      Buffer out;
      wire::Writer(out).number(hash);
      sink(out);
      write(sink);
    };
  }
  std::uint64_t state_bytes() const override {
    return says_bytes != 0 ? says_bytes : kv_.state_bytes();
  }
  bool restore(Bytes image) override {
    if (image.size() < sizeof hash_ || !kv_.restore(image.subspan(sizeof hash_))) return false;
    hash_ = wire::Reader(image).number<std::uint64_t>();
    time_ = 0;
    return true;
  }
  std::uint64_t hash() const override { return hash_; }

 private:
  const Complain complain_;
  smr::kv::Machine kv_;
  std::uint64_t hash_ = 0, time_ = 0;
};

}  // namespace piracema::smr_sim
