//===- Krylov.cpp - Conjugate gradients, BiCGSTAB, and multigrid ----------===//
//
// Solvers for the 5-point Poisson matrix (4, -1) on an m x m grid of unknowns with Dirichlet boundaries, stored by rows
// with 32-bit columns.
//
//===------------------------------------------------------------------------===//

#include "Programs.h"

#include "llvm/Support/FormatVariadic.h"

using namespace task_programs;

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// Emits a loop over the `rows` rows of a matrix with at most `entries` entries in all. `row` gives the lines that add
/// the entries of row `%row`: from the values `%columns0`, `%values0`, `%k0` (the position) to those with the names
/// `%columns`, `%values`, `%k`.
static Stream::Csr fromRows(Stream &stream, llvm::StringRef name, int64_t rows, int64_t entries, llvm::StringRef row) {
  std::string ranges = llvm::formatv("tensor<{0}xi32>", rows + 1), columns = llvm::formatv("tensor<{0}xi32>", entries),
              values = llvm::formatv("tensor<{0}xf64>", entries);
  stream.host(llvm::formatv("%{0}_re = tensor.empty() : {1}\n"
                            "%{0}_ce = tensor.empty() : {2}\n"
                            "%{0}_ve = tensor.empty() : {3}\n"
                            "%{0}_i0 = arith.constant 0 : i32\n"
                            "%{0}_c0 = arith.constant 0 : index\n"
                            "%{0}_c1 = arith.constant 1 : index\n"
                            "%{0}_rows = arith.constant {4} : index\n"
                            "%{0}_r0 = tensor.insert %{0}_i0 into %{0}_re[%{0}_c0] : {1}\n",
                            name, ranges, columns, values, rows)
                  .str());
  stream.host(
      llvm::formatv("%{0}_m:4 = scf.for %row = %{0}_c0 to %{0}_rows step %{0}_c1 iter_args(%ranges0 = %{0}_r0, "
                    "%columns0 = %{0}_ce, %values0 = %{0}_ve, %k0 = %{0}_c0) -> ({1}, {2}, {3}, index) {{\n{4}\n"
                    "%last = arith.index_cast %k : index to i32\n"
                    "%next = arith.addi %row, %{0}_c1 : index\n"
                    "%ranges = tensor.insert %last into %ranges0[%next] : {1}\n"
                    "scf.yield %ranges, %columns, %values, %k : {1}, {2}, {3}, index\n}",
                    name, ranges, columns, values, row)
          .str());
  Stream::Csr matrix;
  matrix.rows = rows;
  matrix.range = stream.fromTensor(("%" + name + "_m#0").str(), {rows + 1}, "i32");
  matrix.columns = stream.fromTensor(("%" + name + "_m#1").str(), {entries}, "i32");
  matrix.values = stream.fromTensor(("%" + name + "_m#2").str(), {entries}, "f64");
  return matrix;
}

/// Lines that append the entry (`column`, `value`) if `condition`, from the names with number `from` to number `to`.
static std::string appendEntry(llvm::StringRef condition, llvm::StringRef column, llvm::StringRef value, unsigned from,
                               llvm::StringRef to, int64_t entries) {
  return llvm::formatv("%columns{5}, %values{5}, %k{5} = scf.if {0} -> (tensor<{4}xi32>, tensor<{4}xf64>, index) {{\n"
                       "%c = arith.index_cast {1} : index to i32\n"
                       "%v = arith.constant {2} : f64\n"
                       "%cs = tensor.insert %c into %columns{3}[%k{3}] : tensor<{4}xi32>\n"
                       "%vs = tensor.insert %v into %values{3}[%k{3}] : tensor<{4}xf64>\n"
                       "%one = arith.constant 1 : index\n"
                       "%kn = arith.addi %k{3}, %one : index\n"
                       "scf.yield %cs, %vs, %kn : tensor<{4}xi32>, tensor<{4}xf64>, index\n"
                       "} else {{\n"
                       "scf.yield %columns{3}, %values{3}, %k{3} : tensor<{4}xi32>, tensor<{4}xf64>, index\n}\n",
                       condition, column, value, from, entries, to)
      .str();
}

static Stream::Csr createPoisson(Stream &stream, int64_t m) {
  int64_t rows = m * m, entries = 5 * rows - 4 * m;
  std::string row = llvm::formatv("%m = arith.constant {0} : index\n"
                                  "%zero = arith.constant 0 : index\n"
                                  "%unit = arith.constant 1 : index\n"
                                  "%end = arith.constant {1} : index\n"
                                  "%i = arith.divui %row, %m : index\n"
                                  "%j = arith.remui %row, %m : index\n"
                                  "%true = arith.constant true\n"
                                  "%hasUp = arith.cmpi ne, %i, %zero : index\n"
                                  "%hasLeft = arith.cmpi ne, %j, %zero : index\n"
                                  "%hasRight = arith.cmpi ne, %j, %end : index\n"
                                  "%hasDown = arith.cmpi ne, %i, %end : index\n"
                                  "%up = arith.subi %row, %m : index\n"
                                  "%left = arith.subi %row, %unit : index\n"
                                  "%right = arith.addi %row, %unit : index\n"
                                  "%down = arith.addi %row, %m : index\n",
                                  m, m - 1)
                        .str();
  row += appendEntry("%hasUp", "%up", "-1.0", 0, "1", entries);
  row += appendEntry("%hasLeft", "%left", "-1.0", 1, "2", entries);
  row += appendEntry("%true", "%row", "4.0", 2, "3", entries);
  row += appendEntry("%hasRight", "%right", "-1.0", 3, "4", entries);
  row += appendEntry("%hasDown", "%down", "-1.0", 4, "", entries);
  return fromRows(stream, "A", rows, entries, row);
}

/// Picks the even points of an m x m grid.
static Stream::Csr createInjection(Stream &stream, int64_t m) {
  int64_t coarse = (m + 1) / 2, rows = coarse * coarse;
  std::string row = llvm::formatv("%coarse = arith.constant {0} : index\n"
                                  "%m = arith.constant {1} : index\n"
                                  "%two = arith.constant 2 : index\n"
                                  "%true = arith.constant true\n"
                                  "%i = arith.divui %row, %coarse : index\n"
                                  "%j = arith.remui %row, %coarse : index\n"
                                  "%fi = arith.muli %i, %two : index\n"
                                  "%fj = arith.muli %j, %two : index\n"
                                  "%fr = arith.muli %fi, %m : index\n"
                                  "%fine = arith.addi %fr, %fj : index\n",
                                  coarse, m)
                        .str();
  return fromRows(stream, "R", rows, rows, row + appendEntry("%true", "%fine", "1.0", 0, "", rows));
}

/// The transpose of that.
static Stream::Csr createProlongation(Stream &stream, int64_t m) {
  int64_t coarse = (m + 1) / 2;
  std::string row = llvm::formatv("%coarse = arith.constant {0} : index\n"
                                  "%m = arith.constant {1} : index\n"
                                  "%two = arith.constant 2 : index\n"
                                  "%zero = arith.constant 0 : index\n"
                                  "%i = arith.divui %row, %m : index\n"
                                  "%j = arith.remui %row, %m : index\n"
                                  "%oi = arith.remui %i, %two : index\n"
                                  "%oj = arith.remui %j, %two : index\n"
                                  "%odd = arith.addi %oi, %oj : index\n"
                                  "%even = arith.cmpi eq, %odd, %zero : index\n"
                                  "%ci = arith.divui %i, %two : index\n"
                                  "%cj = arith.divui %j, %two : index\n"
                                  "%cr = arith.muli %ci, %coarse : index\n"
                                  "%point = arith.addi %cr, %cj : index\n",
                                  coarse, m)
                        .str();
  int64_t entries = coarse * coarse;
  return fromRows(stream, "P", m * m, entries, row + appendEntry("%even", "%point", "1.0", 0, "", entries));
}

/// Ones, or h^2 (sin pi x cos pi y + sin 5 pi x cos 5 pi y) on [0, 1] x [-1/2, 1/2].
static Array createRightHandSide(Stream &stream, int64_t m, llvm::StringRef kind) {
  if (kind == "ones") {
    Array b = stream.create({m * m});
    stream.fill(b, 1.0);
    return b;
  }
  return stream.fromIndices({m * m}, "f64",
                            llvm::formatv("%m = arith.constant {0} : index\n"
                                          "%unit = arith.constant 1 : index\n"
                                          "%row = arith.divui %i0, %m : index\n"
                                          "%column = arith.remui %i0, %m : index\n"
                                          "%row1 = arith.addi %row, %unit : index\n"
                                          "%column1 = arith.addi %column, %unit : index\n"
                                          "%rowi = arith.index_cast %row1 : index to i64\n"
                                          "%columni = arith.index_cast %column1 : index to i64\n"
                                          "%rowf = arith.sitofp %rowi : i64 to f64\n"
                                          "%columnf = arith.sitofp %columni : i64 to f64\n"
                                          "%sides = arith.constant {1}.0 : f64\n"
                                          "%half = arith.constant 0.5 : f64\n"
                                          "%x = arith.divf %columnf, %sides : f64\n"
                                          "%y1 = arith.divf %rowf, %sides : f64\n"
                                          "%y = arith.subf %y1, %half : f64\n"
                                          "%pi = arith.constant 3.141592653589793 : f64\n"
                                          "%pi5 = arith.constant 15.707963267948966 : f64\n"
                                          "%ax = arith.mulf %pi, %x : f64\n"
                                          "%ay = arith.mulf %pi, %y : f64\n"
                                          "%bx = arith.mulf %pi5, %x : f64\n"
                                          "%by = arith.mulf %pi5, %y : f64\n"
                                          "%sa = math.sin %ax : f64\n"
                                          "%ca = math.cos %ay : f64\n"
                                          "%sb = math.sin %bx : f64\n"
                                          "%cb = math.cos %by : f64\n"
                                          "%a = arith.mulf %sa, %ca : f64\n"
                                          "%b = arith.mulf %sb, %cb : f64\n"
                                          "%f = arith.addf %a, %b : f64\n"
                                          "%hh = arith.mulf %sides, %sides : f64\n"
                                          "%r = arith.divf %f, %hh : f64\n",
                                          m, m + 1)
                                .str());
}

static Array zeros(Stream &stream, int64_t n) {
  Array a = stream.create({n});
  stream.fill(a, 0.0);
  return a;
}

//===----------------------------------------------------------------------===//
// Solvers
//===----------------------------------------------------------------------===//

static void divideTo(Array target, Array a, Array b) {
  target.getStream()->applyTo(target, "divide", "%r = arith.divf %a0, %a1 : f64", {a, b});
}

/// The iteration of conjugate gradients, preconditioned by `getPreconditioned`, which gives z in an array of its own
/// that outlives the iteration, so that its last task may run with the end of the iteration before.
static Results recordCg(Stream &stream, const Parameters &parameters, const Stream::Csr &matrix,
                        llvm::function_ref<void(Array z, Array r)> precondition) {
  int64_t n = parameters.n * parameters.n;
  Array b = createRightHandSide(stream, parameters.n, parameters.rhs);
  Array x = zeros(stream, n), p = zeros(stream, n), r = stream.create({n}), z = stream.create({n});
  // x is zero, so the residual is b - A x = b.
  Array product = stream.multiply(matrix, x);
  stream.applyTo(r, "subtract", "%r = arith.subf %a0, %a1 : f64", {b, product});
  // rho may start with anything but 0: p is 0.
  Array rho = stream.create({}), newRho = stream.create({});
  stream.fill(rho, 1.0);
  stream.beginLoop(parameters.steps);
  precondition(z, r);
  stream.dotTo(newRho, r, z);
  Array beta = newRho / rho;
  Array scaled = beta * p;
  stream.applyTo(p, "add", "%r = arith.addf %a0, %a1 : f64", {scaled, z});
  // Not sooner: points of a group share a scalar, which none of them may change while another reads it.
  stream.rename(newRho, rho);
  Array q = stream.multiply(matrix, p);
  Array alpha = rho / stream.dot(p, q);
  x += alpha * p;
  r -= alpha * q;
  stream.endLoop();
  return {x};
}

Results task_programs::recordConjugateGradients(Stream &stream, const Parameters &parameters) {
  Stream::Csr matrix = createPoisson(stream, parameters.n);
  return recordCg(stream, parameters, matrix, [&](Array z, Array r) { stream.assign(z, r); });
}

Results task_programs::recordMultigrid(Stream &stream, const Parameters &parameters) {
  int64_t m = parameters.n, coarse = (m + 1) / 2;
  Stream::Csr matrix = createPoisson(stream, m), restriction = createInjection(stream, m),
              prolongation = createProlongation(stream, m);
  Array inverseDiagonal = stream.create({m * m}), coarseInverse = stream.create({coarse * coarse});
  stream.fill(inverseDiagonal, 0.25);
  // No two even points are neighbours, so the coarse matrix R A P is 4 times the identity.
  stream.fill(coarseInverse, 0.25);

  // omega = (4/3) / rho(D^-1 A), rho by 15 power iterations with a Rayleigh quotient.
  Array omega = stream.create({}), coarseOmega = stream.create({}), rayleigh = stream.create({});
  stream.fill(coarseOmega, 4.0 / 3.0);
  Array v = stream.fromIndices({m * m}, "f64",
                               "%unit = arith.constant 1 : index\n"
                               "%k = arith.addi %i0, %unit : index\n"
                               "%ki = arith.index_cast %k : index to i64\n"
                               "%kf = arith.sitofp %ki : i64 to f64\n"
                               "%phi = arith.constant 0.6180339887498949 : f64\n"
                               "%u = arith.mulf %kf, %phi : f64\n"
                               "%floor = math.floor %u : f64\n"
                               "%r = arith.subf %u, %floor : f64\n");
  stream.beginLoop(15);
  Array norm = sqrt(stream.dot(v, v));
  Array unit = v / norm;
  Array image = stream.multiply(matrix, unit);
  stream.applyTo(v, "multiply", "%r = arith.mulf %a0, %a1 : f64", {inverseDiagonal, image});
  stream.dotTo(rayleigh, unit, v);
  stream.endLoop();
  stream.applyTo(omega, "divide", "%r = arith.divf %a0, %a1 : f64", {4.0 / 3.0, rayleigh});

  return recordCg(stream, parameters, matrix, [&](Array z, Array r) {
    Array x = omega * r * inverseDiagonal;
    Array coarseResidual = stream.multiply(restriction, r - stream.multiply(matrix, x));
    Array correction = coarseOmega * coarseResidual * coarseInverse;
    Array corrected = x + stream.multiply(prolongation, correction);
    Array smoothing = omega * (r - stream.multiply(matrix, corrected)) * inverseDiagonal;
    stream.applyTo(z, "add", "%r = arith.addf %a0, %a1 : f64", {corrected, smoothing});
  });
}

Results task_programs::recordBiCgStab(Stream &stream, const Parameters &parameters) {
  int64_t n = parameters.n * parameters.n;
  Stream::Csr matrix = createPoisson(stream, parameters.n);
  Array b = createRightHandSide(stream, parameters.n, parameters.rhs);
  Array x = zeros(stream, n), r = stream.create({n}), shadow = stream.create({n}), p = stream.create({n});
  Array product = stream.multiply(matrix, x);
  stream.applyTo(r, "subtract", "%r = arith.subf %a0, %a1 : f64", {b, product});
  stream.assign(shadow, r);
  stream.assign(p, r);
  stream.beginLoop(parameters.steps);
  Array ap = stream.multiply(matrix, p);
  Array alpha = stream.create({});
  Array numerator = stream.dot(r, shadow), denominator = stream.dot(ap, shadow);
  divideTo(alpha, numerator, denominator);
  Array s = r - alpha * ap;
  Array as = stream.multiply(matrix, s);
  Array omega = stream.create({});
  numerator = stream.dot(as, s);
  denominator = stream.dot(as, as);
  divideTo(omega, numerator, denominator);
  Array direction = alpha * p;
  x += direction + omega * s;
  Array step = omega * as;
  // The old product is taken before r is overwritten.
  Array oldRho = stream.dot(r, shadow);
  stream.applyTo(r, "subtract", "%r = arith.subf %a0, %a1 : f64", {s, step});
  Array ratio = alpha / omega;
  Array newRho = stream.dot(r, shadow);
  Array beta = ratio * (newRho / oldRho);
  Array update = beta * (p - omega * ap);
  stream.applyTo(p, "add", "%r = arith.addf %a0, %a1 : f64", {r, update});
  stream.beginIf(compare("olt", abs(newRho), 1e-8));
  stream.assign(shadow, r);
  stream.assign(p, r);
  stream.endIf();
  stream.endLoop();
  return {x};
}
