#include "smr/order/transfer/checkpoint_fetch.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "smr/order/messages/digest.h"
#include "smr/order/transfer/checkpoint.h"

namespace piracema::smr {

CheckpointFetch::CheckpointFetch(CheckpointProof proof, Sources sources,
                                 std::optional<PartialCheckpoint> partial, Pace& pace)
    : proof_(std::move(proof)),
      sources_(std::move(sources)),
      partial_(std::move(partial)),
      pace_(pace) {}

void CheckpointFetch::begin(Time now, std::vector<Action>& out) { ask(now, out); }

void CheckpointFetch::ask(Time now, std::vector<Action>& out) {
  if (sources_.empty()) return;
  const Instance instance = proof_.checkpoint.instance;
  if (!has_manifest_) {
    if (manifest_asked_) return;
    manifest_asked_ = Asked{sources_.next(), now, now + pace_.patience(fruitless_)};
    out.emplace_back(Send{manifest_asked_->whom, message(ManifestRequest{instance}), false});
    return;
  }
  while (next_ < here_.size() && here_[next_]) next_ += 1;
  for (std::uint32_t i = next_;
       i < here_.size() && asked_.size() < pace_.pieces(proof_.checkpoint.chunk_bytes); ++i) {
    if (here_[i] || asked_.count(i) != 0) continue;
    const ReplicaId whom = sources_.next();
    asked_[i] = {whom, now, now + pace_.patience(fruitless_)};
    const auto [question, is_new] = questions_.try_emplace(i, Question::asked(now, whom));
    if (!is_new) question->second.again(now, whom);
    out.emplace_back(Send{whom, message(ChunkRequest{instance, i}), false});
  }
}

void CheckpointFetch::distrust(ReplicaId who, const std::string& what, std::vector<Action>& out) {
  if (!sources_.has(who)) return;
  sources_.drop(who);
  out.emplace_back(Note{true, concat("replica ", who, " sent ", what, " of the checkpoint at ",
                                     proof_.checkpoint.instance, ": it is not asked again")});
}

void CheckpointFetch::on_manifest(Time now, ReplicaId from, const Manifest& manifest,
                                  std::vector<Action>& out) {
  const CheckpointInfo& info = proof_.checkpoint;
  if (has_manifest_ || manifest.instance != info.instance || !sources_.has(from)) return;
  manifest_asked_.reset();
  if (manifest.chunks.size() != info.chunk_count ||
      digest_of_chunks(manifest.chunks) != info.state) {
    distrust(from, "other digests", out);
    return ask(now, out);
  }
  fruitless_ = 0;
  has_manifest_ = true;
  chunks_ = manifest.chunks;
  here_.assign(chunks_.size(), false);
  if (partial_ && partial_->checkpoint.instance == info.instance) {
    const auto& had = partial_->chunks;
    for (std::size_t i = 0; i < std::min(here_.size(), had.size()); ++i) {
      here_[i] = had[i] == chunks_[i];
    }
  }
  missing_ = static_cast<std::uint32_t>(std::count(here_.begin(), here_.end(), false));
  ask(now, out);
}

void CheckpointFetch::on_chunk(Time now, ReplicaId from, const Chunk& chunk,
                               std::vector<Action>& out) {
  if (!has_manifest_ || chunk.instance != proof_.checkpoint.instance) return;
  if (chunk.chunk >= here_.size() || here_[chunk.chunk] || !sources_.has(from)) return;
  const bool was_full = asked_.size() >= pace_.pieces(proof_.checkpoint.chunk_bytes);
  asked_.erase(chunk.chunk);
  silent_.erase(from);
  if (digest_of(Bytes(*chunk.bytes)) != chunks_[chunk.chunk]) {
    distrust(from, concat("a false piece ", chunk.chunk), out);
    return ask(now, out);
  }
  fruitless_ = 0;
  if (const auto question = questions_.find(chunk.chunk); question != questions_.end()) {
    pace_.answered(question->second.took(now, from), was_full);
    questions_.erase(question);
  }
  // What was asked for while answers took long is waited for no longer than what is asked for now.
  const Time latest = now + pace_.patience(fruitless_);
  for (auto& [number, one] : asked_) one.until = std::min(one.until, latest);
  here_[chunk.chunk] = true;
  missing_ -= 1;
  out.emplace_back(StoreChunk{proof_.checkpoint, chunk.chunk, chunk.bytes});
  ask(now, out);
}

void CheckpointFetch::on_gone(Time now, ReplicaId from, std::vector<Action>& out) {
  if (!sources_.has(from)) return;
  sources_.drop(from);
  if (manifest_asked_ && manifest_asked_->whom == from) manifest_asked_.reset();
  std::erase_if(asked_, [from](const auto& one) { return one.second.whom == from; });
  ask(now, out);
}

PartialCheckpoint CheckpointFetch::partial() const {
  if (!has_manifest_) return partial_.value_or(PartialCheckpoint{});
  PartialCheckpoint partial{proof_.checkpoint, std::vector<std::optional<Digest>>(here_.size())};
  for (std::size_t i = 0; i < here_.size(); ++i) {
    if (here_[i]) partial.chunks[i] = chunks_[i];
  }
  return partial;
}

void CheckpointFetch::add_source(Time now, ReplicaId id, std::vector<Action>& out) {
  const bool in_vain = !sources_.has_hope();
  sources_.add(id);
  if (!in_vain) return;
  manifest_asked_.reset();
  asked_.clear();
  ask(now, out);
}

// One of several that is gone, or withholds, is not asked for ever: each question to it costs time.
void CheckpointFetch::waited_in_vain_for(ReplicaId who) {
  if (++silent_[who] >= 3 && sources_.size() > 1) sources_.drop(who);
}

// What was asked of them is waited for as long as ever: a piece may take long on a slow way, and
// twice as long if it is asked for twice.
void CheckpointFetch::leave_the_quiet(Time now) {
  const auto look = [&](const Asked& one) {
    const auto quiet = sources_.quiet_at(one.whom, one.at);
    if (quiet && *quiet <= now) sources_.leave(one.whom);
  };
  if (manifest_asked_) look(*manifest_asked_);
  for (const auto& [chunk, one] : asked_) look(one);
}

bool CheckpointFetch::tick(Time now, std::vector<Action>& out) {
  std::set<ReplicaId> in_vain;
  if (manifest_asked_ && now >= manifest_asked_->until) {
    in_vain.insert(manifest_asked_->whom);
    manifest_asked_.reset();
  }
  for (auto one = asked_.begin(); one != asked_.end();) {
    const bool over = now >= one->second.until;
    if (over) in_vain.insert(one->second.whom);
    one = over ? asked_.erase(one) : std::next(one);
  }
  for (const ReplicaId who : in_vain) waited_in_vain_for(who);
  const bool had_hope = has_hope();
  leave_the_quiet(now);
  if (!in_vain.empty()) {
    fruitless_ += 1;
    ask(now, out);
  }
  return had_hope != has_hope() || (!in_vain.empty() && (!had_hope || fruitless_ > 1));
}

void CheckpointFetch::look_at(const Asked& one, std::optional<Time>& next) const {
  const Time due = std::min(one.until, sources_.quiet_at(one.whom, one.at).value_or(one.until));
  if (!next || due < *next) next = due;
}

std::optional<Time> CheckpointFetch::next_deadline() const {
  std::optional<Time> next;
  if (manifest_asked_) look_at(*manifest_asked_, next);
  for (const auto& [chunk, one] : asked_) look_at(one, next);
  return next;
}

}  // namespace piracema::smr
