//===- Polynomial.cpp - Integer polynomials over unknown extents --------------===//

#include "Polynomial.h"

#include <algorithm>
#include <iterator>
#include <set>

namespace fusion {

static int64_t wrappingProduct(int64_t lhs, int64_t rhs) {
  return static_cast<int64_t>(static_cast<uint64_t>(lhs) * static_cast<uint64_t>(rhs));
}

Polynomial Polynomial::constant(int64_t value) {
  Polynomial result;
  result.add({}, value);
  return result;
}

Polynomial Polynomial::atom(unsigned id) {
  Polynomial result;
  result.add({id}, 1);
  return result;
}

void Polynomial::add(const Monomial &monomial, int64_t coefficient) {
  int64_t &sum = terms[monomial];
  sum = static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(coefficient));
  if (sum == 0)
    terms.erase(monomial);
}

Polynomial Polynomial::operator+(const Polynomial &other) const {
  Polynomial result = *this;
  for (const auto &[monomial, coefficient] : other.terms)
    result.add(monomial, coefficient);
  return result;
}

Polynomial Polynomial::operator-(const Polynomial &other) const { return *this + constant(-1) * other; }

Polynomial Polynomial::operator*(const Polynomial &other) const {
  Polynomial result;
  for (const auto &[lhs, lhsCoefficient] : terms)
    for (const auto &[rhs, rhsCoefficient] : other.terms) {
      Monomial product;
      std::merge(lhs.begin(), lhs.end(), rhs.begin(), rhs.end(), std::back_inserter(product));
      result.add(product, wrappingProduct(lhsCoefficient, rhsCoefficient));
    }
  return result;
}

std::optional<Polynomial> Polynomial::divideExactly(const Polynomial &divisor) const {
  if (divisor.terms.size() != 1)
    return std::nullopt;
  const auto &[by, byCoefficient] = *divisor.terms.begin();
  Polynomial result;
  for (const auto &[monomial, coefficient] : terms) {
    if (byCoefficient == -1 ? coefficient == INT64_MIN : coefficient % byCoefficient != 0)
      return std::nullopt;
    if (!std::includes(monomial.begin(), monomial.end(), by.begin(), by.end()))
      return std::nullopt;
    Monomial quotient;
    std::set_difference(monomial.begin(), monomial.end(), by.begin(), by.end(), std::back_inserter(quotient));
    result.add(quotient, coefficient / byCoefficient);
  }
  return result;
}

std::optional<int64_t> Polynomial::getConstant() const {
  if (terms.empty())
    return 0;
  if (terms.size() == 1 && terms.begin()->first.empty())
    return terms.begin()->second;
  return std::nullopt;
}

std::optional<unsigned> Polynomial::getAtom() const {
  if (terms.size() != 1 || terms.begin()->first.size() != 1 || terms.begin()->second != 1)
    return std::nullopt;
  return terms.begin()->first.front();
}

bool Polynomial::contains(unsigned id) const {
  return std::any_of(terms.begin(), terms.end(),
                     [&](const auto &term) { return std::binary_search(term.first.begin(), term.first.end(), id); });
}

llvm::SmallVector<unsigned> Polynomial::getAtoms() const {
  std::set<unsigned> atoms;
  for (const auto &[monomial, coefficient] : terms)
    atoms.insert(monomial.begin(), monomial.end());
  return llvm::SmallVector<unsigned>(atoms.begin(), atoms.end());
}

Polynomial Polynomial::substitute(unsigned id, const Polynomial &value) const {
  Polynomial result;
  for (const auto &[monomial, coefficient] : terms) {
    Polynomial term = constant(coefficient);
    for (unsigned factor : monomial)
      term = term * (factor == id ? value : atom(factor));
    result = result + term;
  }
  return result;
}

} // namespace fusion
