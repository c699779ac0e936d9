//===- ChannelFlow.cpp - Incompressible flow in a channel -----------------------===//
//
// Explicit in time, with a few Jacobi sweeps for the pressure each step. Grid n x n on [0, 2]^2, rows are y: periodic in
// x, walls at both ends of y, a constant force in x. Without a roll operation every formula stands for three sets of
// columns: interior, last, first.
//
//===------------------------------------------------------------------------===//

#include "App.h"

#include <cmath>

using namespace fusion;
using namespace apps;

namespace {

/// A set of columns with its neighbours.
struct Columns {
  Slice center, east, west;
};

class ChannelFlow : public App {
public:
  ChannelFlow(ArrayLibrary &library, const Parameters &parameters)
      : library(library), n(parameters.n), sweeps(parameters.sweeps) {
    const double pi = 3.141592653589793;
    bool isWave = parameters.init.empty() || parameters.init == "wave";
    std::vector<double> us, vs, ps;
    for (int64_t i = 0; i < n; ++i)
      for (int64_t j = 0; j < n; ++j) {
        double x = 2 * pi * double(j) / double(n), y = double(i) / double(n - 1);
        bool isWall = i == 0 || i == n - 1;
        us.push_back(isWave && !isWall ? 4 * y * (1 - y) + 0.5 * std::sin(pi * y) * std::cos(x) : 0);
        vs.push_back(isWave && !isWall ? 0.3 * std::sin(2 * pi * y) * std::sin(2 * x) : 0);
        ps.push_back(isWave ? 1 + 0.1 * std::cos(pi * y) * std::sin(x) : 1);
      }
    u = library.from({n, n}, us);
    v = library.from({n, n}, vs);
    p = library.from({n, n}, ps);
    dx = dy = 2.0 / double(n - 1);
    dt = 0.0009 * dx * dy / viscosity;
  }

  void step() override {
    Array un = copy(u), vn = copy(v), b = library.zeros({n, n});
    for (const Columns &set : sets) {
      Array divergence = (east(u, set) - west(u, set)) / (2 * dx) + (north(v, set) - south(v, set)) / (2 * dy);
      Array strain = 1 / dt * divergence - square((east(u, set) - west(u, set)) / (2 * dx));
      Array cross = (north(u, set) - south(u, set)) / (2 * dy) * (east(v, set) - west(v, set)) / (2 * dx);
      Array source = strain - 2 * cross - square((north(v, set) - south(v, set)) / (2 * dy));
      center(b, set).assign(density * source);
    }
    for (int64_t sweep = 0; sweep < sweeps; ++sweep) {
      Array q = copy(p);
      for (const Columns &set : sets) {
        Array mean = ((east(q, set) + west(q, set)) * (dy * dy) + (north(q, set) + south(q, set)) * (dx * dx)) /
                     (2 * (dx * dx + dy * dy));
        center(p, set).assign(mean - dx * dx * dy * dy / (2 * (dx * dx + dy * dy)) * center(b, set));
      }
      p(-1).assign(p(-2));
      p(0).assign(p(1));
    }
    for (const Columns &set : sets) {
      advance(u, un, un, vn, set, dt / (2 * density * dx) * (east(p, set) - west(p, set)), dt);
      advance(v, vn, un, vn, set, dt / (2 * density * dy) * (north(p, set) - south(p, set)), 0);
    }
    for (const Array &field : {u, v})
      for (int64_t wall : {0, -1})
        field(wall).assign(0.0);
  }

  std::vector<Array> getResults() override { return {u, v, p}; }

private:
  static Array center(const Array &a, const Columns &set) { return a(Slice(1, -1), set.center); }
  static Array east(const Array &a, const Columns &set) { return a(Slice(1, -1), set.east); }
  static Array west(const Array &a, const Columns &set) { return a(Slice(1, -1), set.west); }
  static Array north(const Array &a, const Columns &set) { return a(Slice(2, std::nullopt), set.center); }
  static Array south(const Array &a, const Columns &set) { return a(Slice(std::nullopt, -2), set.center); }

  /// One component of the velocity; `old` is its old value.
  void advance(const Array &field, const Array &old, const Array &un, const Array &vn, const Columns &set,
               const Array &gradient, double push) {
    Array here = center(old, set);
    Array transported = here - center(un, set) * dt / dx * (here - west(old, set)) -
                        center(vn, set) * dt / dy * (here - south(old, set));
    Array diffusion = viscosity * (dt / (dx * dx) * (east(old, set) - 2 * here + west(old, set)) +
                                   dt / (dy * dy) * (north(old, set) - 2 * here + south(old, set)));
    Array next = transported - gradient + diffusion;
    center(field, set).assign(push != 0 ? next + push : next);
  }

  static constexpr double density = 1, viscosity = 0.1;
  const Columns sets[3] = {{Slice(1, -1), Slice(2, std::nullopt), Slice(std::nullopt, -2)},
                           {Slice(-1, std::nullopt), Slice(0, 1), Slice(-2, -1)},
                           {Slice(0, 1), Slice(1, 2), Slice(-1, std::nullopt)}};
  ArrayLibrary &library;
  int64_t n, sweeps;
  double dx, dy, dt;
  Array u, v, p;
};

} // namespace

std::unique_ptr<App> apps::makeChannelFlow(ArrayLibrary &library, const Parameters &parameters) {
  return std::make_unique<ChannelFlow>(library, parameters);
}
