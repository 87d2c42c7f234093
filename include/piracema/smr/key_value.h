#pragma once

#include <piracema/bytes.h>
#include <piracema/error.h>
#include <piracema/smr/state_machine.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

/// A map from keys to values as a replicated service, with what a control plane needs: conditions,
/// leases, fencing tokens, watches, transactions. Encode an operation, let an Invoker invoke it,
/// decode the reply. Locks, elections and queues are made of these: lock.h, election.h, queue.h.
namespace piracema::smr::kv {

/// A place in the order of all operations: larger is later, none is used twice. Versions, leases
/// and fencing tokens are such places.
using Index = std::uint64_t;

/// Keys and prefixes have at most so many bytes.
constexpr std::size_t key_bytes_max = 1'024;
constexpr std::size_t value_bytes_max = std::size_t{1} << 20;
/// Entries or events of one reply; there may be fewer when they are large, and more to come.
constexpr std::size_t list_max = 1'000;
/// Conditions, fences and changes of one transaction, together.
constexpr std::size_t transaction_max = 256;

/// Holds if `key` is there and came to be at `token`, its Entry::created: so whoever lost a lock,
/// even without knowing it, writes nothing any more.
struct Fence {
  std::string key;
  Index token = 0;
  auto fields() { return std::tie(key, token); }
};

/// Creates or replaces an entry.
struct Put {
  std::string key, value;
  /// Only if the entry is of this version (Entry::changed); 0 is: only if there is none.
  std::optional<Index> expected = {};
  /// The entry goes when this lease does; 0 is none.
  Index lease = 0;
  std::optional<Fence> fence = {};
  auto fields() { return std::tie(key, value, expected, lease, fence); }
};
struct Remove {
  std::string key;
  std::optional<Index> expected = {};
  std::optional<Fence> fence = {};
  auto fields() { return std::tie(key, expected, fence); }
};
/// Reads one entry.
struct Get {
  std::string key;
  auto fields() { return std::tie(key); }
};
/// Reads the entries with this prefix behind the key `after`, by key.
struct List {
  std::string prefix, after;
  auto fields() { return std::tie(prefix, after); }
};
/// What has happened to a key, or to all with this prefix, after the place `from`. Ask again from
/// Reply::index. Status::compacted, with the first place from which one may ask, if that is no
/// longer known: then List, and watch from there.
struct Watch {
  std::string key;
  bool is_prefix = false;
  Index from = 0;
  auto fields() { return std::tie(key, is_prefix, from); }
};
/// Makes a lease that ends `ttl` nanoseconds after the leader's clock in this operation, unless it
/// is kept alive. From 1 ms to a year. The holder has to be sure before: it counts `ttl`, less what
/// clocks differ, from before it sent Grant or KeepAlive.
struct Grant {
  std::uint64_t ttl = 0;
  auto fields() { return std::tie(ttl); }
};
struct KeepAlive {
  Index lease = 0;
  auto fields() { return std::tie(lease); }
};
/// Ends a lease and removes its entries.
struct Revoke {
  Index lease = 0;
  auto fields() { return std::tie(lease); }
};
/// Removes entries whose leases have ended by the leader's clock in this operation: never by that
/// of a replica. They count as gone for every operation after the end already; this tells watches
/// and frees memory. The service does so by itself, soon after the end of a lease, also where
/// nobody asks for anything; this does it at once. Reply::more asks for another one.
struct Expire {
  auto fields() { return std::tie(); }
};

struct Entry {
  std::string key;
  /// Empty in replies to Put and Remove.
  std::string value;
  /// Where it came to be, its fencing token, and where it was last put, its version.
  Index created = 0, changed = 0;
  Index lease = 0;
  auto fields() { return std::tie(key, value, created, changed, lease); }
};

/// Brings entries of another group's map into one that nobody has used, as they were: with their
/// versions and fencing tokens, but without leases. In several parts if need be, all with the same
/// `index`: everything that happens from then on has a higher place than that, so that no token of
/// the other map is ever used again. Status::conflict for a map with anything else in it; an entry
/// that was changed here since stays as it is.
struct Load {
  /// The last place that the other map has used.
  Index index = 0;
  /// At most list_max.
  std::vector<Entry> entries;
  auto fields() { return std::tie(index, entries); }
};

/// Holds if `key` is of this version (Entry::changed); 0 is: if there is none.
struct Condition {
  std::string key;
  Index expected = 0;
  auto fields() { return std::tie(key, expected); }
};

/// Several changes as one operation: all are made at its one place in the order, or none, if
/// anything that is asked for here or in one of the changes does not hold before it. Each key is
/// changed once at most. The reply has the entries as after each of the changes, puts first,
/// without values; of one that was refused it has what its status is about:
///
/// - Status::fenced: the entries that are there in place of the fences' own;
/// - Status::conflict: the entries that are there in place of what was expected;
/// - Status::no_lease: nothing; Status::not_found: what was to be removed.
///
/// `Entry::changed` of 0 is no entry.
struct Transaction {
  std::vector<Condition> conditions = {};
  std::vector<Fence> fences = {};
  std::vector<Put> puts = {};
  std::vector<Remove> removes = {};
  auto fields() { return std::tie(conditions, fences, puts, removes); }
};

Buffer encode(const Put&);
Buffer encode(const Remove&);
Buffer encode(const Get&);
Buffer encode(const List&);
Buffer encode(const Watch&);
Buffer encode(const Grant&);
Buffer encode(const KeepAlive&);
Buffer encode(const Revoke&);
Buffer encode(const Expire&);
Buffer encode(const Load&);
Buffer encode(const Transaction&);

enum class Status : std::uint8_t {
  ok,
  not_found,    ///< No such entry.
  conflict,     ///< Not the version that was expected; `entries` has the one that is there.
  no_lease,     ///< The lease has ended, or never was.
  fenced,       ///< The fence does not hold.
  compacted,    ///< Watch: asks for what is no longer known.
  full,         ///< As many leases as there may be.
  bad_request,  ///< The bytes are no operation, or one beyond its limits. Nothing was done.
};

/// For people, and in JSON.
const char* name_of(Status status);

enum class Change : std::uint8_t { put, removed, expired };

struct Event {
  Index index = 0;
  Change change = Change::put;
  std::string key, value;
  auto fields() { return std::tie(index, change, key, value); }
};

struct Reply {
  Status status = Status::ok;
  /// The place of the operation. Of List and Watch: where to watch from; of Status::compacted: the
  /// first place from which one may.
  Index index = 0;
  /// The entry, or those of List.
  std::vector<Entry> entries;
  /// Of Watch, in their order.
  std::vector<Event> events;
  /// There is more: of List behind the last entry, of Watch from `index`, of Expire and Revoke.
  bool more = false;
  /// Of Grant: the new lease.
  Index lease = 0;
  auto fields() { return std::tie(status, index, entries, events, more, lease); }
};

/// Errc::corrupt if no replica of this version answered that.
Result<Reply> decode_reply(Bytes bytes);

/// The service: give it to each replica.
std::unique_ptr<StateMachine> make_machine();

}  // namespace piracema::smr::kv
