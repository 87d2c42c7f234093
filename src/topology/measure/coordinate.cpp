#include "topology/measure/coordinate.h"

#include <algorithm>
#include <cmath>

namespace piracema::coll {

namespace {

constexpr double step = 0.25;
constexpr double height_least = 1e-6;

double norm(const std::array<double, 3>& v) { return std::hypot(v[0], v[1], v[2]); }

}  // namespace

double distance(const Coordinate& a, const Coordinate& b) {
  return norm({a.at[0] - b.at[0], a.at[1] - b.at[1], a.at[2] - b.at[2]}) + a.height + b.height;
}

void move_by(Coordinate& mine, const Coordinate& other, double latency, double chance) {
  if (!(latency > 0)) return;
  const double guess = distance(mine, other);
  // Who knows more is believed more.
  const double weight = mine.error / std::max(mine.error + other.error, 1e-9);
  const double off = std::abs(guess - latency) / latency;
  mine.error = std::clamp(off * step * weight + mine.error * (1 - step * weight), 0.01, 1.0);

  std::array<double, 3> away{mine.at[0] - other.at[0], mine.at[1] - other.at[1],
                             mine.at[2] - other.at[2]};
  double length = norm(away);
  if (length < 1e-9) {
    const double turn = chance * 2 * 3.14159265358979;
    away = {std::cos(turn), std::sin(turn), std::cos(3 * turn)};
    length = norm(away);
  }
  const double force = step * weight * (latency - guess);
  for (std::size_t i = 0; i < 3; ++i) mine.at[i] += force * away[i] / length;
  mine.height = std::max(
      height_least, mine.height + force * (mine.height + other.height) / std::max(guess, 1e-9));
}

}  // namespace piracema::coll
