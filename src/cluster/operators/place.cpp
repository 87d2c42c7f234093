#include "cluster/operators/place.h"

#include <utility>

namespace piracema::operators::detail {

namespace {

thread_local const Context* place = nullptr;

}  // namespace

Place::Place(const Context& context) : before_(std::exchange(place, &context)) {}
Place::~Place() { place = before_; }
const Context* Place::of_this_thread() { return place; }

}  // namespace piracema::operators::detail
