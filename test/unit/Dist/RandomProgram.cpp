//===- RandomProgram.cpp - Random programs of the dist dialect --------------===//

#include "RandomProgram.h"

#include <algorithm>
#include <map>
#include <vector>

using namespace fusion;

namespace {

using Extents = std::vector<int64_t>;

/// Splitmix64: the same on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15 + 1) {}
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// In [from, to].
  int64_t in(int64_t from, int64_t to) { return from + int64_t(next() % uint64_t(to - from + 1)); }
  bool oneIn(int64_t n) { return in(1, n) == 1; }
  template <typename T>
  const T &pick(const std::vector<T> &all) {
    return all[size_t(in(0, int64_t(all.size()) - 1))];
  }

private:
  uint64_t state;
};

struct Store {
  std::string name;
  Extents shape;
  std::string element;
};

std::string joined(const Extents &values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text;
}

std::string dims(const std::string &prefix, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + prefix + std::to_string(i);
  return text;
}

std::string identityMap(size_t rank) { return "affine_map<(" + dims("d", rank) + ") -> (" + dims("d", rank) + ")>"; }

std::string typeOf(const Store &store) {
  std::string text = "!dist.store<";
  for (int64_t extent : store.shape)
    text += std::to_string(extent) + "x";
  return text + store.element + ">";
}

std::string tensorOf(const Extents &shape, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + element + ">";
}

std::string boxOf(size_t rank, const std::string &element) {
  std::string text = "tensor<";
  for (size_t i = 0; i < rank; ++i)
    text += "?x";
  return text + element + ">";
}

/// Tiles without their offset: several stores may be cut so.
struct Grid {
  Extents domain, tile, extent;
  /// For each dimension of the store a dimension of the domain, or -1.
  std::vector<int> by;
  bool isDisjoint() const {
    for (size_t k = 0; k < domain.size(); ++k)
      if (domain[k] > 1 && std::find(by.begin(), by.end(), int(k)) == by.end())
        return false;
    return true;
  }
  std::string at(const Extents &offset) const {
    std::string results;
    for (size_t i = 0; i < by.size(); ++i)
      results += (i ? ", " : "") + (by[i] < 0 ? std::string("0") : "d" + std::to_string(by[i]));
    return "#dist.tiled<[" + joined(tile) + "] offset [" + joined(offset) + "] extent [" + joined(extent) + "] by (" +
           dims("d", domain.size()) + ") -> (" + results + ")>";
  }
};

class Generator {
public:
  Generator(uint64_t seed, const RandomProgramOptions &options) : random(seed), options(options) {}

  std::string run() {
    element = random.oneIn(3) ? "i32" : "i64";
    int64_t rank = random.in(1, 3);
    Extents largest;
    for (int64_t i = 0; i < rank; ++i)
      largest.push_back(random.in(rank == 3 ? 2 : 3, rank == 1 ? 23 : rank == 2 ? 9 : 5));
    int64_t arrays = random.in(2, 4), scalars = random.in(1, 3);
    for (int64_t i = 0; i < arrays; ++i)
      addStore(i % 3 == 2 ? Extents{largest[0]} : grow(largest));
    for (int64_t i = 0; i < scalars; ++i)
      addStore({});
    addOperations(options.operations, 0);
    std::string results, types;
    for (const Store &store : stores) {
      std::string type = tensorOf(store.shape, element);
      line("%r_" + store.name.substr(1) + " = dist.to_tensor " + store.name + " : " + typeOf(store) + " -> " + type);
      results += (results.empty() ? "" : ", ") + ("%r_" + store.name.substr(1));
      types += (types.empty() ? "" : ", ") + type;
    }
    line("return " + results + " : " + types);
    std::string text;
    for (const auto &[name, task] : tasks)
      text += task;
    text += "func.func @main() -> (" + types +
            ") {\n  %zero = arith.constant 0 : index\n  %one = arith.constant 1 : index\n"
            "  %two = arith.constant 2 : index\n";
    for (int64_t value = -3; value <= 3; ++value)
      text +=
          "  %v" + std::to_string(value + 3) + " = arith.constant " + std::to_string(value) + " : " + element + "\n";
    return text + body + "}\n";
  }

private:
  void line(const std::string &text) { body += std::string(2 + 2 * depth, ' ') + text + "\n"; }
  std::string fresh(const std::string &prefix) { return "%" + prefix + std::to_string(counter++); }
  std::string aValue() { return "%v" + std::to_string(random.in(0, 6)); }

  Extents grow(Extents shape) {
    for (int64_t &extent : shape)
      extent += random.in(0, 2);
    return shape;
  }

  /// A store whose elements are all defined.
  void addStore(Extents shape) {
    Store store{fresh("s"), std::move(shape), element};
    if (random.oneIn(2)) {
      std::string tensor = fresh("t"), type = tensorOf(store.shape, element);
      std::string values;
      if (store.shape.empty()) {
        line(tensor + " = arith.constant dense<" + std::to_string(random.in(-9, 9)) + "> : " + type);
      } else {
        line(tensor + "e = tensor.empty() : " + type);
        line(tensor + " = linalg.generic {indexing_maps = [" + identityMap(store.shape.size()) +
             "], iterator_types = [" + iterators(store.shape.size()) + "]} outs(" + tensor + "e : " + type + ") {");
        line("^bb0(%o: " + element + "):");
        std::string sum = "%v" + std::to_string(random.in(4, 6));
        for (size_t i = 0; i < store.shape.size(); ++i) {
          std::string n = std::to_string(i);
          line("  %i" + n + " = linalg.index " + n + " : index");
          line("  %c" + n + " = arith.index_cast %i" + n + " : index to " + element);
          line("  %m" + n + " = arith.muli %c" + n + ", %v" + std::to_string(random.in(4, 6)) + " : " + element);
          line("  %a" + n + " = arith.addi " + sum + ", %m" + n + " : " + element);
          sum = "%a" + n;
        }
        line("  linalg.yield " + sum + " : " + element);
        line("} -> " + type);
      }
      line(store.name + " = dist.from_tensor " + tensor + " : " + type + " -> " + typeOf(store));
    } else {
      line(store.name + " = dist.create : " + typeOf(store));
      line("dist.fill " + aValue() + " into " + store.name + " by #dist.none on [1] : " + element + ", " +
           typeOf(store));
    }
    stores.push_back(store);
  }

  static std::string iterators(size_t rank, const std::string &kind = "parallel") {
    std::string text;
    for (size_t i = 0; i < rank; ++i)
      text += (i ? ", " : "") + ("\"" + kind + "\"");
    return text;
  }

  std::vector<Store> withRank(size_t rank) {
    std::vector<Store> found;
    for (const Store &store : stores)
      if (store.shape.size() == rank)
        found.push_back(store);
    return found;
  }

  /// A grid that fits into all of the stores at some offset.
  Grid aGrid(const std::vector<Store> &fitting, bool disjoint) {
    Grid grid;
    size_t rank = fitting[0].shape.size();
    Extents smallest = fitting[0].shape;
    for (const Store &store : fitting)
      for (size_t i = 0; i < rank; ++i)
        smallest[i] = std::min(smallest[i], store.shape[i]);
    size_t domainRank = size_t(random.in(1, 2));
    for (size_t k = 0; k < domainRank; ++k)
      grid.domain.push_back(random.oneIn(4) ? 1 : random.in(2, domainRank == 1 ? 6 : 3));
    // Dimensions of the domain in a random order, each at most once; some stay unused.
    std::vector<int> unused;
    for (size_t k = 0; k < domainRank; ++k)
      unused.push_back(int(k));
    for (size_t i = 0; i < rank; ++i) {
      grid.by.push_back(-1);
      if (!unused.empty() && !random.oneIn(4)) {
        size_t chosen = size_t(random.in(0, int64_t(unused.size()) - 1));
        grid.by.back() = unused[chosen];
        unused.erase(unused.begin() + long(chosen));
      }
    }
    if (disjoint)
      for (size_t k = 0; k < domainRank; ++k)
        if (std::find(grid.by.begin(), grid.by.end(), int(k)) == grid.by.end())
          grid.domain[k] = 1;
    for (size_t i = 0; i < rank; ++i) {
      int64_t extent = random.oneIn(3) ? smallest[i] : std::max<int64_t>(smallest[i] - random.in(0, 2), 1);
      int64_t colors = grid.by[i] < 0 ? 1 : grid.domain[size_t(grid.by[i])];
      grid.extent.push_back(extent);
      // Sometimes more points than tiles, sometimes tiles that no point has.
      int64_t tile = (extent + colors - 1) / colors;
      grid.tile.push_back(random.oneIn(6) ? std::max<int64_t>(tile - 1, 1) : random.oneIn(6) ? tile + 1 : tile);
    }
    return grid;
  }

  Extents anOffset(const Grid &grid, const Store &store) {
    Extents offset;
    for (size_t i = 0; i < store.shape.size(); ++i)
      offset.push_back(random.in(0, std::min<int64_t>(store.shape[i] - grid.extent[i], 2)));
    return offset;
  }

  std::string anOperation(const std::string &a, const std::string &b, const std::string &result, int64_t which) {
    static const std::vector<std::string> all = {"addi", "subi", "muli", "maxsi", "minsi", "xori"};
    return result + " = arith." + all[size_t(which)] + " " + a + ", " + b + " : " + element;
  }

  void launch(const std::string &task, const Extents &domain, const std::vector<std::string> &arguments,
              const std::vector<Store> &types) {
    std::string text = "dist.launch @" + task + " on [" + joined(domain) + "] (";
    for (size_t i = 0; i < arguments.size(); ++i)
      text += (i ? ", " : "") + arguments[i];
    text += ") : ";
    for (size_t i = 0; i < types.size(); ++i)
      text += (i ? ", " : "") + typeOf(types[i]);
    line(text);
  }

  /// Maybe through a view: then the offset is divided between both.
  std::string argument(Store &store, const std::string &privilege, const Grid &grid, Extents offset) {
    std::string name = store.name;
    if (random.oneIn(4)) {
      Extents start, inner;
      Store view = store;
      view.name = fresh("w");
      for (size_t i = 0; i < offset.size(); ++i) {
        start.push_back(random.in(0, offset[i]));
        inner.push_back(offset[i] - start[i]);
        view.shape[i] = store.shape[i] - start[i];
      }
      line(view.name + " = dist.view " + store.name + " [" + joined(start) + "] : " + typeOf(store) + " -> " +
           typeOf(view));
      store = view;
      return view.name + " " + privilege + " " + grid.at(inner);
    }
    return name + " " + privilege + " " + grid.at(offset);
  }

  /// out = reads combined, on one grid: a stencil.
  void elementwise() {
    std::vector<Store> fitting = withRank(random.pick(stores).shape.size());
    if (fitting[0].shape.empty())
      return scalarTask();
    size_t rank = fitting[0].shape.size();
    Grid grid = aGrid(fitting, /*disjoint=*/true);
    Store out = random.pick(fitting);
    bool both = random.oneIn(2);
    std::vector<Store> reads;
    std::vector<Store> others;
    for (const Store &store : fitting)
      if (store.name != out.name)
        others.push_back(store);
    if (others.empty())
      both = true;
    else
      for (int64_t i = random.in(1, 3); i > 0; --i)
        reads.push_back(random.pick(others));
    std::vector<Store> scalarStores = withRank(0);
    bool scaled = random.oneIn(3);
    int64_t which = random.in(0, 5);
    std::string task = "map" + std::to_string(rank) + "_" + std::to_string(reads.size()) + "_" + std::to_string(which) +
                       (both ? "_rw" : "") + (scaled ? "_s" : "");
    std::string box = boxOf(rank, element);
    if (!tasks.count(task)) {
      std::string text = "dist.task @" + task + "(";
      std::string maps, ins, inTypes, formals, code;
      std::string value = "";
      auto use = [&](const std::string &name, const std::string &formal, const std::string &type,
                     const std::string &map) {
        maps += map + ", ";
        ins += (ins.empty() ? "" : ", ") + name;
        inTypes += (inTypes.empty() ? "" : ", ") + type;
        formals += formal + ": " + element + ", ";
        if (!value.empty()) {
          std::string next = "%q" + std::to_string(code.size());
          code += "    " + anOperation(value, formal, next, which) + "\n";
          value = next;
        } else {
          value = formal;
        }
      };
      for (size_t i = 0; i < reads.size(); ++i) {
        std::string n = std::to_string(i);
        text += "%x" + n + ": " + box + " read, ";
        use("%x" + n, "%e" + n, box, identityMap(rank));
      }
      if (scaled) {
        text += "%s: tensor<" + element + "> read, ";
        use("%s", "%es", "tensor<" + element + ">", "affine_map<(" + dims("d", rank) + ") -> ()>");
      }
      if (both) {
        if (value.empty()) {
          value = "%eo";
          code += "    " + anOperation("%eo", "%eo", "%q", which == 1 || which == 5 ? 0 : which) + "\n";
          value = "%q";
        } else {
          code += "    " + anOperation(value, "%eo", "%qo", which) + "\n";
          value = "%qo";
        }
      }
      text += "%o: " + box + (both ? " read_write" : " write") + ") {\n  %0 = linalg.generic {indexing_maps = [" +
              maps + identityMap(rank) + "], iterator_types = [" + iterators(rank) + "]}" +
              (ins.empty() ? "" : " ins(" + ins + " : " + inTypes + ")") + " outs(%o : " + box + ") {\n  ^bb0(" +
              formals + "%eo: " + element + "):\n" + code + "    linalg.yield " + value + " : " + element +
              "\n  } -> " + box + "\n  dist.yield %0 : " + box + "\n}\n";
      tasks[task] = text;
    }
    std::vector<std::string> arguments;
    std::vector<Store> types;
    for (Store store : reads) {
      arguments.push_back(argument(store, "read", grid, anOffset(grid, store)));
      types.push_back(store);
    }
    if (scaled) {
      types.push_back(random.pick(scalarStores));
      arguments.push_back(types.back().name + " read #dist.none");
    }
    arguments.push_back(argument(out, both ? "read_write" : "write", grid, anOffset(grid, out)));
    types.push_back(out);
    launch(task, grid.domain, arguments, types);
  }

  /// Copies one half of a store to the other.
  void copyHalf() {
    std::vector<Store> arrays;
    for (const Store &store : stores)
      if (!store.shape.empty() && store.shape[0] >= 2)
        arrays.push_back(store);
    if (arrays.empty())
      return elementwise();
    Store store = random.pick(arrays);
    Grid grid = aGrid({store}, /*disjoint=*/true);
    grid.extent[0] = std::min(grid.extent[0], store.shape[0] / 2);
    Extents low = anOffset(grid, store), high = low;
    low[0] = 0;
    high[0] = random.in(grid.extent[0], store.shape[0] - grid.extent[0]);
    if (random.oneIn(2))
      std::swap(low, high);
    line("dist.copy " + store.name + " by " + grid.at(low) + " to " + store.name + " by " + grid.at(high) + " on [" +
         joined(grid.domain) + "] : " + typeOf(store) + ", " + typeOf(store));
  }

  void scalarTask() {
    std::vector<Store> scalarStores = withRank(0);
    Store out = random.pick(scalarStores), a = random.pick(scalarStores);
    int64_t which = random.in(0, 5);
    bool both = a.name == out.name;
    std::string task = "scalar_" + std::to_string(which) + (both ? "_rw" : "");
    std::string type = "tensor<" + element + ">";
    if (!tasks.count(task))
      tasks[task] = "dist.task @" + task + "(" + (both ? "" : "%a: " + type + " read, ") + "%o: " + type +
                    (both ? " read_write" : " write") + ") {\n  %c = arith.constant 3 : " + element +
                    "\n  %0 = linalg.generic {indexing_maps = [" + (both ? "" : "affine_map<() -> ()>, ") +
                    "affine_map<() -> ()>], iterator_types = []}" + (both ? "" : " ins(%a : " + type + ")") +
                    " outs(%o : " + type + ") {\n  ^bb0(" + (both ? "" : "%e: " + element + ", ") + "%eo: " + element +
                    "):\n    " + anOperation(both ? "%eo" : "%e", "%c", "%q", which) +
                    "\n    linalg.yield %q : " + element + "\n  } -> " + type + "\n  dist.yield %0 : " + type + "\n}\n";
    std::vector<std::string> arguments;
    std::vector<Store> types;
    if (!both) {
      arguments.push_back(a.name + " read #dist.none");
      types.push_back(a);
    }
    arguments.push_back(out.name + (both ? " read_write" : " write") + " #dist.none");
    types.push_back(out);
    launch(task, {1}, arguments, types);
  }

  /// A sum or the like of a box: to a scalar, or of the rows of a matrix to a vector.
  void reduction() {
    static const std::vector<std::pair<std::string, std::string>> operators = {
        {"sum", "addi"}, {"max", "maxsi"}, {"min", "minsi"}, {"xor", "xori"}};
    auto [reducer, operation] = random.pick(operators);
    std::vector<Store> arrays;
    for (const Store &store : stores)
      if (!store.shape.empty())
        arrays.push_back(store);
    Store in = random.pick(arrays);
    size_t rank = in.shape.size();
    bool toRows = rank > 1 && random.oneIn(2);
    std::vector<Store> targets;
    for (const Store &store : toRows ? withRank(1) : withRank(0))
      targets.push_back(store);
    if (targets.empty())
      return elementwise();
    Store out = random.pick(targets);
    Grid grid = aGrid({in}, /*disjoint=*/false);
    std::string task = (toRows ? "rows_" : "all_") + reducer + std::to_string(rank);
    std::string box = boxOf(rank, element), small = boxOf(toRows ? 1 : 0, element);
    if (!tasks.count(task))
      tasks[task] = "dist.task @" + task + "(%x: " + box + " read, %o: " + small + " reduce<" + reducer +
                    ">) {\n  %0 = linalg.generic {indexing_maps = [" + identityMap(rank) + ", affine_map<(" +
                    dims("d", rank) + ") -> (" + (toRows ? "d0" : "") + ")>], iterator_types = [" +
                    (toRows ? "\"parallel\", " + iterators(rank - 1, "reduction") : iterators(rank, "reduction")) +
                    "]} ins(%x : " + box + ") outs(%o : " + small + ") {\n  ^bb0(%e: " + element + ", %eo: " + element +
                    "):\n    %q = arith." + operation + " %e, %eo : " + element + "\n    linalg.yield %q : " + element +
                    "\n  } -> " + small + "\n  dist.yield %0 : " + small + "\n}\n";
    std::string target = "#dist.none";
    if (toRows) {
      if (out.shape[0] < grid.extent[0])
        return elementwise();
      Grid rows = grid;
      rows.tile.resize(1);
      rows.extent.resize(1);
      rows.by.resize(1);
      target = rows.at(anOffset(rows, out));
    }
    Extents offset = anOffset(grid, in);
    for (int64_t times = random.oneIn(3) ? 2 : 1; times > 0; --times)
      launch(task, grid.domain, {in.name + " read " + grid.at(offset), out.name + " reduce<" + reducer + "> " + target},
             {in, out});
  }

  /// out = in + sum of a whole vector, or of the part that the first vector points at.
  void readsMore() {
    std::vector<Store> vectors = withRank(1);
    if (vectors.size() < 2)
      return elementwise();
    Store out = random.pick(vectors), whole = random.pick(vectors);
    if (out.name == whole.name)
      return elementwise();
    bool image = options.images && random.oneIn(2);
    std::string box = boxOf(1, element);
    std::string name = image ? "point" : "whole";
    tasks[name] = "dist.task @" + name + "(" + (image ? "%p: " + box + " read, " : "") + "%x: " + box +
                  " read, %o: " + box + " read_write) {\n  %z = arith.constant dense<0> : tensor<" + element +
                  ">\n  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], "
                  "iterator_types = [\"reduction\"]} ins(%x : " +
                  box + ") outs(%z : tensor<" + element + ">) {\n  ^bb0(%e: " + element + ", %eo: " + element +
                  "):\n    %q = arith.addi %e, %eo : " + element + "\n    linalg.yield %q : " + element +
                  "\n  } -> tensor<" + element +
                  ">\n  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>], "
                  "iterator_types = [\"parallel\"]} ins(%s : tensor<" +
                  element + ">) outs(%o : " + box + ") {\n  ^bb0(%e: " + element + ", %eo: " + element +
                  "):\n    %q = arith.addi %e, %eo : " + element + "\n    linalg.yield %q : " + element + "\n  } -> " +
                  box + "\n  dist.yield %0 : " + box + "\n}\n";
    Grid grid = aGrid({out}, /*disjoint=*/true);
    std::string written = out.name + " read_write " + grid.at(anOffset(grid, out));
    if (!image)
      return launch(name, grid.domain, {whole.name + " read #dist.none", written}, {whole, out});
    // Coordinates: a store of its own, with numbers inside of the vector.
    Store points{fresh("p"), grid.extent, element};
    std::string tensor = fresh("t"), type = tensorOf(points.shape, element);
    std::string values;
    for (int64_t i = 0; i < grid.extent[0]; ++i)
      values += (i ? ", " : "") + std::to_string(random.in(0, whole.shape[0] - 1));
    line(tensor + " = arith.constant dense<[" + values + "]> : " + type);
    line(points.name + " = dist.from_tensor " + tensor + " : " + type + " -> " + typeOf(points));
    launch(name, grid.domain,
           {points.name + " read " + grid.at({0}), whole.name + " read #dist.image<points 0>", written},
           {points, whole, out});
  }

  void fillOrCopy() {
    Store out = random.pick(stores);
    if (out.shape.empty())
      return line("dist.fill " + aValue() + " into " + out.name + " by #dist.none on [1] : " + element + ", " +
                  typeOf(out));
    std::vector<Store> sources;
    for (const Store &store : withRank(out.shape.size()))
      if (store.name != out.name)
        sources.push_back(store);
    if (random.oneIn(2) || sources.empty()) {
      Grid grid = aGrid({out}, /*disjoint=*/true);
      return line("dist.fill " + aValue() + " into " + out.name + " by " + grid.at(anOffset(grid, out)) + " on [" +
                  joined(grid.domain) + "] : " + element + ", " + typeOf(out));
    }
    Store in = random.pick(sources);
    Grid grid = aGrid({in, out}, /*disjoint=*/true);
    line("dist.copy " + in.name + " by " + grid.at(anOffset(grid, in)) + " to " + out.name + " by " +
         grid.at(anOffset(grid, out)) + " on [" + joined(grid.domain) + "] : " + typeOf(in) + ", " + typeOf(out));
  }

  /// A store that lives in this block only.
  void temporary() {
    std::vector<Store> arrays;
    for (const Store &store : stores)
      if (!store.shape.empty())
        arrays.push_back(store);
    Store like = random.pick(arrays), made{fresh("u"), like.shape, element};
    line(made.name + " = dist.create : " + typeOf(made));
    Grid grid;
    grid.domain = {random.in(1, 5)};
    for (size_t i = 0; i < made.shape.size(); ++i) {
      grid.by.push_back(i == 0 ? 0 : -1);
      grid.extent.push_back(made.shape[i]);
      grid.tile.push_back(i == 0 ? (made.shape[i] + grid.domain[0] - 1) / grid.domain[0] : made.shape[i]);
    }
    Extents zeros(made.shape.size(), 0);
    line("dist.copy " + like.name + " by " + grid.at(zeros) + " to " + made.name + " by " + grid.at(zeros) + " on [" +
         joined(grid.domain) + "] : " + typeOf(like) + ", " + typeOf(made));
    stores.push_back(made);
  }

  void control(int64_t count) {
    size_t outer = stores.size();
    if (random.oneIn(2)) {
      std::string upper = fresh("n");
      line(upper + " = arith.constant " + std::to_string(random.in(0, 3)) + " : index");
      std::string index = fresh("i");
      line("scf.for " + index + " = %zero to " + upper + " step %one {");
      ++depth;
      indices.push_back(index);
      addOperations(count, depth);
      indices.pop_back();
    } else {
      std::string flag = fresh("f");
      if (!indices.empty() && random.oneIn(2)) {
        std::string parity = fresh("m");
        line(parity + " = arith.remui " + indices.back() + ", %two : index");
        line(flag + " = arith.cmpi eq, " + parity + ", %zero : index");
      } else {
        Store scalar = random.pick(withRank(0));
        std::string tensor = fresh("t"), value = fresh("x"), type = tensorOf({}, element);
        line(tensor + " = dist.to_tensor " + scalar.name + " : " + typeOf(scalar) + " -> " + type);
        line(value + " = tensor.extract " + tensor + "[] : " + type);
        line(flag + " = arith.cmpi sgt, " + value + ", %v3 : " + element);
      }
      line("scf.if " + flag + " {");
      ++depth;
      addOperations(count, depth);
      if (random.oneIn(2)) {
        stores.resize(outer);
        --depth;
        line("} else {");
        ++depth;
        addOperations(count, depth);
      }
    }
    stores.resize(outer);
    --depth;
    line("}");
  }

  void addOperations(int64_t count, unsigned level) {
    for (int64_t i = 0; i < count; ++i) {
      int64_t kind = random.in(0, 20);
      if (kind < 8)
        elementwise();
      else if (kind == 20)
        copyHalf();
      else if (kind < 11)
        fillOrCopy();
      else if (kind < 14)
        reduction();
      else if (kind < 15)
        scalarTask();
      else if (kind < 16)
        readsMore();
      else if (kind < 17)
        temporary();
      else if (level < 2)
        control(random.in(1, 4));
      else
        elementwise();
    }
  }

  Random random;
  RandomProgramOptions options;
  std::string element, body;
  std::vector<Store> stores;
  std::vector<std::string> indices;
  std::map<std::string, std::string> tasks;
  unsigned counter = 0, depth = 0;
};

} // namespace

std::string fusion::makeRandomProgram(uint64_t seed, const RandomProgramOptions &options) {
  return Generator(seed, options).run();
}
