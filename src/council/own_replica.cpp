#include "council/own_replica.h"

#include <stdlib.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/crypto.h"
#include "base/text.h"
#include "council/group_configuration.h"
#include "smr/link/crypto.h"

namespace piracema::council {

Result<std::unique_ptr<OwnReplica>> OwnReplica::open(const Seat& seat, GroupState& state,
                                                     Events events) {
  prepare_crypto();
  const auto configuration = group_configuration(seat, seat.members);
  if (!configuration) return configuration.error();
  smr::KeyPair::Seed seed, administrator;
  if (!smr::from_hex(seat.seed, seed.data(), seed.size()) ||
      !smr::from_hex(seat.administrator, administrator.data(), administrator.size())) {
    return Error{Errc::config, "the seat of a coordinator has no key"};
  }
  std::error_code none;
  std::string folder = (std::filesystem::temp_directory_path(none) / "piracema-council-XXXXXX");
  if (none || ::mkdtemp(folder.data()) == nullptr) {
    return Error{Errc::io, with_errno(concat("a folder for a coordinator: ", folder))};
  }
  std::unique_ptr<OwnReplica> replica(new OwnReplica(std::move(folder), std::move(events)));
  const auto written = smr::write_key(replica->key_file(), smr::KeyPair(administrator));
  if (!written) return written.error();
  auto node = smr::ReplicaNode::start(
      *configuration,
      {.id = seat.own().id,
       .key = smr::KeyPair(seed),
       .directory = replica->folder_ + "/replica",
       .first_start = true,
       .leads = replica->events_.leads,
       .leads_no_longer = replica->events_.leads_no_longer,
       .applied = [applied = replica->events_.applied](std::uint64_t) { applied(); },
       .operation_timeout = operation_timeout},
      state);
  if (!node) return node.error();
  replica->node_ = *std::move(node);
  return replica;
}

OwnReplica::~OwnReplica() {
  if (node_) node_->stop();
  if (thread_.joinable()) thread_.join();
  node_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void OwnReplica::begin() {
  thread_ = std::thread([this] { events_.ended(node_->run()); });
}

}  // namespace piracema::council
