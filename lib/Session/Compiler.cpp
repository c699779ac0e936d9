//===- Compiler.cpp - From the tasks of a group to machine code ---------------===//
//
// A group becomes a small `dist` program: the text of its tasks, a function that launches them, where stores that are
// needed afterwards are results. `dist-fuse` makes one task of it (nothing else could be its result, since the session
// has asked the same checker), and the body of that goes the way of every other program to machine code.
//
//===------------------------------------------------------------------------===//

#include "Core.h"

#include "fusion/Dist/Dist.h"
#include "fusion/Execution/Jit.h"
#include "fusion/InitAll.h"
#include "fusion/Pipelines/Pipelines.h"
#include "fusion/Target/HostCpu.h"
#include "fusion/Tasks/Bodies.h"
#include "fusion/Tasks/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <chrono>

using namespace mlir;
using namespace fusion;
using namespace fusion::session;

namespace fusion::session {

class Compiler {
public:
  Compiler() : context(getRegistry(), MLIRContext::Threading::DISABLED) {
    // The functions of bodies are built from them.
    context.loadDialect<bufferization::BufferizationDialect, linalg::LinalgDialect, memref::MemRefDialect,
                        tensor::TensorDialect, LLVM::LLVMDialect, func::FuncDialect>();
  }

  MLIRContext context;

private:
  static const DialectRegistry &getRegistry() {
    static const DialectRegistry registry = [] {
      DialectRegistry registry;
      registerAllDialects(registry);
      return registry;
    }();
    return registry;
  }
};

void CompilerDeleter::operator()(Compiler *compiler) const { delete compiler; }

} // namespace fusion::session

Error fusion::session::createCompiler(Core &core) {
  llvm::Expected<CpuTarget> target = getCpuTarget(core.options.target);
  if (!target)
    return llvm::toString(target.takeError());
  core.compiler.reset(new Compiler);
  return {};
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string formatList(ArrayRef<int64_t> values) {
  return llvm::join(llvm::map_range(values, [](int64_t value) { return std::to_string(value); }), ", ");
}

static std::string formatType(StringRef head, const StoreClass &store) {
  std::string type = head.str();
  for (int64_t extent : store.shape)
    type += std::to_string(extent) + "x";
  return type + getElementName(store.type) + ">";
}

static std::string formatPartition(const PartitionRecord &partition, size_t domainRank) {
  switch (partition.kind) {
  case PartitionRecord::Whole:
    return "#dist.none";
  case PartitionRecord::ImageOfPoints:
    return "#dist.image<points " + formatList(partition.tile) + ">";
  case PartitionRecord::ImageOfRange:
    return "#dist.image<range " + formatList(partition.tile) + ">";
  case PartitionRecord::Tiled:
    break;
  }
  SmallVector<std::string> dims, results;
  for (size_t d = 0; d < domainRank; ++d)
    dims.push_back("d" + std::to_string(d));
  for (int64_t color : partition.color)
    results.push_back(color >= 0 ? "d" + std::to_string(color) : std::to_string(-1 - color));
  return "#dist.tiled<[" + formatList(partition.tile) + "] offset [" + formatList(partition.offset) + "] extent [" +
         formatList(partition.extent) + "] by (" + llvm::join(dims, ", ") + ") -> (" + llvm::join(results, ", ") + ")>";
}

static StringRef formatPrivilege(TaskPrivilege privilege) {
  switch (privilege) {
  case TaskPrivilege::Read:
    return "read";
  case TaskPrivilege::Write:
    return "write";
  case TaskPrivilege::ReadWrite:
    return "read_write";
  case TaskPrivilege::ReduceSum:
    return "reduce<sum>";
  case TaskPrivilege::ReduceMax:
    return "reduce<max>";
  case TaskPrivilege::ReduceMin:
    return "reduce<min>";
  }
  llvm_unreachable("all privileges have a name");
}

/// The program: %s<index> is a store.
static std::string formatProgram(const Core &core, const GroupRequest &request) {
  std::string text, body, parameters, results, resultTypes;
  llvm::SmallDenseSet<uint32_t> kinds;
  std::vector<bool> isKnown(request.numStores), isInput(request.numStores);
  for (unsigned i = 0; i < request.numTasks; ++i) {
    const TaskRecord &task = request.tasks[i];
    const KindRecord &kind = core.kinds[task.kind];
    // The names of two kinds may be the same.
    std::string symbol = "@\"" + kind.name + "." + std::to_string(task.kind) + "\"";
    if (kinds.insert(task.kind).second)
      text += "dist.task private " + symbol + kind.text + "\n";
    const DomainRecord &domain = core.domains[task.domain];
    body += "  dist.launch " + symbol + " on [" + formatList(domain.extents) + "] (";
    std::string types;
    for (uint32_t j = 0; j < task.count; ++j) {
      const TaskArgument &argument = request.arguments[task.begin + j];
      uint32_t index = argument.store->index;
      if (!isKnown[index])
        isInput[index] = kind.privileges[j] != TaskPrivilege::Write;
      isKnown[index] = true;
      body += (j ? ", %s" : "%s") + std::to_string(index) + " " + formatPrivilege(kind.privileges[j]).str() + " " +
              formatPartition(core.partitions[argument.partition], domain.extents.size());
      types += (j ? ", " : "") + formatType("!dist.store<", core.classes[argument.store->storeClass]);
    }
    body += ") : " + types + "\n";
  }
  std::string stores;
  for (unsigned i = 0; i < request.numStores; ++i) {
    const StoreClass &store = core.classes[(*request.stores)[i]->storeClass];
    std::string number = std::to_string(i), type = formatType("!dist.store<", store),
                tensor = formatType("tensor<", store);
    if (isInput[i]) {
      parameters += (parameters.empty() ? "%x" : ", %x") + number + ": " + tensor;
      stores += "  %s" + number + " = dist.from_tensor %x" + number + " : " + tensor + " -> " + type + "\n";
    } else {
      stores += "  %s" + number + " = dist.create : " + type + "\n";
    }
    if (request.isNeeded[i]) {
      body += "  %r" + number + " = dist.to_tensor %s" + number + " : " + type + " -> " + tensor + "\n";
      results += (results.empty() ? "%r" : ", %r") + number;
      resultTypes += (resultTypes.empty() ? "" : ", ") + tensor;
    }
  }
  return text + "func.func @main(" + parameters + ") -> (" + resultTypes + ") {\n" + stores + body + "  return " +
         results + (results.empty() ? "" : " : ") + resultTypes + "\n}\n";
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

/// Position among the arguments of the group of the first that is this store.
static uint32_t findPosition(const GroupRequest &request, uint32_t index) {
  const TaskRecord &last = request.tasks[request.numTasks - 1];
  for (uint32_t i = 0; i < last.begin + last.count; ++i)
    if (request.arguments[i].store->index == index)
      return i;
  llvm_unreachable("a store of a group is an argument");
}

/// What an attribute stands for; it is one of the group's.
static uint32_t findPartition(const Core &core, const GroupRequest &request, uint32_t index, Attribute attribute) {
  const TaskRecord &last = request.tasks[request.numTasks - 1];
  SmallVector<int64_t> words;
  dist::codePartition(cast<dist::PartitionInterface>(attribute), words);
  for (uint32_t i = 0; i < last.begin + last.count; ++i)
    if (request.arguments[i].store->index == index &&
        ArrayRef(core.partitions[request.arguments[i].partition].words) == ArrayRef<int64_t>(words))
      return request.arguments[i].partition;
  return 0;
}

static TaskPrivilege getPrivilege(dist::PrivilegeAttr privilege) {
  if (!privilege.reduces())
    return TaskPrivilege(unsigned(privilege.getKind()));
  switch (privilege.getReducer()) {
  case spacemap::Reducer::Max:
    return TaskPrivilege::ReduceMax;
  case spacemap::Reducer::Min:
    return TaskPrivilege::ReduceMin;
  default:
    return TaskPrivilege::ReduceSum;
  }
}

/// The table of fusion_dist_launch, and what of it is said in the plan, too.
static Error describeLaunch(Core &core, const GroupRequest &request, dist::LaunchOp launch,
                            const llvm::DenseMap<Value, uint32_t> &indices, Plan &plan) {
  llvm::append_range(plan.words, ArrayRef<int64_t>{0, 0});
  auto access = cast<dist::AccessOpInterface>(launch.getOperation());
  SmallVector<int64_t> words;
  dist::codeDomain(access.getLaunchDomain(), words);
  plan.words.insert(plan.words.end(), words.begin(), words.end());
  plan.words.push_back(int64_t(access.getAccesses().size()));
  for (const dist::Access &argument : access.getAccesses()) {
    uint32_t index = indices.lookup(argument.store);
    Plan::Argument described;
    described.position = findPosition(request, index);
    described.partition = findPartition(core, request, index, argument.partition);
    described.privilege = getPrivilege(argument.privilege);
    described.word = uint32_t(plan.words.size());
    const StoreRecord &store = *(*request.stores)[index];
    described.coversStore = covers(core, store.storeClass, described.partition, plan.domain);
    plan.words.push_back(store.number);
    plan.words.push_back(int64_t(argument.privilege.getKind()));
    if (argument.privilege.reduces()) {
      Type element = cast<dist::StoreType>(argument.store.getType()).getElementType();
      spacemap::Reducer reducer = argument.privilege.getReducer();
      if (core.ranks > 1) {
        described.slot = takeSlot(core);
        takeSlot(core);
      }
      plan.words.push_back(dist::getReducerCode(reducer, element));
      plan.words.push_back(dist::getIdentityBits(reducer, element));
      plan.words.push_back(core.ranks > 1 ? described.slot : int64_t(FUSION_DIST_AT_ONCE));
    }
    words.clear();
    dist::codePartition(argument.partition, words);
    plan.words.insert(plan.words.end(), words.begin(), words.end());
    bool isUpdate = described.privilege >= TaskPrivilege::ReadWrite;
    plan.movedBytes += uint64_t(countElements(core, store.storeClass, described.partition)) *
                       getElementBytes(core.classes[store.storeClass].type) * (isUpdate ? 2 : 1);
    plan.arguments.push_back(described);
  }
  plan.words[1] = (plan.everywhere ? FUSION_DIST_EVERYWHERE : 0) | (plan.replicated ? FUSION_DIST_REPLICATED : 0);
  return reserveNumbers(core);
}

/// Makes the module that of the task's body alone and of a function that gives its address, and compiles it.
static Error compileBody(Core &core, ModuleOp module, dist::TaskOp task, dist::LaunchOp launch, Plan &plan) {
  auto access = cast<dist::AccessOpInterface>(launch.getOperation());
  SmallVector<SmallVector<int64_t>> boxes;
  for (const dist::Access &argument : access.getAccesses())
    boxes.push_back(dist::getBoxShape(argument.partition, cast<dist::StoreType>(argument.store.getType()).getShape(),
                                      access.getLaunchDomain()));
  dist::BodyBuilder bodies(module);
  func::FuncOp body = bodies.getBody(task, boxes);
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (&op != body)
      op.erase();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = builder.getUnknownLoc();
  Type word = builder.getI64Type(), pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto getter = func::FuncOp::create(builder, loc, "address", builder.getFunctionType({}, word));
  builder.setInsertionPointToStart(getter.addEntryBlock());
  Value address = func::ConstantOp::create(builder, loc, body.getFunctionType(), body.getSymName());
  address = UnrealizedConversionCastOp::create(builder, loc, TypeRange(pointer), address).getResult(0);
  func::ReturnOp::create(builder, loc, LLVM::PtrToIntOp::create(builder, loc, word, address).getResult());

  CpuPipelineOptions options;
  options.target = core.options.target;
  PassManager passes(module.getContext());
  buildToTilesPipeline(passes, options);
  buildCpuCodegenPipeline(passes, options);
  if (failed(passes.run(module)))
    return "the tasks could not be compiled";
  CompileOptions code;
  code.target = core.options.target;
  llvm::Expected<std::unique_ptr<JitModule>> compiled = JitModule::create(module, code);
  if (!compiled)
    return llvm::toString(compiled.takeError());
  SmallVector<HostArray> outputs;
  if (llvm::Error error = (*compiled)->run("address", {}, outputs))
    return llvm::toString(std::move(error));
  plan.body = reinterpret_cast<void (*)(void **)>(outputs.front().getInteger(0));
  plan.code = std::move(*compiled);
  return {};
}

static Error compileTasks(Core &core, const GroupRequest &request, Plan &plan) {
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(formatProgram(core, request), ParserConfig(&core.compiler->context));
  if (!module)
    return "the text of a task is wrong";
  auto main = module->lookupSymbol<func::FuncOp>("main");
  llvm::DenseMap<Value, uint32_t> indices;
  uint32_t next = 0;
  for (Operation &op : main.getBody().front())
    if (isa<dist::CreateOp, dist::FromTensorOp>(op))
      indices[op.getResult(0)] = next++;
  if (request.numTasks > 1) {
    PassManager fuse(module->getContext());
    DistFuseOptions options;
    options.promoteScalars = core.options.promoteScalars;
    fuse.addPass(createDistFuse(options));
    if (failed(fuse.run(*module)))
      return "the tasks could not be fused";
  }
  SmallVector<dist::LaunchOp> launches(main.getOps<dist::LaunchOp>());
  if (launches.size() > 1)
    return "they did not become one task, but " + std::to_string(launches.size());
  if (launches.empty()) {
    plan.numEliminated = request.numStores;
    return {};
  }
  dist::LaunchOp launch = launches.front();
  plan.replicated = launch.getReplicated();
  auto task = SymbolTable::lookupNearestSymbolFrom<dist::TaskOp>(launch, launch.getTaskAttr());
  if (Error error = describeLaunch(core, request, launch, indices, plan); !error.empty())
    return error;
  llvm::SmallDenseSet<uint32_t> left;
  for (const Plan::Argument &argument : plan.arguments)
    left.insert(request.arguments[argument.position].store->index);
  plan.numEliminated = request.numStores - left.size();
  return compileBody(core, *module, task, launch, plan);
}

/// Nothing to compile: the launch as it is.
static Error describeOpaque(Core &core, const GroupRequest &request, const KindRecord &kind, Plan &plan) {
  plan.function = kind.function;
  plan.name = kind.name;
  const DomainRecord &domain = core.domains[plan.domain];
  plan.words = {0, plan.everywhere ? FUSION_DIST_EVERYWHERE : 0, int64_t(domain.extents.size())};
  plan.words.insert(plan.words.end(), domain.extents.begin(), domain.extents.end());
  plan.words.push_back(request.tasks->count);
  for (uint32_t i = 0; i < request.tasks->count; ++i) {
    const StoreRecord &store = *request.arguments[i].store;
    const StoreClass &storeClass = core.classes[store.storeClass];
    Plan::Argument argument;
    argument.position = i;
    argument.partition = request.arguments[i].partition;
    argument.privilege = kind.privileges[i];
    argument.word = uint32_t(plan.words.size());
    argument.coversStore = covers(core, store.storeClass, argument.partition, plan.domain);
    bool reduces = argument.privilege >= TaskPrivilege::ReduceSum;
    plan.words.push_back(store.number);
    plan.words.push_back(reduces ? int64_t(FUSION_DIST_REDUCE) : int64_t(argument.privilege));
    if (reduces) {
      Builder builder(&core.compiler->context);
      Type element = builder.getI64Type();
      if (storeClass.type == ElementType::F64 || storeClass.type == ElementType::F32)
        element = storeClass.type == ElementType::F64 ? Type(builder.getF64Type()) : Type(builder.getF32Type());
      else if (storeClass.type != ElementType::I64)
        element = builder.getIntegerType(storeClass.type == ElementType::I32 ? 32 : 1);
      auto reducer = argument.privilege == TaskPrivilege::ReduceSum   ? spacemap::Reducer::Sum
                     : argument.privilege == TaskPrivilege::ReduceMax ? spacemap::Reducer::Max
                                                                      : spacemap::Reducer::Min;
      if (core.ranks > 1) {
        argument.slot = takeSlot(core);
        takeSlot(core);
      }
      plan.words.push_back(dist::getReducerCode(reducer, element));
      plan.words.push_back(dist::getIdentityBits(reducer, element));
      plan.words.push_back(core.ranks > 1 ? argument.slot : int64_t(FUSION_DIST_AT_ONCE));
    }
    const std::vector<int64_t> &coded = core.partitions[argument.partition].words;
    plan.words.insert(plan.words.end(), coded.begin(), coded.end());
    plan.movedBytes += uint64_t(countElements(core, store.storeClass, argument.partition)) *
                       getElementBytes(storeClass.type) * (argument.privilege >= TaskPrivilege::ReadWrite ? 2 : 1);
    plan.arguments.push_back(argument);
  }
  return reserveNumbers(core);
}

Error fusion::session::compileGroup(Core &core, const GroupRequest &request, Plan &plan) {
  plan.numTasks = request.numTasks;
  plan.everywhere = true;
  plan.domain = request.tasks->domain;
  for (unsigned i = 0; i < request.numTasks; ++i) {
    const TaskRecord &task = request.tasks[i];
    const KindRecord &kind = core.kinds[task.kind];
    (kind.isFill ? plan.numFills : plan.numCounted) += 1;
    // That of the tasks that are not promoted.
    if (!core.domains[task.domain].isScalar)
      plan.domain = task.domain;
    plan.everywhere &= core.domains[task.domain].isScalar;
    for (TaskPrivilege privilege : kind.privileges)
      plan.everywhere &= privilege < TaskPrivilege::ReduceSum;
  }
  const KindRecord &first = core.kinds[request.tasks->kind];
  if (first.function)
    return describeOpaque(core, request, first, plan);
  auto start = std::chrono::steady_clock::now();
  std::string diagnostics;
  Error error;
  {
    ScopedDiagnosticHandler handler(&core.compiler->context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        diagnostics += ": " + diagnostic.str();
      return success();
    });
    error = compileTasks(core, request, plan);
  }
  core.statistics.compileSeconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  ++core.statistics.compiles;
  return error.empty() ? error : "task '" + first.name + "': " + error + diagnostics;
}
