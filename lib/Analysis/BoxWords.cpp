//===- BoxWords.cpp - Exchanges as words ------------------------------------===//

#include "fusion/Analysis/BoxPlan.h"

#include <limits>

using namespace fusion::boxes;

namespace {

constexpr int64_t foldFlag = 1, partialFlag = 2;

/// More dimensions than any store has; guards against reading noise as a rank.
constexpr int64_t maxRank = 64;

class Writer {
public:
  void write(int64_t word) { words.push_back(word); }
  void write(const std::vector<int64_t> &list) { words.insert(words.end(), list.begin(), list.end()); }

  void write(const Placement &placement) {
    write(int64_t(placement.mapping));
    write(placement.root);
    write(int64_t(placement.domain.size()));
    write(placement.domain);
    const Partition &partition = placement.partition;
    write(int64_t(partition.kind));
    if (partition.kind == Partition::Kind::Tiled) {
      write(partition.stride);
      write(partition.size);
      write(partition.offset);
      write(partition.projection);
    } else if (partition.kind == Partition::Kind::Boxes) {
      for (const Box &box : partition.boxes) {
        write(box.lower);
        write(box.upper);
      }
    }
  }

  std::vector<int64_t> words;
};

class Reader {
public:
  Reader(const int64_t *words, int64_t count) : words(words), count(count) {}

  /// A word in [lower, upper].
  int64_t read(const char *what, int64_t lower, int64_t upper) {
    if (!error.empty())
      return lower;
    if (position >= count) {
      error = std::string("the description ends before its ") + what;
      return lower;
    }
    int64_t word = words[position++];
    if (word < lower || word > upper) {
      error = "word " + std::to_string(position - 1) + " of the description, " + what + ", is " + std::to_string(word) +
              "; accepted is " + std::to_string(lower) +
              (upper == unbounded ? " or more" : " to " + std::to_string(upper));
      return lower;
    }
    return word;
  }

  std::vector<int64_t> readList(const char *what, int64_t length, int64_t lower) {
    std::vector<int64_t> list;
    for (int64_t i = 0; i < length && error.empty(); ++i)
      list.push_back(read(what, lower, unbounded));
    return list;
  }

  /// The product of extents, which must stay below 2^56: then element offsets in bytes fit.
  int64_t getProduct(const std::vector<int64_t> &extents, const char *what) {
    __int128 product = 1;
    for (int64_t extent : extents) {
      product *= extent;
      if (product > (int64_t(1) << 56)) {
        if (error.empty())
          error = std::string("the extents of the ") + what + " are too large";
        return 0;
      }
    }
    return int64_t(product);
  }

  Placement readPlacement(int64_t rank) {
    Placement placement;
    placement.mapping = Placement::Mapping(read("mapping", 0, 2));
    placement.root = read("root", 0, std::numeric_limits<int32_t>::max());
    int64_t domainRank = read("rank of a launch domain", 0, maxRank);
    placement.domain = readList("extent of a launch domain", domainRank, 0);
    int64_t points = getProduct(placement.domain, "launch domain");
    Partition &partition = placement.partition;
    partition.kind = Partition::Kind(read("kind of partition", 0, 2));
    if (partition.kind == Partition::Kind::Tiled) {
      partition.stride = readList("stride of a tile", rank, lowest);
      partition.size = readList("size of a tile", rank, 0);
      partition.offset = readList("offset of a tile", rank, lowest);
      partition.projection = readList("projection", rank * (domainRank + 1), lowest);
    } else if (partition.kind == Partition::Kind::Boxes) {
      for (int64_t point = 0; point < points && error.empty(); ++point) {
        std::vector<int64_t> lower = readList("lower bound of a box", rank, lowest);
        partition.boxes.push_back({std::move(lower), readList("upper bound of a box", rank, lowest)});
      }
    }
    return placement;
  }

  static constexpr int64_t lowest = std::numeric_limits<int64_t>::min();
  static constexpr int64_t unbounded = std::numeric_limits<int64_t>::max();

  const int64_t *words;
  int64_t count;
  int64_t position = 0;
  std::string error;
};

} // namespace

std::vector<int64_t> fusion::boxes::encode(const Exchange &exchange) {
  Writer writer;
  writer.write(exchange.operation);
  writer.write((exchange.fold ? foldFlag : 0) | (exchange.partial ? partialFlag : 0));
  writer.write(exchange.elementType);
  writer.write(int64_t(exchange.shape.size()));
  writer.write(exchange.shape);
  for (const std::vector<Placement> *placements : {&exchange.sources, &exchange.targets}) {
    writer.write(int64_t(placements->size()));
    for (const Placement &placement : *placements)
      writer.write(placement);
  }
  return std::move(writer.words);
}

bool fusion::boxes::decode(const int64_t *words, int64_t count, Exchange &exchange, std::string &error) {
  Reader reader(words, count);
  exchange = {};
  exchange.operation = reader.read("operation", 0, Reader::unbounded);
  int64_t flags = reader.read("flags", 0, foldFlag | partialFlag);
  exchange.fold = flags & foldFlag;
  exchange.partial = flags & partialFlag;
  exchange.elementType = reader.read("element type", 0, Reader::unbounded);
  int64_t rank = reader.read("rank of the store", 0, maxRank);
  exchange.shape = reader.readList("extent of the store", rank, 0);
  reader.getProduct(exchange.shape, "store");
  int64_t maxLayers = exchange.operation == 0 ? Reader::unbounded : 1;
  for (int64_t left = reader.read("number of sources", 1, maxLayers); left > 0 && reader.error.empty(); --left)
    exchange.sources.push_back(reader.readPlacement(rank));
  for (int64_t left = reader.read("number of targets", 1, Reader::unbounded); left > 0 && reader.error.empty(); --left)
    exchange.targets.push_back(reader.readPlacement(rank));
  if (reader.error.empty() && reader.position != count)
    reader.error =
        "the description has " + std::to_string(count) + " words, but ends after " + std::to_string(reader.position);
  error = std::move(reader.error);
  return error.empty();
}
