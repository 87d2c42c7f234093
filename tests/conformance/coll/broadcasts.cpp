// Broadcasts: types, roots, sizes, many in a row.
#include <cstring>

#include "checks.h"

namespace {

struct Named {
  MPI_Datatype type;
  const char* name;
};
const std::vector<Named>& predefined() {
  static const std::vector<Named> all{{MPI_CHAR, "char"},
                                      {MPI_SIGNED_CHAR, "schar"},
                                      {MPI_UNSIGNED_CHAR, "uchar"},
                                      {MPI_SHORT, "short"},
                                      {MPI_UNSIGNED_SHORT, "ushort"},
                                      {MPI_INT, "int"},
                                      {MPI_UNSIGNED, "unsigned"},
                                      {MPI_LONG, "long"},
                                      {MPI_UNSIGNED_LONG, "ulong"},
                                      {MPI_LONG_LONG, "llong"},
                                      {MPI_UNSIGNED_LONG_LONG, "ullong"},
                                      {MPI_FLOAT, "float"},
                                      {MPI_DOUBLE, "double"},
                                      {MPI_LONG_DOUBLE, "ldouble"},
                                      {MPI_WCHAR, "wchar"},
                                      {MPI_BYTE, "byte"},
                                      {MPI_INT8_T, "int8"},
                                      {MPI_INT16_T, "int16"},
                                      {MPI_INT32_T, "int32"},
                                      {MPI_INT64_T, "int64"},
                                      {MPI_UINT8_T, "uint8"},
                                      {MPI_UINT16_T, "uint16"},
                                      {MPI_UINT32_T, "uint32"},
                                      {MPI_UINT64_T, "uint64"},
                                      {MPI_C_BOOL, "bool"},
                                      {MPI_C_COMPLEX, "complex"},
                                      {MPI_C_DOUBLE_COMPLEX, "dcomplex"},
                                      {MPI_AINT, "aint"},
                                      {MPI_OFFSET, "offset"},
                                      {MPI_COUNT, "count"},
                                      {MPI_FLOAT_INT, "float_int"},
                                      {MPI_DOUBLE_INT, "double_int"},
                                      {MPI_LONG_INT, "long_int"},
                                      {MPI_2INT, "2int"},
                                      {MPI_SHORT_INT, "short_int"}};
  return all;
}

/// Bytes of a type that carry a value: pairs have holes, extended floats do, too.
std::vector<bool> carries(MPI_Datatype type, std::size_t extent) {
  std::vector<unsigned char> full(extent, 0xFF), packed(extent + 64), back(extent, 0);
  int at = 0;
  MPI_Pack(full.data(), 1, type, packed.data(), static_cast<int>(packed.size()), &at,
           MPI_COMM_SELF);
  int from = 0;
  MPI_Unpack(packed.data(), at, &from, back.data(), 1, type, MPI_COMM_SELF);
  std::vector<bool> out(extent);
  for (std::size_t i = 0; i < extent; ++i) out[i] = back[i] == 0xFF;
  return out;
}

void broadcasts_of_every_type(MPI_Comm comm) {
  for (const Named& named : predefined()) {
    MPI_Aint low, extent;
    MPI_Type_get_extent(named.type, &low, &extent);
    const auto element = static_cast<std::size_t>(extent);
    const auto matters = carries(named.type, element);
    for (const int count : {0, 1, 3, 1'000}) {
      const int root = (count + static_cast<int>(element)) % size;
      doing = std::string("bcast of ") + std::to_string(count) + " " + named.name;
      const std::size_t bytes = element * static_cast<std::size_t>(count);
      std::vector<unsigned char> buffer(bytes + 8, 0xAA);
      const auto sent = bytes_of(root, bytes);
      if (me == root && bytes > 0) std::memcpy(buffer.data(), sent.data(), bytes);
      MPI_Bcast(buffer.data(), count, named.type, root, comm);
      bool same = true;
      for (std::size_t i = 0; i < bytes; ++i) {
        same = same && (!matters[i % element] || buffer[i] == sent[i]);
      }
      check(same, "other bytes than the root's");
      check(buffer[bytes] == 0xAA && buffer[bytes + 7] == 0xAA, "written behind the end");
    }
  }
}

void broadcasts_from_every_root(MPI_Comm comm) {
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{8'191}, std::size_t{8'192}, std::size_t{8'193},
        std::size_t{70'000}, std::size_t{3'000'000}}) {
    for (int root = 0; root < size; ++root) {
      doing = "bcast of " + std::to_string(bytes) + " bytes from " + std::to_string(root);
      auto buffer = me == root ? bytes_of(root, bytes) : std::vector<unsigned char>(bytes, 0);
      MPI_Bcast(buffer.data(), static_cast<int>(bytes), MPI_BYTE, root, comm);
      check(buffer == bytes_of(root, bytes), "other bytes than the root's");
    }
  }
}

void derived_types(MPI_Comm comm) {
  doing = "bcast of derived types";
  // Every third int; a column of a matrix; a struct; one that begins below its address.
  MPI_Datatype vector, hindexed, structure, resized;
  MPI_Type_vector(50, 1, 3, MPI_INT, &vector);
  const int lengths[2] = {2, 1};
  const MPI_Aint at[2] = {16, 0};
  MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &hindexed);
  const MPI_Datatype parts[2] = {MPI_DOUBLE, MPI_CHAR};
  MPI_Type_create_struct(2, lengths, at, parts, &structure);
  MPI_Type_create_resized(MPI_INT, -8, 16, &resized);
  for (MPI_Datatype* type : {&vector, &hindexed, &structure, &resized}) {
    MPI_Type_commit(type);
    for (const int count : {1, 7, 900}) {
      MPI_Aint low, extent, true_low, true_extent;
      MPI_Type_get_extent(*type, &low, &extent);
      MPI_Type_get_true_extent(*type, &true_low, &true_extent);
      const std::size_t span = static_cast<std::size_t>(extent * count + true_extent + 64);
      const auto sent = bytes_of(0, span);
      std::vector<unsigned char> buffer(span, 0), wanted(span, 0);
      // What a message of this type takes and leaves alone.
      std::vector<char> packed(span + 64);
      int used = 0, from = 0;
      MPI_Pack(sent.data() + 16, count, *type, packed.data(), static_cast<int>(packed.size()),
               &used, comm);
      MPI_Unpack(packed.data(), used, &from, wanted.data() + 16, count, *type, comm);
      if (me == 0) buffer = sent;
      MPI_Bcast(buffer.data() + 16, count, *type, 0, comm);
      check(me == 0 ? buffer == sent : buffer == wanted, "other bytes than the type says");
    }
    MPI_Type_free(type);
  }
}

void a_fast_root_is_not_overtaken(MPI_Comm comm) {
  doing = "many broadcasts in a row";
  const int roots = size > 1 ? 2 : 1;
  std::vector<int> values(200, -1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (me == static_cast<int>(i) % roots) values[i] = static_cast<int>(i) * 3;
    MPI_Bcast(&values[i], 1, MPI_INT, static_cast<int>(i) % roots, comm);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    check(values[i] == static_cast<int>(i) * 3, "the value of another broadcast");
  }
}

}  // namespace

void broadcasts(MPI_Comm comm) {
  broadcasts_of_every_type(comm);
  broadcasts_from_every_root(comm);
  derived_types(comm);
  a_fast_root_is_not_overtaken(comm);
}
