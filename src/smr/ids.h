#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

/// State machine replication (paper 003): one service on several replicas that stays right and
/// available although some of them crash, or lie.
namespace piracema::smr {

/// Identity of a replica, for ever: its place in the view may change, its number does not.
using ReplicaId = std::uint32_t;
/// Identity of a client; its keys are known by it.
using ClientId = std::uint64_t;
/// Numbers the requests of one client's session, from 1, without gaps.
using Sequence = std::uint64_t;
/// Place in the total order; each is decided by one run of consensus. From 1.
using Instance = std::uint64_t;
/// Raised with each change of the leader (BFT-SMaRt's word for an epoch of the leader). From 0.
using Regency = std::uint32_t;
/// Raised with each reconfiguration. From 0.
using ViewId = std::uint32_t;

/// BLAKE2b-256 of whatever it stands for.
using Digest = std::array<std::byte, 32>;

}  // namespace piracema::smr
