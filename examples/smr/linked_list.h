#pragma once

#include <piracema/smr/groups.h>
#include <piracema/smr/state_machine.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// The linked list of paper 003, section 4.1: every operation walks the list, so it takes as long
/// as the list is. Two that only look do not conflict.
class LinkedList final : public piracema::smr::StateMachine {
  using Buffer = piracema::Buffer;
  using Bytes = piracema::Bytes;

 public:
  enum class Action : std::uint8_t { add, remove, get, contains };
  struct Operation {
    Action action = Action::contains;
    /// The number; of `get` the place, from 0.
    std::int32_t number = 0;
  };

  /// Holds 0 to `count - 1`.
  explicit LinkedList(std::int32_t count) {
    for (std::int32_t i = 0; i < count; ++i) numbers_.push_back(i);
  }

  static Buffer encode(const Operation& operation) {
    Buffer out;
    out.append(&operation.action, 1);
    out.append(&operation.number, sizeof operation.number);
    return out;
  }
  /// Nothing, if these bytes are no operation.
  static std::optional<Operation> decode(Bytes bytes) {
    Operation operation;
    if (bytes.size() != 1 + sizeof operation.number) return std::nullopt;
    operation.action = static_cast<Action>(bytes[0]);
    if (operation.action > Action::contains) return std::nullopt;
    std::memcpy(&operation.number, bytes.data() + 1, sizeof operation.number);
    return operation;
  }

  /// What a reply says.
  static std::string to_text(const Operation& operation, Bytes reply) {
    std::int32_t number = 0;
    if (operation.action != Action::get) return std::string(piracema::as_text(reply));
    if (reply.size() != sizeof number) return "(beyond the end)";
    std::memcpy(&number, reply.data(), sizeof number);
    return std::to_string(number);
  }

  /// The group for invoke_parallel (paper 003, section 4.1).
  static std::uint32_t group(const Operation& operation) {
    return writes(operation) ? piracema::smr::conflict_all : piracema::smr::conflict_none;
  }

  /// "y" or "n" of `add`, `remove` and `contains`; the number of `get`, in four bytes, or nothing
  /// beyond the end of the list.
  Buffer apply(Bytes bytes, const piracema::smr::Context&) override {
    const auto operation = decode(bytes);
    if (!operation) return text("?");
    if (!writes(*operation)) return query(bytes);
    const auto found = std::find(numbers_.begin(), numbers_.end(), operation->number);
    const bool is_there = found != numbers_.end();
    if (operation->action == Action::add && !is_there) numbers_.push_back(operation->number);
    if (operation->action == Action::remove && is_there) numbers_.erase(found);
    return text(is_there == (operation->action == Action::remove) ? "y" : "n");
  }

  Buffer query(Bytes bytes) const override {
    const auto operation = decode(bytes);
    if (!operation || writes(*operation)) return text("?");
    const std::int32_t number = operation->number;
    if (operation->action == Action::contains) {
      return text(std::find(numbers_.begin(), numbers_.end(), number) != numbers_.end() ? "y"
                                                                                        : "n");
    }
    Buffer reply;
    auto at = numbers_.begin();
    for (std::int32_t i = 0; i < number && at != numbers_.end(); ++i) ++at;
    if (number >= 0 && at != numbers_.end()) reply.append(&*at, sizeof *at);
    return reply;
  }

  piracema::smr::Keys keys(Bytes bytes) const override {
    const auto operation = decode(bytes);
    if (!operation) return {};
    if (writes(*operation)) return {.reads = {}, .writes = {0}, .all = false};
    return {.reads = {0}, .writes = {}, .all = false};
  }

  // A walk through the list, as any operation takes.
  Image snapshot() override {
    auto copy = std::make_shared<std::vector<std::int32_t>>(numbers_.begin(), numbers_.end());
    return [copy](const Sink& sink) { sink(std::as_bytes(std::span(*copy))); };
  }

  bool restore(Bytes image) override {
    if (image.size() % sizeof(std::int32_t) != 0) return false;
    numbers_.resize(image.size() / sizeof(std::int32_t));
    for (std::int32_t& number : numbers_) {
      std::memcpy(&number, image.data(), sizeof number);
      image = image.subspan(sizeof number);
    }
    return true;
  }

  std::size_t size() const { return numbers_.size(); }

 private:
  static bool writes(const Operation& operation) {
    return operation.action == Action::add || operation.action == Action::remove;
  }
  static Buffer text(const char* what) { return Buffer(piracema::as_bytes(what)); }

  std::list<std::int32_t> numbers_;
};
