//===- PrintProgram.cpp - Prints a random program of the dist dialect -------===//
//
// random-dist-program SEED: for tests that run programs under a launcher.
//
//===------------------------------------------------------------------------===//

#include "RandomProgram.h"

#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fputs("usage: random-dist-program SEED\n", stderr);
    return 2;
  }
  std::fputs(fusion::makeRandomProgram(std::strtoull(argv[1], nullptr, 10)).c_str(), stdout);
  return 0;
}
