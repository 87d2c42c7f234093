#pragma once

namespace piracema::sim {

/// Whether one seed is replayed (PIRACEMA_SEED=S), and schedulers print what happens.
bool tracing();

}  // namespace piracema::sim
