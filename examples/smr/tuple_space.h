#pragma once

#include <piracema/smr/groups.h>
#include <piracema/smr/state_machine.h>

#include <array>
#include <list>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "tuple_codec.h"

/// The tuple space of paper 003, section 4.2 (Gelernter 1985): a memory that is asked by content.
/// Lists by the number of fields, the oldest tuple first; and more of them, by the first field too,
/// where that decides what conflicts.
class TupleSpace final : public piracema::smr::StateMachine, public TupleCodec {
 public:
  /// Which operations conflict. Paper 003 compares the first two.
  enum class Conflicts {
    all,       ///< `out` and `inp` with all others (its TS1).
    by_arity,  ///< Those with as many fields, if one of them changes something (its TS2).
    /// Those with as many fields and the same first one, which many programs use as a name. A
    /// template that leaves it open conflicts with all that have as many fields.
    by_first_field,
  };

  explicit TupleSpace(Conflicts conflicts) : conflicts_(conflicts) {
    for (auto& lists : lists_) lists.resize(lists_each());
  }

  /// The group for invoke_parallel: a thread for each number of fields (paper 003, section 4.2) or
  /// for each first field, or none and all.
  static std::uint32_t group(const Operation& operation, Conflicts conflicts, unsigned threads) {
    const std::size_t arity = operation.fields.size();
    switch (conflicts) {
      case Conflicts::by_arity:
        return static_cast<std::uint32_t>(arity) % threads;
      case Conflicts::by_first_field:
        if (!operation.fields.front()) return piracema::smr::conflict_all;
        return static_cast<std::uint32_t>((arity + hash(*operation.fields.front())) % threads);
      case Conflicts::all:
        break;
    }
    return operation.action == Action::rdp ? piracema::smr::conflict_none
                                           : piracema::smr::conflict_all;
  }

  /// Of `out` nothing; of `rdp` and `inp` what decode_reply reads; "?" for what is no operation.
  Buffer apply(Bytes bytes, const piracema::smr::Context& context) override {
    const auto operation = decode(bytes);
    if (!operation) return Buffer(piracema::as_bytes("?"));
    if (operation->action == Action::rdp) return query(bytes);
    auto& lists = lists_[operation->fields.size() - 1];
    if (operation->action == Action::out) {
      lists[list_of(*operation->fields.front())].push_back(
          {{context.instance, context.index}, *tuple_of(*operation)});
      return {};
    }
    const auto [list, found] = find(operation->fields);
    if (list == lists.size()) return {};
    Buffer reply = out(found->tuple);
    lists[list].erase(found);
    return reply;
  }

  Buffer query(Bytes bytes) const override {
    const auto operation = decode(bytes);
    if (!operation || operation->action != Action::rdp) return Buffer(piracema::as_bytes("?"));
    const auto [list, found] = find(operation->fields);
    return list == lists_each() ? Buffer() : out(found->tuple);
  }

  /// A number for each list that is looked at or changed.
  piracema::smr::Keys keys(Bytes bytes) const override {
    const auto operation = decode(bytes);
    if (!operation) return {};
    piracema::smr::Keys keys;
    auto& used = operation->action == Action::rdp ? keys.reads : keys.writes;
    if (conflicts_ == Conflicts::all) {
      used.push_back(0);
      return keys;
    }
    const std::uint64_t first = operation->fields.size() * lists_each();
    const auto [begin, end] = lists_for(operation->fields);
    for (std::size_t list = begin; list < end; ++list) used.push_back(first + list);
    return keys;
  }

  Image snapshot() override {
    return [copy = std::make_shared<decltype(lists_)>(lists_)](const Sink& sink) {
      for (const auto& lists : *copy) {
        for (const auto& list : lists) {
          for (const Held& held : list) {
            const Buffer bytes = out(held.tuple);
            Buffer image;
            append(image, held.place.first);
            append(image, held.place.second);
            append(image, static_cast<std::uint32_t>(bytes.size()));
            sink(image);
            sink(bytes);
          }
        }
      }
    };
  }

  bool restore(Bytes image) override {
    TupleSpace restored(conflicts_);
    while (!image.empty()) {
      Place place;
      std::uint32_t length = 0;
      if (!take(image, place.first) || !take(image, place.second) || !take(image, length) ||
          length > image.size()) {
        return false;
      }
      const auto operation = decode(image.first(length));
      image = image.subspan(length);
      if (!operation || operation->action != Action::out) return false;
      auto& lists = restored.lists_[operation->fields.size() - 1];
      lists[list_of(*operation->fields.front())].push_back({place, *tuple_of(*operation)});
    }
    lists_ = std::move(restored.lists_);
    return true;
  }

  std::size_t size() const {
    std::size_t count = 0;
    for (const auto& lists : lists_) {
      for (const auto& list : lists) count += list.size();
    }
    return count;
  }

 private:
  /// Where in the order of all operations a tuple was put.
  using Place = std::pair<std::uint64_t, std::uint32_t>;
  struct Held {
    Place place;
    Tuple tuple;
  };
  using List = std::list<Held>;

  // The same on all replicas, so not std::hash (FNV-1a).
  static std::uint64_t hash(std::string_view text) {
    std::uint64_t value = 0xCBF29CE484222325u;
    for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
    return value;
  }

  std::size_t lists_each() const { return conflicts_ == Conflicts::by_first_field ? 64 : 1; }
  std::size_t list_of(const std::string& first_field) const {
    return static_cast<std::size_t>(hash(first_field) % lists_each());
  }
  /// Where there may be what a template asks for: from the first of these lists to before the last.
  std::pair<std::size_t, std::size_t> lists_for(const Template& fields) const {
    if (!fields.front()) return {0, lists_each()};
    const std::size_t list = list_of(*fields.front());
    return {list, list + 1};
  }

  /// The oldest that matches, and its list; lists_each() if there is none.
  std::pair<std::size_t, List::const_iterator> find(const Template& fields) const {
    const auto& lists = lists_[fields.size() - 1];
    std::pair<std::size_t, List::const_iterator> oldest{lists.size(), {}};
    const auto [begin, end] = lists_for(fields);
    for (std::size_t list = begin; list < end; ++list) {
      const auto found =
          std::find_if(lists[list].begin(), lists[list].end(),
                       [&fields](const Held& held) { return matches(held.tuple, fields); });
      if (found == lists[list].end()) continue;
      if (oldest.first == lists.size() || found->place < oldest.second->place) {
        oldest = {list, found};
      }
    }
    return oldest;
  }

  const Conflicts conflicts_;
  /// By the number of fields, from 1.
  std::array<std::vector<List>, fields_max> lists_;
};
