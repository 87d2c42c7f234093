#pragma once

#include <array>

namespace piracema::cluster {

/// What a process was taken for lost by.
enum class LossCause {
  process_ended,
  connection_ended,
  silent,      ///< No heartbeat.
  not_joined,  ///< Or not come back to a new coordinator.
  stuck,       ///< An operator did not return, or did not get on with loading its state.
  other,
};
inline constexpr std::array loss_causes = {LossCause::process_ended, LossCause::connection_ended,
                                           LossCause::silent,        LossCause::not_joined,
                                           LossCause::stuck,         LossCause::other};

/// A word for figures and files: "process_ended".
constexpr const char* name_of(LossCause cause) {
  switch (cause) {
    case LossCause::process_ended:
      return "process_ended";
    case LossCause::connection_ended:
      return "connection_ended";
    case LossCause::silent:
      return "silent";
    case LossCause::not_joined:
      return "not_joined";
    case LossCause::stuck:
      return "stuck";
    case LossCause::other:
      return "other";
  }
  return "?";
}

}  // namespace piracema::cluster
