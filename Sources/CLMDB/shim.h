#include <lmdb.h>

#ifdef __GLIBC__
// Its header declares this only with _GNU_SOURCE, which Swift does not define for Glibc.
int fallocate(int descriptor, int mode, off_t offset, off_t length);
#endif
