//===- task-programs.cpp - Print the applications as dist programs --------===//

#include "Programs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace task_programs;

namespace {

struct Program {
  StringRef name, summary;
  int64_t smallest, largest;
  Results (*record)(Stream &, const Parameters &);
};

} // namespace

static const Program programs[] = {
    {"black-scholes", "prices of n options", 1, int64_t(1) << 40, recordBlackScholes},
    {"jacobi", "dense Jacobi iteration with n unknowns", 1, 1 << 20, recordJacobi},
    {"cg", "conjugate gradients on n x n unknowns", 1, 1 << 20, recordConjugateGradients},
    {"bicgstab", "BiCGSTAB on n x n unknowns", 1, 1 << 20, recordBiCgStab},
    {"gmg", "conjugate gradients with a multigrid cycle, on n x n unknowns", 1, 1 << 20, recordMultigrid},
    {"cfd", "channel flow on an n x n grid", 3, 1 << 20, recordChannelFlow},
    {"swe", "shallow water on n x n cells", 2, 1 << 20, recordShallowWater},
    {"stencil", "5-point averaging of n x n interior cells", 1, 1 << 20, recordStencil},
};

static std::string listPrograms() {
  return join(map_range(programs, [](const Program &program) { return program.name.str(); }), ", ");
}

static int fail(const Twine &message) {
  errs() << "task-programs: " << message << "\n";
  return 1;
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::OptionCategory category("task-programs options");
  cl::opt<std::string> name(cl::Positional, cl::desc("PROGRAM"), cl::cat(category));
  cl::opt<int64_t> n("n", cl::desc("Size: options, unknowns, or cells along a side"), cl::init(64), cl::cat(category));
  cl::opt<int64_t> steps("steps", cl::desc("Iterations of the loop"), cl::init(1), cl::cat(category));
  cl::opt<int64_t> points("points", cl::desc("Points of the launch domain: blocks of rows"), cl::init(1),
                          cl::cat(category));
  cl::opt<std::string> start("init", cl::desc("Start: wave or rest (cfd), wave, rest or dam (swe)"), cl::cat(category));
  cl::opt<std::string> rhs("rhs", cl::desc("Right-hand side of the solvers: ones or sine"), cl::init("ones"),
                           cl::cat(category));
  cl::opt<std::string> bottom("bottom", cl::desc("Bottom of swe: bump or flat"), cl::init("bump"), cl::cat(category));
  cl::opt<int64_t> sweeps("sweeps", cl::desc("Pressure sweeps of a step of cfd"), cl::init(5), cl::cat(category));
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "Prints an application of the Diffuse paper as a program of the dist dialect, one "
                              "iteration in a loop.\nPrograms: " +
                                  listPrograms() + "\n");
  const Program *program = find_if(programs, [&](const Program &program) { return program.name == name; });
  if (program == std::end(programs))
    return fail("'" + name + "' is no program; there are " + listPrograms());
  if (n < program->smallest || n > program->largest)
    return fail("--n of '" + program->name + "' is from " + Twine(program->smallest) + " to " +
                Twine(program->largest) + ", not " + Twine(n));
  if (steps < 0 || points < 1 || sweeps < 0)
    return fail("--steps and --sweeps are at least 0, --points is at least 1");
  if (rhs != "ones" && rhs != "sine")
    return fail("--rhs is ones or sine, not '" + rhs + "'");
  if (bottom != "bump" && bottom != "flat")
    return fail("--bottom is bump or flat, not '" + bottom + "'");
  if (!start.empty()) {
    bool accepted = (program->name == "cfd" && (start == "wave" || start == "rest")) ||
                    (program->name == "swe" && (start == "wave" || start == "rest" || start == "dam"));
    if (!accepted)
      return fail("--init of '" + program->name + "' cannot be '" + start + "'");
  }
  Parameters parameters{n, steps, start, rhs, bottom, sweeps};
  Stream stream(points);
  Results results = program->record(stream, parameters);
  outs() << stream.finish(("task-programs " + program->name + " --n=" + Twine(n) + " --steps=" + Twine(steps) +
                           " --points=" + Twine(points) + ": " + program->summary)
                              .str(),
                          results);
  return 0;
}
