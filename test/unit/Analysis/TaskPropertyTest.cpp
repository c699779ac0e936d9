//===- TaskPropertyTest.cpp - Random streams against brute force ----------===//

#include "TaskStreams.h"

#include "fusion/Analysis/TaskOracle.h"

#include "gtest/gtest.h"

#include <map>
#include <random>
#include <tuple>

using namespace fusion::tasks;

namespace {

/// A partition of a store of one or two dimensions on a domain of one or two, drawn at random.
struct Partition {
  enum Kind { None, Tiled, Image } kind = None;
  std::vector<int64_t> tile, offset, extent;
  /// For each dimension of the store: a dimension of the domain, or -1 - constant.
  std::vector<int> projection;
  /// Image: what its source happens to hold.
  uint64_t seed = 0;
  auto key() const { return std::tie(kind, tile, offset, extent, projection, seed); }
  bool operator<(const Partition &other) const { return key() < other.key(); }
};

class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {
    domains = {{4}, {2, 2}, {1}, {3}};
    domain = pick(4);
    for (unsigned i = 0, e = 2 + pick(4); i < e; ++i) {
      unsigned rank = pick(5) == 0 ? 0 : 1 + pick(2);
      std::vector<int64_t> shape;
      for (unsigned dim = 0; dim < rank; ++dim)
        shape.push_back(4 + pick(5));
      shapes.push_back(shape);
    }
  }

  unsigned pick(unsigned n) { return random() % n; }

  int64_t getNumPoints(unsigned number) const {
    int64_t points = 1;
    for (int64_t extent : domains[number])
      points *= extent;
    return points;
  }

  Partition drawPartition(unsigned store, unsigned domainNumber) {
    Partition partition;
    unsigned kind = pick(8);
    const std::vector<int64_t> &shape = shapes[store];
    if (shape.empty() || kind == 0)
      return partition;
    if (kind == 1) {
      partition.kind = Partition::Image;
      partition.seed = pick(2);
      return partition;
    }
    partition.kind = Partition::Tiled;
    for (int64_t size : shape) {
      int64_t offset = pick(3);
      partition.offset.push_back(offset);
      partition.extent.push_back(size - offset - pick(2));
      partition.tile.push_back(1 + pick(3));
      partition.projection.push_back(pick(6) == 0 ? -1 - int(pick(2)) : int(pick(domains[domainNumber].size())));
    }
    return partition;
  }

  std::set<int64_t> getElements(unsigned store, const Partition &partition, unsigned domainNumber,
                                int64_t point) const {
    const std::vector<int64_t> &shape = shapes[store];
    std::vector<int64_t> lower(shape.size(), 0), upper = shape, coordinates;
    for (int64_t extent : llvm::reverse(domains[domainNumber])) {
      coordinates.insert(coordinates.begin(), point % extent);
      point /= extent;
    }
    if (partition.kind == Partition::Tiled)
      for (unsigned dim = 0; dim < shape.size(); ++dim) {
        int from = partition.projection[dim];
        int64_t color = from >= 0 ? coordinates[from] : -1 - from;
        lower[dim] = partition.offset[dim] + color * partition.tile[dim];
        upper[dim] = partition.offset[dim] + std::min((color + 1) * partition.tile[dim], partition.extent[dim]);
      }
    if (partition.kind == Partition::Image) {
      lower[0] = (coordinates[0] * 3 + partition.seed) % shape[0];
      upper[0] = std::min(lower[0] + 2, shape[0]);
    }
    std::set<int64_t> elements;
    if (shape.empty())
      return {0};
    for (int64_t i = lower[0]; i < upper[0]; ++i)
      for (int64_t j = shape.size() == 2 ? lower[1] : 0, e = shape.size() == 2 ? upper[1] : 1; j < e; ++j)
        elements.insert(i * (shape.size() == 2 ? shape[1] : 1) + j);
    return elements;
  }

  bool isDisjoint(unsigned store, const Partition &partition, unsigned domainNumber) const {
    std::set<int64_t> all;
    for (int64_t point = 0; point < getNumPoints(domainNumber); ++point)
      for (int64_t element : getElements(store, partition, domainNumber, point))
        if (!all.insert(element).second)
          return false;
    return true;
  }

  /// Partitions come again: the last ones of the store, mostly.
  uint32_t choosePartition(unsigned store, unsigned domainNumber) {
    std::vector<uint32_t> &known = used[{store, domainNumber}];
    if (!known.empty() && pick(4) != 0)
      return known[pick(known.size())];
    Partition partition = drawPartition(store, domainNumber);
    uint32_t number = numbers.try_emplace(partition, partitions.size()).first->second;
    if (number == partitions.size())
      partitions.push_back(partition);
    known.push_back(number);
    return number;
  }

  /// Valid tasks only: what is written is disjoint.
  void addTask(Stream &stream) {
    unsigned domainNumber = pick(12) == 0 ? pick(4) : domain;
    std::vector<Argument> arguments;
    bool scalarsOnly = pick(5) == 0;
    if (scalarsOnly)
      domainNumber = 2;
    for (unsigned i = 0, e = 1 + pick(3); i < e; ++i) {
      Argument argument;
      argument.store = pick(shapes.size());
      argument.isScalar = shapes[argument.store].empty();
      if (scalarsOnly && !argument.isScalar)
        continue;
      argument.partition = choosePartition(argument.store, domainNumber);
      const Partition &partition = partitions[argument.partition];
      argument.privilege = Privilege(pick(4));
      argument.reducer = argument.privilege == Privilege::Reduce ? pick(4) == 0 : 0;
      if (partition.kind == Partition::Image)
        argument.privilege = Privilege::Read;
      if (writes(argument.privilege) && !isDisjoint(argument.store, partition, domainNumber))
        argument.privilege = pick(2) ? Privilege::Read : Privilege::Reduce;
      arguments.push_back(argument);
    }
    if (arguments.empty())
      return;
    stream.add(arguments, domainNumber);
    stream.tasks.back().onePoint = getNumPoints(domainNumber) == 1;
    if (pick(40) == 0)
      stream.barrier(Constraint::Opaque);
  }

  /// Elements as the group has them: promoted tasks run on the group's domain.
  ElementsOf getElementsOf() const {
    return [this](const Task &task, const Argument &argument, int64_t point) {
      return argument.isScalar ? std::set<int64_t>{0}
                               : getElements(argument.store, partitions[argument.partition], task.domain, point);
    };
  }

  Contents makeContents() const {
    Contents contents;
    for (const std::vector<int64_t> &shape : shapes) {
      int64_t elements = 1;
      for (int64_t extent : shape)
        elements *= extent;
      contents.emplace_back();
      for (int64_t i = 0; i < elements; ++i)
        contents.back().push_back(i * 1000 + 7);
    }
    return contents;
  }

  std::vector<std::vector<int64_t>> domains, shapes;
  std::vector<Partition> partitions;
  unsigned domain;

private:
  std::mt19937 random;
  std::map<Partition, uint32_t> numbers;
  std::map<std::pair<unsigned, unsigned>, std::vector<uint32_t>> used;
};

struct Totals {
  unsigned streams = 0, fusedTasks = 0, largest = 0, promoted = 0;
};

} // namespace

/// An accepted prefix has only dependences within points (or through private scalars), and running it point by point,
/// in either order of points, gives what running it task by task gives.
static std::string print(llvm::ArrayRef<Task> tasks) {
  std::string text;
  for (const Task &task : tasks) {
    text += "\n  domain " + std::to_string(task.domain) + ":";
    for (const Argument &argument : task.arguments) {
      static const char *const names[] = {"R", "W", "RW", "Rd"};
      text += std::string(" ") + names[unsigned(argument.privilege)] + (argument.isScalar ? "(scalar " : "(") +
              std::to_string(argument.store) + ", " + std::to_string(argument.partition) + ", " +
              std::to_string(argument.reducer) + ")";
    }
  }
  return text;
}

static void checkStream(unsigned seed, CheckerOptions options, Totals &totals) {
  Generator generator(seed);
  Stream stream;
  for (unsigned i = 0; i < 8; ++i)
    generator.addTask(stream);
  PrefixChecker checker(options);
  for (const Task &task : stream.tasks)
    if (checker.admit(task))
      break;
  llvm::ArrayRef<Task> prefix = llvm::ArrayRef<Task>(stream).take_front(checker.getNumMembers());
  EXPECT_EQ(getFusiblePrefix(stream, options), prefix.size());
  if (prefix.size() < 2)
    return;
  ++totals.streams;
  totals.fusedTasks += prefix.size();
  totals.largest = std::max<unsigned>(totals.largest, prefix.size());
  int64_t numPoints = checker.getDomain() ? generator.getNumPoints(*checker.getDomain()) : 1;
  ElementsOf elementsOf = generator.getElementsOf();
  for (auto [i, first] : llvm::enumerate(prefix)) {
    bool promoted = numPoints > 1 && first.onePoint;
    totals.promoted += promoted;
    for (const Task &second : prefix.drop_front(i + 1))
      if (!promoted && !(numPoints > 1 && second.onePoint))
        EXPECT_FALSE(dependAcrossPoints(first, second, numPoints, elementsOf)) << "seed " << seed << ", task " << i;
  }
  Contents expected = generator.makeContents();
  execute(prefix, numPoints, elementsOf, expected);
  std::vector<int64_t> points(numPoints);
  for (int64_t point = 0; point < numPoints; ++point)
    points[point] = point;
  for (int order = 0; order < 2; ++order) {
    Contents contents = generator.makeContents();
    executeFused(prefix, points, elementsOf, contents);
    EXPECT_EQ(contents, expected) << "seed " << seed << print(prefix);
    std::reverse(points.begin(), points.end());
  }
}

TEST(TaskProperty, AcceptedPrefixesAreFusible) {
  for (bool sameReductionView : {true, false}) {
    CheckerOptions options;
    options.sameReductionView = sameReductionView;
    Totals totals;
    for (unsigned seed = 0; seed < 20000 && !testing::Test::HasFailure(); ++seed)
      checkStream(seed, options, totals);
    // The streams are such that there is something to see.
    EXPECT_GT(totals.streams, 3000u);
    EXPECT_GT(totals.largest, 5u);
    EXPECT_GT(totals.promoted, 300u);
  }
}

/// The oracle itself sees what the constraints forbid.
TEST(TaskProperty, OracleSeesDependence) {
  Generator generator(1);
  Stream stream;
  stream.add({W(A, P)}).add({R(A, Q)}).add({Rd(A, Q, 0)}).add({Rd(A, Q, 1)});
  // Q is shifted by one element.
  ElementsOf elementsOf = [](const Task &, const Argument &argument, int64_t point) {
    return std::set<int64_t>{point + (argument.partition == Q)};
  };
  auto depend = [&](unsigned i, unsigned j) {
    return dependAcrossPoints(stream.tasks[i], stream.tasks[j], 4, elementsOf);
  };
  EXPECT_TRUE(depend(0, 1));
  EXPECT_FALSE(depend(0, 0));
  EXPECT_FALSE(depend(1, 1));
  EXPECT_TRUE(depend(0, 2));
  EXPECT_FALSE(depend(1, 2));
  EXPECT_FALSE(depend(2, 3));
}
