#include "ckpt/keeper/figures_display.h"

namespace piracema::ckpt {

namespace {

constexpr Time show_interval = std::chrono::seconds(1);

constexpr Time look_interval = std::chrono::seconds(5);

}  // namespace

FiguresDisplay::~FiguresDisplay() {
  if (next_) poller_.cancel(*next_);
}

void FiguresDisplay::begin() {
  next_ = poller_.at(now() + show_interval, [this] { begin(); });
  if (!history_.has_forecast() || now() >= looked_at_ + look_interval) look();
  show();
}

void FiguresDisplay::know_forecast() {
  if (!history_.has_forecast()) look();
}

void FiguresDisplay::look() {
  looked_at_ = now();
  const auto [memory, outlook] = calls_.look();
  history_.looked(memory, outlook);
}

}  // namespace piracema::ckpt
