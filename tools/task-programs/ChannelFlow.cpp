//===- ChannelFlow.cpp - Incompressible flow in a channel -----------------===//
//
// Explicit in time, with a few Jacobi sweeps for the pressure each step. Grid n x n on [0, 2]^2, rows are y: periodic
// in x, walls at both ends of y, a constant force in x. A program without a roll operation issues every formula for
// three sets of columns: interior, last, first.
//
//===------------------------------------------------------------------------===//

#include "Programs.h"

#include "llvm/Support/FormatVariadic.h"

using namespace task_programs;

namespace {

/// A set of columns with its eastern and western neighbours, each given by first column; all have the same width.
struct Columns {
  int64_t center, east, west, width;
};

} // namespace

static const double density = 1.0, viscosity = 0.1, force = 1.0;

/// At rest, or a smooth periodic disturbance that exercises every term. `field` is u, v or p.
static std::string getInitial(int64_t n, char field, bool isWave) {
  if (!isWave)
    return field == 'p' ? "%r = arith.constant 1.0 : f64\n" : "%r = arith.constant 0.0 : f64\n";
  std::string text = llvm::formatv("%rowi = arith.index_cast %i0 : index to i64\n"
                                   "%row = arith.sitofp %rowi : i64 to f64\n"
                                   "%columni = arith.index_cast %i1 : index to i64\n"
                                   "%column = arith.sitofp %columni : i64 to f64\n"
                                   "%twoPi = arith.constant 6.283185307179586 : f64\n"
                                   "%pi = arith.constant 3.141592653589793 : f64\n"
                                   "%n = arith.constant {0}.0 : f64\n"
                                   "%last = arith.constant {1}.0 : f64\n"
                                   "%angle = arith.mulf %twoPi, %column : f64\n"
                                   "%x = arith.divf %angle, %n : f64\n"
                                   "%y = arith.divf %row, %last : f64\n"
                                   "%one = arith.constant 1.0 : f64\n"
                                   "%two = arith.constant 2.0 : f64\n"
                                   "%py = arith.mulf %pi, %y : f64\n",
                                   n, n - 1)
                         .str();
  if (field == 'p')
    return text + "%c = math.cos %py : f64\n"
                  "%s = math.sin %x : f64\n"
                  "%tenth = arith.constant 0.1 : f64\n"
                  "%a = arith.mulf %tenth, %c : f64\n"
                  "%b = arith.mulf %a, %s : f64\n"
                  "%r = arith.addf %one, %b : f64\n";
  if (field == 'u')
    text += "%four = arith.constant 4.0 : f64\n"
            "%half = arith.constant 0.5 : f64\n"
            "%up = arith.subf %one, %y : f64\n"
            "%a1 = arith.mulf %four, %y : f64\n"
            "%a = arith.mulf %a1, %up : f64\n"
            "%s = math.sin %py : f64\n"
            "%c = math.cos %x : f64\n"
            "%b1 = arith.mulf %half, %s : f64\n"
            "%b = arith.mulf %b1, %c : f64\n"
            "%wave = arith.addf %a, %b : f64\n";
  else
    text += "%amplitude = arith.constant 0.3 : f64\n"
            "%py2 = arith.mulf %two, %py : f64\n"
            "%x2 = arith.mulf %two, %x : f64\n"
            "%s = math.sin %py2 : f64\n"
            "%c = math.sin %x2 : f64\n"
            "%a = arith.mulf %amplitude, %s : f64\n"
            "%wave = arith.mulf %a, %c : f64\n";
  return text + llvm::formatv("%firstRow = arith.constant 0 : index\n"
                              "%lastRow = arith.constant {0} : index\n"
                              "%atFirst = arith.cmpi eq, %i0, %firstRow : index\n"
                              "%atLast = arith.cmpi eq, %i0, %lastRow : index\n"
                              "%atWall = arith.ori %atFirst, %atLast : i1\n"
                              "%zero = arith.constant 0.0 : f64\n"
                              "%r = arith.select %atWall, %zero, %wave : f64\n",
                              n - 1)
                    .str();
}

Results task_programs::recordChannelFlow(Stream &stream, const Parameters &parameters) {
  int64_t n = parameters.n;
  bool isWave = parameters.init.empty() || parameters.init == "wave";
  double dx = 2.0 / (n - 1), dy = dx, dt = 0.0009 * dx * dy / viscosity;
  Array u = stream.fromIndices({n, n}, "f64", getInitial(n, 'u', isWave));
  Array v = stream.fromIndices({n, n}, "f64", getInitial(n, 'v', isWave));
  Array p = stream.fromIndices({n, n}, "f64", getInitial(n, 'p', isWave));
  const Columns sets[] = {{1, 2, 0, n - 2}, {n - 1, 0, n - 2, 1}, {0, 1, n - 1, 1}};

  // Interior rows of an array, or those north (below) and south (above) of them.
  auto rows = [&](Array a, int64_t first, int64_t column, int64_t width) {
    return a.slice({first, column}, {n - 2, width});
  };
  auto row = [&](Array a, int64_t index) { return a.slice({index, 0}, {1, n}); };

  stream.beginLoop(parameters.steps);
  Array un = stream.create({n, n}), vn = stream.create({n, n}), b = stream.create({n, n});
  stream.assign(un, u);
  stream.assign(vn, v);
  stream.fill(b, 0.0);
  for (const Columns &set : sets) {
    auto east = [&](Array a) { return rows(a, 1, set.east, set.width); };
    auto west = [&](Array a) { return rows(a, 1, set.west, set.width); };
    auto north = [&](Array a) { return rows(a, 2, set.center, set.width); };
    auto south = [&](Array a) { return rows(a, 0, set.center, set.width); };
    Array divergence = (east(u) - west(u)) / (2.0 * dx) + (north(v) - south(v)) / (2.0 * dy);
    Array accelerated = 1 / dt * divergence;
    Array withX = accelerated - square((east(u) - west(u)) / (2.0 * dx));
    Array cross = (north(u) - south(u)) / (2.0 * dy) * (east(v) - west(v)) / (2.0 * dx);
    Array withCross = withX - 2.0 * cross;
    Array source = withCross - square((north(v) - south(v)) / (2.0 * dy));
    stream.assign(rows(b, 1, set.center, set.width), density * source);
  }

  for (int64_t sweep = 0; sweep < parameters.sweeps; ++sweep) {
    Array q = stream.create({n, n});
    stream.assign(q, p);
    for (const Columns &set : sets) {
      Array across = rows(q, 1, set.east, set.width) + rows(q, 1, set.west, set.width);
      Array along = rows(q, 2, set.center, set.width) + rows(q, 0, set.center, set.width);
      Array mean = (across * (dy * dy) + along * (dx * dx)) / (2 * (dx * dx + dy * dy));
      Array source = dx * dx * dy * dy / (2 * (dx * dx + dy * dy)) * rows(b, 1, set.center, set.width);
      stream.assign(rows(p, 1, set.center, set.width), mean - source);
    }
    stream.assign(row(p, n - 1), row(p, n - 2));
    stream.assign(row(p, 0), row(p, 1));
  }

  auto advance = [&](Array f, Array fn, const Columns &set, Array gradient, double push) {
    auto center = [&](Array a) { return rows(a, 1, set.center, set.width); };
    Array east = rows(fn, 1, set.east, set.width), west = rows(fn, 1, set.west, set.width);
    Array north = rows(fn, 2, set.center, set.width), south = rows(fn, 0, set.center, set.width);
    Array alongX = center(un) * dt / dx * (center(fn) - west);
    Array transported = center(fn) - alongX;
    Array alongY = center(vn) * dt / dy * (center(fn) - south);
    Array withoutPressure = transported - alongY - gradient;
    Array diffusionX = dt / (dx * dx) * (east - 2.0 * center(fn) + west);
    Array diffusionY = dt / (dy * dy) * (north - 2.0 * center(fn) + south);
    Array next = withoutPressure + viscosity * (diffusionX + diffusionY);
    stream.assign(center(f), push != 0 ? next + push : next);
  };
  for (const Columns &set : sets) {
    Array gradient = dt / (2 * density * dx) * (rows(p, 1, set.east, set.width) - rows(p, 1, set.west, set.width));
    advance(u, un, set, gradient, force * dt);
    gradient = dt / (2 * density * dy) * (rows(p, 2, set.center, set.width) - rows(p, 0, set.center, set.width));
    advance(v, vn, set, gradient, 0);
  }
  for (Array wall : {row(u, 0), row(u, n - 1), row(v, 0), row(v, n - 1)})
    stream.assign(wall, 0.0);
  stream.endLoop();
  return {u, v, p};
}
