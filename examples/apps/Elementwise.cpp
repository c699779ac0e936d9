//===- Elementwise.cpp - Black-Scholes, dense Jacobi, 5-point stencil -----------===//

#include "App.h"

#include <cmath>

using namespace fusion;
using namespace apps;

std::vector<double> apps::spread(int64_t n, double step, double low, double high) {
  std::vector<double> values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    double k = double(i + 1) * step;
    values[size_t(i)] = low + (high - low) * (k - std::floor(k));
  }
  return values;
}

namespace {

/// Prices of n options, all new in each step.
class BlackScholes : public App {
public:
  BlackScholes(ArrayLibrary &library, const Parameters &parameters) {
    int64_t n = parameters.n;
    spot = library.from({n}, spread(n, phi, 5, 30));
    strike = library.from({n}, spread(n, sqrt2, 1, 100));
    time = library.from({n}, spread(n, sqrt3, 0.25, 10));
    rate = library.full({}, 0.02);
    volatility = library.full({}, 0.3);
  }

  void step() override {
    Array root = sqrt(time);
    Array d1 = (log(spot / strike) + (rate + 0.5 * volatility * volatility) * time) / (volatility * root);
    Array d2 = d1 - volatility * root;
    Array c1 = getNormal(d1), c2 = getNormal(d2);
    Array discount = exp(-rate * time);
    call = spot * c1 - strike * discount * c2;
    put = strike * discount * (1.0 - c2) - spot * (1.0 - c1);
  }

  std::vector<Array> getResults() override { return {call, put}; }
  bool isObserved() const override { return true; }

private:
  /// The cumulative normal distribution: the rational fit 26.2.17 of Abramowitz and Stegun.
  static Array getNormal(const Array &d) {
    Array k = 1.0 / (1.0 + 0.2316419 * absolute(d));
    Array fit = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
    Array tail = 0.3989422804014327 * exp(-0.5 * d * d) * fit;
    return where(d > 0.0, 1.0 - tail, tail);
  }

  Array spot, strike, time, rate, volatility, call, put;
};

/// x = (b - R x) / d for a dense matrix R without the diagonal d.
class Jacobi : public App {
public:
  Jacobi(ArrayLibrary &library, const Parameters &parameters) {
    int64_t n = parameters.n;
    std::vector<double> entries = spread(n * n, phi, 0, 1), diagonal;
    for (int64_t i = 0; i < n; ++i) {
      double &entry = entries[size_t(i * n + i)];
      diagonal.push_back(entry + double(n));
      entry = 0;
    }
    rest = library.from({n, n}, entries);
    d = library.from({n}, diagonal);
    b = library.from({n}, spread(n, sqrt2, 0, 1));
    x = library.zeros({n});
  }

  void step() override { x = (b - matmul(rest, x)) / d; }
  std::vector<Array> getResults() override { return {x}; }

private:
  Array rest, d, b, x;
};

/// The average of every interior point and its four neighbours, in place.
class Stencil : public App {
public:
  Stencil(ArrayLibrary &library, const Parameters &parameters) {
    int64_t n = parameters.n, size = n + 2;
    std::vector<double> values(static_cast<size_t>(size * size));
    auto at = [&](int64_t i, int64_t j) -> double & { return values[size_t(i * size + j)]; };
    for (int64_t i = 0; i < size; ++i)
      at(0, i) = 1 + double(i) / double(n + 1);
    for (int64_t i = 0; i < size; ++i)
      at(i, 0) = 1 - double(i) / double(n + 1);
    for (int64_t i = 0; i < size; ++i)
      at(size - 1, i) = 2 * double(i) / double(n + 1);
    for (int64_t i = 0; i < size; ++i)
      at(i, size - 1) = 2;
    grid = library.from({size, size}, values);
    Slice inner(1, -1), before(std::nullopt, -2), after(2, std::nullopt);
    center = grid(inner, inner);
    north = grid(before, inner);
    east = grid(inner, after);
    west = grid(inner, before);
    south = grid(after, inner);
  }

  void step() override {
    Array average = center + north + east + west + south;
    Array work = 0.2 * average;
    center.assign(work);
  }

  std::vector<Array> getResults() override { return {grid}; }

private:
  Array grid, center, north, east, west, south;
};

} // namespace

std::unique_ptr<App> apps::makeBlackScholes(ArrayLibrary &library, const Parameters &parameters) {
  return std::make_unique<BlackScholes>(library, parameters);
}
std::unique_ptr<App> apps::makeJacobi(ArrayLibrary &library, const Parameters &parameters) {
  return std::make_unique<Jacobi>(library, parameters);
}
std::unique_ptr<App> apps::makeStencil(ArrayLibrary &library, const Parameters &parameters) {
  return std::make_unique<Stencil>(library, parameters);
}
