package latch

import (
	"context"
	"sync"
	"time"

	"troupe/fleetd/stop"
	"troupe/schema"
)

// mailbox is the owner's input. Its methods do not block. It bounds the live stops of each client,
// and keeps only the newest reported latches of each robot.
type mailbox struct {
	mu       sync.Mutex
	posts    []func() // the owner calls them in order
	live     []live
	count    map[string]int // number in live, by client
	last     map[string]int // index of the newest in live, by client
	reported map[string]reportedLatches

	wake chan struct{}
}

// live is a client's live stop.
type live struct {
	request stop.Request
	empty   bool // its payload is empty, as of a message that removes a retained one
}

// reportedLatches is the latches that a robot reports.
type reportedLatches struct {
	latches []schema.StopLatch
	ahead   time.Duration // by how much this machine's clock is ahead of the robot's
	at      time.Time
}

func newMailbox() mailbox {
	return mailbox{count: map[string]int{}, last: map[string]int{}, reported: map[string]reportedLatches{}, wake: make(chan struct{}, 1)}
}

// post has the owner call do.
func (m *mailbox) post(do func()) {
	m.mu.Lock()
	m.posts = append(m.posts, do)
	m.mu.Unlock()
	signal(m.wake)
}

// putLive puts in a live stop. If it repeats the client's last one it replaces that one, and
// beyond maxWaiting those of a client become one stop of all robots.
func (m *mailbox) putLive(l live) {
	m.mu.Lock()
	defer signal(m.wake)
	defer m.mu.Unlock()
	client := l.request.Client
	if i, waits := m.last[client]; waits {
		if last := &m.live[i]; m.count[client] > maxWaiting || same(&last.request, &l.request) {
			merge(&last.request, &l.request)
			last.empty = last.empty || l.empty
			return
		}
	}
	m.count[client]++
	m.last[client] = len(m.live)
	if m.count[client] > maxWaiting {
		l.request.All, l.request.Robots, l.request.Labels = true, nil, nil
	}
	m.live = append(m.live, l)
}

// putReported puts in the latches that a robot reports.
func (m *mailbox) putReported(robot string, s reportedLatches) {
	m.mu.Lock()
	m.reported[robot] = s
	m.mu.Unlock()
	signal(m.wake)
}

func (m *mailbox) takeLive() []live {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.live
	m.live = nil
	clear(m.count)
	clear(m.last)
	return l
}

func (m *mailbox) takePosts() []func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.posts
	m.posts = nil
	return p
}

func (m *mailbox) takeReported() map[string]reportedLatches {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.reported) == 0 {
		return nil
	}
	s := m.reported
	m.reported = map[string]reportedLatches{} // a new one: a map that was cleared is as long to walk as it ever was
	return s
}

// sender calls functions that send messages to the broker, one after the other.
type sender struct {
	mu    sync.Mutex
	queue []func(context.Context)
	wake  chan struct{}
}

func newSender() sender { return sender{wake: make(chan struct{}, 1)} }

func (o *sender) post(send func(context.Context)) {
	o.mu.Lock()
	o.queue = append(o.queue, send)
	o.mu.Unlock()
	signal(o.wake)
}

// run sends until ctx ends.
func (o *sender) run(ctx context.Context) {
	for {
		o.mu.Lock()
		queue := o.queue
		o.queue = nil
		o.mu.Unlock()
		for _, send := range queue {
			send(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-o.wake:
		}
	}
}
