//===- Fiber.h - One thread of a block ----------------------------*- C++ -*-===//
//
// A fiber runs until it gives control to another one; nothing runs in parallel. Fibers are made once and run one device
// thread after the other.
//
//===------------------------------------------------------------------------===//

#ifndef FUSION_RUNTIME_EMULATOR_FIBER_H
#define FUSION_RUNTIME_EMULATOR_FIBER_H

#include <csetjmp>
#include <cstddef>
#include <ucontext.h>

namespace fusion::emulator {

class Fiber {
public:
  Fiber() = default;
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;
  ~Fiber();

  /// Gives the fiber a stack and a function, which must never return. False if there is no memory.
  bool create(void (*function)(void *), void *argument);
  /// Forgets where the fiber is: the next switch starts its function anew.
  void restart() { started = false; }

  /// Leaves the running fiber (or the host's own stack) and continues `to`.
  static void switchTo(Fiber &from, Fiber &to);

  bool contains(const void *address) const {
    const char *p = static_cast<const char *>(address);
    return stack && p >= stack && p < stack + stackBytes;
  }

private:
  static void enter(unsigned high, unsigned low);

  std::jmp_buf context;
  ucontext_t start;
  char *stack = nullptr;
  void (*function)(void *) = nullptr;
  void *argument = nullptr;
  /// The host's own stack is always started.
  bool started = true;

  static constexpr size_t stackBytes = 256 * 1024;
  static constexpr size_t guardBytes = 4096;
};

} // namespace fusion::emulator

#endif // FUSION_RUNTIME_EMULATOR_FIBER_H
