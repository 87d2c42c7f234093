#pragma once

namespace piracema::coll {

/// The value of a link by which trees are made: it stays while forecasts only tremble. It follows
/// when two forecasts in a row are a fifth away from it to the same side, or a tenth for eight in
/// a row; differences below 20 microseconds are none. Pure.
class Steady {
 public:
  /// True when the value is another one now. The first forecast is taken as it is.
  bool follow(double forecast);
  /// Seconds; below 0 before the first forecast.
  double value() const { return value_; }

 private:
  double value_ = -1;
  int above_ = 0, below_ = 0, far_above_ = 0, far_below_ = 0;
};

}  // namespace piracema::coll
