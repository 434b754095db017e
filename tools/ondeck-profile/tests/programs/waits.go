// Goroutines that wait for a sync.Mutex, and threads without work.
package main

import (
	"fmt"
	"sync"
	"time"
)

var orders sync.Mutex

func main() {
	orders.Lock()
	for i := 0; i < 3; i++ {
		go orders.Lock()
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
}
