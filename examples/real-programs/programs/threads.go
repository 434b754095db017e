// Goroutines, and C functions that goroutines call, which lock a pthread mutex and wait at a condition variable.
//
// check: ends with an error if something is wrong. rate SECONDS: turns a second that two C threads take.
package main

/*
#cgo LDFLAGS: -pthread
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static long counter, turn;

static void count(int times) {
    for (int i = 0; i < times; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
}

static long counted(void) { return counter; }

static void take_turns(long mine, long all, int times) {
    for (int i = 0; i < times; i++) {
        pthread_mutex_lock(&lock);
        while (turn % all != mine)
            pthread_cond_wait(&turned, &lock);
        turn++;
        pthread_cond_broadcast(&turned);
        pthread_mutex_unlock(&lock);
    }
}

static long turns(void) { return turn; }

extern long goBack(long);
static long callBack(long n) { return goBack(n) + 1; }
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

//export goBack
func goBack(n C.long) C.long {
	runtime.Gosched()
	return 2 * n
}

func together(goroutines int, body func(number int)) {
	var group sync.WaitGroup
	for i := 0; i < goroutines; i++ {
		group.Add(1)
		go func(number int) {
			defer group.Done()
			body(number)
		}(i)
	}
	group.Wait()
}

func same(is, wanted int64, what string) {
	if is != wanted {
		fmt.Fprintf(os.Stderr, "%s is %d and not %d\n", what, is, wanted)
		os.Exit(1)
	}
}

func check(part int) {
	together(64, func(int) { C.count(C.int(2000 * part)) })
	same(int64(C.counted()), int64(64*2000*part), "the counter in C")
	together(8, func(number int) { C.take_turns(C.long(number), 8, C.int(200*part)) })
	same(int64(C.turns()), int64(8*200*part), "the number of turns in C")
	together(16, func(number int) {
		for i := 0; i < 500*part; i++ {
			same(int64(C.callBack(C.long(i))), int64(2*i+1), "what Go told C")
		}
	})
	// Threads of their own, which end with their goroutines.
	for i := 0; i < 10*part; i++ {
		together(50, func(int) {
			runtime.LockOSThread()
			C.count(10)
		})
	}
	var lock sync.Mutex
	total, values := 0, make(chan []byte, 4)
	together(16, func(number int) {
		for i := 0; i < 1000*part; i++ {
			if number%2 == 0 {
				values <- make([]byte, 1000)
			} else {
				length := len(<-values)
				lock.Lock()
				total += length
				lock.Unlock()
			}
		}
	})
	same(int64(total), int64(8*1000*part*1000), "what went through the channel")
}

func main() {
	if os.Args[1] == "check" {
		part, _ := strconv.Atoi(os.Args[2])
		check(part)
		return
	}
	seconds, _ := strconv.Atoi(os.Args[2])
	start, turns := time.Now(), 0
	for time.Since(start) < time.Duration(seconds)*time.Second {
		together(2, func(number int) { C.take_turns(C.long(number), 2, 500) })
		turns += 2 * 500
	}
	fmt.Println(float64(turns) / time.Since(start).Seconds())
}
