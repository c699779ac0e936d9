//===- ShallowWater.cpp - Shallow-water equations -------------------------===//
//
// Second-order central-upwind fluxes with minmod slopes (Kurganov and Petrova), two-stage Runge-Kutta. A cell's state
// is q = (w, hu, hv) with w = h + B, in one array with two ghost layers on each side; domain [0, 1]^2, n x n cells. The
// bottom is given at vertices; faces and centres are averages, which keeps a lake at rest. Open boundaries by linear
// extrapolation.
//
//===------------------------------------------------------------------------===//

#include "Programs.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace task_programs;

static const double gravity = 9.81, theta = 1.3, dry = 1e-4, tolerance = 1e-12;

/// Lines that compute the bottom at vertex (row + `down`, column + `right`) as `%b<name>`.
static std::string getVertex(int64_t n, bool isBump, llvm::StringRef name, int64_t down, int64_t right) {
  if (!isBump)
    return llvm::formatv("%b{0} = arith.constant 0.0 : f64\n", name).str();
  return llvm::formatv("%dn{0} = arith.constant {1} : index\n"
                       "%rt{0} = arith.constant {2} : index\n"
                       "%vr{0} = arith.addi %i0, %dn{0} : index\n"
                       "%vc{0} = arith.addi %i1, %rt{0} : index\n"
                       "%vri{0} = arith.index_cast %vr{0} : index to i64\n"
                       "%vci{0} = arith.index_cast %vc{0} : index to i64\n"
                       "%vrf{0} = arith.sitofp %vri{0} : i64 to f64\n"
                       "%vcf{0} = arith.sitofp %vci{0} : i64 to f64\n"
                       "%cells{0} = arith.constant {3}.0 : f64\n"
                       "%sy{0} = arith.divf %vrf{0}, %cells{0} : f64\n"
                       "%sx{0} = arith.divf %vcf{0}, %cells{0} : f64\n"
                       "%mx{0} = arith.constant 0.6 : f64\n"
                       "%my{0} = arith.constant 0.5 : f64\n"
                       "%dx{0} = arith.subf %sx{0}, %mx{0} : f64\n"
                       "%dy{0} = arith.subf %sy{0}, %my{0} : f64\n"
                       "%dx2{0} = arith.mulf %dx{0}, %dx{0} : f64\n"
                       "%dy2{0} = arith.mulf %dy{0}, %dy{0} : f64\n"
                       "%d2{0} = arith.addf %dx2{0}, %dy2{0} : f64\n"
                       "%width{0} = arith.constant -0.02 : f64\n"
                       "%e{0} = arith.divf %d2{0}, %width{0} : f64\n"
                       "%x{0} = math.exp %e{0} : f64\n"
                       "%height{0} = arith.constant 0.4 : f64\n"
                       "%b{0} = arith.mulf %height{0}, %x{0} : f64\n",
                       name, down, right, n)
      .str();
}

static std::string getSurface(int64_t n, llvm::StringRef kind) {
  if (kind == "rest")
    return "%r = arith.constant 1.0 : f64\n";
  if (kind == "dam")
    return llvm::formatv("%middle = arith.constant {0} : index\n"
                         "%isRight = arith.cmpi sge, %i1, %middle : index\n"
                         "%high = arith.constant 1.0 : f64\n"
                         "%low = arith.constant 0.5 : f64\n"
                         "%r = arith.select %isRight, %low, %high : f64\n",
                         n / 2)
        .str();
  return llvm::formatv("%rowi = arith.index_cast %i0 : index to i64\n"
                       "%columni = arith.index_cast %i1 : index to i64\n"
                       "%rowf = arith.sitofp %rowi : i64 to f64\n"
                       "%columnf = arith.sitofp %columni : i64 to f64\n"
                       "%half = arith.constant 0.5 : f64\n"
                       "%row = arith.addf %rowf, %half : f64\n"
                       "%column = arith.addf %columnf, %half : f64\n"
                       "%n = arith.constant {0}.0 : f64\n"
                       "%sy = arith.divf %row, %n : f64\n"
                       "%sx = arith.divf %column, %n : f64\n"
                       "%mx = arith.constant 0.3 : f64\n"
                       "%my = arith.constant 0.4 : f64\n"
                       "%dx = arith.subf %sx, %mx : f64\n"
                       "%dy = arith.subf %sy, %my : f64\n"
                       "%dx2 = arith.mulf %dx, %dx : f64\n"
                       "%dy2 = arith.mulf %dy, %dy : f64\n"
                       "%d2 = arith.addf %dx2, %dy2 : f64\n"
                       "%width = arith.constant -0.005 : f64\n"
                       "%e = arith.divf %d2, %width : f64\n"
                       "%x = math.exp %e : f64\n"
                       "%height = arith.constant 0.1 : f64\n"
                       "%wave = arith.mulf %height, %x : f64\n"
                       "%one = arith.constant 1.0 : f64\n"
                       "%r = arith.addf %one, %wave : f64\n",
                       n)
      .str();
}

namespace {

/// The arrays of the program and its formulas.
class ShallowWater {
public:
  ShallowWater(Stream &stream, const Parameters &parameters);
  Results run(int64_t steps);

private:
  void extrapolate(Array q);
  void setCentres(Array q);
  Array getSlopes(Array before, Array here, Array after);
  struct Face {
    Array flux, fastest, slowest;
  };
  Face getFace(Array q, Array bottom, unsigned axis);
  Array getFlux(Array minus, Array plus, Array bottom, unsigned axis);
  Array getRates(Array q);
  Array getInner(Array q) { return q.slice({0, 2, 2}, {3, n, n}); }

  Stream &stream;
  int64_t n;
  double dx, dt;
  Array bottomX, bottomY, bottom, slopeX, slopeY, q, depth;
  /// As an array program has them for its user; the scheme does not read them.
  Array velocityX, velocityY;
};

} // namespace

ShallowWater::ShallowWater(Stream &stream, const Parameters &parameters) : stream(stream), n(parameters.n) {
  dx = 1.0 / n;
  dt = 0.2 * dx / std::sqrt(gravity * 1.2);
  bool isBump = parameters.bottom == "bump";
  auto vertex = [&](llvm::StringRef name, int64_t down, int64_t right) {
    return getVertex(n, isBump, name, down, right);
  };
  const std::string half = "%half2 = arith.constant 0.5 : f64\n";
  auto mean = [](llvm::StringRef result, llvm::StringRef a, llvm::StringRef b) {
    return llvm::formatv("%sum{0} = arith.addf {1}, {2} : f64\n%{0} = arith.mulf %half2, %sum{0} : f64\n", result, a, b)
        .str();
  };
  auto quotient = [&](llvm::StringRef a, llvm::StringRef b) {
    return llvm::formatv("%rise = arith.subf {0}, {1} : f64\n"
                         "%steps = arith.constant {2}.0 : f64\n"
                         "%r = arith.mulf %rise, %steps : f64\n",
                         a, b, n)
        .str();
  };
  // Faces across x lie between vertices above each other, faces across y between vertices beside each other.
  bottomX =
      stream.fromIndices({n, n + 1}, "f64", vertex("0", 0, 0) + vertex("1", 1, 0) + half + mean("r", "%b0", "%b1"));
  bottomY =
      stream.fromIndices({n + 1, n}, "f64", vertex("0", 0, 0) + vertex("1", 0, 1) + half + mean("r", "%b0", "%b1"));
  std::string corners = vertex("0", 0, 0) + vertex("1", 1, 0) + vertex("2", 0, 1) + vertex("3", 1, 1) + half;
  bottom = stream.fromIndices(
      {n, n}, "f64", corners + mean("left", "%b0", "%b1") + mean("right", "%b2", "%b3") + mean("r", "%left", "%right"));
  slopeX = stream.fromIndices(
      {n, n}, "f64", corners + mean("left", "%b0", "%b1") + mean("right", "%b2", "%b3") + quotient("%right", "%left"));
  slopeY = stream.fromIndices(
      {n, n}, "f64", corners + mean("top", "%b0", "%b2") + mean("low", "%b1", "%b3") + quotient("%low", "%top"));
  Array surface = stream.fromIndices({n, n}, "f64", getSurface(n, parameters.init.empty() ? "wave" : parameters.init));
  q = stream.create({3, n + 4, n + 4});
  stream.fill(q, 0.0);
  stream.assign(q.slice({0, 2, 2}, {3, n, n}).pick(0), surface);
  depth = stream.create({n, n});
  velocityX = stream.create({n, n});
  velocityY = stream.create({n, n});
  extrapolate(q);
  setCentres(q);
}

void ShallowWater::extrapolate(Array a) {
  int64_t size = n + 4;
  auto column = [&](int64_t k) { return a.slice({0, 0, k}, {3, size, 1}); };
  auto row = [&](int64_t k) { return a.slice({0, k, 0}, {3, 1, size}); };
  auto extend = [&](auto line, std::initializer_list<int64_t> k) {
    auto it = k.begin();
    Array outer = line(it[0]), middle = line(it[1]), inner = line(it[2]), next = line(it[3]);
    Array step = inner - next;
    stream.assign(middle, inner + step);
    stream.assign(outer, middle + step);
  };
  extend(column, {0, 1, 2, 3});
  extend(column, {size - 1, size - 2, size - 3, size - 4});
  extend(row, {0, 1, 2, 3});
  extend(row, {size - 1, size - 2, size - 3, size - 4});
}

void ShallowWater::setCentres(Array a) {
  Array inner = getInner(a), w = inner.pick(0), hu = inner.pick(1), hv = inner.pick(2);
  Array h = w - bottom;
  Array gone = compare("olt", h, tolerance), thin = compare("olt", h, dry);
  stream.applyTo(depth, "where", "%r = arith.select %a0, %a1, %a2 : f64", {gone, 0.0, h});
  Array safe = where(thin, 1.0, h);
  stream.applyTo(velocityX, "where", "%r = arith.select %a0, %a1, %a2 : f64", {thin, 0.0, hu / safe});
  stream.applyTo(velocityY, "where", "%r = arith.select %a0, %a1, %a2 : f64", {thin, 0.0, hv / safe});
  stream.assign(w, where(gone, bottom, w));
  stream.assign(hu, where(thin, 0.0, hu));
  stream.assign(hv, where(thin, 0.0, hv));
}

Array ShallowWater::getSlopes(Array before, Array here, Array after) {
  Array back = here - before, ahead = after - here;
  Array safe = where(compare("oeq", ahead, 0.0), 1.0, ahead);
  Array ratio = back / safe;
  Array scaled = theta * ratio;
  Array limit = minimum(minimum(theta, scaled), 0.5 * (1.0 + ratio));
  Array phi = maximum(0.0, limit);
  return 0.5 * phi * ahead;
}

ShallowWater::Face ShallowWater::getFace(Array side, Array height, unsigned axis) {
  Array w = side.pick(0), hu = side.pick(1), hv = side.pick(2);
  Array h = w - height;
  Array isDry = compare("ole", h, dry);
  Array safe = where(isDry, 1.0, h);
  Array u = where(isDry, 0.0, hu / safe), v = where(isDry, 0.0, hv / safe);
  stream.assign(w, h + height);
  stream.assign(hu, h * u);
  stream.assign(hv, h * v);
  Array pressure = 0.5 * gravity * h * h;
  Array normal = axis == 0 ? u : v;
  Array flux = stream.create(side.getShape());
  stream.assign(flux.pick(0), side.pick(1 + axis));
  stream.assign(flux.pick(1), axis == 0 ? hu * normal + pressure : hu * normal);
  stream.assign(flux.pick(2), axis == 1 ? hv * normal + pressure : hv * normal);
  Array celerity = sqrt(gravity * h);
  return {flux, normal + celerity, normal - celerity};
}

Array ShallowWater::getFlux(Array minus, Array plus, Array height, unsigned axis) {
  Face low = getFace(minus, height, axis), high = getFace(plus, height, axis);
  Array right = maximum(maximum(low.fastest, high.fastest), 0.0);
  Array left = minimum(minimum(low.slowest, high.slowest), 0.0);
  Array gap = right - left;
  Array still = compare("oeq", gap, 0.0);
  Array safe = where(still, 1.0, gap);
  Array forward = right * low.flux, backward = left * high.flux;
  Array difference = forward - backward;
  Array product = right * left;
  Array jump = product * (plus - minus);
  return where(still, 0.0, (difference + jump) / safe);
}

Array ShallowWater::getRates(Array a) {
  int64_t size = n + 4;
  Array rows = a.slice({0, 2, 0}, {3, n, size}), columns = a.slice({0, 0, 2}, {3, size, n});
  auto alongX = [&](int64_t first, int64_t count) { return rows.slice({0, 0, first}, {3, n, count}); };
  auto alongY = [&](int64_t first, int64_t count) { return columns.slice({0, first, 0}, {3, count, n}); };
  Array sx = getSlopes(alongX(0, n + 2), alongX(1, n + 2), alongX(2, n + 2));
  Array sy = getSlopes(alongY(0, n + 2), alongY(1, n + 2), alongY(2, n + 2));
  Array minus = alongX(1, n + 1) + sx.slice({0, 0, 0}, {3, n, n + 1});
  Array plus = alongX(2, n + 1) - sx.slice({0, 0, 1}, {3, n, n + 1});
  Array fx = getFlux(minus, plus, bottomX, 0);
  minus = alongY(1, n + 1) + sy.slice({0, 0, 0}, {3, n + 1, n});
  plus = alongY(2, n + 1) - sy.slice({0, 1, 0}, {3, n + 1, n});
  Array fy = getFlux(minus, plus, bottomY, 1);
  Array changeX = (fx.slice({0, 0, 0}, {3, n, n}) - fx.slice({0, 0, 1}, {3, n, n})) / dx;
  Array changeY = (fy.slice({0, 0, 0}, {3, n, n}) - fy.slice({0, 1, 0}, {3, n, n})) / dx;
  Array rates = changeX + changeY;
  Array weight = gravity * depth;
  Array pushX = rates.pick(1), pushY = rates.pick(2);
  pushX -= weight * slopeX;
  pushY -= weight * slopeY;
  return rates;
}

Results ShallowWater::run(int64_t steps) {
  stream.beginLoop(steps);
  Array rates = getRates(q);
  Array q1 = stream.create({3, n + 4, n + 4});
  stream.assign(getInner(q1), getInner(q) + dt * rates);
  extrapolate(q1);
  setCentres(q1);
  rates = getRates(q1);
  stream.assign(getInner(q), 0.5 * (getInner(q) + getInner(q1) + dt * rates));
  extrapolate(q);
  setCentres(q);
  stream.endLoop();
  return {getInner(q).pick(0), getInner(q).pick(1), getInner(q).pick(2)};
}

Results task_programs::recordShallowWater(Stream &stream, const Parameters &parameters) {
  return ShallowWater(stream, parameters).run(parameters.steps);
}
