#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "jobs/protocol/operations.h"
#include "jobs/state/job_table.h"

/// What a node is to run, as follows from the jobs. Pure.
namespace piracema::jobs {

/// So large may an answer be, about: the group has a bound for replies.
constexpr std::size_t answer_bytes = std::size_t{256} << 10;
/// Of a job in an answer, about.
std::size_t bytes_of(const JobSpec& spec);

/// All that is to run on that node, and nothing else; what it does not have yet with its words.
std::vector<Order> orders_for(const std::string& node, const std::vector<Attempt>& has,
                              const JobTable& jobs, const std::map<std::string, Node>& nodes);
/// Stands for those orders, and for the ends of parts that the node's commands wait for; never 0.
std::uint64_t mark_of_orders(const std::string& node, const JobTable& jobs,
                             const std::map<std::string, Node>& nodes);

}  // namespace piracema::jobs
