package fleet

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"troupe/broker/link"
)

func TestMessagesOfARobotAreReadInTheirOrder(t *testing.T) {
	const robots, messages = 100, 200
	var mu sync.Mutex
	read := map[string][]uint64{}
	n := newIntake(slog.New(slog.NewTextHandler(io.Discard, nil)), func(m robotMessage) {
		mu.Lock()
		defer mu.Unlock()
		read[m.robot] = append(read[m.robot], m.N)
	})
	for i := range messages {
		for r := range robots {
			n.add(robotMessage{robot: fmt.Sprint("r", r), Message: link.Message{N: uint64(i)}})
		}
	}
	n.flush()
	mu.Lock()
	for robot, numbers := range read {
		for i, number := range numbers {
			if number != uint64(i) {
				t.Fatalf("%s: message %d was read as number %d", robot, number, i)
			}
		}
		if len(numbers) != messages {
			t.Errorf("%s: %d messages of %d were read before flush returned", robot, len(numbers), messages)
		}
	}
	if len(read) != robots {
		t.Errorf("messages of %d robots of %d were read", len(read), robots)
	}
	mu.Unlock()
	n.close()
}

func TestOneBadMessageEndsNoReader(t *testing.T) {
	var log strings.Builder
	read := 0
	n := newIntake(slog.New(slog.NewTextHandler(&log, nil)), func(m robotMessage) {
		if m.N == 1 {
			panic("bad message")
		}
		read++
	})
	n.add(robotMessage{robot: "r1", Message: link.Message{N: 1, Topic: "bad"}})
	n.add(robotMessage{robot: "r1", Message: link.Message{N: 2}})
	n.close()
	if read != 1 || !strings.Contains(log.String(), "handler panicked") {
		t.Errorf("%d messages read; log %s", read, log.String())
	}
}
