#include "jobs/cluster_image.h"

#include <cstring>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "wire/fields.h"

namespace piracema::jobs {

namespace {

// "PIRACLST". An image of version 1 begins with the number of its jobs, which is far less.
constexpr std::uint64_t magic = 0x54534c4341524950;

struct Head {
  std::uint64_t what = 0;
  std::uint32_t version = 0;
  auto fields() { return std::tie(what, version); }
};
constexpr std::size_t head_bytes = 12;

struct Body : ClusterImage {
  auto fields() { return std::tie(jobs, nodes, users, events, last_job, time, own_ms); }
};

struct FirstJob : Job {
  auto fields() {
    return std::tie(id, spec, state, node, others, parts, next, attempt, cancelled, failures,
                    losses, code, why, submitted_ms, started_ms, ended_ms, output, output_before);
  }
};
struct First {
  std::vector<FirstJob> jobs;
  std::vector<Node> nodes;
  JobId last_job = 0;
  std::uint64_t time = 0, own_ms = 0;
  auto fields() { return std::tie(jobs, nodes, last_job, time, own_ms); }
};

Result<ClusterImage> decode_first(Bytes bytes) {
  auto first = wire::decode<First>(bytes);
  if (!first) return first.error();
  ClusterImage image{.jobs = {},
                     .nodes = std::move(first->nodes),
                     .users = {*Users().of_client(first_client)},
                     .events = {},
                     .last_job = first->last_job,
                     .time = first->time,
                     .own_ms = first->own_ms};
  for (FirstJob& job : first->jobs) image.jobs.push_back(std::move(job));
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
  if (head->what != magic) return decode_first(bytes);
  if (head->version != ClusterImage::version) {
    return Error{Errc::config, concat("want an image of a cluster of version 1 or ",
                                      ClusterImage::version, ", found ", head->version)};
  }
  auto body = wire::decode<Body>(bytes.subspan(head_bytes));
  if (!body) return body.error();
  return ClusterImage(*std::move(body));
}

}  // namespace piracema::jobs
