#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <new>
#include <numbers>
#include <vector>

namespace flow2d {

/// Values of an n x n grid without edges: what leaves it on one side comes in on the other.
///
/// Its memory is reserved for the largest problem, `most` x `most`, as programs have it whose
/// arrays are declared. What a smaller problem does not touch takes no memory, and is in no image
/// of the process.
class Field {
 public:
  /// At most 2^31 values; n >= 1. Throws std::bad_alloc.
  Field(long n, long most) : n_(n), bytes_(static_cast<std::size_t>(most * most) * sizeof(double)) {
    void* const memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    values_ = static_cast<double*>(memory);
  }
  ~Field() { ::munmap(values_, bytes_); }
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;

  double* row(long j) { return values_ + j * n_; }
  const double* row(long j) const { return values_ + j * n_; }
  void swap(Field& other) { std::swap(values_, other.values_); }

 private:
  long n_;
  std::size_t bytes_;
  double* values_ = nullptr;
};

/// An incompressible fluid in a square of side 2 pi: the equations of Navier and Stokes by
/// artificial compressibility (Chorin 1967), on a staggered grid with central differences, explicit
/// in time.
///
/// It begins as Taylor's and Green's vortices, which drift along x. This is one of the few flows
/// whose exact solution is known: the vortices keep their form, and viscosity alone takes their
/// speed.
class Flow {
 public:
  static constexpr double viscosity = 0.02, drift = 0.5;
  /// How fast pressure travels; the fluid is slower by far.
  static constexpr double sound = 20;

  /// n >= 4; memory is reserved for `most` >= n. Throws std::bad_alloc.
  Flow(long n, long most)
      : n_(n),
        h_(2 * std::numbers::pi / static_cast<double>(n)),
        dt_(std::min(0.4 * h_ / sound, 0.2 * h_ * h_ / viscosity)),
        u_(n, most),
        v_(n, most),
        p_(n, most),
        next_u_(n, most),
        next_v_(n, most) {
    const Waves x(*this), y(*this);
    for (long j = 0; j < n; ++j) {
      for (long i = 0; i < n; ++i) {
        u_.row(j)[i] = exact_u(x, y, i, j, 1);
        v_.row(j)[i] = exact_v(x, y, i, j, 1);
        // Its waves have half the length.
        p_.row(j)[i] = -0.25 * (2 * x.cos_mid[at(i)] * x.cos_mid[at(i)] +
                                2 * y.cos_mid[at(j)] * y.cos_mid[at(j)] - 2);
      }
    }
  }

  void step() {
    for (long j = 0; j < n_; ++j) move_row(j);
    u_.swap(next_u_);
    v_.swap(next_v_);
    const double factor = dt_ * sound * sound / h_;
    for (long j = 0; j < n_; ++j) {
      const double *u = u_.row(j), *v = v_.row(j), *above = v_.row(after(j));
      double* p = p_.row(j);
      for (long i = 0; i < n_; ++i) p[i] -= factor * (u[after(i)] - u[i] + above[i] - v[i]);
    }
    time_ += dt_;
  }

  double time() const { return time_; }
  /// How much slower the exact vortices have become.
  double decay() const { return std::exp(-2 * viscosity * time_); }

  /// By how much a speed differs from the exact one, at most, in parts of the fastest exact one.
  double error() const {
    const Waves x(*this, drift * time_), y(*this);
    double worst = 0;
    for (long j = 0; j < n_; ++j) {
      for (long i = 0; i < n_; ++i) {
        worst = std::max(worst, std::fabs(u_.row(j)[i] - exact_u(x, y, i, j, decay())));
        worst = std::max(worst, std::fabs(v_.row(j)[i] - exact_v(x, y, i, j, decay())));
      }
    }
    return worst / (drift + decay());
  }

  /// Of the vortices without their drift, by area: at first a quarter.
  double energy() const {
    double sum = 0;
    for (long j = 0; j < n_; ++j) {
      for (long i = 0; i < n_; ++i) {
        const double u = u_.row(j)[i] - drift, v = v_.row(j)[i];
        sum += 0.5 * (u * u + v * v);
      }
    }
    return sum / static_cast<double>(n_ * n_);
  }

 private:
  /// Sines and cosines along one axis, on the faces of cells and in their middle.
  struct Waves {
    explicit Waves(const Flow& flow, double shift = 0) {
      for (long i = 0; i < flow.n_; ++i) {
        const double face = static_cast<double>(i) * flow.h_ - shift, mid = face + 0.5 * flow.h_;
        cos_face.push_back(std::cos(face));
        sin_face.push_back(std::sin(face));
        cos_mid.push_back(std::cos(mid));
        sin_mid.push_back(std::sin(mid));
      }
    }
    std::vector<double> cos_face, sin_face, cos_mid, sin_mid;
  };

  static std::size_t at(long i) { return static_cast<std::size_t>(i); }
  long before(long i) const { return i == 0 ? n_ - 1 : i - 1; }
  long after(long i) const { return i == n_ - 1 ? 0 : i + 1; }

  static double exact_u(const Waves& x, const Waves& y, long i, long j, double decay) {
    return drift + x.cos_face[at(i)] * y.sin_mid[at(j)] * decay;
  }
  static double exact_v(const Waves& x, const Waves& y, long i, long j, double decay) {
    return -x.sin_mid[at(i)] * y.cos_face[at(j)] * decay;
  }

  // The speeds on the left and the lower faces of a row of cells.
  void move_row(long j) {
    const long below = before(j), above = after(j);
    const double *u0 = u_.row(below), *u1 = u_.row(j), *u2 = u_.row(above);
    const double *v0 = v_.row(below), *v1 = v_.row(j), *v2 = v_.row(above);
    const double *p0 = p_.row(below), *p1 = p_.row(j);
    double *u = next_u_.row(j), *v = next_v_.row(j);
    const double by_h = dt_ / h_, thick = dt_ * viscosity / (h_ * h_);
    for (long i = 0; i < n_; ++i) {
      const long w = before(i), e = after(i);
      const double east = 0.5 * (u1[i] + u1[e]), west = 0.5 * (u1[w] + u1[i]);
      const double up = 0.25 * (u1[i] + u2[i]) * (v2[w] + v2[i]),
                   down = 0.25 * (u0[i] + u1[i]) * (v1[w] + v1[i]);
      u[i] = u1[i] - by_h * (east * east - west * west + up - down + p1[i] - p1[w]) +
             thick * (u1[w] + u1[e] + u0[i] + u2[i] - 4 * u1[i]);
      const double high = 0.5 * (v1[i] + v2[i]), low = 0.5 * (v0[i] + v1[i]);
      const double right = 0.25 * (u0[e] + u1[e]) * (v1[i] + v1[e]),
                   left = 0.25 * (u0[i] + u1[i]) * (v1[w] + v1[i]);
      v[i] = v1[i] - by_h * (right - left + high * high - low * low + p1[i] - p0[i]) +
             thick * (v1[w] + v1[e] + v0[i] + v2[i] - 4 * v1[i]);
    }
  }

  const long n_;
  const double h_, dt_;
  double time_ = 0;
  Field u_, v_, p_, next_u_, next_v_;
};

}  // namespace flow2d
