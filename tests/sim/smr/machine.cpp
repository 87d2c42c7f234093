#include "sim/smr/machine.h"

#include <cstring>
#include <vector>

#include "base/text.h"
#include "sim/smr/sim_keys.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::smr_sim {

namespace {

Buffer words(std::initializer_list<std::uint64_t> list) {
  Buffer out;
  for (const std::uint64_t word : list) out.append(&word, 8);
  return out;
}
template <std::size_t count>
std::optional<std::array<std::uint64_t, count>> read_words(Bytes bytes) {
  std::array<std::uint64_t, count> list;
  if (bytes.size() != sizeof list) return std::nullopt;
  std::memcpy(list.data(), bytes.data(), sizeof list);
  return list;
}
std::optional<std::uint64_t> some(std::uint64_t there, std::uint64_t value) {
  if (there == 0) return std::nullopt;
  return value;
}

}  // namespace

Buffer encode(const Op& op) {
  return words({static_cast<std::uint64_t>(op.kind), op.key, op.value, op.expected.has_value(),
                op.expected.value_or(0), op.client, op.number});
}
Buffer encode(const OpReply& reply) {
  return words({reply.value.has_value(), reply.value.value_or(0), reply.done, reply.time});
}
std::optional<Op> decode_op(Bytes bytes) {
  const auto list = read_words<7>(bytes);
  if (!list || (*list)[0] > static_cast<std::uint64_t>(Op::Kind::release)) return std::nullopt;
  const auto& [kind, key, value, has, expected, client, number] = *list;
  return Op{static_cast<Op::Kind>(kind), key, value, some(has, expected), client, number};
}
std::optional<OpReply> decode_reply(Bytes bytes) {
  const auto list = read_words<4>(bytes);
  if (!list) return std::nullopt;
  const auto& [has, value, done, time] = *list;
  return OpReply{some(has, value), done != 0, time};
}

Buffer Machine::apply(Bytes operation, const smr::Context& context) {
  hash_ = Keys::mix(Keys::hash(hash_, operation), context.time);
  if (context.time < time_) complain_(concat("time goes back from ", time_, " to ", context.time));
  time_ = context.time;
  const auto op = decode_op(operation);
  if (!op) return {};
  note(*op);
  if (is_lease(*op)) return encode(lease(*op, context.time));

  const auto found = values_.find(op->key);
  MapModel::State before;
  if (found != values_.end()) before = found->second;
  const MapModel::Input input{static_cast<MapModel::Kind>(op->kind), op->key, op->value,
                              op->expected};
  const auto after = *MapModel::step(before, input, nullptr);
  const bool done = input.kind != MapModel::Kind::cas || before == input.expected;
  if (after) {
    values_[op->key] = *after;
  } else {
    values_.erase(op->key);
  }
  if (context.left_behind != nullptr) *context.left_behind = after ? 1 + *after : 0;
  return encode(OpReply{before, done, context.time});
}

OpReply Machine::lease(const Op& op, std::uint64_t time) {
  Lease& lease = leases_[op.key];
  const bool mine = lease.holder == op.client;
  const bool held = lease.holder != 0 && lease.until > time;
  if (op.kind == Op::Kind::acquire) {
    if (held && !mine) return {lease.token, false, time};
    lease = {op.client, lease.token + 1, time + op.value};
  } else {
    if (!held || !mine) return {lease.token, false, time};
    if (op.kind == Op::Kind::release) lease.holder = 0;
    lease.until = time + op.value;
  }
  return {lease.token, true, time};
}

void Machine::note(const Op& op) {
  Numbers& numbers = done_[op.client];
  if (op.number < numbers.below || !numbers.above.insert(op.number).second) {
    complain_(concat("operation ", op.number, " of client ", op.client, " is done twice"));
  }
  while (numbers.above.erase(numbers.below) != 0) numbers.below += 1;
}

Buffer Machine::query(Bytes operation) const {
  const auto op = decode_op(operation);
  if (!op || op->kind != Op::Kind::get) return {};
  const auto found = values_.find(op->key);
  return encode(
      OpReply{some(found != values_.end(), found == values_.end() ? 0 : found->second), true, 0});
}

smr::Keys Machine::keys(Bytes operation) const {
  const auto op = decode_op(operation);
  if (!op) return {.all = true};
  if (op->kind == Op::Kind::get) return {.reads = {op->key}};
  return {.writes = {op->key}};
}

// No two pieces of it are equal.
static std::uint64_t ballast_word(std::uint64_t i) { return (i + 1) * 0x9E3779B97F4A7C15u; }

smr::StateMachine::Image Machine::snapshot() {
  Buffer out;
  wire::Writer writer(out);
  writer.number(hash_);
  writer.number(static_cast<std::uint64_t>(values_.size()));
  for (const auto& [key, value] : values_) {
    writer.number(key);
    writer.number(value);
  }
  writer.number(static_cast<std::uint64_t>(leases_.size()));
  for (const auto& [key, lease] : leases_) {
    for (const auto word : {key, lease.holder, lease.token, lease.until}) writer.number(word);
  }
  writer.number(static_cast<std::uint64_t>(done_.size()));
  for (const auto& [client, numbers] : done_) {
    writer.number(client);
    writer.number(numbers.below);
    writer.number(static_cast<std::uint64_t>(numbers.above.size()));
    for (const auto number : numbers.above) writer.number(number);
  }
  for (std::uint32_t i = 0; i < ballast_ / 8; ++i) writer.number(ballast_word(i));
  return [bytes = std::move(out)](const Sink& sink) { sink(bytes); };
}

bool Machine::restore(Bytes image) {
  wire::Reader reader(image);
  const auto next = [&reader] { return reader.number<std::uint64_t>(); };
  Machine made(complain_, ballast_);
  made.says_bytes = says_bytes;
  made.hash_ = next();
  for (auto count = reader.count(16); count > 0; --count) {
    const auto key = next();
    made.values_[key] = next();
  }
  for (auto count = reader.count(32); count > 0; --count) {
    Lease& lease = made.leases_[next()];
    lease.holder = next();
    lease.token = next();
    lease.until = next();
  }
  for (auto count = reader.count(24); count > 0; --count) {
    Numbers& numbers = made.done_[next()];
    numbers.below = next();
    for (auto above = reader.count(8); above > 0; --above) numbers.above.insert(next());
  }
  for (std::uint32_t i = 0; i < ballast_ / 8; ++i) {
    if (next() != ballast_word(i)) return false;
  }
  if (!reader.finish()) return false;
  *this = std::move(made);
  return true;
}

}  // namespace piracema::smr_sim
