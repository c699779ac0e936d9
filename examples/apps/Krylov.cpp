//===- Krylov.cpp - Conjugate gradients, BiCGSTAB, multigrid ---------------------===//
//
// For the 5-point Poisson matrix (4, -1) on an n x n grid of unknowns, stored by rows. The solvers are written against
// arrays and the sparse product; neither library knows of the other.
//
//===------------------------------------------------------------------------===//

#include "App.h"

#include "fusion/Array/Csr.h"

#include <cmath>

using namespace fusion;
using namespace apps;

namespace {

Csr makePoisson(ArrayLibrary &library, int64_t m) {
  std::vector<int32_t> rows{0}, columns;
  std::vector<double> values;
  auto add = [&](int64_t column, double value) {
    columns.push_back(int32_t(column));
    values.push_back(value);
  };
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < m; ++j) {
      int64_t row = i * m + j;
      if (i > 0)
        add(row - m, -1);
      if (j > 0)
        add(row - 1, -1);
      add(row, 4);
      if (j < m - 1)
        add(row + 1, -1);
      if (i < m - 1)
        add(row + m, -1);
      rows.push_back(int32_t(columns.size()));
    }
  return Csr(library.getSession(), m * m, m * m, rows, columns, values);
}

/// Picks the even points of an m x m grid, or puts values there.
Csr makeInjection(ArrayLibrary &library, int64_t m, bool isTransposed) {
  int64_t coarse = (m + 1) / 2;
  std::vector<int32_t> rows{0}, columns;
  if (isTransposed) {
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < m; ++j) {
        if (i % 2 == 0 && j % 2 == 0)
          columns.push_back(int32_t(i / 2 * coarse + j / 2));
        rows.push_back(int32_t(columns.size()));
      }
  } else {
    for (int64_t i = 0; i < coarse; ++i)
      for (int64_t j = 0; j < coarse; ++j) {
        columns.push_back(int32_t(2 * i * m + 2 * j));
        rows.push_back(int32_t(columns.size()));
      }
  }
  std::vector<double> values(columns.size(), 1);
  int64_t fine = m * m, few = coarse * coarse;
  return Csr(library.getSession(), isTransposed ? fine : few, isTransposed ? few : fine, rows, columns, values);
}

/// Ones, or a sum of two eigenvectors.
Array makeRightHandSide(ArrayLibrary &library, int64_t m, const std::string &kind) {
  if (kind == "ones")
    return library.ones({m * m});
  const double pi = 3.141592653589793, h = 1 / double(m + 1);
  std::vector<double> values;
  for (int64_t i = 1; i <= m; ++i)
    for (int64_t j = 1; j <= m; ++j) {
      double x = double(j) * h, y = double(i) * h - 0.5, value = 0;
      for (double k : {1.0, 5.0})
        value += std::sin(k * pi * x) * std::cos(k * pi * y);
      values.push_back(h * h * value);
    }
  return library.from({m * m}, values);
}

class ConjugateGradients : public App {
public:
  ConjugateGradients(ArrayLibrary &library, const Parameters &parameters)
      : library(library), matrix(makePoisson(library, parameters.n)) {
    int64_t n = parameters.n * parameters.n;
    x = library.zeros({n});
    p = library.zeros({n});
    r = makeRightHandSide(library, parameters.n, parameters.rhs) - multiply(matrix, x);
    // Anything but 0: p is 0.
    rho = library.ones({});
  }

  void step() override {
    Array z = precondition(r);
    Array before = rho;
    rho = dot(r, z);
    p = rho / before * p + z;
    Array q = multiply(p);
    Array alpha = rho / dot(p, q);
    x += alpha * p;
    r -= alpha * q;
  }

  std::vector<Array> getResults() override { return {x}; }

protected:
  virtual Array precondition(const Array &residual) { return copy(residual); }
  Array multiply(const Csr &a, const Array &b) { return library.wrap(a.multiply(b.getStore())); }
  Array multiply(const Array &b) { return multiply(matrix, b); }

  ArrayLibrary &library;
  Csr matrix;
  Array x, p, r, rho;
};

/// Preconditioned by a cycle of two levels with injection and weighted Jacobi.
class Multigrid : public ConjugateGradients {
public:
  Multigrid(ArrayLibrary &library, const Parameters &parameters)
      : ConjugateGradients(library, parameters), restriction(makeInjection(library, parameters.n, false)),
        prolongation(makeInjection(library, parameters.n, true)) {
    int64_t m = parameters.n, coarse = (m + 1) / 2;
    inverse = library.full({m * m}, 0.25);
    // No two even points are neighbours, so the coarse matrix is 4 times the identity.
    coarseInverse = library.full({coarse * coarse}, 0.25);
    coarseOmega = library.full({}, 4.0 / 3.0);
    // The spectral radius of the scaled matrix by power iterations.
    Array v = library.from({m * m}, spread(m * m, phi, 0, 1)), radius;
    for (int i = 0; i < 15; ++i) {
      Array unit = v / sqrt(dot(v, v));
      v = inverse * multiply(matrix, unit);
      radius = dot(unit, v);
    }
    omega = 4.0 / 3.0 / radius;
  }

private:
  Array precondition(const Array &residual) override {
    Array smooth = omega * residual * inverse;
    Array coarse = multiply(restriction, residual - multiply(matrix, smooth));
    Array corrected = smooth + multiply(prolongation, coarseOmega * coarse * coarseInverse);
    return corrected + omega * (residual - multiply(matrix, corrected)) * inverse;
  }

  Csr restriction, prolongation;
  Array inverse, coarseInverse, coarseOmega, omega;
};

class BiCgStab : public App {
public:
  BiCgStab(ArrayLibrary &library, const Parameters &parameters)
      : library(library), matrix(makePoisson(library, parameters.n)) {
    x = library.zeros({parameters.n * parameters.n});
    r = makeRightHandSide(library, parameters.n, parameters.rhs) - multiply(x);
    shadow = copy(r);
    p = copy(r);
  }

  void step() override {
    Array ap = multiply(p);
    Array alpha = dot(r, shadow) / dot(ap, shadow);
    Array s = r - alpha * ap;
    Array as = multiply(s);
    Array omega = dot(as, s) / dot(as, as);
    x += alpha * p + omega * s;
    Array next = s - omega * as;
    Array ratio = alpha / omega;
    Array rho = dot(next, shadow);
    Array beta = ratio * (rho / dot(r, shadow));
    r = next;
    p = r + beta * (p - omega * ap);
    if (std::abs(rho.item()) < 1e-8) {
      shadow = copy(r);
      p = copy(r);
    }
  }

  std::vector<Array> getResults() override { return {x}; }

private:
  Array multiply(const Array &b) { return library.wrap(matrix.multiply(b.getStore())); }

  ArrayLibrary &library;
  Csr matrix;
  Array x, r, shadow, p;
};

} // namespace

std::unique_ptr<App> apps::makeConjugateGradients(ArrayLibrary &library, const Parameters &parameters) {
  return std::make_unique<ConjugateGradients>(library, parameters);
}
std::unique_ptr<App> apps::makeBiCgStab(ArrayLibrary &library, const Parameters &parameters) {
  return std::make_unique<BiCgStab>(library, parameters);
}
std::unique_ptr<App> apps::makeMultigrid(ArrayLibrary &library, const Parameters &parameters) {
  return std::make_unique<Multigrid>(library, parameters);
}
