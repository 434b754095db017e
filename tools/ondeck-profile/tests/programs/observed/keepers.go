// A sync.Mutex with a known keeper: one goroutine holds it for 2 ms each time, three others for a moment. Each notes how
// long it has waited. Prints the sum of all waits, and for how long the others have held it, in nanoseconds.
package main

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const victims, rounds = 3, 100

var (
	lock         sync.Mutex
	over         atomic.Bool
	waited, held atomic.Int64
)

//go:noinline
func keeper_long() {
	begin := time.Now()
	lock.Lock()
	end := time.Now()
	waited.Add(int64(end.Sub(begin)))
	for time.Since(end) < 2*time.Millisecond {
	}
	lock.Unlock()
}

//go:noinline
func victim_short() {
	begin := time.Now()
	lock.Lock()
	end := time.Now()
	waited.Add(int64(end.Sub(begin)))
	lock.Unlock()
	held.Add(int64(time.Since(end)))
}

func main() {
	var all sync.WaitGroup
	all.Add(victims)
	for i := 0; i < victims; i++ {
		go func() {
			for !over.Load() {
				victim_short()
				time.Sleep(200 * time.Microsecond)
			}
			all.Done()
		}()
	}
	for i := 0; i < rounds; i++ {
		keeper_long()
		time.Sleep(3 * time.Millisecond)
	}
	over.Store(true)
	all.Wait()
	fmt.Println(waited.Load(), held.Load())
}
