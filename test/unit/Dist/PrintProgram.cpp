//===- PrintProgram.cpp - Prints a random program of the dist dialect -------===//
//
// random-dist-program SEED OPERATIONS: for tests that run programs under a launcher.
//
//===------------------------------------------------------------------------===//

#include "RandomProgram.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fputs("usage: random-dist-program SEED OPERATIONS\n", stderr);
    return 2;
  }
  fusion::RandomProgramOptions options;
  options.operations = unsigned(std::strtoul(argv[2], nullptr, 10));
  std::fputs(fusion::makeRandomProgram(std::strtoull(argv[1], nullptr, 10), options).c_str(), stdout);
  return 0;
}
