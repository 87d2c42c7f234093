#include "coll/mpi/exchange/slices.h"

#include <algorithm>

namespace piracema::coll::mpi {

Slices::Slices(Data data, std::uint64_t bytes) : data_(data) {
  MPI_Aint low = 0;
  MPI_Count size = 0;
  must(PMPI_Type_get_extent(data.type, &low, &extent_));
  must(PMPI_Type_size_x(data.type, &size));
  const auto element = std::max<std::uint64_t>(static_cast<std::uint64_t>(size), 1);
  const auto all = static_cast<std::uint64_t>(data.count);
  const std::uint64_t length = std::clamp<std::uint64_t>(bytes / element, 1, all);
  length_ = static_cast<int>(length);
  count_ = static_cast<std::size_t>((all + length - 1) / length);
}

Data Slices::operator[](std::size_t i) const {
  const auto from = static_cast<MPI_Aint>(i) * length_;
  return {static_cast<char*>(data_.buffer) + from * extent_,
          static_cast<int>(std::min<MPI_Aint>(length_, data_.count - from)), data_.type};
}

Room::Room(int count, MPI_Datatype type) : count_(count), type_(type) {
  MPI_Count low = 0, extent = 0, true_low = 0, true_extent = 0;
  must(PMPI_Type_get_extent_x(type, &low, &extent));
  must(PMPI_Type_get_true_extent_x(type, &true_low, &true_extent));
  const MPI_Count span =
      true_extent + (count > 0 ? (count - 1) * (extent < 0 ? -extent : extent) : 0);
  memory_.resize(static_cast<std::size_t>(span) + 1);
  begin_ = memory_.data() - true_low;
  if (extent < 0 && count > 0) begin_ -= (count - 1) * extent;
}

}  // namespace piracema::coll::mpi
