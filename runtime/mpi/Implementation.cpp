//===- Implementation.cpp - Which MPI this process uses ---------------------===//

#include "Implementation.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <vector>

using namespace fusion::runtime::mpi;

namespace {

/// An MPI that is in the process already: the host is linked to it, or has loaded it.
struct Loaded {
  std::string implementation;
  bool isInitialized = false;
};

/// The name of the ABI, by MPI's own version text; empty for one that is not known.
std::string classify(const char *version) {
  if (std::strstr(version, "Open MPI"))
    return "openmpi";
  // These share MPICH's binary interface.
  for (const char *name : {"MPICH", "MVAPICH", "Intel(R) MPI", "CRAY MPICH"})
    if (std::strstr(version, name))
      return "mpich";
  return "";
}

using GetVersion = int (*)(char *, int *);
using GetFlag = int (*)(int *);

bool inspect(void *library, Loaded &loaded) {
  auto getVersion = reinterpret_cast<GetVersion>(dlsym(library, "MPI_Get_library_version"));
  auto getInitialized = reinterpret_cast<GetFlag>(dlsym(library, "MPI_Initialized"));
  if (!getVersion || !getInitialized)
    return false;
  // Both may be called before MPI_Init. MPICH's text is the longest known: 8192.
  std::vector<char> version(16384);
  int length = 0, flag = 0;
  if (getVersion(version.data(), &length) != 0 || getInitialized(&flag) != 0)
    return false;
  loaded.implementation = classify(version.data());
  if (loaded.implementation.empty())
    loaded.implementation = std::string(version.data()).substr(0, 40);
  loaded.isInitialized = flag;
  return true;
}

/// Finds libraries that were loaded for themselves (as an interpreter's extension does), whose symbols are not global.
int inspectObject(struct dl_phdr_info *info, size_t, void *result) {
  const char *slash = info->dlpi_name ? std::strrchr(info->dlpi_name, '/') : nullptr;
  const char *name = slash ? slash + 1 : info->dlpi_name;
  if (!name || (std::strncmp(name, "libmpi.so", 9) != 0 && std::strncmp(name, "libmpich.so", 11) != 0))
    return 0;
  static_cast<std::vector<std::string> *>(result)->push_back(info->dlpi_name);
  return 0;
}

bool findLoaded(Loaded &loaded) {
  if (inspect(RTLD_DEFAULT, loaded))
    return true;
  // Not opened inside of the iteration: the loader's lock is held there.
  std::vector<std::string> paths;
  dl_iterate_phdr(inspectObject, &paths);
  for (const std::string &path : paths) {
    if (void *library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
      bool found = inspect(library, loaded);
      dlclose(library);
      if (found)
        return true;
    }
  }
  return false;
}

int32_t readNumber(const char *variable, int32_t absent) {
  const char *text = std::getenv(variable);
  return text && *text ? int32_t(std::strtol(text, nullptr, 10)) : absent;
}

bool isSet(const char *variable) { return std::getenv(variable) != nullptr; }

/// The folder that this library was loaded from, with a slash; the others are beside it.
std::string getFolder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&fusion_mpi_init), &info) || !info.dli_fname)
    return "";
  const char *slash = std::strrchr(info.dli_fname, '/');
  return slash ? std::string(info.dli_fname, slash + 1) : "";
}

} // namespace

FusionMpiLauncher fusion::runtime::mpi::readLauncher() {
  if (isSet("OMPI_COMM_WORLD_SIZE"))
    return {"openmpi", readNumber("OMPI_COMM_WORLD_RANK", 0), readNumber("OMPI_COMM_WORLD_SIZE", 0)};
  // Hydra, and Slurm's PMI.
  if (isSet("PMI_SIZE"))
    return {"mpich", readNumber("PMI_RANK", 0), readNumber("PMI_SIZE", 0)};
  // A launcher that speaks PMIx only, such as Slurm's; it does not say here how many ranks there are.
  if (isSet("PMIX_RANK"))
    return {"openmpi", readNumber("PMIX_RANK", 0), 0};
  return {"none", 0, 1};
}

bool fusion::runtime::mpi::choose(bool isRequired, Choice &choice, std::string &text) {
  const char *variable = std::getenv("FUSION_MPI");
  std::string wish = variable ? variable : "";
  bool isPath = wish.find('/') != std::string::npos;
  if (!wish.empty() && !isPath && wish != "off" && wish != "openmpi" && wish != "mpich") {
    text = "FUSION_MPI is '" + wish + "'; accepted are off, openmpi, mpich, and the path of a libFusionMpi library";
    return false;
  }
  choice = {};
  if (wish == "off" && !isRequired)
    return true;

  Loaded loaded;
  bool hasLoaded = findLoaded(loaded);
  FusionMpiLauncher launcher = readLauncher();
  bool isInitialized = hasLoaded && loaded.isInitialized;
  std::string source;
  if (isInitialized || isRequired) {
    if (!hasLoaded) {
      text = "a communicator was given, but no MPI is loaded in this process";
      return false;
    }
    choice.implementation = loaded.implementation;
    source = "the host program uses MPI from " + loaded.implementation;
  } else if (launcher.size != 1) {
    choice.implementation = launcher.implementation;
    source = std::string("the program was started by the launcher of ") + launcher.implementation;
    if (hasLoaded && loaded.implementation != choice.implementation) {
      text = source + ", but it is linked to " + loaded.implementation;
      return false;
    }
  } else {
    // One rank: MPI is used only on request.
    choice.isAlone = wish.empty();
    choice.implementation = wish;
    return true;
  }
  choice.isAlone = false;
  if (!wish.empty() && !isPath && wish != choice.implementation) {
    text = source + ", but FUSION_MPI is '" + wish + "'";
    return false;
  }
  if (isPath)
    choice.implementation = wish;
  return true;
}

const Transport *fusion::runtime::mpi::load(const std::string &implementation, std::string &text) {
  bool isPath = implementation.find('/') != std::string::npos;
  std::string path = isPath ? implementation : getFolder() + "libFusionMpi-" + implementation + ".so";
  // Global: components that an MPI library loads later on look its symbols up. Never closed.
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    const char *why = dlerror();
    text = "no ranks part for " + implementation + " in this installation of Fusion (" + (why ? why : path) +
           "); build Fusion where that MPI's headers are installed";
    return nullptr;
  }
  auto get = reinterpret_cast<GetTransport>(dlsym(library, transportSymbol));
  const Transport *transport = get ? get() : nullptr;
  if (!transport || transport->version != transportVersion) {
    text = path + " is not a libFusionMpi library of this version";
    return nullptr;
  }
  return transport;
}
