#pragma once

#include <piracema/error.h>

#include <vector>

#include "smr/request.h"
#include "smr/view.h"

namespace piracema::smr::client {

/// A client's only view of cryptography, as Authenticator is a replica's: the simulator has a cheap
/// one.
class Keyring {
 public:
  virtual ~Keyring() = default;

  /// For whom requests are proved from now on. Errc::config, and nothing changes, if one of them
  /// has no key that could be one.
  virtual Result<Done> use_members(const std::vector<MemberInfo>& members) = 0;
  /// Makes the request's proof of origin anew.
  virtual void prove(Request& request) = 0;
  virtual bool verify(const MemberInfo& signer, Bytes what, Bytes signature) const = 0;
};

}  // namespace piracema::smr::client
