#pragma once

#include <piracema/error.h>
#include <piracema/smr/state_machine.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "control/job_metadata.h"
#include "council/member.h"

/// Several coordinators of one job, of which one leads (docs/design/019-three-coordinators.md).
namespace piracema::council {

/// Which lead a coordinator has: the term in which its replica leads the group, and how often it
/// has claimed the job in that. A later one is larger, whoever has it.
struct Lead {
  std::uint64_t term = 0, claim = 0;
  auto fields() { return std::tie(term, claim); }
  auto operator<=>(const Lead&) const = default;
};

// ---- what coordinators have the group decide -----------------------------------------------

/// This one coordinates from here on, and nobody with an earlier lead. Answered with what is true.
struct Claim {
  Lead lead;
  /// Member::id.
  std::uint32_t member = 0;
  std::uint64_t pid = 0;
  /// Since 1970, by its clock.
  std::uint64_t since_ms = 0;
  auto fields() { return std::tie(lead, member, pid, since_ms); }
};
/// What is true when it begins, or goes on with the job.
struct Begin {
  Lead lead;
  std::string token;
  std::uint64_t keep_ms = 0;
  Buffer metadata;
  auto fields() { return std::tie(lead, token, keep_ms, metadata); }
};
/// The decisions of one step; none: asks whether the lead still counts.
struct Append {
  Lead lead;
  Buffer decisions;
  auto fields() { return std::tie(lead, decisions); }
};
/// One of them was asked to end the job: whoever leads takes it for a signal of its own. Several
/// may have been told of one signal, which has one `id`.
struct Signalled {
  std::uint32_t number = 0;
  std::uint64_t id = 0;
  auto fields() { return std::tie(number, id); }
};
/// Another one has that seat from here on: who had it does not answer any more.
struct Seated {
  Lead lead;
  std::uint32_t seat = 0;
  Member member;
  auto fields() { return std::tie(lead, seat, member); }
};
/// The job is over, and all has been said of it.
struct Over {
  Lead lead;
  std::uint32_t code = 0;
  std::string why;
  auto fields() { return std::tie(lead, code, why); }
};
/// Is a majority there? And this one is here.
struct Ping {
  /// Member::id.
  std::uint32_t member = 0;
  auto fields() { return std::tie(member); }
};
using Operation = std::variant<Claim, Begin, Append, Signalled, Over, Ping, Seated>;
Buffer encode(const Operation& operation);

/// What a job's last coordinator has left to the group.
struct Left {
  std::string token;
  std::uint64_t keep_ms = 0;
  Buffer metadata;
  auto fields() { return std::tie(token, keep_ms, metadata); }
};
enum class Verdict : std::uint8_t {
  done,
  deposed,   ///< Somebody has claimed the job since; or has the seat of whoever asks.
  nonsense,  ///< It cannot be understood, or nobody could have decided it here.
};
struct Answer {
  Verdict verdict = Verdict::done;
  /// Of a Claim, if the job has begun.
  std::optional<Left> left;
  auto fields() { return std::tie(verdict, left); }
};
/// Errc::corrupt.
Result<Answer> decode_answer(Bytes bytes);

/// What all coordinators have to know of each other.
struct Standing {
  Claim leader;
  bool begun = false;
  /// Those that were handed on, from the first.
  std::vector<Signalled> signals;
  std::optional<Over> over;
  /// By seat; and how often each was heard of (Ping).
  std::vector<Member> members;
  std::vector<std::uint64_t> heard;
  /// Of the next one that takes a seat.
  std::uint32_t next_id = 0;
  /// As the metadata of the job have them; none: those of the command.
  std::vector<cluster::HostOfJob> hosts;

  bool has(std::uint32_t id) const;
};

/// The state machine of the group: the metadata of the job, changed by the decisions of whoever has
/// the last lead, in the order that the group agrees on.
class GroupState final : public smr::StateMachine {
 public:
  /// Those that the group began with.
  explicit GroupState(std::vector<Member> first);

  Buffer apply(Bytes operation, const smr::Context& context) override;
  Buffer query(Bytes operation) const override;
  smr::Keys keys(Bytes operation) const override;
  Image snapshot() override;
  bool restore(Bytes image) override;

  /// Any thread.
  Standing standing() const;

 private:
  Answer on(const Claim&);
  Answer on(const Begin&);
  Answer on(const Append&);
  Answer on(const Signalled&);
  Answer on(const Over&);
  Answer on(const Ping&);
  Answer on(const Seated&);

  struct Begun {
    std::string token;
    std::uint64_t keep_ms = 0;
    cluster::JobMetadata metadata;
  };
  Left left() const;

  /// Of `standing_` alone, which only the replica's thread changes; the rest is that one's.
  mutable std::mutex mutex_;
  Standing standing_;
  std::optional<Begun> begun_;
};

}  // namespace piracema::council
