//===- Fiber.cpp - One thread of a block ------------------------------------===//

// The fortified longjmp takes a jump to another stack for an error.
#undef _FORTIFY_SOURCE

#include "Fiber.h"

#include <cstdint>
#include <sys/mman.h>

using namespace fusion::emulator;

Fiber::~Fiber() {
  if (stack)
    munmap(stack - guardBytes, stackBytes + guardBytes);
}

bool Fiber::create(void (*newFunction)(void *), void *newArgument) {
  function = newFunction;
  argument = newArgument;
  started = false;
  if (stack)
    return true;
  void *memory = mmap(nullptr, stackBytes + guardBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    return false;
  // A stack that grows too far meets a fault instead of another thread's data.
  mprotect(memory, guardBytes, PROT_NONE);
  stack = static_cast<char *>(memory) + guardBytes;
  return true;
}

void Fiber::enter(unsigned high, unsigned low) {
  Fiber *self = reinterpret_cast<Fiber *>(uintptr_t(high) << 32 | low);
  self->function(self->argument);
}

void Fiber::switchTo(Fiber &from, Fiber &to) {
  // setjmp, not swapcontext: the latter asks the system for the signal mask at every switch.
  if (_setjmp(from.context))
    return;
  if (to.started)
    _longjmp(to.context, 1);
  to.started = true;
  getcontext(&to.start);
  to.start.uc_stack.ss_sp = to.stack;
  to.start.uc_stack.ss_size = stackBytes;
  to.start.uc_link = nullptr;
  uintptr_t address = reinterpret_cast<uintptr_t>(&to);
  // makecontext passes ints only.
  makecontext(&to.start, reinterpret_cast<void (*)()>(enter), 2, unsigned(address >> 32), unsigned(address));
  setcontext(&to.start);
}
