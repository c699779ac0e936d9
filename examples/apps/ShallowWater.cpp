//===- ShallowWater.cpp - Shallow-water equations -------------------------------===//
//
// Second-order central-upwind fluxes with minmod slopes (Kurganov and Petrova), two-stage Runge-Kutta. A cell's state is
// q = (w, hu, hv) with w = h + B, in one array with two ghost layers on each side; domain [0, 1]^2, n x n cells. The
// bottom is given at vertices; faces and centres are averages, which keeps a lake at rest. Open boundaries by linear
// extrapolation.
//
//===------------------------------------------------------------------------===//

#include "App.h"

#include <cmath>
#include <functional>

using namespace fusion;
using namespace apps;

namespace {

constexpr double gravity = 9.81, theta = 1.3, dry = 1e-4, tolerance = 1e-12;

class ShallowWater : public App {
public:
  ShallowWater(ArrayLibrary &library, const Parameters &parameters) : library(library), n(parameters.n) {
    dx = 1.0 / double(n);
    dt = 0.2 * dx / std::sqrt(gravity * 1.2);
    bool isBump = parameters.bottom == "bump";
    auto vertex = [&](int64_t i, int64_t j) {
      double x = double(j) / double(n) - 0.6, y = double(i) / double(n) - 0.5;
      return isBump ? 0.4 * std::exp(-(x * x + y * y) / 0.02) : 0.0;
    };
    auto onX = [&](int64_t i, int64_t j) { return 0.5 * (vertex(i, j) + vertex(i + 1, j)); };
    auto onY = [&](int64_t i, int64_t j) { return 0.5 * (vertex(i, j) + vertex(i, j + 1)); };
    bottomX = fill(n, n + 1, onX);
    bottomY = fill(n + 1, n, onY);
    bottom = fill(n, n, [&](int64_t i, int64_t j) { return 0.5 * (onX(i, j) + onX(i, j + 1)); });
    slopeX = fill(n, n, [&](int64_t i, int64_t j) { return (onX(i, j + 1) - onX(i, j)) * double(n); });
    slopeY = fill(n, n, [&](int64_t i, int64_t j) { return (onY(i + 1, j) - onY(i, j)) * double(n); });
    const std::string init = parameters.init;
    q = library.zeros({3, n + 4, n + 4});
    getInner(q)(0).assign(fill(n, n, [&](int64_t i, int64_t j) {
      double x = (double(j) + 0.5) / double(n) - 0.3, y = (double(i) + 0.5) / double(n) - 0.4;
      if (init == "rest")
        return 1.0;
      if (init == "dam")
        return j >= n / 2 ? 0.5 : 1.0;
      return 1 + 0.1 * std::exp(-(x * x + y * y) / 0.005);
    }));
    extrapolate(q);
    setCentres(q);
  }

  void step() override {
    Array q1 = library.zeros({3, n + 4, n + 4});
    getInner(q1).assign(getInner(q) + dt * getRates(q));
    extrapolate(q1);
    setCentres(q1);
    getInner(q).assign(0.5 * (getInner(q) + getInner(q1) + dt * getRates(q1)));
    extrapolate(q);
    setCentres(q);
  }

  std::vector<Array> getResults() override {
    Array inner = getInner(q);
    return {inner(0), inner(1), inner(2)};
  }

private:
  Array fill(int64_t rows, int64_t columns, const std::function<double(int64_t, int64_t)> &value) {
    std::vector<double> values;
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        values.push_back(value(i, j));
    return library.from({rows, columns}, values);
  }

  static Array getInner(const Array &a) { return a(Slice(), Slice(2, -2), Slice(2, -2)); }

  /// The ghost layers, along x and then along y.
  static void extrapolate(const Array &a) {
    auto extend = [](const std::function<Array(int64_t)> &line, int64_t edge, int64_t inwards) {
      Array step = line(edge + 2 * inwards) - line(edge + 3 * inwards);
      line(edge + inwards).assign(line(edge + 2 * inwards) + step);
      line(edge).assign(line(edge + inwards) + step);
    };
    auto column = [&](int64_t k) { return a(Slice(), Slice(), k); };
    auto row = [&](int64_t k) { return a(Slice(), k); };
    extend(column, 0, 1);
    extend(column, -1, -1);
    extend(row, 0, 1);
    extend(row, -1, -1);
  }

  /// Depths, velocities, and what is left of thin cells.
  void setCentres(const Array &a) {
    Array inner = getInner(a), w = inner(0), hu = inner(1), hv = inner(2);
    Array h = w - bottom;
    Array gone = h < tolerance, thin = h < dry;
    depth = where(gone, 0.0, h);
    Array safe = where(thin, 1.0, h);
    velocityX = where(thin, 0.0, hu / safe);
    velocityY = where(thin, 0.0, hv / safe);
    w.assign(where(gone, bottom, w));
    hu.assign(where(thin, 0.0, hu));
    hv.assign(where(thin, 0.0, hv));
  }

  static Array getSlopes(const Array &before, const Array &here, const Array &after) {
    Array back = here - before, ahead = after - here;
    Array ratio = back / where(ahead == 0.0, 1.0, ahead);
    Array limit = minimum(minimum(theta, theta * ratio), 0.5 * (1.0 + ratio));
    return 0.5 * maximum(0.0, limit) * ahead;
  }

  struct Face {
    Array flux, fastest, slowest;
  };

  Face getFace(const Array &side, const Array &height, int axis) {
    Array w = side(0), hu = side(1), hv = side(2);
    Array h = w - height;
    Array isDry = h <= dry;
    Array safe = where(isDry, 1.0, h);
    Array u = where(isDry, 0.0, hu / safe), v = where(isDry, 0.0, hv / safe);
    w.assign(h + height);
    hu.assign(h * u);
    hv.assign(h * v);
    Array pressure = 0.5 * gravity * h * h;
    Array normal = axis == 0 ? u : v;
    Array flux = library.empty(side.getShape());
    flux(0).assign(side(1 + axis));
    flux(1).assign(axis == 0 ? hu * normal + pressure : hu * normal);
    flux(2).assign(axis == 1 ? hv * normal + pressure : hv * normal);
    Array celerity = sqrt(gravity * h);
    return {flux, normal + celerity, normal - celerity};
  }

  Array getFlux(const Array &minus, const Array &plus, const Array &height, int axis) {
    Face low = getFace(minus, height, axis), high = getFace(plus, height, axis);
    Array right = maximum(maximum(low.fastest, high.fastest), 0.0);
    Array left = minimum(minimum(low.slowest, high.slowest), 0.0);
    Array gap = right - left;
    Array still = gap == 0.0;
    Array difference = right * low.flux - left * high.flux;
    Array jump = right * left * (plus - minus);
    return where(still, 0.0, (difference + jump) / where(still, 1.0, gap));
  }

  Array getRates(const Array &a) {
    Slice all, inner(2, -2), first(std::nullopt, -1), last(1, std::nullopt);
    Array rows = a(all, inner), columns = a(all, all, inner);
    auto alongX = [&](int64_t from, int64_t count) { return rows(all, all, Slice(from, from + count)); };
    auto alongY = [&](int64_t from, int64_t count) { return columns(all, Slice(from, from + count)); };
    Array sx = getSlopes(alongX(0, n + 2), alongX(1, n + 2), alongX(2, n + 2));
    Array sy = getSlopes(alongY(0, n + 2), alongY(1, n + 2), alongY(2, n + 2));
    Array fx = getFlux(alongX(1, n + 1) + sx(all, all, first), alongX(2, n + 1) - sx(all, all, last), bottomX, 0);
    Array fy = getFlux(alongY(1, n + 1) + sy(all, first), alongY(2, n + 1) - sy(all, last), bottomY, 1);
    Array rates = (fx(all, all, first) - fx(all, all, last)) / dx + (fy(all, first) - fy(all, last)) / dx;
    Array weight = gravity * depth;
    rates(1) -= weight * slopeX;
    rates(2) -= weight * slopeY;
    return rates;
  }

  ArrayLibrary &library;
  int64_t n;
  double dx, dt;
  Array bottomX, bottomY, bottom, slopeX, slopeY, q, depth;
  /// For who wants to see them; the scheme does not read them.
  Array velocityX, velocityY;
};

} // namespace

std::unique_ptr<App> apps::makeShallowWater(ArrayLibrary &library, const Parameters &parameters) {
  return std::make_unique<ShallowWater>(library, parameters);
}
