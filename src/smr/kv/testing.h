#pragma once

#include <doctest/doctest.h>

#include <string>

#include "smr/kv/machine.h"

/// What the tests of the map share.
namespace piracema::smr::kv::testing {

constexpr std::uint64_t second = 1'000'000'000;

struct Store {
  template <class Operation>
  Reply at(std::uint64_t time, const Operation& operation) {
    context.instance += 1;
    context.time = time;
    const auto reply = decode_reply(machine.apply(encode(operation), context));
    REQUIRE(reply.ok());
    return *reply;
  }
  template <class Operation>
  Reply operator()(const Operation& operation) {
    return at(context.time, operation);
  }
  std::string get(const std::string& key) {
    const Reply reply = (*this)(Get{key});
    return reply.status == Status::ok ? reply.entries.at(0).value : "(none)";
  }

  Machine machine;
  Context context;
};

}  // namespace piracema::smr::kv::testing
