//===- TaskDependence.cpp - Which index tasks may run as one --------------===//
//
// A legal group has at most one written partition for each store, so a summary of constant size is enough: the written
// partition, the first two partitions that are read, and the operator that reduces.
//
//===----------------------------------------------------------------------===//

#include "fusion/Analysis/TaskStream.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace fusion::tasks;

llvm::StringRef fusion::tasks::getName(Constraint constraint) {
  switch (constraint) {
  case Constraint::LaunchDomain:
    return "launch-domain";
  case Constraint::TrueDependence:
    return "true-dependence";
  case Constraint::AntiDependence:
    return "anti-dependence";
  case Constraint::Reduction:
    return "reduction";
  case Constraint::ReductionOperator:
    return "reduction-operator";
  case Constraint::ReductionView:
    return "reduction-view";
  case Constraint::Aliasing:
    return "aliasing";
  case Constraint::ScalarReuse:
    return "scalar-reuse";
  case Constraint::Opaque:
    return "opaque";
  case Constraint::Image:
    return "image";
  case Constraint::Machine:
    return "machine";
  case Constraint::Window:
    return "window";
  case Constraint::HostRead:
    return "host-read";
  case Constraint::ControlFlow:
    return "control-flow";
  case Constraint::Fill:
    return "fill";
  }
  llvm_unreachable("all constraints have a name");
}

bool fusion::tasks::isPromotable(const Task &task) {
  return task.onePoint && llvm::all_of(task.arguments, [](const Argument &argument) {
           return argument.isScalar && argument.privilege != Privilege::Reduce;
         });
}

/// All partitions of a scalar are the same.
static uint32_t getPartition(const Argument &argument) { return argument.isScalar ? 0 : argument.partition; }

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

const PrefixChecker::State *PrefixChecker::getState(uint32_t store) const {
  return store < states.size() && states[store].group == group ? &states[store] : nullptr;
}

PrefixChecker::State &PrefixChecker::getEntry(uint32_t store) {
  if (store >= states.size())
    states.resize(std::max<size_t>(size_t(store) + 1, 2 * states.size()));
  return states[store];
}

PrefixChecker::State &PrefixChecker::getFreshState(uint32_t store) {
  State &state = getEntry(store);
  if (state.group != group) {
    TaskState own = state.own;
    state = State();
    state.group = group;
    state.own = own;
  }
  return state;
}

void PrefixChecker::reset() {
  ++group;
  numMembers = 0;
  domain.reset();
  machine.reset();
  domainMember = 0;
  severalPoints = false;
  reuseMember.reset();
}

bool PrefixChecker::changes(uint32_t store) const {
  const State *state = getState(store);
  return state && (state->written || state->reduced);
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

std::optional<Conflict> PrefixChecker::checkDomain(const Task &task, bool promoted) const {
  if (machine && *machine != task.machine)
    return Conflict{Constraint::Machine, std::nullopt, 0};
  if (promoted)
    return std::nullopt;
  if (domain && *domain != task.domain)
    return Conflict{Constraint::LaunchDomain, std::nullopt, domainMember};
  // The scalar tasks so far would be promoted to this domain.
  if (!task.onePoint && reuseMember)
    return Conflict{Constraint::ScalarReuse, std::nullopt, reuseMember};
  return std::nullopt;
}

/// A store that is two arguments of one task would be two buffers of one body that are, or overlap, each other. Said of
/// the task alone, so it holds also for the first of a group.
std::optional<Conflict> PrefixChecker::checkAliasing(const Task &current) {
  ++task;
  for (auto [index, argument] : llvm::enumerate(current.arguments)) {
    TaskState &own = getEntry(argument.store).own;
    bool isAgain = own.task == task;
    if (!isAgain)
      own = {task, false};
    own.changes |= argument.privilege != Privilege::Read;
    if (isAgain && own.changes)
      return Conflict{Constraint::Aliasing, unsigned(index), std::nullopt};
  }
  return std::nullopt;
}

std::optional<Conflict> PrefixChecker::checkArgument(const Argument &argument, unsigned index,
                                                     bool severalPoints) const {
  const State *state = getState(argument.store);
  if (!state)
    return std::nullopt;
  uint32_t partition = getPartition(argument);
  auto conflict = [&](Constraint constraint, const Use &with) { return Conflict{constraint, index, with.member}; };
  if (argument.privilege == Privilege::Reduce) {
    if (state->written)
      return conflict(Constraint::Reduction, state->written);
    if (state->read)
      return conflict(Constraint::Reduction, state->read);
    if (state->reduced && state->reducer != argument.reducer)
      return conflict(Constraint::ReductionOperator, state->reduced);
    if (options.sameReductionView && state->reduced && state->reduced.partition != partition)
      return conflict(Constraint::ReductionView, state->reduced);
    return std::nullopt;
  }
  if (state->reduced)
    return conflict(Constraint::Reduction, state->reduced);
  if (state->written && state->written.partition != partition)
    return conflict(Constraint::TrueDependence, state->written);
  if (writes(argument.privilege)) {
    for (const Use &read : {state->read, state->readOtherwise})
      if (read && read.partition != partition)
        return conflict(Constraint::AntiDependence, read);
    if (argument.isScalar && severalPoints && state->readFirst)
      return conflict(Constraint::ScalarReuse, state->read);
  }
  return std::nullopt;
}

void PrefixChecker::record(const Task &current) {
  // Reads of a task come before its writes.
  for (const Argument &argument : current.arguments) {
    if (!reads(argument.privilege))
      continue;
    State &state = getFreshState(argument.store);
    uint32_t partition = getPartition(argument);
    state.readFirst |= argument.isScalar && !state.written;
    if (!state.read)
      state.read = {partition, numMembers};
    else if (!state.readOtherwise && state.read.partition != partition)
      state.readOtherwise = {partition, numMembers};
  }
  for (const Argument &argument : current.arguments) {
    if (argument.privilege == Privilege::Read)
      continue;
    State &state = getFreshState(argument.store);
    Use use = {getPartition(argument), numMembers};
    if (argument.privilege == Privilege::Reduce) {
      state.reducer = argument.reducer;
      if (!state.reduced)
        state.reduced = use;
      continue;
    }
    if (!state.written)
      state.written = use;
    if (state.readFirst && !reuseMember)
      reuseMember = numMembers;
  }
  ++numMembers;
}

std::optional<Conflict> PrefixChecker::admit(const Task &current) {
  if (current.barrier)
    return Conflict{*current.barrier, std::nullopt, std::nullopt};
  if (std::optional<Conflict> conflict = checkAliasing(current))
    return conflict;
  bool promoted = options.promoteScalars && isPromotable(current);
  if (std::optional<Conflict> conflict = checkDomain(current, promoted))
    return conflict;
  bool hasSeveralPoints = severalPoints || (!promoted && !current.onePoint);
  for (auto [index, argument] : llvm::enumerate(current.arguments)) {
    if (std::optional<Conflict> conflict = checkArgument(argument, index, hasSeveralPoints))
      return conflict;
    // The same within one task.
    const State *state = getState(argument.store);
    if (argument.isScalar && hasSeveralPoints && argument.privilege == Privilege::ReadWrite &&
        !(state && state->written))
      return Conflict{Constraint::ScalarReuse, unsigned(index), std::nullopt};
  }
  if (!promoted && !domain) {
    domain = current.domain;
    domainMember = numMembers;
  }
  severalPoints = hasSeveralPoints;
  machine = current.machine;
  record(current);
  return std::nullopt;
}

unsigned fusion::tasks::getFusiblePrefix(llvm::ArrayRef<Task> stream, CheckerOptions options,
                                         std::optional<Conflict> *conflict) {
  PrefixChecker checker(options);
  for (const Task &task : stream)
    if (std::optional<Conflict> found = checker.admit(task)) {
      if (conflict)
        *conflict = found;
      return checker.getNumMembers();
    }
  if (conflict)
    conflict->reset();
  return stream.size();
}
