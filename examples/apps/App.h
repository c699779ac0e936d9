//===- App.h - What the applications have in common ---------------*- C++ -*-===//

#ifndef FUSION_EXAMPLES_APPS_APP_H
#define FUSION_EXAMPLES_APPS_APP_H

#include "fusion/Array/Array.h"

#include <memory>
#include <string>
#include <vector>

namespace apps {

using fusion::Array;
using fusion::ArrayLibrary;

struct Parameters {
  int64_t n = 64;
  std::string init, rhs = "ones", bottom = "bump";
  int64_t sweeps = 5;
};

/// An application: the constructor makes the initial data, `step` is one iteration.
class App {
public:
  virtual ~App() = default;
  virtual void step() = 0;
  virtual std::vector<Array> getResults() = 0;
  /// Whether somebody looks at the results after each step.
  virtual bool isObserved() const { return false; }
};

std::unique_ptr<App> makeBlackScholes(ArrayLibrary &library, const Parameters &parameters);
std::unique_ptr<App> makeJacobi(ArrayLibrary &library, const Parameters &parameters);
std::unique_ptr<App> makeStencil(ArrayLibrary &library, const Parameters &parameters);
std::unique_ptr<App> makeChannelFlow(ArrayLibrary &library, const Parameters &parameters);
std::unique_ptr<App> makeShallowWater(ArrayLibrary &library, const Parameters &parameters);
std::unique_ptr<App> makeConjugateGradients(ArrayLibrary &library, const Parameters &parameters);
std::unique_ptr<App> makeMultigrid(ArrayLibrary &library, const Parameters &parameters);
std::unique_ptr<App> makeBiCgStab(ArrayLibrary &library, const Parameters &parameters);

/// n reproducible values in [low, high): the fractional parts of the multiples of `step`.
std::vector<double> spread(int64_t n, double step, double low, double high);

inline constexpr double phi = 0.6180339887498949, sqrt2 = 0.41421356237309515, sqrt3 = 0.7320508075688772;

} // namespace apps

#endif // FUSION_EXAMPLES_APPS_APP_H
