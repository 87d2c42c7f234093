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
constexpr std::uint32_t version_before = 2;

struct Body : ClusterImage {
  auto fields() { return std::tie(jobs, nodes, users, events, last_job, time, own_ms); }
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
struct Second {
  std::vector<SecondJob> jobs;
  std::vector<Node> nodes;
  std::vector<User> users;
  std::vector<Event> events;
  JobId last_job = 0;
  std::uint64_t time = 0, own_ms = 0;
  auto fields() { return std::tie(jobs, nodes, users, events, last_job, time, own_ms); }
};

Result<ClusterImage> decode_second(Bytes bytes) {
  auto second = wire::decode<Second>(bytes);
  if (!second) return second.error();
  ClusterImage image{.jobs = {},
                     .nodes = std::move(second->nodes),
                     .users = std::move(second->users),
                     .events = std::move(second->events),
                     .last_job = second->last_job,
                     .time = second->time,
                     .own_ms = second->own_ms};
  for (SecondJob& job : second->jobs) {
    for (auto& [number, part] : job.parts_then) {
      if (number < first_beside) part.asker = job.node;
      job.parts.emplace(number, std::move(part));
    }
    image.jobs.push_back(std::move(job));
  }
  return image;
}

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
    return Error{Errc::corrupt, concat("want an image of a cluster of version ", version_before,
                                       " or ", ClusterImage::version, ", found another thing")};
  }
  if (head->version == version_before) return decode_second(bytes.subspan(head_bytes));
  if (head->version != ClusterImage::version) {
    return Error{Errc::config, concat("want an image of a cluster of version ", version_before,
                                      " or ", ClusterImage::version, ", found ", head->version)};
  }
  auto body = wire::decode<Body>(bytes.subspan(head_bytes));
  if (!body) return body.error();
  return ClusterImage(*std::move(body));
}

}  // namespace piracema::jobs
