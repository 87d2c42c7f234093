#pragma once

#include <piracema/operator.h>

namespace piracema::operators::detail {

/// Says for as long as it lives that this thread works for a replica: what `utility` answers from.
class Place {
 public:
  explicit Place(const Context& context);
  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  /// Null outside of an operator.
  static const Context* of_this_thread();

 private:
  const Context* before_;
};

}  // namespace piracema::operators::detail
