#include "flow/fused_operator.h"

#include <algorithm>

#include "base/ensure.h"
#include "wire/reader.h"
#include "wire/writer.h"

namespace piracema::flow {

FusedOperator::FusedOperator(const std::vector<Part>& parts) {
  for (const Part& part : parts) {
    nodes_.push_back(part.node);
    parts_.push_back(part.make());
    if (parts_.size() == 1) continue;
    void* const takes = parts_.back()->takes();
    ENSURE(takes != nullptr);
    parts_[parts_.size() - 2]->lead_to(takes);
  }
}

void FusedOperator::open(const Context& context) {
  // Backwards, as a source that passes items by does so in `open`, and none may come too early.
  for (std::size_t i = parts_.size(); i-- > 0;) {
    Context own = context;
    own.node = nodes_[i];
    parts_[i]->open(own);
  }
}

void FusedOperator::process(Batch& batch, Output& output) {
  parts_.front()->process(batch, output);
}

Produced FusedOperator::produce(Output& output) { return parts_.front()->produce(output); }

void FusedOperator::finish(Output& output) {
  for (const auto& part : parts_) part->finish(output);
}

bool FusedOperator::has_timer() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const auto& part) { return part->has_timer(); });
}

std::optional<WallTime> FusedOperator::next_timer() const {
  std::optional<WallTime> next;
  for (const auto& part : parts_) {
    const auto own = part->next_timer();
    if (own && (!next || *own < *next)) next = own;
  }
  return next;
}

void FusedOperator::on_timer(WallTime now, Output& output) {
  for (const auto& part : parts_) {
    const auto own = part->next_timer();
    if (own && *own <= now) part->on_timer(now, output);
  }
}

EventTime FusedOperator::advance(EventTime come, Output& output) {
  for (const auto& part : parts_) come = part->advance(come, output);
  return come;
}

bool FusedOperator::is_advancing() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const auto& part) { return part->is_advancing(); });
}

bool FusedOperator::gives_event_time() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const auto& part) { return part->gives_event_time(); });
}

std::optional<std::chrono::nanoseconds> FusedOperator::idle_after() const {
  std::optional<std::chrono::nanoseconds> longest;
  for (const auto& part : parts_) longest = std::max(longest, part->idle_after());
  return longest;
}

void FusedOperator::idle(WallTime now) {
  for (const auto& part : parts_) {
    if (part->idle_after()) part->idle(now);
  }
}

std::uint64_t FusedOperator::items_late() const {
  std::uint64_t all = 0;
  for (const auto& part : parts_) all += part->items_late();
  return all;
}

void FusedOperator::save(Buffer& out) {
  wire::Writer writer(out);
  for (const auto& part : parts_) {
    Buffer state;
    part->save(state);
    writer.bytes(state);
  }
}

void FusedOperator::load(Bytes in) {
  wire::Reader reader(in);
  for (const auto& part : parts_) part->load(reader.bytes());
  if (auto read = reader.finish(); !read) {
    throw DecodeError("a state of fused nodes: " + read.error().message);
  }
}

std::string FusedOperator::layout() {
  std::string all;
  for (const auto& part : parts_) {
    const std::string one = part->layout();
    if (one.empty()) return "";
    all += (all.empty() ? "" : " + ") + one;
  }
  return all;
}

void FusedOperator::prepare(std::uint64_t snapshot) {
  for (const auto& part : parts_) part->prepare(snapshot);
}

void FusedOperator::commit(std::uint64_t snapshot) {
  for (const auto& part : parts_) part->commit(snapshot);
}

void FusedOperator::restored(std::uint64_t snapshot) {
  for (const auto& part : parts_) part->restored(snapshot);
}

double FusedOperator::progress() const { return parts_.front()->progress(); }

}  // namespace piracema::flow
