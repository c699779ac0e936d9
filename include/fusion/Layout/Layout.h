//===- Layout.h - Which register of which thread holds which element ------===//
//
// A layout distributes the elements of a tile over the registers of the threads of a block: registers x lanes x warps
// -> coordinates. Each bit of the register number, the lane and the warp stands for one bit of one coordinate, or for
// none (then the threads that differ in it hold the same elements: a broadcast). The box that these bits span, the
// atom, is repeated in further registers, so extents need not be powers of two. Blocked layouts, the fragments of mma
// and wgmma and slices of all of these are layouts; a coordinate is always the sum of a part that the thread decides
// and a constant of the register.
//
// Values are immutable once built and may be shared between threads.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_LAYOUT_LAYOUT_H
#define FUSION_LAYOUT_LAYOUT_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>

namespace fusion {

/// A bit of a coordinate: weight `1 << position` along `dim`. A negative `dim` is no coordinate: a broadcast.
struct CoordinateBit {
  int dim = -1;
  int position = 0;

  bool isBroadcast() const { return dim < 0; }
  bool operator==(const CoordinateBit &other) const {
    return dim == other.dim && (dim < 0 || position == other.position);
  }
};

class Layout {
public:
  using Bits = llvm::SmallVector<CoordinateBit, 6>;
  using Point = llvm::SmallVector<int64_t, 4>;

  Layout() = default;
  /// `repeats` has one entry per dimension. Every layout has five lane bits; missing ones are broadcasts.
  Layout(Bits registers, Bits lanes, Bits warps, llvm::ArrayRef<int64_t> repeats);

  unsigned getRank() const { return repeats.size(); }
  const Bits &getRegisterBits() const { return registers; }
  const Bits &getLaneBits() const { return lanes; }
  const Bits &getWarpBits() const { return warps; }
  int64_t getRepeat(unsigned dim) const { return repeats[dim]; }
  /// Extent of the atom, and of all repetitions of it.
  int64_t getAtom(unsigned dim) const { return int64_t(1) << numBits[dim]; }
  int64_t getExtent(unsigned dim) const { return getAtom(dim) * repeats[dim]; }
  int64_t getNumRegisters() const;
  int64_t getNumWarps() const { return int64_t(1) << warps.size(); }

  /// The part of the coordinates that register `number` decides, and that lane and warp decide. Their sum is the
  /// element.
  Point getRegisterPart(int64_t number) const;
  Point getThreadPart(int64_t lane, int64_t warp) const;
  Point getPoint(int64_t number, int64_t lane, int64_t warp) const;

  /// The register whose part is `part`, or none.
  std::optional<int64_t> findRegister(llvm::ArrayRef<int64_t> part) const;

  /// Whether each element of the extents is held exactly once, but for broadcasts: no two bits are the same, and
  /// together they are all of the atom. A layout that is not must not be used.
  bool isValid() const;

  /// The layout of what has only the dimensions `dims` of this one, in that order: a slice where some are missing, a
  /// transpose where the order differs.
  Layout project(llvm::ArrayRef<unsigned> dims) const;

  /// The layout over `rank` dimensions whose dimension `dims[i]` is this one's `i`; each thread holds all of the
  /// others, whose extents are given in `extents`.
  Layout expand(unsigned rank, llvm::ArrayRef<unsigned> dims, llvm::ArrayRef<int64_t> extents) const;

  /// The longest run of elements along `dim` that consecutive registers from 0 on hold.
  int64_t getVectorLength(unsigned dim) const;

  bool operator==(const Layout &other) const;
  bool operator!=(const Layout &other) const { return !(*this == other); }

  /// `regs[1.0 1.1] lanes[1.3 - 0.0 0.1 0.2] warps[] x[1 3]`, and back.
  std::string print() const;
  static std::optional<Layout> parse(llvm::StringRef text);

private:
  Bits registers, lanes, warps;
  llvm::SmallVector<int64_t, 4> repeats;
  /// Number of bits per dimension.
  llvm::SmallVector<int, 4> numBits;
};

/// A layout for coalesced access to a tile of `shape`: `vector` elements of `order[0]` in a thread's registers, then
/// lanes, then warps along `order[0]`, `order[1]`, ... as far as the shape reaches. `warpsFirst` puts warps on the last
/// dimensions of the order first, so that a row stays within a warp where there are rows enough.
Layout getBlockedLayout(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order, int64_t vector, int64_t numWarps,
                        bool warpsFirst);

/// Fragments of mma.sync m16n8k16 (16-bit types) for a tile of rows x columns, repeated over the tile, with a grid of
/// `warps` over it: the accumulator [m, n], the operand A [m, k], the operand B [k, n]. PTX ISA, "Matrix fragments for
/// mma.m16n8k16".
Layout getMmaAccumulator(int64_t rows, int64_t columns, int64_t warpRows, int64_t warpColumns);
Layout getMmaOperandA(int64_t rows, int64_t depth, int64_t warpRows, int64_t warpColumns);
Layout getMmaOperandB(int64_t depth, int64_t columns, int64_t warpRows, int64_t warpColumns);

/// The same for m16n8k8 of tf32 (32-bit types): A [m, k], B [k, n]; the accumulator is that of m16n8k16.
Layout getMmaOperandA32(int64_t rows, int64_t depth, int64_t warpRows, int64_t warpColumns);
Layout getMmaOperandB32(int64_t depth, int64_t columns, int64_t warpRows, int64_t warpColumns);

/// The accumulator of wgmma m64nNk16: each warp of a group of four has 16 rows.
Layout getWarpgroupAccumulator(int64_t rows, int64_t columns, int64_t warpgroups);

/// How values get from one layout to another of the same rank, cheapest first.
enum class Conversion {
  None,      ///< the same registers in the same order
  Registers, ///< other register numbers of the same thread
  Shuffle,   ///< registers of other lanes of the same warp
  Shared     ///< through shared memory
};
Conversion getConversion(const Layout &from, const Layout &to);

/// For each register of `to` the register of `from`, of the same thread, that holds the same element; only for
/// Conversion None and Registers.
llvm::SmallVector<int64_t> getRegisterMap(const Layout &from, const Layout &to);

} // namespace fusion

#endif // FUSION_LAYOUT_LAYOUT_H
