/* The first call of each function happens while the dynamic linker's lock is held: see library_lazy.c. This
 * program itself does not call any of them before that. */
#include "conform.h"

int main(void)
{
    is(library_result("library_lazy.so", "lazy_result"), 0);
    return conform_end();
}
