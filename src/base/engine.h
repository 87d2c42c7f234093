#pragma once

/// Inside the library the engine's names need no `engine::` before them. Public headers write it, so
/// that a user's program may have an `Order` of its own beside `using namespace piracema`.
namespace piracema {
namespace engine {}
using namespace engine;
}  // namespace piracema
