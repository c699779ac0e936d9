//===- main.cpp - Run an application ----------------------------------------------===//

#include "App.h"

#include "fusion/Runtime/Mpi.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

using namespace apps;

namespace {

struct Known {
  const char *name;
  std::unique_ptr<App> (*make)(ArrayLibrary &, const Parameters &);
};

const Known known[] = {
    {"black-scholes", makeBlackScholes}, {"jacobi", makeJacobi},          {"stencil", makeStencil},
    {"cfd", makeChannelFlow},            {"cg", makeConjugateGradients}, {"bicgstab", makeBiCgStab},
    {"gmg", makeMultigrid},
    {"swe", makeShallowWater},
};

struct Options {
  Parameters parameters;
  int64_t steps = 1;
  fusion::SessionOptions session;
  std::vector<std::string> outputs;
  bool json = false;
  const Known *app = nullptr;
};

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    size_t equal = argument.find('=');
    std::string name = argument.substr(0, equal), value;
    bool hasValue = equal != std::string::npos;
    if (hasValue)
      value = argument.substr(equal + 1);
    if (name == "--json") {
      options.json = true;
      continue;
    }
    if (name.rfind("--", 0) != 0) {
      for (const Known &app : known)
        if (name == app.name)
          options.app = &app;
      if (!options.app)
        throw std::runtime_error("there is no application '" + name + "'");
      continue;
    }
    if (!hasValue && i + 1 < argc)
      value = argv[++i];
    auto number = [&] {
      char *end = nullptr;
      long long parsed = std::strtoll(value.c_str(), &end, 10);
      if (value.empty() || *end || parsed < 0)
        throw std::runtime_error(name + " is a number that is not negative");
      return int64_t(parsed);
    };
    if (name == "--n")
      options.parameters.n = number();
    else if (name == "--steps")
      options.steps = number();
    else if (name == "--sweeps")
      options.parameters.sweeps = number();
    else if (name == "--init")
      options.parameters.init = value;
    else if (name == "--bottom")
      options.parameters.bottom = value;
    else if (name == "--rhs")
      options.parameters.rhs = value;
    else if (name == "--points")
      options.session.points = number();
    else if (name == "--out")
      options.outputs.push_back(value);
    else if (name == "--fuse" && (value == "on" || value == "off"))
      options.session.fuse = value == "on";
    else
      throw std::runtime_error("unknown option '" + argument + "'");
  }
  if (!options.app)
    throw std::runtime_error("name an application: black-scholes, jacobi, stencil, cfd, swe, cg, bicgstab or gmg");
  int64_t smallest = options.app->make == makeChannelFlow    ? 3
                     : options.app->make == makeShallowWater ? 2
                                                             : 1;
  if (options.parameters.n < smallest)
    throw std::runtime_error("--n is at least " + std::to_string(smallest));
  return options;
}

/// A file of NumPy with f64 in C order.
void write(const std::string &path, const fusion::Shape &shape, const std::vector<double> &values) {
  std::string text = "(";
  for (int64_t size : shape)
    text += std::to_string(size) + ",";
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': " + text + "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string partial = path + ".part";
  FILE *file = std::fopen(partial.c_str(), "wb");
  if (!file)
    throw std::runtime_error("cannot write '" + path + "'");
  const unsigned char magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(header.size() & 255),
                                 (unsigned char)(header.size() >> 8)};
  bool good = std::fwrite(magic, 1, sizeof(magic), file) == sizeof(magic) &&
              std::fwrite(header.data(), 1, header.size(), file) == header.size() &&
              std::fwrite(values.data(), 8, values.size(), file) == values.size();
  good &= std::fclose(file) == 0;
  if (!good || std::rename(partial.c_str(), path.c_str()) != 0)
    throw std::runtime_error("cannot write '" + path + "'");
}

void run(const Options &options) {
  fusion::Session session(options.session);
  ArrayLibrary library(session);
  std::unique_ptr<App> app = options.app->make(library, options.parameters);
  session.flush();
  // The steady state is the second half.
  int64_t middle = options.steps / 2;
  fusion::SessionStatistics before;
  auto start = std::chrono::steady_clock::now();
  for (int64_t step = 0; step < options.steps; ++step) {
    if (step == middle) {
      before = session.getStatistics();
      start = std::chrono::steady_clock::now();
    }
    app->step();
    if (app->isObserved())
      session.flush();
  }
  fusion::SessionStatistics steady = session.getStatistics();
  session.flush();
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fusion::SessionStatistics after = session.getStatistics();

  double checksum = 0;
  size_t number = 0;
  for (const Array &result : app->getResults()) {
    std::vector<double> values = result.toVector();
    for (double value : values)
      checksum += value;
    if (number < options.outputs.size() && fusion_mpi_rank() == 0)
      write(options.outputs[number], result.getShape(), values);
    ++number;
  }
  if (fusion_mpi_rank() != 0)
    return;
  double steps = double(std::max<int64_t>(options.steps - middle, 1));
  double tasks = double(steady.tasks - before.tasks) / steps, groups = double(steady.groups - before.groups) / steps;
  if (options.json)
    std::printf("{\"app\": \"%s\", \"n\": %lld, \"steps\": %lld, \"fuse\": %s, \"tasks_per_step\": %.6g, "
                "\"groups_per_step\": %.6g, \"window\": %u, \"longest_group\": %u, \"peak_bytes\": %llu, \"moved_bytes\": "
                "%llu, \"compile_seconds\": %.4g, \"compiles\": %llu, \"steady_compiles\": %llu, \"cache_hits\": %llu, "
                "\"cache_misses\": %llu, \"seconds\": %.6g, \"steps_per_second\": %.6g, \"checksum\": %.17g}\n",
                options.app->name, (long long)options.parameters.n, (long long)options.steps,
                options.session.fuse ? "true" : "false", tasks, groups, after.window, after.longestGroup,
                (unsigned long long)after.peakBytes, (unsigned long long)after.movedBytes, after.compileSeconds,
                (unsigned long long)after.compiles, (unsigned long long)(steady.compiles - before.compiles),
                (unsigned long long)after.cacheHits, (unsigned long long)after.cacheMisses, seconds, steps / seconds,
                checksum);
  else
    std::printf("%s: %.6g tasks in %.6g groups a step, window %u, %.4g steps per second, checksum %.10g\n",
                options.app->name, tasks, groups, after.window, steps / seconds, checksum);
}

} // namespace

int main(int argc, char **argv) {
  int status = 0;
  try {
    run(parse(argc, argv));
  } catch (const std::exception &error) {
    std::fprintf(stderr, "fusion-apps: %s\n", error.what());
    status = 1;
  }
  fusion_mpi_finalize();
  return status;
}
