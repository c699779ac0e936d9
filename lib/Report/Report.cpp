//===- Report.cpp - What was fused, and why the rest was not ----------------===//

#include "fusion/Report/Report.h"

#include "fusion/Report/Remarks.h"

#include "mlir/IR/Remarks.h"

#include <mutex>
#include <tuple>

using namespace mlir;
using namespace fusion;

namespace {

/// A remark as it came, by its place.
struct Record {
  std::string file;
  unsigned line = 0, column = 0;
  bool isKernel = false;
  std::string function, name, place;
  std::vector<std::pair<std::string, std::string>> facts;

  auto getOrder() const { return std::tie(file, line, column); }
};

} // namespace

struct ReportCollector::Records {
  std::mutex mutex;
  std::vector<Record> list;
};

class ReportCollector::Streamer final : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit Streamer(std::shared_ptr<Records> records) : records(std::move(records)) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    Record record;
    record.isKernel = remark.getRemarkType() == llvm::remarks::Type::Passed;
    record.function = remark.getFunction().str();
    record.name = remark.getRemarkName().str();
    record.place = getPlace(remark.getLocation());
    remark.getLocation()->walk([&](Location inner) {
      auto file = dyn_cast<FileLineColLoc>(inner);
      if (!file)
        return WalkResult::advance();
      record.file = file.getFilename().str();
      record.line = file.getLine();
      record.column = file.getColumn();
      return WalkResult::interrupt();
    });
    for (const remark::detail::Remark::Arg &arg : remark.getArgs())
      record.facts.emplace_back(arg.key, arg.val);
    // Passes on several functions run at the same time.
    std::lock_guard lock(records->mutex);
    records->list.push_back(std::move(record));
  }

private:
  std::shared_ptr<Records> records;
};

ReportCollector::ReportCollector(MLIRContext &context) : records(std::make_shared<Records>()) {
  remark::RemarkCategories categories;
  // `all` alone turns nothing on in LLVM 22.
  categories.passed = categories.missed = "^spacemap$";
  // Fails only for a streamer that cannot be set up; ours needs nothing.
  (void)remark::enableOptimizationRemarks(context, std::make_unique<Streamer>(records),
                                          std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
}

ReportCollector::~ReportCollector() = default;

Report ReportCollector::getReport() const {
  std::lock_guard lock(records->mutex);
  std::vector<Record> sorted = records->list;
  llvm::stable_sort(sorted, [](const Record &a, const Record &b) { return a.getOrder() < b.getOrder(); });
  Report report;
  for (Record &record : sorted) {
    if (record.isKernel)
      report.kernels.push_back({record.function, record.place, std::move(record.facts)});
    else if (!record.facts.empty())
      report.apart.push_back({record.function, record.place, record.name, std::move(record.facts.front().second)});
  }
  return report;
}

void Report::print(llvm::raw_ostream &os, llvm::ArrayRef<std::string> names) const {
  for (auto [index, kernel] : llvm::enumerate(kernels)) {
    os << "kernel " << (index < names.size() ? names[index] : std::to_string(index)) << " at " << kernel.place << '\n';
    for (const auto &[name, value] : kernel.facts) {
      if (name != "Ops") {
        os << "  " << llvm::StringRef(name).lower() << ": " << value << '\n';
        continue;
      }
      os << "  fused from\n";
      llvm::SmallVector<llvm::StringRef> ops;
      llvm::StringRef(value).split(ops, "; ");
      for (llvm::StringRef op : ops)
        os << "    " << op << '\n';
    }
  }
  if (!apart.empty())
    os << "not in one kernel\n";
  for (const Pair &pair : apart)
    os << "  " << pair.place << ": " << pair.reason << ": " << pair.text << '\n';
}
