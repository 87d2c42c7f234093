// An MPI program that calls every collective that the library takes over, in every way that is
// easy to get wrong, and checks each result. It knows nothing of the library: it runs bare and with
// it preloaded, and has to say the same.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

int me, size;
long checks = 0, wrong = 0;
std::string doing;

void check(bool right, const char* what) {
  checks += 1;
  if (right) return;
  if (++wrong <= 5) std::fprintf(stderr, "rank %d: %s: %s\n", me, doing.c_str(), what);
}

/// Bytes that tell who made them.
unsigned char made_by(int rank, std::size_t i) {
  return static_cast<unsigned char>(rank * 31 + static_cast<int>(i % 251) * 7 + 1);
}
std::vector<unsigned char> bytes_of(int rank, std::size_t count) {
  std::vector<unsigned char> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = made_by(rank, i);
  return out;
}

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

/// 2x2 matrices modulo 1009: their product depends on the order.
struct Matrix {
  int a[4];
};
Matrix multiply(const Matrix& x, const Matrix& y) {
  Matrix out{};
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      out.a[2 * i + j] = (x.a[2 * i] * y.a[j] + x.a[2 * i + 1] * y.a[2 + j]) % 1'009;
    }
  }
  return out;
}
void multiply_all(void* in, void* in_out, int* count, MPI_Datatype*) {
  const auto* left = static_cast<const Matrix*>(in);
  auto* right = static_cast<Matrix*>(in_out);
  for (int i = 0; i < *count; ++i) right[i] = multiply(left[i], right[i]);
}
Matrix matrix_of(int rank, int i) { return {{rank + 1, i % 7 + 2, 3, rank * i % 11 + 1}}; }

void reductions(MPI_Comm comm) {
  for (const int count : {1, 10, 2'000, 40'000}) {
    const auto many = static_cast<std::size_t>(count);
    std::vector<long> from(many), to(many, -1);
    for (std::size_t i = 0; i < many; ++i) from[i] = me * 1'000L + static_cast<long>(i);
    const long base = 1'000L * size * (size - 1) / 2;
    const auto right = [&](const std::vector<long>& sum) {
      for (std::size_t i = 0; i < many; ++i) {
        if (sum[i] != base + size * static_cast<long>(i)) return false;
      }
      return true;
    };
    for (int root = 0; root<size; root += size> 4 ? 3 : 1) {
      doing = "reduce of " + std::to_string(count) + " to " + std::to_string(root);
      to.assign(many, -1);
      MPI_Reduce(from.data(), to.data(), count, MPI_LONG, MPI_SUM, root, comm);
      check(me == root ? right(to) : to == std::vector<long>(many, -1), "not the sum");
      to = from;
      if (me == root) {
        MPI_Reduce(MPI_IN_PLACE, to.data(), count, MPI_LONG, MPI_SUM, root, comm);
        check(right(to), "in place: not the sum");
      } else {
        MPI_Reduce(to.data(), nullptr, count, MPI_LONG, MPI_SUM, root, comm);
        check(to == from, "in place: changed");
      }
    }
    doing = "allreduce of " + std::to_string(count);
    MPI_Allreduce(from.data(), to.data(), count, MPI_LONG, MPI_SUM, comm);
    check(right(to), "not the sum");
    to = from;
    MPI_Allreduce(MPI_IN_PLACE, to.data(), count, MPI_LONG, MPI_SUM, comm);
    check(right(to), "in place: not the sum");
    MPI_Allreduce(from.data(), to.data(), count, MPI_LONG, MPI_MAX, comm);
    check(to[0] == (size - 1) * 1'000L, "not the maximum");
  }
  doing = "maxloc";
  struct {
    double value;
    int where;
  } in{me == size / 2 ? 9.0 : me * 0.1, me}, out{};
  MPI_Allreduce(&in, &out, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
  check(out.value == 9.0 && out.where == size / 2, "not the place of the maximum");

  MPI_Datatype type;
  MPI_Type_contiguous(4, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Op op;
  MPI_Op_create(multiply_all, 0, &op);
  for (const int count : {1, 100, 3'000}) {
    doing = "matrix product of " + std::to_string(count);
    std::vector<Matrix> mine, product(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) mine.push_back(matrix_of(me, i));
    for (int root = 0; root < size; root += 2) {
      MPI_Reduce(mine.data(), product.data(), count, type, op, root, comm);
      bool same = true;
      for (int i = 0; i < count && me == root; ++i) {
        Matrix wanted = matrix_of(0, i);
        for (int rank = 1; rank < size; ++rank) wanted = multiply(wanted, matrix_of(rank, i));
        same =
            same && std::memcmp(&wanted, &product[static_cast<std::size_t>(i)], sizeof wanted) == 0;
      }
      check(same, "combined in another order than that of the ranks");
    }
    MPI_Allreduce(mine.data(), product.data(), count, type, op, comm);
    Matrix wanted = matrix_of(0, 0);
    for (int rank = 1; rank < size; ++rank) wanted = multiply(wanted, matrix_of(rank, 0));
    check(std::memcmp(&wanted, product.data(), sizeof wanted) == 0, "allreduce: another order");
  }
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

void gathers(MPI_Comm comm) {
  for (const int count : {0, 1, 5, 30'000}) {
    const auto many = static_cast<std::size_t>(count), all = many * static_cast<std::size_t>(size);
    std::vector<int> mine(many);
    const auto value = [](int rank, std::size_t i) { return rank * 100'000 + static_cast<int>(i); };
    for (std::size_t i = 0; i < many; ++i) mine[i] = value(me, i);
    std::vector<int> wanted;
    for (int rank = 0; rank < size; ++rank) {
      for (std::size_t i = 0; i < many; ++i) wanted.push_back(value(rank, i));
    }
    for (int root = 0; root<size; root += size> 4 ? 3 : 1) {
      doing = "gather of " + std::to_string(count) + " to " + std::to_string(root);
      std::vector<int> got(all, -1);
      MPI_Gather(mine.data(), count, MPI_INT, got.data(), count, MPI_INT, root, comm);
      if (me == root) check(got == wanted, "not what was sent");
      got.assign(all, -1);
      if (me == root) {
        for (std::size_t i = 0; i < many; ++i)
          got[static_cast<std::size_t>(me) * many + i] = mine[i];
        MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got.data(), count, MPI_INT, root, comm);
        check(got == wanted, "in place: not what was sent");
      } else {
        MPI_Gather(mine.data(), count, MPI_INT, nullptr, 0, MPI_DATATYPE_NULL, root, comm);
      }
      doing = "scatter of " + std::to_string(count) + " from " + std::to_string(root);
      std::vector<int> part(many, -1);
      MPI_Scatter(me == root ? wanted.data() : nullptr, count, MPI_INT, part.data(), count, MPI_INT,
                  root, comm);
      check(part == mine, "not this rank's part");
      part.assign(many, -1);
      if (me == root) {
        MPI_Scatter(wanted.data(), count, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, comm);
      } else {
        MPI_Scatter(nullptr, 0, MPI_DATATYPE_NULL, part.data(), count, MPI_INT, root, comm);
        check(part == mine, "root in place: not this rank's part");
      }
    }
    doing = "allgather of " + std::to_string(count);
    std::vector<int> got(all, -1);
    MPI_Allgather(mine.data(), count, MPI_INT, got.data(), count, MPI_INT, comm);
    check(got == wanted, "not what was sent");
    got.assign(all, -1);
    for (std::size_t i = 0; i < many; ++i) got[static_cast<std::size_t>(me) * many + i] = mine[i];
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, got.data(), count, MPI_INT, comm);
    check(got == wanted, "in place: not what was sent");
  }
}

void gathers_of_various_lengths(MPI_Comm comm) {
  for (const int longest : {3, 60'000}) {
    // Rank r has r * longest / size values, with a gap before each part; rank 0 has none.
    std::vector<int> counts, places;
    int end = 0;
    for (int rank = 0; rank < size; ++rank) {
      counts.push_back(rank * longest / size);
      places.push_back(end + 2);
      end += counts.back() + 2;
    }
    const auto mine =
        bytes_of(me, static_cast<std::size_t>(counts[static_cast<std::size_t>(me)]) * 4);
    std::vector<unsigned char> wanted(static_cast<std::size_t>(end) * 4, 0xEE);
    for (int rank = 0; rank < size; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      const auto part = bytes_of(rank, static_cast<std::size_t>(counts[r]) * 4);
      if (!part.empty()) std::memcpy(wanted.data() + places[r] * 4, part.data(), part.size());
    }
    const int count = counts[static_cast<std::size_t>(me)];
    for (int root = 0; root<size; root += size> 4 ? 3 : 1) {
      doing = "gatherv to " + std::to_string(root);
      std::vector<unsigned char> got(wanted.size(), 0xEE);
      MPI_Gatherv(mine.data(), count, MPI_INT, got.data(), counts.data(), places.data(), MPI_INT,
                  root, comm);
      if (me == root) check(got == wanted, "not what was sent");
      doing = "scatterv from " + std::to_string(root);
      std::vector<unsigned char> part(mine.size(), 0);
      MPI_Scatterv(wanted.data(), counts.data(), places.data(), MPI_INT, part.data(), count,
                   MPI_INT, root, comm);
      check(part == mine, "not this rank's part");
    }
    doing = "allgatherv";
    std::vector<unsigned char> got(wanted.size(), 0xEE);
    MPI_Allgatherv(mine.data(), count, MPI_INT, got.data(), counts.data(), places.data(), MPI_INT,
                   comm);
    check(got == wanted, "not what was sent");
  }
}

void all_of_it(MPI_Comm comm) {
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  broadcasts_of_every_type(comm);
  broadcasts_from_every_root(comm);
  derived_types(comm);
  reductions(comm);
  gathers(comm);
  gathers_of_various_lengths(comm);
  MPI_Barrier(comm);
}

void a_barrier_waits_for_all(MPI_Comm comm) {
  // Rank 0 tells each one, before it enters; nobody leaves before it has.
  for (int turn = 0; turn < 40; ++turn) {
    doing = "barrier";
    int told = -1;
    MPI_Request request;
    const int late = turn % size;
    if (me == late) {
      for (int rank = 0; rank < size; ++rank) MPI_Send(&turn, 1, MPI_INT, rank, 7, comm);
    }
    MPI_Irecv(&told, 1, MPI_INT, late, 7, comm, &request);
    MPI_Barrier(comm);
    int there = 0;
    MPI_Iprobe(late, 7, comm, &there, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(told == turn, "another turn's message");
  }
}

void communicators_come_and_go() {
  doing = "communicators that come and go";
  for (int turn = 0; turn < 12; ++turn) {
    MPI_Comm copy, part;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(copy, me % 2, -me, &part);
    for (MPI_Comm comm : {copy, part, MPI_COMM_SELF}) {
      int rank, ranks;
      MPI_Comm_rank(comm, &rank);
      MPI_Comm_size(comm, &ranks);
      for (int i = 0; i < turn * 3; ++i) {
        int value = rank == i % ranks ? turn * 100 + i : -1;
        MPI_Bcast(&value, 1, MPI_INT, i % ranks, comm);
        check(value == turn * 100 + i, "another value than the root's");
        int sum = 0;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        check(sum == ranks * (ranks - 1) / 2, "not the sum");
      }
    }
    // Freed right behind operations in which nobody waits for all.
    MPI_Comm_free(&part);
    MPI_Comm_free(&copy);
  }
}

void a_fast_root_is_not_overtaken(MPI_Comm comm) {
  doing = "many broadcasts in a row";
  std::vector<int> values(500, -1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (me == static_cast<int>(i) % 2) values[i] = static_cast<int>(i) * 3;
    MPI_Bcast(&values[i], 1, MPI_INT, static_cast<int>(i) % 2, comm);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    check(values[i] == static_cast<int>(i) * 3, "the value of another broadcast");
  }
}

void threads_on_several_communicators() {
  int level;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) return;
  doing = "collectives of several threads";
  std::vector<MPI_Comm> comms(3);
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  std::vector<int> good(comms.size(), 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < comms.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 60; ++i) {
        int value = me == i % size ? i * 7 + static_cast<int>(t) : -1, sum = 0;
        MPI_Bcast(&value, 1, MPI_INT, i % size, comms[t]);
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comms[t]);
        good[t] += sum == size * (i * 7 + static_cast<int>(t));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : good) check(count == 60, "a value of another thread's collective");
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

void an_intercommunicator_is_left_alone() {
  if (size < 2) return;
  doing = "broadcast over an intercommunicator";
  MPI_Comm half, inter;
  const bool left = me < size / 2;
  MPI_Comm_split(MPI_COMM_WORLD, left, me, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, left ? size / 2 : 0, 9, &inter);
  int value = me == 0 ? 77 : -1;
  const int root = left ? (me == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0;
  MPI_Bcast(&value, 1, MPI_INT, root, inter);
  check(left || value == 77, "not the value of the other side");
  MPI_Barrier(inter);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

void wrong_arguments_are_errors(MPI_Comm world) {
  doing = "wrong arguments";
  MPI_Comm comm;
  MPI_Comm_dup(world, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int value = 1;
  const auto class_of = [](int code) {
    int found;
    MPI_Error_class(code, &found);
    return found;
  };
  check(class_of(MPI_Bcast(&value, 1, MPI_INT, size, comm)) == MPI_ERR_ROOT, "root");
  check(class_of(MPI_Bcast(&value, 1, MPI_INT, -7, comm)) == MPI_ERR_ROOT, "root below 0");
  check(class_of(MPI_Bcast(&value, -1, MPI_INT, 0, comm)) == MPI_ERR_COUNT, "count");
  check(class_of(MPI_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, comm)) == MPI_ERR_TYPE, "type");
  check(class_of(MPI_Allreduce(&value, &value + 0, 1, MPI_INT, MPI_OP_NULL, comm)) == MPI_ERR_OP,
        "operator");
  // And all goes on.
  value = me == 0 ? 5 : 0;
  check(MPI_Bcast(&value, 1, MPI_INT, 0, comm) == MPI_SUCCESS && value == 5, "the next one");
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (std::getenv("PIRACEMA_COLL_TEST_DIE")) {
    // Rank 1 dies in the middle of many broadcasts; the others must not wait for it forever.
    for (int i = 0, value = 0; i < 1'000'000; ++i) {
      if (me == 1 && i == 1'000) std::raise(SIGKILL);
      MPI_Bcast(&value, 1, MPI_INT, i % 2 * 2, MPI_COMM_WORLD);
    }
  }
  all_of_it(MPI_COMM_WORLD);
  a_barrier_waits_for_all(MPI_COMM_WORLD);
  a_fast_root_is_not_overtaken(MPI_COMM_WORLD);
  communicators_come_and_go();
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  threads_on_several_communicators();
  an_intercommunicator_is_left_alone();
  wrong_arguments_are_errors(MPI_COMM_WORLD);
  if (size > 2) {
    // Ranks turned around, and one left out.
    MPI_Comm turned;
    MPI_Comm_split(MPI_COMM_WORLD, me == 1, -me, &turned);
    all_of_it(turned);
    MPI_Comm_free(&turned);
  }
  long sums[2] = {checks, wrong}, all[2];
  PMPI_Reduce(sums, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  if (me == 0) std::printf("%ld checks, %ld wrong\n", all[0], all[1]);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
