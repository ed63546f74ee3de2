package robot

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"troupe/broker/brokertest"
	"troupe/robotd/download"
	"troupe/robotd/recorder"
	"troupe/schema"
	"troupe/schema/bubble"
)

// taker is a fleetd instance that takes flight records over pipes.
type taker struct {
	*files
	took chan taken
}

type taken struct {
	key  string
	size int64
	has  map[string]int // messages by topic
}

func newTaker(t *testing.T) *taker {
	k := &taker{newFiles(t), make(chan taken, 1)}
	k.put = func(w http.ResponseWriter, r *http.Request) {
		if path.Base(r.URL.Path) == "slow" {
			<-k.done // it reads nothing
			return
		}
		got := taken{path.Base(r.URL.Path), r.ContentLength, map[string]int{}}
		file := filepath.Join(t.TempDir(), "r1.mcap")
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = os.WriteFile(file, body, 0o600)
		}
		if err == nil {
			err = recorder.Read(file, func(topic string, _ time.Time, _ []byte) { got.has[topic]++ })
		}
		if err != nil {
			t.Error(err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
		k.took <- got
	}
	return k
}

// export sends record/export as fleetd does, and returns the final answer.
func (s *stand) export(id, args string) schema.Ack {
	s.Helper()
	s.fleetd.Send(brokertest.Message{Topic: "troupe/v1/robots/r1/cmd/fleetd/record/export", QoS: 1, Payload: fmt.Appendf(nil, `{"id":%q,"args":%s}`, id, args)})
	time.Sleep(16 * time.Second) // longer than robotd waits for a fleetd that reads nothing
	var last schema.Ack
	s.fleetd.ExpectThat("troupe/v1/robots/r1/ack/fleetd", func(m brokertest.Message) bool {
		last, _ = schema.Decode[schema.Ack](m.Payload)
		return last.ID != nil && *last.ID == id && last.Status.Final()
	})
	return last
}

// A robot sends what it recorded to fleetd, and goes on recording without a loss; where that
// fails, the answer says why.
func TestFlightRecordIsSentToFleetd(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		s, fleetd := newStand(t), newTaker(t)
		s.fleetd.Subscribe("troupe/v1/robots/r1/ack/fleetd")
		s.boot(func(c *Config) { c.RecorderBytes, c.DialFleetd = 8<<20, fleetd.dial })
		s.mode(schema.ModeMnl)
		s.must("safety/enable", "")
		time.Sleep(10 * time.Second)
		s.must("safety/stop", "")
		if a := s.export("x1", `{"to":"key-1","last_ms":60000}`); a.Status != schema.StatusSucceeded || !strings.Contains(a.Detail, "records") {
			t.Errorf("%+v", a)
		}
		got := <-fleetd.took
		if got.key != "key-1" || got.size == 0 || got.has["/sample"] < 300 || got.has["/command"] < 3 || got.has["/answer"] < 2 ||
			got.has["/order"] == 0 {
			t.Errorf("fleetd got %+v", got)
		}
		if a := s.export("x2", `{"to":"slow"}`); a.Status != schema.StatusFailed || a.Reason != schema.ReasonUnavailable && a.Reason != schema.ReasonTimeout {
			t.Errorf("fleetd reads nothing: %+v", a)
		}
		before := s.state("it runs", func(schema.State) bool { return true })
		if before.Dropped.Records > 0 {
			t.Errorf("%d records were lost", before.Dropped.Records)
		}
		s.shutDown()
		s.boot(func(c *Config) { c.DialFleetd = fleetd.dial })
		s.state("it has started again", func(d schema.State) bool { return d.Boot != before.Boot })
		if a := s.export("x3", `{"to":"key-3"}`); a.Status != schema.StatusFailed || a.Reason != schema.ReasonUnavailable || !strings.Contains(a.Detail, "recorder_mib") {
			t.Errorf("without a recorder: %+v", a)
		}
		s.shutDown()
	})
}

func TestExportSaysWhyItFailed(t *testing.T) {
	for _, c := range []struct {
		err    error
		reason schema.Reason
		says   string
	}{
		{fmt.Errorf("%w: the newest record is of noon", recorder.ErrNothing), schema.ReasonUnavailable,
			"in the last 10m0s nothing was recorded: the newest record is of noon; ask for a longer time"},
		{recorder.ErrTooBig, schema.ReasonTooBig, "ask for a shorter time"},
		{recorder.ErrNoRoom, schema.ReasonNoSpace, "another disk"},
		{fmt.Errorf("write: %w", syscall.ENOSPC), schema.ReasonNoSpace, "another disk"},
		{errNoRecorder, schema.ReasonUnavailable, "recorder_mib"},
		{&download.Failure{Reason: schema.ReasonTimeout, Detail: "fleetd is silent"}, schema.ReasonTimeout, "silent"},
		{errors.New("oh"), schema.ReasonInternal, "oh"},
	} {
		if ev := failedExport(c.err, 10*time.Minute); ev.Reason != c.reason || !strings.Contains(ev.Detail, c.says) {
			t.Errorf("%v: %+v", c.err, ev)
		}
	}
}
