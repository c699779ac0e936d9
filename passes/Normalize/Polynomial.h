//===- Polynomial.h - Integer polynomials over unknown extents ----------------===//

#ifndef FUSION_PASSES_NORMALIZE_POLYNOMIAL_H
#define FUSION_PASSES_NORMALIZE_POLYNOMIAL_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace fusion {

/// A polynomial with 64-bit coefficients over atoms, which are numbered. Sums and products wrap around like machine
/// arithmetic, so that equal polynomials mean equal values without further ado.
class Polynomial {
public:
  /// Atoms of a product, in ascending order, repeated as often as they occur. The empty product is one.
  using Monomial = std::vector<unsigned>;

  Polynomial() = default;
  static Polynomial constant(int64_t value);
  static Polynomial atom(unsigned id);

  Polynomial operator+(const Polynomial &other) const;
  Polynomial operator-(const Polynomial &other) const;
  Polynomial operator*(const Polynomial &other) const;
  bool operator==(const Polynomial &other) const { return terms == other.terms; }
  bool operator<(const Polynomial &other) const { return terms < other.terms; }

  /// The exact quotient by a divisor of one term; none if a term is not divisible, or for a divisor of zero.
  std::optional<Polynomial> divideExactly(const Polynomial &divisor) const;

  std::optional<int64_t> getConstant() const;
  std::optional<unsigned> getAtom() const;
  bool contains(unsigned id) const;
  llvm::SmallVector<unsigned> getAtoms() const;

  /// The polynomial with `value` in place of atom `id`.
  Polynomial substitute(unsigned id, const Polynomial &value) const;

  /// Term by term, without zeros.
  const std::map<Monomial, int64_t> &getTerms() const { return terms; }

private:
  void add(const Monomial &monomial, int64_t coefficient);

  std::map<Monomial, int64_t> terms;
};

} // namespace fusion

#endif // FUSION_PASSES_NORMALIZE_POLYNOMIAL_H
