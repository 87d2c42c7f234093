#pragma once

#include <piracema/error.h>
#include <piracema/smr/client.h>
#include <piracema/smr/key_value.h>

#include <string>
#include <vector>

namespace piracema::tools {

/// What one line of `piracema kv` asks for, "put a b" cut into words, and what came of it.
struct KvOutcome {
  /// For people, or one JSON object; without the end of the line.
  std::string text;
  /// 0: done; 1: not done (not found, another version, a lease that has ended, no answer); 2:
  /// usage.
  int code = 0;
};

/// One line about what has happened: for people, or a JSON object.
std::string kv_event_text(const smr::kv::Event& event, bool json);

/// put KEY VALUE [LEASE], get KEY, del KEY, cas KEY VERSION VALUE, list [PREFIX], lease SECONDS,
/// keep LEASE, revoke LEASE, watch KEY [FROM].
KvOutcome kv_operate(smr::Client& client, const std::vector<std::string>& words, bool json);

/// One line for each of them.
extern const char* const kv_operations_help;

}  // namespace piracema::tools
