#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "base/fd.h"

namespace piracema::testing {

/// A network of this process alone, with a network for each replica behind a cable of its own that
/// can be pulled out. One thread.
class Lan {
 public:
  /// Before the process has a second thread. Where it may make no networks, or there is no `ip`,
  /// replicas share its own and nothing can be cut.
  Lan();

  bool has_cables() const { return has_cables_; }
  /// "10.77.0.1:7000", made if need be; empty without cables, and if it could not be made.
  std::string address_of(std::size_t replica);
  /// The network namespace of a replica; -1 if it has none.
  int network_of(std::size_t replica) const;
  void forget(std::size_t replica);
  /// What is sent to it and by it is lost; its connections do not end.
  bool cut(std::size_t replica);
  bool mend(std::size_t replica);

 private:
  bool lay_cable(std::size_t replica);

  bool has_cables_ = false;
  std::map<std::size_t, Fd> networks_;
};

}  // namespace piracema::testing
