//===- Krylov.cpp - Conjugate gradients and BiCGSTAB ------------------------------===//
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
    Array z = copy(r);
    Array before = rho;
    rho = dot(r, z);
    p = rho / before * p + z;
    Array q = multiply(p);
    Array alpha = rho / dot(p, q);
    x += alpha * p;
    r -= alpha * q;
  }

  std::vector<Array> getResults() override { return {x}; }

private:
  Array multiply(const Csr &a, const Array &b) { return library.wrap(a.multiply(b.getStore())); }
  Array multiply(const Array &b) { return multiply(matrix, b); }

  ArrayLibrary &library;
  Csr matrix;
  Array x, p, r, rho;
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
