#include "council/group_state.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "wire/messages.h"

namespace piracema::council {

namespace {

constexpr std::size_t signals_max = 64;

Buffer bytes_of(const wire::Frame& frame) {
  Buffer out;
  out.append(&frame.kind, 1);
  out.append(frame.head.data(), frame.head.size());
  return out;
}

Result<Operation> decode_operation(Bytes bytes) {
  if (bytes.empty()) return Error{Errc::corrupt, "an operation without a kind"};
  wire::Frame frame;
  frame.kind = static_cast<std::uint8_t>(bytes.front());
  frame.head = Buffer(bytes.subspan(1));
  return wire::message_from_frame<Operation>(frame, "operation of a coordinator");
}

/// All of it, for replicas that come late.
struct Whole {
  Claim leader;
  std::vector<Signalled> signals;
  std::optional<Over> over;
  std::vector<Member> members;
  std::vector<std::uint64_t> heard;
  std::uint32_t next_id = 0;
  std::optional<Left> left;
  auto fields() { return std::tie(leader, signals, over, members, heard, next_id, left); }
};

}  // namespace

Buffer encode(const Operation& operation) { return bytes_of(wire::message_to_frame(operation)); }

Result<Answer> decode_answer(Bytes bytes) { return wire::decode<Answer>(bytes); }

bool Standing::has(std::uint32_t id) const {
  return std::any_of(members.begin(), members.end(),
                     [&](const Member& member) { return member.id == id; });
}

GroupState::GroupState(std::vector<Member> first) {
  for (const Member& member : first) {
    standing_.next_id = std::max(standing_.next_id, member.id + 1);
  }
  standing_.heard.resize(first.size());
  standing_.members = std::move(first);
}

Buffer GroupState::apply(Bytes operation, const smr::Context&) {
  const auto decoded = decode_operation(operation);
  if (!decoded) return wire::encode(Answer{Verdict::nonsense, std::nullopt});
  return wire::encode(std::visit([this](const auto& what) { return on(what); }, *decoded));
}

// Nothing is asked outside of the order.
Buffer GroupState::query(Bytes) const {
  return wire::encode(Answer{Verdict::nonsense, std::nullopt});
}

smr::Keys GroupState::keys(Bytes) const { return {.reads = {}, .writes = {}, .all = true}; }

Answer GroupState::on(const Claim& claim) {
  if (claim.lead <= standing_.leader.lead) return {Verdict::deposed, std::nullopt};
  {
    const std::lock_guard lock(mutex_);
    standing_.leader = claim;
  }
  if (!begun_) return {};
  return {Verdict::done, left()};
}

Answer GroupState::on(const Begin& begin) {
  if (begin.lead != standing_.leader.lead) return {Verdict::deposed, std::nullopt};
  auto metadata = cluster::JobMetadata::decode(begin.metadata);
  if (!metadata) return {Verdict::nonsense, std::nullopt};
  begun_ = Begun{begin.token, begin.keep_ms, *std::move(metadata)};
  const std::lock_guard lock(mutex_);
  standing_.begun = true;
  standing_.hosts = begun_->metadata.hosts.hosts;
  return {};
}

// All of them or none: what was decided is judged on a copy.
Answer GroupState::on(const Append& append) {
  if (append.lead != standing_.leader.lead) return {Verdict::deposed, std::nullopt};
  const auto decisions = cluster::decode_decisions(append.decisions);
  if (!decisions || !begun_) return {Verdict::nonsense, std::nullopt};
  if (decisions->empty()) return {};
  cluster::JobMetadata metadata = begun_->metadata;
  for (const cluster::Decision& decision : *decisions) {
    if (!metadata.apply(decision)) return {Verdict::nonsense, std::nullopt};
  }
  begun_->metadata = std::move(metadata);
  if (standing_.hosts != begun_->metadata.hosts.hosts) {
    const std::lock_guard lock(mutex_);
    standing_.hosts = begun_->metadata.hosts.hosts;
  }
  return {};
}

Answer GroupState::on(const Signalled& signalled) {
  const std::lock_guard lock(mutex_);
  const bool is_known =
      std::any_of(standing_.signals.begin(), standing_.signals.end(),
                  [&](const Signalled& known) { return known.id == signalled.id; });
  if (!is_known && standing_.signals.size() < signals_max) standing_.signals.push_back(signalled);
  return {};
}

Answer GroupState::on(const Ping& ping) {
  const std::lock_guard lock(mutex_);
  for (std::size_t seat = 0; seat < standing_.members.size(); ++seat) {
    if (standing_.members[seat].id != ping.member) continue;
    standing_.heard[seat] += 1;
    return {};
  }
  return {Verdict::deposed, std::nullopt};
}

Answer GroupState::on(const Seated& seated) {
  if (seated.lead != standing_.leader.lead) return {Verdict::deposed, std::nullopt};
  const std::lock_guard lock(mutex_);
  if (seated.seat >= standing_.members.size() || seated.member.id != standing_.next_id) {
    return {Verdict::nonsense, std::nullopt};
  }
  standing_.next_id += 1;
  standing_.members[seated.seat] = seated.member;
  standing_.heard[seated.seat] = 0;
  return {};
}

Answer GroupState::on(const Over& over) {
  if (over.lead != standing_.leader.lead) return {Verdict::deposed, std::nullopt};
  const std::lock_guard lock(mutex_);
  standing_.over = over;
  return {};
}

Left GroupState::left() const {
  return {begun_->token, begun_->keep_ms, begun_->metadata.encode()};
}

GroupState::Image GroupState::snapshot() {
  Whole image{standing_.leader, standing_.signals, standing_.over, standing_.members,
              standing_.heard,  standing_.next_id, std::nullopt};
  if (begun_) image.left = left();
  return [bytes = wire::encode(image)](const Sink& sink) { sink(bytes); };
}

bool GroupState::restore(Bytes bytes) {
  auto image = wire::decode<Whole>(bytes);
  if (!image || image->heard.size() != image->members.size()) return false;
  std::optional<Begun> begun;
  if (image->left) {
    auto metadata = cluster::JobMetadata::decode(image->left->metadata);
    if (!metadata) return false;
    begun = Begun{image->left->token, image->left->keep_ms, *std::move(metadata)};
  }
  begun_ = std::move(begun);
  const std::lock_guard lock(mutex_);
  standing_ = {image->leader,
               begun_.has_value(),
               std::move(image->signals),
               std::move(image->over),
               std::move(image->members),
               std::move(image->heard),
               image->next_id,
               begun_ ? begun_->metadata.hosts.hosts : std::vector<cluster::HostOfJob>()};
  return true;
}

Standing GroupState::standing() const {
  const std::lock_guard lock(mutex_);
  return standing_;
}

}  // namespace piracema::council
