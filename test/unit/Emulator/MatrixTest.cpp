//===- MatrixTest.cpp - mma.sync, ldmatrix and stmatrix ---------------------===//
//
// Lane maps are written here as the PTX ISA writes them, one rule per shape, apart from the single formula of the run-time.
//
//===------------------------------------------------------------------------===//

#include "WarpRunner.h"

#include "fusion/Runtime/HalfFloat.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

using namespace fusion::test;

namespace {
struct Coordinate {
  int row, column;
};

/// A shape of the PTX ISA: what element i of a fragment of a lane is.
struct Shape {
  std::string name;
  int m, n, k;
  /// Elements of A, B, C in a lane, elements in a register.
  int elementsA, elementsB, elementsC, perRegister;
  std::function<Coordinate(int group, int member, int i)> a, b;
  std::vector<std::string> operandTypes, resultTypes;
  /// Rounds a real number to the type of the operands, and back.
  std::function<uint64_t(double)> encode;
  std::function<double(uint64_t)> decode;
};

std::vector<std::string> repeat(std::initializer_list<std::pair<std::string, int>> groups) {
  std::vector<std::string> types;
  for (auto &[type, count] : groups)
    types.insert(types.end(), count, type);
  return types;
}

uint64_t encodeHalf(double v) { return fusion_rt_double_to_half(v); }
double decodeHalf(uint64_t v) { return fusion_rt_half_to_float(uint16_t(v)); }
uint64_t encodeBrain(double v) { return fusion_rt_double_to_brain(v); }
double decodeBrain(uint64_t v) { return floatOf(v << 16); }
uint64_t encodeTf32(double v) { return bitsOf(float(v)) & 0xffffe000; }
double decodeTf32(uint64_t v) { return floatOf(v); }
uint64_t encodeS8(double v) { return uint8_t(int8_t(v)); }
double decodeS8(uint64_t v) { return int8_t(v); }

std::vector<Shape> getShapes() {
  std::vector<Shape> shapes;
  auto a16 = [](int g, int t, int i) {
    return Coordinate{i < 2 || (i >= 4 && i < 6) ? g : g + 8, t * 2 + (i & 1) + (i < 4 ? 0 : 8)};
  };
  auto b16 = [](int g, int t, int i) { return Coordinate{t * 2 + (i & 1) + (i < 2 ? 0 : 8), g}; };
  shapes.push_back({"llvm.nvvm.mma.m16n8k16.row.col.f32.f32", 16, 8, 16, 8, 4, 4, 2, a16, b16,
                    repeat({{"<2 x half>", 6}, {"float", 4}}), repeat({{"float", 4}}), encodeHalf, decodeHalf});
  shapes.push_back({"llvm.nvvm.mma.m16n8k16.row.col.bf16", 16, 8, 16, 8, 4, 4, 2, a16, b16,
                    repeat({{"i32", 6}, {"float", 4}}), repeat({{"float", 4}}), encodeBrain, decodeBrain});
  auto a8 = [](int g, int t, int i) { return Coordinate{i < 2 ? g : g + 8, t * 2 + (i & 1)}; };
  auto b8 = [](int g, int t, int i) { return Coordinate{t * 2 + i, g}; };
  shapes.push_back({"llvm.nvvm.mma.m16n8k8.row.col.f32.f32", 16, 8, 8, 4, 2, 4, 2, a8, b8,
                    repeat({{"<2 x half>", 3}, {"float", 4}}), repeat({{"float", 4}}), encodeHalf, decodeHalf});
  shapes.push_back({"llvm.nvvm.mma.m16n8k8.row.col.bf16", 16, 8, 8, 4, 2, 4, 2, a8, b8,
                    repeat({{"i32", 3}, {"float", 4}}), repeat({{"float", 4}}), encodeBrain, decodeBrain});
  auto aTf32 = [](int g, int t, int i) { return Coordinate{i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4}; };
  auto bTf32 = [](int g, int t, int i) { return Coordinate{i == 0 ? t : t + 4, g}; };
  shapes.push_back({"llvm.nvvm.mma.m16n8k8.row.col.tf32", 16, 8, 8, 4, 2, 4, 1, aTf32, bTf32,
                    repeat({{"i32", 6}, {"float", 4}}), repeat({{"float", 4}}), encodeTf32, decodeTf32});
  auto aTf32k4 = [](int g, int t, int i) { return Coordinate{i == 0 ? g : g + 8, t}; };
  auto bTf32k4 = [](int g, int t, int) { return Coordinate{t, g}; };
  shapes.push_back({"llvm.nvvm.mma.m16n8k4.row.col.tf32", 16, 8, 4, 2, 1, 4, 1, aTf32k4, bTf32k4,
                    repeat({{"i32", 3}, {"float", 4}}), repeat({{"float", 4}}), encodeTf32, decodeTf32});
  auto aByte = [](int g, int t, int i) {
    return Coordinate{i < 4 || (i >= 8 && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i < 8 ? 0 : 16)};
  };
  auto bByte = [](int g, int t, int i) { return Coordinate{t * 4 + (i & 3) + (i < 4 ? 0 : 16), g}; };
  shapes.push_back({"llvm.nvvm.mma.m16n8k32.row.col.s8", 16, 8, 32, 16, 8, 4, 4, aByte, bByte, repeat({{"i32", 10}}),
                    repeat({{"i32", 4}}), encodeS8, decodeS8});
  return shapes;
}

/// Element i of C: the same for all shapes of 16 rows.
Coordinate getC(int g, int t, int i) { return {i < 2 ? g : g + 8, t * 2 + (i & 1)}; }

class Mma : public ::testing::TestWithParam<int> {
protected:
  Shape shape = getShapes()[GetParam()];
  double a[16][32] = {}, b[32][8] = {}, c[16][8] = {};

  LaneValues pack(bool isInteger) const {
    LaneValues in;
    for (int lane = 0; lane < 32; ++lane) {
      int g = lane / 4, t = lane % 4, bits = 32 / shape.perRegister;
      std::vector<uint64_t> &slots = in[lane];
      auto add = [&](int count, auto at, auto value) {
        for (int i = 0; i < count; ++i) {
          if (i % shape.perRegister == 0)
            slots.push_back(0);
          slots.back() |= shape.encode(value(at(g, t, i))) << (i % shape.perRegister * bits);
        }
      };
      add(shape.elementsA, shape.a, [&](Coordinate x) { return a[x.row][x.column]; });
      add(shape.elementsB, shape.b, [&](Coordinate x) { return b[x.row][x.column]; });
      for (int i = 0; i < 4; ++i) {
        Coordinate x = getC(g, t, i);
        slots.push_back(isInteger ? uint32_t(int32_t(c[x.row][x.column])) : bitsOf(float(c[x.row][x.column])));
      }
    }
    return in;
  }
};

class RealMma : public Mma {};
} // namespace

TEST_P(Mma, ExactProducts) {
  std::mt19937 engine(5);
  auto draw = [&] { return double(int(engine() % 15) - 7); };
  for (auto &row : a)
    for (double &x : row)
      x = draw();
  for (auto &row : b)
    for (double &x : row)
      x = draw();
  for (auto &row : c)
    for (double &x : row)
      x = draw();
  bool isInteger = shape.resultTypes[0] == "i32";
  LaneValues out = runIntrinsic(shape.name, shape.operandTypes, shape.resultTypes, pack(isInteger));
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      Coordinate x = getC(lane / 4, lane % 4, i);
      double want = c[x.row][x.column];
      for (int k = 0; k < shape.k; ++k)
        want += a[x.row][k] * b[k][x.column];
      double got = isInteger ? double(int32_t(out[lane][i])) : floatOf(out[lane][i]);
      EXPECT_EQ(got, want) << "row " << x.row << " column " << x.column;
    }
}

TEST_P(RealMma, WithinOneUnit) {
  std::mt19937 engine(7);
  auto draw = [&] { return double(engine()) / 4294967296.0 * 2 - 1; };
  auto fill = [&](auto &matrix) {
    for (auto &row : matrix)
      for (double &x : row)
        x = shape.decode(shape.encode(draw()));
  };
  fill(a);
  fill(b);
  for (auto &row : c)
    for (double &x : row)
      x = float(draw());
  LaneValues out = runIntrinsic(shape.name, shape.operandTypes, shape.resultTypes, pack(false));
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      Coordinate x = getC(lane / 4, lane % 4, i);
      double want = c[x.row][x.column];
      for (int k = 0; k < shape.k; ++k)
        want += a[x.row][k] * b[k][x.column];
      double got = floatOf(out[lane][i]);
      // Toward zero: never larger than the exact sum, and less than one unit in the last place below it.
      EXPECT_LE(std::fabs(got), std::fabs(want) * (1 + 0x1p-50));
      EXPECT_GE(std::fabs(got), std::fabs(want) * (1 - 0x1p-23));
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Mma, ::testing::Range(0, 7));
INSTANTIATE_TEST_SUITE_P(Shapes, RealMma, ::testing::Range(0, 6));

// The sum is rounded toward zero, once.
TEST(MmaRounding, Table) {
  struct Row {
    double c, product, want;
  };
  const Row table[] = {
      {1, 0x1p-24, 1},                   // a tie
      {1, 0x1.8p-24, 1},                 // above half a unit
      {1, 0x1p-23, 1 + 0x1p-23},         // one unit
      {-1, -0x1.8p-24, -1},              //
      {1, -0x1p-25, 1 - 0x1p-24},        // below one the units are half as large
      {-1, 0x1p-25, -(1 - 0x1p-24)},     //
      {0x1p-14, 0, 0x1p-14},             //
      {0, 0x1p-48, 0x1p-48},             // subnormal operands are kept: 2^-24 * 2^-24
  };
  for (const Row &row : table) {
    LaneValues in;
    for (auto &lane : in)
      lane.assign(10, 0);
    // A[0][0] = x, B[0][0] = y of lane 0 with x * y the product; C[0][0].
    double x = std::fabs(row.product) < 0x1p-24 ? 0x1p-24 : 0x1p-12, y = row.product / x;
    in[0][0] = encodeHalf(x);
    in[0][4] = encodeHalf(y);
    in[0][6] = bitsOf(float(row.c));
    LaneValues out = runIntrinsic("llvm.nvvm.mma.m16n8k16.row.col.f32.f32", repeat({{"<2 x half>", 6}, {"float", 4}}),
                                  repeat({{"float", 4}}), in);
    EXPECT_EQ(double(floatOf(out[0][0])), row.want) << row.c << " + " << row.product;
  }
}

TEST(MmaRounding, Tf32IgnoresLowBits) {
  LaneValues in;
  for (auto &lane : in)
    lane.assign(10, 0);
  in[0][0] = bitsOf(1.0f) | 0x1fff;
  in[0][4] = bitsOf(3.0f) | 0x1fff;
  LaneValues out = runIntrinsic("llvm.nvvm.mma.m16n8k8.row.col.tf32", repeat({{"i32", 6}, {"float", 4}}),
                                repeat({{"float", 4}}), in);
  EXPECT_EQ(floatOf(out[0][0]), 3.0f);
}

TEST(MmaRounding, F8Operands) {
  // 1.5 in e4m3 (bias 7, 3 bits) and 0.75 in e5m2 (bias 15, 2 bits).
  LaneValues in;
  for (auto &lane : in)
    lane.assign(10, 0);
  in[0][0] = 0x3c;
  in[0][4] = 0x3a;
  LaneValues out = runIntrinsic("llvm.nvvm.mma.m16n8k32.row.col.f32.e4m3.e5m2.f32", repeat({{"i32", 6}, {"float", 4}}),
                                repeat({{"float", 4}}), in);
  EXPECT_EQ(floatOf(out[0][0]), 1.125f);
}

namespace {
/// Each lane stores four words of its own to shared memory, lane by lane, then calls the intrinsic with the address of
/// row `lane` of 16 bytes.
std::string makeLdmatrix(const std::string &intrinsic, unsigned count) {
  std::string type = count == 1 ? "i32" : count == 2 ? "{ i32, i32 }" : "{ i32, i32, i32, i32 }";
  std::string text = R"(@s = external addrspace(3) global [0 x i8], align 16
define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %i = mul i32 %t, 2
  %p = getelementptr i64, ptr addrspace(1) %in, i32 %i
  %v = load <4 x i32>, ptr addrspace(1) %p, align 16
  %o = mul i32 %t, 16
  %q = getelementptr i8, ptr addrspace(3) @s, i32 %o
  store <4 x i32> %v, ptr addrspace(3) %q, align 16
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
)";
  text += "  %r = call " + type + " @" + intrinsic + "(ptr addrspace(3) %q)\n";
  text += "  %w = mul i32 %t, " + std::to_string(count) + "\n";
  for (unsigned n = 0; n < count; ++n) {
    std::string number = std::to_string(n);
    std::string value = count == 1 ? "%r" : "%e" + number;
    if (count > 1)
      text += "  %e" + number + " = extractvalue " + type + " %r, " + number + "\n";
    text += "  %w" + number + " = add i32 %w, " + number + "\n  %p" + number +
            " = getelementptr i64, ptr addrspace(1) %out, i32 %w" + number + "\n  store i32 " + value +
            ", ptr addrspace(1) %p" + number + "\n";
  }
  return text + "  ret void\n}\ndeclare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
                "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\ndeclare " +
         type + " @" + intrinsic + "(ptr addrspace(3))\n";
}
} // namespace

// PTX ISA, ldmatrix: lane l gets the elements 2 * (l mod 4) and the next of row l / 4 of each matrix; with .trans of column
// l / 4. Rows of matrix i are at the addresses of lanes 8 * i and following.
TEST(Ldmatrix, LaneMap) {
  LaneValues in;
  auto element = [](unsigned row, unsigned column) { return uint16_t(row * 64 + column); };
  for (unsigned row = 0; row < 32; ++row)
    for (unsigned half = 0; half < 2; ++half) {
      uint64_t word = 0;
      for (unsigned i = 0; i < 4; ++i)
        word |= uint64_t(element(row, half * 4 + i)) << (16 * i);
      in[row].push_back(word);
    }
  for (unsigned count : {1u, 2u, 4u})
    for (bool isTransposed : {false, true}) {
      std::string name = "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                         (isTransposed ? ".trans" : "") + ".b16.p3";
      LaneValues out = runKernel(makeLdmatrix(name, count), in, count);
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned matrix = 0; matrix < count; ++matrix)
          for (unsigned i = 0; i < 2; ++i) {
            unsigned row = isTransposed ? lane % 4 * 2 + i : lane / 4, column = isTransposed ? lane / 4 : lane % 4 * 2 + i;
            EXPECT_EQ(uint16_t(out[lane][matrix] >> (16 * i)), element(matrix * 8 + row, column))
                << name << " lane " << lane;
          }
    }
}
