// Reductions: sizes, roots, in place, operators in the order of ranks.
#include <cstring>

#include "checks.h"

namespace {

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

}  // namespace

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
