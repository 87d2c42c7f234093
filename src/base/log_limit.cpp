#include "base/log_limit.h"

#include "base/text.h"

namespace piracema {

void LogLimit::log(Level level, std::string_view message, Time time) {
  if (said_ != 0 && time - began_ >= period_) {
    if (left_out_ != 0) {
      piracema::log(level, concat(left_out_, " more lines like the next were left out"));
    }
    said_ = left_out_ = 0;
  }
  if (said_ == 0) began_ = time;
  if (said_ == lines_) {
    left_out_ += 1;
    return;
  }
  said_ += 1;
  piracema::log(level, message);
}

}  // namespace piracema
