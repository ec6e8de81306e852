// Nothing: only the soname of this library is wanted (CMakeLists.txt).
typedef int nothing;
