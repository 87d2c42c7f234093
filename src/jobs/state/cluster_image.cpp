#include "jobs/state/cluster_image.h"

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "wire/fields.h"

namespace piracema::jobs {

namespace {

// "PIRACLST".
constexpr std::uint64_t magic = 0x54534c4341524950;

struct Head {
  std::uint64_t what = 0;
  std::uint32_t version = 0;
  auto fields() { return std::tie(what, version); }
};
constexpr std::size_t head_bytes = 12;
constexpr std::uint32_t oldest_version = 2;

struct Body : ClusterImage {
  auto fields() { return std::tie(jobs, nodes, users, events, last_job, time, own_ms); }
};

struct FifthNode : Node {
  auto fields() {
    return std::tie(name, incarnation, slots, address, last_report, directory, draining, leaving,
                    lent, alive, lease_until_ms, heard_ms, client, used, kind, site, closes_ms,
                    full);
  }
};
struct FifthJob : Job {
  auto fields() {
    return std::tie(id, spec, state, node, others, parts, next, attempt, cancelled, failures,
                    losses, code, why, submitted_ms, started_ms, ended_ms, output, output_before,
                    owner, joins, kind, heard);
  }
};
struct FourthNode : Node {
  auto fields() {
    return std::tie(name, incarnation, slots, address, last_report, directory, draining, leaving,
                    lent, alive, lease_until_ms, heard_ms, client, used, kind, site, closes_ms);
  }
};
struct ThirdNode : Node {
  auto fields() {
    return std::tie(name, incarnation, slots, address, last_report, directory, draining, leaving,
                    lent, alive, lease_until_ms, heard_ms, client, used);
  }
};
struct ThirdPart : Part {
  auto fields() { return std::tie(node, command, input, wanted, ended, asker); }
};
struct ThirdJob : Job {
  std::map<std::uint32_t, ThirdPart> parts_then;
  auto fields() {
    return std::tie(id, spec, state, node, others, parts_then, next, attempt, cancelled, failures,
                    losses, code, why, submitted_ms, started_ms, ended_ms, output, output_before,
                    owner, joins);
  }
};
struct SecondPart : Part {
  auto fields() { return std::tie(node, command, input, wanted, ended); }
};
struct SecondJob : Job {
  std::map<std::uint32_t, SecondPart> parts_then;
  auto fields() {
    return std::tie(id, spec, state, node, others, parts_then, next, attempt, cancelled, failures,
                    losses, code, why, submitted_ms, started_ms, ended_ms, output, output_before,
                    owner);
  }
};
/// An image with jobs and nodes as they were then.
template <class JobThen, class NodeThen>
struct Then {
  std::vector<JobThen> jobs;
  std::vector<NodeThen> nodes;
  std::vector<User> users;
  std::vector<Event> events;
  JobId last_job = 0;
  std::uint64_t time = 0, own_ms = 0;
  auto fields() { return std::tie(jobs, nodes, users, events, last_job, time, own_ms); }
};

Job as_now(FifthJob job) { return job; }
Part as_now(ThirdPart part, const Job&, std::uint32_t) { return part; }
Part as_now(SecondPart part, const Job& job, std::uint32_t number) {
  if (number < first_beside) part.asker = job.node;
  return part;
}
template <class JobThen>
Job as_now(JobThen job) {
  for (auto& [number, part] : job.parts_then) {
    job.parts.emplace(number, as_now(std::move(part), job, number));
  }
  job.heard = job.output_before + job.output.size();
  return job;
}

template <class JobThen, class NodeThen>
Result<ClusterImage> decode_then(Bytes bytes) {
  auto then = wire::decode<Then<JobThen, NodeThen>>(bytes);
  if (!then) return then.error();
  ClusterImage image{.jobs = {},
                     .nodes = {},
                     .users = std::move(then->users),
                     .events = std::move(then->events),
                     .last_job = then->last_job,
                     .time = then->time,
                     .own_ms = then->own_ms};
  for (NodeThen& node : then->nodes) image.nodes.push_back(std::move(node));
  for (JobThen& job : then->jobs) image.jobs.push_back(as_now(std::move(job)));
  return image;
}

std::string versions() { return concat(oldest_version, " to ", ClusterImage::version); }

}  // namespace

Buffer encode(const ClusterImage& image) {
  Buffer bytes = wire::encode(Head{magic, ClusterImage::version});
  const Buffer body = wire::encode(Body{image});
  bytes.append(body.data(), body.size());
  return bytes;
}

Result<ClusterImage> decode_image(Bytes bytes) {
  if (bytes.size() < head_bytes) return Error{Errc::corrupt, "an image of a cluster that is cut"};
  const auto head = wire::decode<Head>(bytes.first(head_bytes));
  if (!head) return head.error();
  if (head->what != magic) {
    return Error{Errc::corrupt, concat("want an image of a cluster of version ", versions(),
                                       ", found another thing")};
  }
  const Bytes rest = bytes.subspan(head_bytes);
  if (head->version == 2) return decode_then<SecondJob, ThirdNode>(rest);
  if (head->version == 3) return decode_then<ThirdJob, ThirdNode>(rest);
  if (head->version == 4) return decode_then<FifthJob, FourthNode>(rest);
  if (head->version == 5) return decode_then<FifthJob, FifthNode>(rest);
  if (head->version != ClusterImage::version) {
    return Error{Errc::config, concat("want an image of a cluster of version ", versions(),
                                      ", found ", head->version)};
  }
  auto body = wire::decode<Body>(rest);
  if (!body) return body.error();
  return ClusterImage(*std::move(body));
}

}  // namespace piracema::jobs
