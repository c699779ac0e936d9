//===- Elementwise.cpp - Black-Scholes, Jacobi, and the 5-point stencil ---===//

#include "Programs.h"

#include "llvm/Support/FormatVariadic.h"

using namespace task_programs;

/// `lo + (hi - lo) * frac((i + 1) * step)` for the coordinate `i` that `coordinate` computes as an index `%i`.
static std::string getSpread(llvm::StringRef coordinate, llvm::StringRef step, llvm::StringRef lo,
                             llvm::StringRef width) {
  return llvm::formatv("{0}\n"
                       "%c1 = arith.constant 1 : index\n"
                       "%k = arith.addi %i, %c1 : index\n"
                       "%ki = arith.index_cast %k : index to i64\n"
                       "%kf = arith.sitofp %ki : i64 to f64\n"
                       "%step = arith.constant {1} : f64\n"
                       "%u = arith.mulf %kf, %step : f64\n"
                       "%floor = math.floor %u : f64\n"
                       "%frac = arith.subf %u, %floor : f64\n"
                       "%width = arith.constant {3} : f64\n"
                       "%scaled = arith.mulf %frac, %width : f64\n"
                       "%lo = arith.constant {2} : f64\n"
                       "%spread = arith.addf %lo, %scaled : f64\n",
                       coordinate, step, lo, width)
      .str();
}

static const char *const phi = "0.6180339887498949";
static const char *const sqrt2 = "0.41421356237309515";
static const char *const sqrt3 = "0.7320508075688772";

/// A vector of reproducible values in [lo, lo + width).
static Array spread(Stream &stream, int64_t n, llvm::StringRef step, llvm::StringRef lo, llvm::StringRef width) {
  return stream.fromIndices(
      {n}, "f64",
      getSpread("%c0 = arith.constant 0 : index\n%i = arith.addi %i0, %c0 : index", step, lo, width) +
          "%zero = arith.constant 0.0 : f64\n%r = arith.addf %spread, %zero : f64\n");
}

/// The cumulative normal distribution: the rational fit 26.2.17 of Abramowitz and Stegun.
static Array cumulativeNormal(Array d) {
  Array k = 1.0 / (1.0 + 0.2316419 * abs(d));
  Array polynomial = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
  Array tail = 0.3989422804014327 * exp(-0.5 * d * d) * polynomial;
  return where(compare("ogt", d, 0.0), 1.0 - tail, tail);
}

Results task_programs::recordBlackScholes(Stream &stream, const Parameters &parameters) {
  Array s = spread(stream, parameters.n, phi, "5.0", "25.0");
  Array x = spread(stream, parameters.n, sqrt2, "1.0", "99.0");
  Array t = spread(stream, parameters.n, sqrt3, "0.25", "9.75");
  // Rate and volatility are arrays of rank 0, so what is computed from them alone is a task, too.
  Array r = stream.create({}), v = stream.create({});
  stream.fill(r, 0.02);
  stream.fill(v, 0.3);
  Array call = stream.create({parameters.n}), put = stream.create({parameters.n});
  stream.beginLoop(parameters.steps);
  Array root = sqrt(t);
  Array d1 = (log(s / x) + (r + 0.5 * v * v) * t) / (v * root);
  Array d2 = d1 - v * root;
  Array c1 = cumulativeNormal(d1), c2 = cumulativeNormal(d2);
  Array discount = exp(negate(r) * t);
  Array spot = s * c1, strike = x * discount * c2;
  stream.applyTo(call, "subtract", "%r = arith.subf %a0, %a1 : f64", {spot, strike});
  Array strikePut = x * discount * (1.0 - c2), spotPut = s * (1.0 - c1);
  stream.applyTo(put, "subtract", "%r = arith.subf %a0, %a1 : f64", {strikePut, spotPut});
  stream.endLoop();
  return {call, put};
}

Results task_programs::recordJacobi(Stream &stream, const Parameters &parameters) {
  int64_t n = parameters.n;
  // A has reproducible values in [0, 1) and n more on its diagonal; R is A without the diagonal d.
  std::string entry = getSpread(llvm::formatv("%n = arith.constant {0} : index\n"
                                              "%row = arith.muli %i0, %n : index\n"
                                              "%i = arith.addi %row, %{1} : index",
                                              n, "COLUMN")
                                    .str(),
                                phi, "0.0", "1.0");
  auto withColumn = [&](llvm::StringRef column) {
    std::string text = entry;
    text.replace(text.find("COLUMN"), 6, column.str());
    return text;
  };
  Array r = stream.fromIndices({n, n}, "f64",
                               withColumn("i1") + "%zero = arith.constant 0.0 : f64\n"
                                                  "%diagonal = arith.cmpi eq, %i0, %i1 : index\n"
                                                  "%r = arith.select %diagonal, %zero, %spread : f64\n");
  Array d = stream.fromIndices({n}, "f64",
                               withColumn("i0") + llvm::formatv("%more = arith.constant {0}.0 : f64\n"
                                                                "%r = arith.addf %spread, %more : f64\n",
                                                                n)
                                                      .str());
  Array b = spread(stream, n, sqrt2, "0.0", "1.0");
  Array x = stream.create({n});
  stream.fill(x, 0.0);
  stream.beginLoop(parameters.steps);
  Array rest = b - stream.matvec(r, x);
  stream.applyTo(x, "divide", "%r = arith.divf %a0, %a1 : f64", {rest, d});
  stream.endLoop();
  return {x};
}

Results task_programs::recordStencil(Stream &stream, const Parameters &parameters) {
  int64_t n = parameters.n;
  Array grid = stream.fromIndices({n + 2, n + 2}, "f64",
                                  llvm::formatv("%last = arith.constant {0} : index\n"
                                                "%first = arith.constant 0 : index\n"
                                                "%lastf = arith.constant {0}.0 : f64\n"
                                                "%zero = arith.constant 0.0 : f64\n"
                                                "%one = arith.constant 1.0 : f64\n"
                                                "%two = arith.constant 2.0 : f64\n"
                                                "%rowi = arith.index_cast %i0 : index to i64\n"
                                                "%row = arith.sitofp %rowi : i64 to f64\n"
                                                "%columni = arith.index_cast %i1 : index to i64\n"
                                                "%column = arith.sitofp %columni : i64 to f64\n"
                                                "%across = arith.divf %column, %lastf : f64\n"
                                                "%down = arith.divf %row, %lastf : f64\n"
                                                "%top = arith.addf %one, %across : f64\n"
                                                "%left = arith.subf %one, %down : f64\n"
                                                "%double = arith.mulf %two, %column : f64\n"
                                                "%bottom = arith.divf %double, %lastf : f64\n"
                                                "%isTop = arith.cmpi eq, %i0, %first : index\n"
                                                "%isLeft = arith.cmpi eq, %i1, %first : index\n"
                                                "%isBottom = arith.cmpi eq, %i0, %last : index\n"
                                                "%isRight = arith.cmpi eq, %i1, %last : index\n"
                                                "%r1 = arith.select %isTop, %top, %zero : f64\n"
                                                "%r2 = arith.select %isLeft, %left, %r1 : f64\n"
                                                "%r3 = arith.select %isBottom, %bottom, %r2 : f64\n"
                                                "%r = arith.select %isRight, %two, %r3 : f64\n",
                                                n + 1)
                                      .str());
  Array center = grid.slice({1, 1}, {n, n}), north = grid.slice({0, 1}, {n, n}), east = grid.slice({1, 2}, {n, n}),
        west = grid.slice({1, 0}, {n, n}), south = grid.slice({2, 1}, {n, n});
  stream.beginLoop(parameters.steps);
  Array average = center + north + east + west + south;
  Array work = 0.2 * average;
  stream.assign(center, work);
  stream.endLoop();
  return {grid};
}
