package fleet

import (
	"fmt"
	"hash/maphash"
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"troupe/broker/link"
	"troupe/schema"
)

const (
	// maxReaders bounds the goroutines that decode messages of robots; there are as many as processors, and at least two.
	maxReaders = 8
	// readerQueue is how many messages wait for one of them. When it is full the link's goroutine waits, and further messages
	// wait in the link's queue.
	readerQueue = 1024
)

// intake decodes messages of robots and passes what they mean to the parts of fleetd, on several goroutines: decoding takes most
// of the time, and the link's goroutine alone would not keep up with a whole fleet. All messages of a robot go to the same
// goroutine, so that their order is kept. Messages of different robots may overtake each other.
type intake struct {
	log     *slog.Logger
	read    func(robotMessage)
	seed    maphash.Seed
	readers []chan robotMessage
	running sync.WaitGroup
}

// robotMessage is a message on a topic of a robot.
type robotMessage struct {
	kind  schema.TopicKind
	robot string
	link.Message
	at      time.Time       // when fleetd took it from the link
	reached *sync.WaitGroup // not nil: no message, but a mark that all earlier ones were read
}

// newIntake starts the goroutines; close ends them.
func newIntake(log *slog.Logger, read func(robotMessage)) *intake {
	n := &intake{log: log, read: read, seed: maphash.MakeSeed()}
	for range min(max(2, runtime.GOMAXPROCS(0)), maxReaders) {
		queue := make(chan robotMessage, readerQueue)
		n.readers = append(n.readers, queue)
		n.running.Go(func() {
			for m := range queue {
				n.readOne(m)
			}
		})
	}
	return n
}

// readOne reads one message. As in the link, a panic does not end the program: its other duties matter more than one bad message.
func (n *intake) readOne(m robotMessage) {
	if m.reached != nil {
		m.reached.Done()
		return
	}
	defer func() {
		if p := recover(); p != nil {
			n.log.Error("handler panicked", "topic", m.Topic, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	n.read(m)
}

// add has a message read after all earlier ones of its robot. It waits while too many wait.
func (n *intake) add(m robotMessage) {
	n.readers[maphash.String(n.seed, m.robot)%uint64(len(n.readers))] <- m
}

// flush waits until all messages that were added before have been read.
func (n *intake) flush() {
	var all sync.WaitGroup
	all.Add(len(n.readers))
	for _, queue := range n.readers {
		queue <- robotMessage{reached: &all}
	}
	all.Wait()
}

// close reads what was added, and ends. Nothing may be added any more.
func (n *intake) close() {
	for _, queue := range n.readers {
		close(queue)
	}
	n.running.Wait()
}
