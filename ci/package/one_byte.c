/* A program that is compiled against the packages' header and library, for ci/package.sh. */
#include <ondeck.h>
#include <stdio.h>

int main(void)
{
    static ondeck_mutex_t lock = ONDECK_MUTEX_INIT;
    ondeck_mutex_lock(&lock);
    int taken = ondeck_mutex_trylock(&lock);
    ondeck_mutex_unlock(&lock);
    printf("%zu byte, second trylock %s\n", sizeof lock, taken == 0 ? "took it" : "was refused");
    return sizeof lock == 1 && taken != 0 ? 0 : 1;
}
