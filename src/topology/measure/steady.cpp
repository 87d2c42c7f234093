#include "topology/measure/steady.h"

#include <cmath>

namespace piracema::coll {

bool Steady::follow(double forecast) {
  if (value_ < 0) {
    value_ = forecast;
    return true;
  }
  const double away = forecast - value_;
  const bool differs = std::abs(away) > 20e-6;
  const auto count = [&](int& so_far, bool again) { so_far = differs && again ? so_far + 1 : 0; };
  count(above_, away > 0.1 * value_);
  count(below_, away < -0.1 * value_);
  count(far_above_, away > 0.2 * value_);
  count(far_below_, away < -0.2 * value_);
  if (above_ < 8 && below_ < 8 && far_above_ < 2 && far_below_ < 2) return false;
  value_ = forecast;
  above_ = below_ = far_above_ = far_below_ = 0;
  return true;
}

}  // namespace piracema::coll
