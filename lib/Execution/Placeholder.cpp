// Filled by the first file of the library.
