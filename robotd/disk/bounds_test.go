package disk

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/robotd/request"
	"troupe/schema"
)

// The journal of every client is full of the largest possible records, and MaxEvents
// events have the largest size that their topic allows; another command still fits.
func TestFullJournalFitsOnDisk(t *testing.T) {
	d, _ := mustOpen(t, t.TempDir())
	longest := strings.Repeat(`"`, schema.MaxShortText)
	word := func(n int) string { return strings.Repeat("d", n) }
	var n int64
	for client := range request.MaxClients {
		for range 2 { // the second round fills the gaps that the first has left
			var put []command.Record
			var forget []command.Key
			for i := range request.MaxPerClient {
				n++
				r := command.Record{N: n, Client: fmt.Sprintf("%063d", client), ID: fmt.Sprintf("%064d", n), Verb: "interrupter/stop",
					Word: word(schema.MaxShortText), By: longest, Session: longest, Seq: 1 << 52, At: 1_800_000_000_123,
					SHA256: [32]byte{1}, Answer: command.Answer{Verdict: schema.Verdict{Status: schema.StatusFailed, Result: schema.ResultNotReady,
						Reason: schema.ReasonStartFailed, Detail: word(request.MaxDetail), Pointer: word(64)}, UncheckedAge: true}, IDUnreadable: true,
					Delivered: true}
				put = append(put, r)
				if old := n - request.MaxPerClient; i < request.MaxPerClient && old > int64(client*2*request.MaxPerClient) {
					forget = append(forget, command.KeyOf(r.Client, fmt.Sprintf("%064d", old)))
				}
			}
			mustApply(t, d, effect.SaveRequests{Put: put, Forget: forget})
		}
	}
	event := []byte(`"` + word(schema.TopicOf(schema.TopicEvent).MaxBytes-2) + `"`)
	for range 12 {
		var batch []effect.Save
		for range MaxEvents / 10 {
			batch = append(batch, effect.SaveEvent{Payload: event})
		}
		mustApply(t, d, batch...)
	}
	info, err := os.Stat(d.path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxBytes*3/4 {
		t.Errorf("journal and events take %d of %d bytes", info.Size(), maxBytes)
	}
	mustApply(t, d, effect.SaveRequests{Put: []command.Record{record(1)}})
}

// The file is full of records as large as messages, as an older release wrote them.
// Deleting records frees space although no page is free.
func TestDeletionsFreeSpaceOnFullDisk(t *testing.T) {
	d, _, err := open(t.TempDir(), 4<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	var full error
	var kept []command.Key
	for size := 500_000; size > 100; size /= 2 { // down to the last page
		full = nil
		for n := int64(len(kept) + 1); full == nil; n++ {
			r := record(n)
			r.By = strings.Repeat("x", size)
			if full = d.Apply(effect.SaveRequests{Put: []command.Record{r}}); full == nil {
				kept = append(kept, r.Key())
			}
		}
	}
	if Reason(full) != schema.ReasonNoSpace || len(kept) < 5 {
		t.Fatalf("%d records, then %v", len(kept), full)
	}
	fresh := record(int64(len(kept) + 1)) // larger than the free space
	fresh.By = strings.Repeat("x", 300_000)
	if err := d.Apply(effect.SaveRequests{Put: []command.Record{fresh}}); Reason(err) != schema.ReasonNoSpace {
		t.Fatalf("the file is not full: %v", err)
	}
	mustApply(t, d, effect.SaveRequests{Forget: kept[:len(kept)/2], Put: []command.Record{fresh}})
	_, saved := reopen(t, d)
	if len(saved.Commands) != len(kept)-len(kept)/2+1 {
		t.Errorf("%d records are stored, of %d", len(saved.Commands), len(kept))
	}
}
