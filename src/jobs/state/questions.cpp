#include "jobs/state/questions.h"

#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "jobs/state/orders.h"
#include "wire/checksum.h"
#include "wire/fields.h"

namespace piracema::jobs {

namespace {

/// Stands for what whoever follows the job sees of it.
std::uint64_t mark_seen(const Job& job) {
  struct Seen {
    JobState state = JobState::waiting;
    std::uint32_t attempt = 0;
    std::uint64_t said = 0;
    std::string why;
    /// Of what is run beside it.
    std::vector<std::uint32_t> ended = {};
    auto fields() { return std::tie(state, attempt, said, why, ended); }
  };
  Seen seen{job.state, job.attempt, job.output_before + job.output.size(), job.why};
  for (auto at = job.parts.lower_bound(first_beside); at != job.parts.end(); ++at) {
    if (at->second.ended) seen.ended.push_back(at->first);
  }
  const std::uint64_t mark = wire::checksum(wire::encode(seen));
  return mark == 0 ? 1 : mark;
}

}  // namespace

std::optional<Answer> Questions::answer(const Operation& operation) const {
  return std::visit(
      [this](const auto& what) -> std::optional<Answer> {
        if constexpr (requires { on(what); }) {
          return on(what);
        } else {
          return std::nullopt;
        }
      },
      operation);
}

Answer Questions::on(const ListJobs& list) const {
  Answer answer{.now_ms = state_.now_ms};
  std::size_t bytes = 0;
  for (auto at = state_.jobs.all().lower_bound(list.from); at != state_.jobs.all().end(); ++at) {
    bytes += bytes_of(at->second.spec);
    if (bytes > answer_bytes) {
      answer.next = at->first;
      break;
    }
    answer.jobs.push_back(at->second);
    answer.jobs.back().output.clear();
    // They may have keys in them.
    answer.jobs.back().parts.clear();
  }
  return answer;
}

Answer Questions::on(const ListNodes&) const {
  Answer answer{.now_ms = state_.now_ms};
  for (const auto& [name, node] : state_.nodes) {
    answer.nodes.push_back(node);
    // By that number the node is known (TellStreams): others learn whether there is one.
    answer.nodes.back().incarnation = node.incarnation == 0 ? 0 : 1;
  }
  return answer;
}

Answer Questions::on(const ListUsers&) const {
  Answer answer{.now_ms = state_.now_ms};
  for (const auto& [name, user] : state_.users.all()) answer.users.push_back(user);
  return answer;
}

Answer Questions::on(const ListEvents& list) const {
  Answer answer{.now_ms = state_.now_ms, .mark = state_.history.last()};
  std::size_t bytes = 0;
  for (Event& event : state_.history.from(list.from)) {
    bytes += 100 + event.why.size();
    if (bytes > answer_bytes) {
      answer.next = event.number;
      break;
    }
    answer.events.push_back(std::move(event));
  }
  return answer;
}

Answer Questions::on(const AwaitEvents& await) const {
  if (state_.now_ms < await.now_ms || state_.history.last() < await.from) return nothing_new();
  return on(ListEvents{await.from});
}

Answer Questions::on(const AwaitOrders& await) const {
  const auto found = state_.nodes.find(await.node);
  // A stranger learns of it by its next report.
  if (state_.now_ms < await.now_ms || found == state_.nodes.end() ||
      found->second.incarnation != await.incarnation) {
    return nothing_new();
  }
  const std::uint64_t mark = mark_of_orders(await.node, state_.jobs, state_.nodes);
  return {.now_ms = state_.now_ms, .mark = mark == await.mark ? 0 : mark};
}

Answer Questions::on(const AwaitJob& await) const {
  if (state_.now_ms < await.now_ms) return nothing_new();
  Answer answer = on(ShowJob{await.job});
  if (answer.verdict != Answer::Verdict::done) return answer;
  const std::uint64_t mark = mark_seen(answer.jobs.front());
  if (mark == await.mark) return nothing_new();
  answer.mark = mark;
  return answer;
}

Answer Questions::on(const ShowJob& show) const {
  const auto found = state_.jobs.all().find(show.job);
  if (found == state_.jobs.all().end())
    return {.verdict = Answer::Verdict::refused, .why = concat("there is no job ", show.job)};
  Answer answer{.jobs = {found->second}, .now_ms = state_.now_ms};
  // Of those of its command words may be keys.
  auto& parts = answer.jobs.front().parts;
  parts.erase(parts.begin(), parts.lower_bound(first_beside));
  return answer;
}

// ---- beside the order ---------------------------------------------------------------------------

Answer Questions::on(const TellStreams& tell) const {
  const auto found = state_.nodes.find(tell.node);
  if (tell.incarnation == 0 || found == state_.nodes.end() ||
      found->second.incarnation != tell.incarnation) {
    return {.verdict = Answer::Verdict::stranger,
            .why = concat("another process has the name of the node ", tell.node)};
  }
  for (const StreamSight& sight : tell.sights) {
    const auto job = state_.jobs.all().find(sight.attempt.job);
    const bool is_its = job != state_.jobs.all().end() && runs(job->second) &&
                        job->second.node == tell.node &&
                        sight.attempt == Attempt{job->first, job->second.attempt};
    if (is_its) state_.streams.put(sight, state_.now_ms);
  }
  return {.now_ms = state_.now_ms, .mark = state_.streams.is_watched(state_.now_ms) ? 1U : 0U};
}

Answer Questions::on(const ListStreams& list) const {
  auto some =
      state_.streams.from(list.from, answer_bytes, state_.now_ms, [this](const Attempt& attempt) {
        const auto job = state_.jobs.all().find(attempt.job);
        return job != state_.jobs.all().end() && runs(job->second) &&
               job->second.attempt == attempt.attempt;
      });
  return {.streams = std::move(some.sights), .next = some.next, .now_ms = state_.now_ms};
}

}  // namespace piracema::jobs
