#include <piracema/batch.h>

namespace piracema {

void Batch::add_other_id(std::uint64_t id) {
  if (count == 0) {
    first_id = id;
    ids.clear();
    return;
  }
  if (ids.empty()) {
    for (std::uint32_t i = 0; i < count; ++i) ids.push_back(first_id + i);
  }
  ids.push_back(id);
}

}  // namespace piracema
