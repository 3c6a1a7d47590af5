#include "changegroup.h"
int changegroup_placeholder(void) { return 0; }
