//===- Check.cpp - Checking update functions by evaluation ------------------===//

#include "fusion/Algebra/Update.h"

#include <cmath>
#include <random>

using namespace mlir;
using namespace fusion::algebra;
using fusion::spacemap::Reducer;

namespace {

constexpr unsigned numElements = 6;
/// Points are drawn until this many are in range, or given up.
constexpr unsigned numRounds = 600, numRequired = 48;

double combineValues(Reducer reducer, double a, double b) {
  switch (reducer) {
  case Reducer::Sum:
    return a + b;
  case Reducer::Prod:
    return a * b;
  case Reducer::Max:
  case Reducer::MaxNum:
  case Reducer::MaxUnsigned:
    return std::max(a, b);
  case Reducer::Min:
  case Reducer::MinNum:
  case Reducer::MinUnsigned:
    return std::min(a, b);
  case Reducer::And:
    return static_cast<double>(static_cast<int64_t>(a) & static_cast<int64_t>(b));
  case Reducer::Or:
    return static_cast<double>(static_cast<int64_t>(a) | static_cast<int64_t>(b));
  case Reducer::Xor:
    return static_cast<double>(static_cast<int64_t>(a) ^ static_cast<int64_t>(b));
  }
  return std::nan("");
}

double reduceIdentity(Reducer reducer, Type type) {
  // All bits set is true for a boolean.
  if (reducer == Reducer::And)
    return type.isInteger(1) ? 1 : -1;
  return isa<FloatType>(type) ? identityValue(reducer) : reducer == Reducer::Prod ? 1 : std::nan("");
}

/// The leaves of expressions, which are asked for in every draw.
class Leaves {
public:
  ArrayRef<Expr> of(Expr expr) {
    auto [it, isNew] = known.try_emplace(expr.get());
    if (isNew)
      it->second = std::make_unique<SmallVector<Expr, 6>>(expr.leaves());
    return *it->second;
  }

private:
  llvm::DenseMap<const Node *, std::unique_ptr<SmallVector<Expr, 6>>> known;
};

/// One draw: elements, and states before and after the last of them.
class Draw {
public:
  Draw(ArrayRef<Expr> roots, Leaves &leaves, std::mt19937_64 &random) : random(random), leaves(leaves) {
    static const double offsets[] = {0, 0, 1, -3, 100, -1e4, 1e4}, spreads[] = {0.1, 1, 5};
    common = offsets[random() % 7];
    shareOffset = random() % 2;
    spread = spreads[random() % 3];
    old = 1 + random() % (numElements - 1);
    for (Expr root : roots)
      addLeaves(root);
    for (Expr leaf : states) {
      before[leaf.get()] = getState(leaf, old, beforeCache);
      after[leaf.get()] = getState(leaf, numElements, afterCache);
    }
  }

  /// Leaves of element `index` and the states before or after the slice.
  Assignment assignment(unsigned index, bool useAfter) {
    Assignment values = elements[index];
    for (auto [node, value] : useAfter ? after : before)
      values[node] = value;
    return values;
  }
  void addNext(ExprContext &context, Assignment &values) {
    for (Expr leaf : states)
      values[context.next(leaf).get()] = after.lookup(leaf.get());
  }
  unsigned numSeen() const { return old; }

private:
  void addLeaves(Expr root) {
    for (Expr leaf : leaves.of(root)) {
      if (!known.insert(leaf.get()).second)
        continue;
      if (leaf.role() == Role::State) {
        if (leaf.facts().source)
          addLeaves(Expr(leaf.facts().source));
        states.push_back(leaf);
        continue;
      }
      if (leaf.role() != Role::Varying && leaf.role() != Role::Parameter)
        continue;
      double offset = shareOffset ? common : random() % 2 ? 0 : std::normal_distribution<double>(0, 10)(random);
      double fixed = drawLeaf(leaf, offset);
      for (Assignment &element : elements)
        element[leaf.get()] = leaf.role() == Role::Parameter ? fixed : drawLeaf(leaf, offset);
    }
  }
  double drawLeaf(Expr leaf, double offset) {
    if (leaf.type().isInteger(1))
      return static_cast<double>(random() % 2);
    if (!leaf.isFloat())
      return static_cast<double>(static_cast<int64_t>(random() % 17) - 8);
    double value = std::normal_distribution<double>(0, spread)(random);
    return isPositive(leaf, /*orZero=*/true) ? std::fabs(value) + 0.01 : offset + value;
  }
  double getState(Expr leaf, unsigned count, Assignment &cache) {
    if (auto it = cache.find(leaf.get()); it != cache.end())
      return it->second;
    double value;
    if (!leaf.facts().source || !leaf.facts().reducer) {
      value = drawLeaf(leaf, shareOffset ? common : 0);
    } else {
      Expr source(leaf.facts().source);
      Reducer reducer = *leaf.facts().reducer;
      value = reduceIdentity(reducer, leaf.type());
      SmallVector<std::pair<const Node *, double>> inner;
      for (Expr other : leaves.of(source))
        if (other.role() == Role::State)
          inner.emplace_back(other.get(), getState(other, count, cache));
      for (unsigned i = 0; i < count; ++i) {
        Assignment values = elements[i];
        for (auto [node, state] : inner)
          values[node] = state;
        double element = evaluate(source, values);
        value = i == 0 ? element : combineValues(reducer, value, element);
      }
    }
    cache[leaf.get()] = value;
    return value;
  }

  std::mt19937_64 &random;
  Leaves &leaves;
  double common, spread;
  bool shareOffset;
  unsigned old;
  Assignment elements[numElements];
  SmallVector<Expr> states;
  llvm::SmallDenseSet<const Node *> known;
  Assignment before, after, beforeCache, afterCache;
};

std::string describe(const Assignment &values) {
  SmallVector<std::pair<Expr, double>> sorted;
  for (auto [node, value] : values)
    sorted.push_back({Expr(node), value});
  llvm::sort(sorted, [](auto &a, auto &b) { return a.first.get()->id < b.first.get()->id; });
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(sorted, os, [&](auto &entry) { os << entry.first.str() << " = " << entry.second; });
  return text;
}

/// Whether two values agree, where intermediate values were as large as `largest`.
bool agree(double left, double right, double largest) {
  return std::fabs(left - right) <= 1e-6 * std::max(std::fabs(left), std::fabs(right)) + 1e-11 * largest;
}

bool isUsable(double left, double right) {
  return std::isfinite(left) && std::isfinite(right) && std::max(std::fabs(left), std::fabs(right)) > 1e-250;
}

} // namespace

LogicalResult fusion::algebra::checkUpdate(ExprContext &context, const UpdatePlan &plan, std::string &reason,
                                           unsigned seed) {
  std::mt19937_64 random(seed);
  Leaves leaves;
  SmallVector<Expr> roots, ys;
  for (auto [index, state] : llvm::enumerate(plan.states)) {
    roots.push_back(state.element);
    ys.push_back(accumulated(context, state.update.type(), index));
  }
  for (auto [index, state] : llvm::enumerate(plan.states)) {
    for (Expr leaf : state.update.leaves()) {
      if (leaf.role() == Role::Varying) {
        reason = "the update " + state.update.str() + " depends on the element " + leaf.str();
        return failure();
      }
      // Drawn though only the update knows them.
      if (leaf.role() == Role::State || leaf.role() == Role::Parameter)
        roots.push_back(leaf);
    }
  }
  SmallVector<unsigned> passed(plan.states.size() * 2, 0);
  for (unsigned round = 0; round < numRounds && *llvm::min_element(passed) < numRequired; ++round) {
    Draw draw(roots, leaves, random);
    auto compare = [&](unsigned index, bool second, double left, double right, double largest,
                       const Assignment &values) {
      if (!isUsable(left, right))
        return success();
      if (agree(left, right, largest)) {
        ++passed[2 * index + second];
        return success();
      }
      const UpdateState &state = plan.states[index];
      llvm::raw_string_ostream os(reason);
      os << "the update " << state.update.str() << " of the sum of " << state.element.str()
         << (second ? " does not distribute over the reduction: " : " does not correct an element: ") << left
         << " instead of " << right << " at " << describe(values);
      return failure();
    };

    // 1. U(F(x,d); d, d') = F(x,d')
    unsigned seen = random() % draw.numSeen();
    Assignment before = draw.assignment(seen, false), after = draw.assignment(seen, true);
    draw.addNext(context, before);
    double largest = 0;
    for (auto [y, state] : llvm::zip_equal(ys, plan.states))
      before[y.get()] = evaluate(state.element, before, &largest);
    for (auto [index, state] : llvm::enumerate(plan.states)) {
      double left = evaluate(state.update, before, &largest), right = evaluate(state.element, after, &largest);
      if (failed(compare(index, false, left, right, largest, before)))
        return failure();
    }

    // 2. U(a (+) b) = U(a) (+) U(b)
    Assignment a = before, b = before, both = before;
    Assignment other = draw.assignment(random() % numElements, false);
    std::normal_distribution<double> normal(0, 4);
    for (auto [y, state] : llvm::zip_equal(ys, plan.states)) {
      b[y.get()] = evaluate(state.element, other);
      if (round % 2) {
        a[y.get()] = normal(random);
        b[y.get()] = normal(random);
      }
      both[y.get()] = combineValues(state.reducer, a[y.get()], b[y.get()]);
    }
    for (auto [index, state] : llvm::enumerate(plan.states)) {
      largest = 0;
      double left = evaluate(state.update, both, &largest);
      double right =
          combineValues(state.reducer, evaluate(state.update, a, &largest), evaluate(state.update, b, &largest));
      if (failed(compare(index, true, left, right, largest, both)))
        return failure();
    }
  }
  for (auto [index, state] : llvm::enumerate(plan.states)) {
    if (std::min(passed[2 * index], passed[2 * index + 1]) >= numRequired)
      continue;
    reason = "the update " + state.update.str() + " could not be checked: too few points are in range";
    return failure();
  }
  return success();
}

LogicalResult fusion::algebra::checkPostponed(ExprContext &context, Expr f, Reducer reducer, const Postponed &postponed,
                                              std::string &reason, unsigned seed) {
  std::mt19937_64 random(seed);
  Leaves leaves;
  Expr y = accumulated(context, postponed.inner.type());
  unsigned passed = 0;
  for (unsigned round = 0; round < numRounds && passed < numRequired; ++round) {
    Draw draw({f, postponed.inner, postponed.outer}, leaves, random);
    double direct = 0, inner = 0, largest = 0;
    for (unsigned i = 0; i < numElements; ++i) {
      Assignment values = draw.assignment(i, true);
      double element = evaluate(f, values, &largest), moved = evaluate(postponed.inner, values, &largest);
      direct = i == 0 ? element : combineValues(reducer, direct, element);
      inner = i == 0 ? moved : combineValues(postponed.reducer, inner, moved);
    }
    Assignment values = draw.assignment(0, true);
    values[y.get()] = inner;
    double outer = evaluate(postponed.outer, values, &largest);
    if (!isUsable(direct, outer))
      continue;
    if (!agree(direct, outer, largest)) {
      llvm::raw_string_ostream(reason) << "postponing " << postponed.outer.str() << " gives " << outer << " instead of "
                                       << direct << " at " << describe(values);
      return failure();
    }
    ++passed;
  }
  if (passed >= numRequired)
    return success();
  reason = "postponing " + postponed.outer.str() + " could not be checked: too few points are in range";
  return failure();
}
