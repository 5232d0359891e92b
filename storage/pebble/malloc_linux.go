//go:build cgo

package pebble

// In a program with cgo, Pebble takes the memory of its cache from the C library.
// That of GNU has an arena for each of several threads, and what blocks of the cache
// that are gone have left in one cannot be used by the others: the process would
// need twice the cache. A constructor says this before there is a second thread.

// #include <stdlib.h>
// #ifdef __GLIBC__
// #include <malloc.h>
// __attribute__((constructor)) static void one_arena(void) { mallopt(M_ARENA_MAX, 1); }
// #endif
import "C"
