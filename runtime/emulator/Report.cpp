//===- Report.cpp - What a launch has done, in numbers and as JSON ----------===//

#include "Launch.h"

using namespace fusion::emulator;

void Launch::addSite(FusionEmulatorCounters &counters, const Site &site) const {
  const SiteTraffic &seen = traffic.getCounters(site.id);
  uint64_t lanes = traffic.laneCounts[site.id];
  auto addLoad = [&] {
    counters.load_bytes += seen.globalBytes;
    counters.load_sectors += seen.sectors;
    counters.load_ideal_sectors += seen.idealSectors;
  };
  auto addStore = [&] {
    counters.store_bytes += seen.globalBytes;
    counters.store_sectors += seen.sectors;
    counters.store_ideal_sectors += seen.idealSectors;
  };
  counters.global_accesses += seen.globalLanes;
  counters.wide_accesses += seen.wideLanes;
  counters.uncoalesced += seen.uncoalesced;
  counters.shared_wavefronts += seen.wavefronts;
  counters.bank_conflicts += seen.wavefronts - seen.idealWavefronts;
  switch (site.kind) {
  case OpKind::Load:
    addLoad();
    counters.shared_load_bytes += seen.sharedBytes;
    counters.local_accesses += lanes > seen.lanes ? lanes - seen.lanes : 0;
    break;
  case OpKind::Store:
    addStore();
    counters.shared_store_bytes += seen.sharedBytes;
    counters.local_accesses += lanes > seen.lanes ? lanes - seen.lanes : 0;
    break;
  case OpKind::Atomic:
    addLoad();
    addStore();
    counters.shared_load_bytes += seen.sharedBytes;
    counters.shared_store_bytes += seen.sharedBytes;
    counters.atomics += lanes;
    break;
  case OpKind::CpAsync:
    addLoad();
    counters.async_copies += lanes;
    break;
  case OpKind::TmaLoad:
    addLoad();
    counters.shared_store_bytes += seen.sharedBytes;
    counters.async_copies += lanes;
    break;
  case OpKind::TmaStore:
    addStore();
    counters.shared_load_bytes += seen.sharedBytes;
    counters.async_copies += lanes;
    break;
  case OpKind::Ldmatrix:
    counters.ldmatrix += seen.warps;
    counters.shared_load_bytes += seen.sharedBytes;
    break;
  case OpKind::Stmatrix:
    counters.shared_store_bytes += seen.sharedBytes;
    break;
  case OpKind::Mma:
    counters.mma += seen.warps;
    counters.multiply_adds += seen.warps * site.params[0] * site.params[1] * site.params[2];
    break;
  case OpKind::Wgmma:
    counters.wgmma += seen.warps;
    counters.multiply_adds += seen.warps * 64 * site.params[0] * site.params[1];
    break;
  case OpKind::Barrier:
  case OpKind::BarrierArrive:
  case OpKind::BarrierReduce:
    counters.barriers += seen.warps;
    break;
  case OpKind::Shuffle:
    counters.shuffles += seen.warps;
    break;
  case OpKind::SpecialFunction:
    counters.special_functions += lanes * site.params[0];
    break;
  default:
    break;
  }
}

bool Launch::isIn(const Site &site, uint32_t loop) const {
  uint32_t at = site.loop;
  while (at != loop) {
    if (module.loops[at].parent == at)
      return false;
    at = module.loops[at].parent;
  }
  return true;
}

FusionEmulatorCounters Launch::count() const {
  FusionEmulatorCounters counters = {};
  for (const auto &site : module.sites)
    addSite(counters, *site);
  return counters;
}

FusionEmulatorCounters Launch::count(uint32_t loop) const {
  FusionEmulatorCounters counters = {};
  for (const auto &site : module.sites)
    if (isIn(*site, loop))
      addSite(counters, *site);
  return counters;
}

namespace {
/// Writes an object or a list; commas come by themselves.
class Json {
public:
  explicit Json(std::string &text) : text(text) {}

  void begin(char bracket) {
    separate();
    text += bracket;
    isFirst = true;
  }
  void end(char bracket) {
    text += bracket;
    isFirst = false;
  }
  void key(const char *name) {
    separate();
    quote(name);
    text += ": ";
    isFirst = true;
  }
  void value(const std::string &string) {
    separate();
    quote(string);
  }
  void value(uint64_t number) {
    separate();
    text += std::to_string(number);
  }
  template <typename Value>
  void entry(const char *name, const Value &entryValue) {
    key(name);
    value(entryValue);
  }

private:
  void separate() {
    if (!isFirst)
      text += ", ";
    isFirst = false;
  }
  void quote(const std::string &string) {
    text += '"';
    for (char c : string) {
      if (c == '"' || c == '\\')
        text += '\\';
      text += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    text += '"';
  }

  std::string &text;
  bool isFirst = true;
};

void write(Json &json, const FusionEmulatorCounters &c) {
  json.begin('{');
  json.entry("load_bytes", c.load_bytes);
  json.entry("store_bytes", c.store_bytes);
  json.entry("load_sectors", c.load_sectors);
  json.entry("store_sectors", c.store_sectors);
  json.entry("load_ideal_sectors", c.load_ideal_sectors);
  json.entry("store_ideal_sectors", c.store_ideal_sectors);
  json.entry("global_accesses", c.global_accesses);
  json.entry("wide_accesses", c.wide_accesses);
  json.entry("uncoalesced", c.uncoalesced);
  json.entry("shared_load_bytes", c.shared_load_bytes);
  json.entry("shared_store_bytes", c.shared_store_bytes);
  json.entry("shared_wavefronts", c.shared_wavefronts);
  json.entry("bank_conflicts", c.bank_conflicts);
  json.entry("local_accesses", c.local_accesses);
  json.entry("mma", c.mma);
  json.entry("wgmma", c.wgmma);
  json.entry("multiply_adds", c.multiply_adds);
  json.entry("ldmatrix", c.ldmatrix);
  json.entry("barriers", c.barriers);
  json.entry("shuffles", c.shuffles);
  json.entry("special_functions", c.special_functions);
  json.entry("async_copies", c.async_copies);
  json.entry("atomics", c.atomics);
  json.end('}');
}

void write(Json &json, const char *name, const uint32_t (&values)[3]) {
  json.key(name);
  json.begin('[');
  for (uint32_t value : values)
    json.value(uint64_t(value));
  json.end(']');
}
} // namespace

std::string Launch::toJson() const {
  std::string text;
  Json json(text);
  json.begin('{');
  json.entry("kernel", kernel.name);
  json.entry("chip", chip.name);
  write(json, "grid", grid);
  write(json, "block", block);
  json.entry("shared_bytes", uint64_t(sharedBytes));
  json.key("total");
  write(json, count());
  json.key("loops");
  json.begin('[');
  for (uint32_t i = 0; i < module.loops.size(); ++i) {
    const Loop &loop = module.loops[i];
    // Functions are no loops, and libdevice's are of no interest.
    if (loop.parent == i || traffic.loopTrips[i] == 0)
      continue;
    json.begin('{');
    json.entry("loop", uint64_t(i));
    json.entry("parent", uint64_t(loop.parent));
    json.entry("depth", uint64_t(loop.depth));
    json.entry("function", loop.function);
    json.entry("location", loop.location);
    json.entry("thread_trips", traffic.loopTrips[i]);
    json.key("counters");
    write(json, count(i));
    json.end('}');
  }
  json.end(']');
  json.key("buffers");
  json.begin('[');
  for (const BufferTraffic &buffer : buffers) {
    json.begin('{');
    json.entry("argument", uint64_t(buffer.argument));
    json.entry("bytes", buffer.bytes);
    json.entry("loaded", buffer.loaded);
    json.entry("stored", buffer.stored);
    json.entry("distinct_loaded", buffer.loadedOnce);
    json.entry("distinct_stored", buffer.storedOnce);
    json.end('}');
  }
  json.end(']');
  json.entry("num_findings", numFindings);
  json.key("findings");
  json.begin('[');
  for (const Finding &finding : findings) {
    json.begin('{');
    json.entry("kind", std::string(getName(finding.kind)));
    json.entry("operation", finding.operation);
    json.entry("location", finding.location);
    json.entry("text", finding.text);
    json.end('}');
  }
  json.end(']');
  json.end('}');
  return text;
}
