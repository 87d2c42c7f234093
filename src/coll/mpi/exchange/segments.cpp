#include "coll/mpi/exchange/segments.h"

#include <algorithm>

#include "topology/message/header.h"

namespace piracema::coll::mpi {

bool is_plain(MPI_Datatype type) {
  MPI_Count size = 0, low = 0, extent = 0;
  must(PMPI_Type_size_x(type, &size));
  must(PMPI_Type_get_extent_x(type, &low, &extent));
  return is_named(type) && low == 0 && size == extent;
}

Segments::Segments(const Exchange& exchange, Data data, std::uint64_t bytes,
                   std::uint32_t segment_bytes, bool filled)
    : exchange_(exchange), data_(data), bytes_(bytes), segment_bytes_(segment_bytes) {
  fits_ = bytes == bytes_of(data);
  if (segment_bytes == Header::whole) return;
  count_ = static_cast<std::size_t>((bytes + segment_bytes - 1) / segment_bytes);
  if (fits_ && is_plain(data.type)) {
    begin_ = static_cast<char*>(data.buffer);
    return;
  }
  // What does not fit is taken all the same, for those who wait for this rank to pass it on.
  if (filled) {
    packed_ = exchange.pack(data);
  } else {
    packed_.resize(bytes);
  }
  begin_ = packed_.data();
}

Data Segments::operator[](std::size_t i) {
  if (segment_bytes_ == Header::whole) return data_;
  const std::uint64_t from = i * std::uint64_t{segment_bytes_};
  const std::uint64_t length = std::min<std::uint64_t>(segment_bytes_, bytes_ - from);
  return {begin_ + from, as_int(length), MPI_BYTE};
}

void Segments::finish() {
  if (!packed_.empty() && packed_.size() <= bytes_of(data_)) exchange_.unpack(packed_, data_);
  if (!fits_) throw MpiError{MPI_ERR_TRUNCATE};
}

}  // namespace piracema::coll::mpi
