//===- DimTable.cpp - Dimension alignment ---------------------------------===//

#include "fusion/Analysis/DimTable.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"

#include <numeric>

using namespace mlir;
using namespace fusion;

DimTable::Dim DimTable::create(OpFoldResult extent) {
  entries.push_back({extent, std::nullopt, {}});
  return entries.size() - 1;
}

DimTable::Dims DimTable::createAxis(OpFoldResult extent) {
  if (isConstantIntValue(extent, 1))
    return {};
  return {create(extent)};
}

DimTable::Entry &DimTable::change(Dim dim) {
  changes.push_back({dim, entries[dim]});
  return entries[dim];
}

void DimTable::split(Dim dim, ArrayRef<Dim> parts) { change(dim).parts = Dims(parts); }

DimTable::Dims DimTable::resolve(ArrayRef<Dim> dims) const {
  Dims result;
  for (Dim dim : dims) {
    while (entries[dim].same)
      dim = *entries[dim].same;
    if (!entries[dim].parts.empty())
      result.append(resolve(entries[dim].parts));
    else if (!isConstantIntValue(entries[dim].extent, 1))
      result.push_back(dim);
  }
  return result;
}

void DimTable::rollback(Mark mark) {
  while (changes.size() > mark.numChanges) {
    entries[changes.back().dim] = std::move(changes.back().before);
    changes.pop_back();
  }
  entries.resize(mark.numEntries);
}

bool DimTable::unify(ArrayRef<Dim> lhs, ArrayRef<Dim> rhs) {
  Dims left = resolve(lhs), right = resolve(rhs);
  auto isSame = [&](Dim a, Dim b) {
    return a == b || isEqualConstantIntOrValue(entries[a].extent, entries[b].extent);
  };
  auto merge = [&](Dim a, Dim b) {
    if (a == b)
      return;
    // A static extent says more than a value.
    if (getConstantIntValue(entries[b].extent) && !getConstantIntValue(entries[a].extent))
      std::swap(a, b);
    change(b).same = a;
  };

  while (true) {
    left = resolve(left);
    right = resolve(right);
    // What is equal at the front and at the back.
    while (!left.empty() && !right.empty() && isSame(left.front(), right.front())) {
      merge(left.front(), right.front());
      left.erase(left.begin());
      right.erase(right.begin());
    }
    while (!left.empty() && !right.empty() && isSame(left.back(), right.back())) {
      merge(left.back(), right.back());
      left.pop_back();
      right.pop_back();
    }
    if (left.empty() || right.empty())
      return left.empty() && right.empty();

    std::optional<int64_t> front[] = {getConstantIntValue(entries[left.front()].extent),
                                      getConstantIntValue(entries[right.front()].extent)};
    bool isDynamic = !front[0] || !front[1];
    if (left.size() == 1 && right.size() == 1) {
      // The axes are known to be equal, so two names of one run-time extent are one dimension.
      if (!isDynamic)
        return false;
      merge(left.front(), right.front());
      return true;
    }
    // One dimension is the whole of the other side.
    if (left.size() == 1 || right.size() == 1) {
      Dim whole = left.size() == 1 ? left.front() : right.front();
      ArrayRef<Dim> parts = left.size() == 1 ? ArrayRef<Dim>(right) : ArrayRef<Dim>(left);
      std::optional<int64_t> extent = getConstantIntValue(entries[whole].extent);
      int64_t product = 1;
      bool allStatic = true;
      for (Dim part : parts) {
        std::optional<int64_t> size = getConstantIntValue(entries[part].extent);
        allStatic &= size.has_value();
        product *= size.value_or(1);
      }
      if (extent && allStatic && *extent != product)
        return false;
      split(whole, parts);
      return true;
    }
    if (isDynamic || *front[0] == 0 || *front[1] == 0)
      return false;
    // Split off the common factor at the front of both.
    int64_t common = std::gcd(*front[0], *front[1]);
    if (common == 1)
      return false;
    for (Dims *side : {&left, &right}) {
      Dim first = side->front();
      int64_t extent = *getConstantIntValue(entries[first].extent);
      if (extent == common)
        continue;
      Builder builder(entries[first].extent.getContext());
      Dims parts = {create(builder.getIndexAttr(common)), create(builder.getIndexAttr(extent / common))};
      split(first, parts);
      side->erase(side->begin());
      side->insert(side->begin(), parts.begin(), parts.end());
    }
  }
}
