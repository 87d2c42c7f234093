#include "forecast/dump/regression.h"

#include "base/ensure.h"

namespace piracema::ckpt {

namespace {

using Matrix = std::array<Inputs, inputs>;

// By Gauss and Jordan, without a search for pivots: what comes in is positive definite.
Matrix inverse_of(Matrix a) {
  Matrix b{};
  for (std::size_t i = 0; i < inputs; ++i) b[i][i] = 1;
  for (std::size_t i = 0; i < inputs; ++i) {
    const double pivot = a[i][i];
    ENSURE(pivot > 0);
    for (std::size_t k = 0; k < inputs; ++k) {
      a[i][k] /= pivot;
      b[i][k] /= pivot;
    }
    for (std::size_t j = 0; j < inputs; ++j) {
      if (j == i) continue;
      const double part = a[j][i];
      for (std::size_t k = 0; k < inputs; ++k) {
        a[j][k] -= part * a[i][k];
        b[j][k] -= part * b[i][k];
      }
    }
  }
  return b;
}

double product(const Inputs& a, const Inputs& b) {
  double sum = 0;
  for (std::size_t i = 0; i < inputs; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

Regression::Regression(const Before& before) : Regression(before, {}, 1) {}

Regression::Regression(const Before& before, const std::vector<Observation>& seen, double memory) {
  Matrix squares{};
  Inputs beyond{};
  for (std::size_t i = 0; i < inputs; ++i) squares[i][i] = before.certainty[i];
  double weight = 1;
  for (auto one = seen.rbegin(); one != seen.rend(); ++one, weight *= memory) {
    const double unexplained = one->y - product(before.weights, one->x);
    const double counts = weight * one->counts;
    for (std::size_t i = 0; i < inputs; ++i) {
      beyond[i] += counts * one->x[i] * unexplained;
      for (std::size_t j = 0; j < inputs; ++j) squares[i][j] += counts * one->x[i] * one->x[j];
    }
  }
  inverse_ = inverse_of(squares);
  for (std::size_t i = 0; i < inputs; ++i) {
    weights_[i] = before.weights[i] + product(inverse_[i], beyond);
  }
}

double Regression::predict(const Inputs& x) const { return product(weights_, x); }

double Regression::doubt(const Inputs& x) const {
  double sum = 0;
  for (std::size_t i = 0; i < inputs; ++i) sum += x[i] * product(inverse_[i], x);
  return sum;
}

}  // namespace piracema::ckpt
