/* What Rust's standard library asks of Windows 10 for random numbers. Wine has it since version 9 only, so
 * ci/systems.sh puts this library beside the tests that older versions run. */
#include <stddef.h>

unsigned char __stdcall SystemFunction036(void *bytes, unsigned long length); /* RtlGenRandom */

__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *bytes, size_t length)
{
    return SystemFunction036(bytes, (unsigned long)length);
}
