/* The first call of each function happens while the dynamic linker's lock is held: see library_lazy.c. This
 * program itself does not call any of them before that. */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
    void *handle = dlopen("library_lazy.so", RTLD_NOW);
    if (handle == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int (*result)(void);
    *(void **)&result = dlsym(handle, "lazy_result");
    int failed = result == NULL ? 1 : result();
    printf("failed %d\n", failed);
    return failed != 0;
}
