// Goroutines that wait for locks of package sync, and threads without work.
package main

import (
	"fmt"
	"sync"
	"time"
)

var orders sync.Mutex

type table struct {
	rows map[string]int
	lock sync.RWMutex
}

//go:noinline
func (t *table) refresh(begun *sync.WaitGroup) {
	t.lock.Lock()
	defer t.lock.Unlock()
	begun.Done()
	time.Sleep(time.Hour)
}

//go:noinline
func (t *table) get(key string) int {
	t.lock.RLock()
	defer t.lock.RUnlock()
	return t.rows[key]
}

//go:noinline
func takeOrders() {
	orders.Lock()
	defer orders.Unlock()
}

func main() {
	orders.Lock()
	for i := 0; i < 3; i++ {
		go takeOrders()
	}
	var begun sync.WaitGroup
	begun.Add(1)
	t := &table{}
	go t.refresh(&begun)
	begun.Wait()
	go t.get("key")
	// Neither waits for a lock.
	go func() { <-make(chan int) }()
	condition := sync.NewCond(&sync.Mutex{})
	go func() {
		condition.L.Lock()
		condition.Wait()
	}()
	fmt.Println("ready")
	time.Sleep(time.Hour)
}
