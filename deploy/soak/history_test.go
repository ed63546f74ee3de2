package soak

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"troupe/schema"
	"troupe/schema/verb"
)

// A history records what an observer at the robot's end of the link sees: what
// reaches the robot, and what the robot sends before any fault.
type history struct {
	mu       sync.Mutex
	received map[string]time.Time // newest arrival of each command, by client and id
	finals   map[string][]string
	// The events of each effect, by the command that caused it. An event that is
	// published again has the same boot and number.
	effects map[string]map[string]bool
	// Commands that arrive before the robot's connection is ready count once it is.
	// A connection is ready when the robot publishes caps.
	beforeReady map[string][]string
	ready       map[string]bool
	reported    schema.ReportedStory // the newest
	state       schema.State
}

func newHistory() *history {
	return &history{received: map[string]time.Time{}, finals: map[string][]string{}, effects: map[string]map[string]bool{},
		beforeReady: map[string][]string{}, ready: map[string]bool{}}
}

func (h *history) onReceived(conn string, topic string, payload []byte) {
	row, params, ok := ns.Match(topic)
	if !ok || row.Kind != schema.TopicCmd {
		return
	}
	v, ok := verb.Of(params.Group, params.Verb)
	if !ok {
		return
	}
	r, problems := verb.Decode(v, payload)
	if len(schema.Errors(problems)) > 0 || r.ID == "" || hasNoJournal(v.ID()) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if key := params.CID + " " + r.ID; h.ready[conn] {
		h.received[key] = time.Now()
	} else {
		h.beforeReady[conn] = append(h.beforeReady[conn], key)
	}
}

func (h *history) onSent(conn string, topic string, payload []byte) {
	row, params, ok := ns.Match(topic)
	if !ok {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if row.Kind == schema.TopicCaps {
		h.ready[conn] = true
		for _, key := range h.beforeReady[conn] {
			h.received[key] = time.Now()
		}
		delete(h.beforeReady, conn)
	}
	switch row.Kind {
	case schema.TopicEvent:
		h.recordEffect(payload)
	case schema.TopicState:
		h.state, _ = schema.Decode[schema.State](payload)
	case schema.TopicReportedStory:
		h.reported, _ = schema.Decode[schema.ReportedStory](payload)
	}
	if row.Kind != schema.TopicAck {
		return
	}
	a, problems := schema.Decode[schema.Ack](payload)
	if len(problems) > 0 || a.ID == nil || !a.Status.Final() || hasNoJournal(a.Verb) {
		return
	}
	key, answer := params.CID+" "+*a.ID, fmt.Sprintf("%s %s %s %s", a.Verb, a.Status, a.Result, a.Reason)
	if v, _ := verb.Of(splitVerb(a.Verb)); v.Class == verb.ClassStop || a.Verb == verb.LiveStop {
		// Each copy of a stop stops the robot again; the second one finds it stopped.
		answer = fmt.Sprintf("%s %s", a.Verb, a.Status)
	}
	h.finals[key] = append(h.finals[key], answer)
}

func (h *history) recordEffect(payload []byte) {
	e, _ := schema.Decode[schema.Event](payload)
	if e.ReqID == "" || e.Type == "safety_changed" && strings.Contains(string(e.Data), `"stopped"`) {
		return // each copy of a stop stops the robot again
	}
	key := fmt.Sprintf("%s %s %s", e.ReqID, e.Type, e.Data)
	if h.effects[key] == nil {
		h.effects[key] = map[string]bool{}
	}
	h.effects[key][fmt.Sprint(e.Boot, " ", e.Seq)] = true
}

// repeatedEffects lists the commands that had their effect more than once.
func (h *history) repeatedEffects() (found []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, events := range h.effects {
		if len(events) > 1 {
			found = append(found, fmt.Sprintf("%s: %q", key, slices.Sorted(maps.Keys(events))))
		}
	}
	slices.Sort(found)
	return found
}

// onClosed records that a connection broke. The robot may have refused what
// reached it at that moment, and it does not keep a refusal to send it again.
func (h *history) onClosed(conn string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.ready, conn)
	delete(h.beforeReady, conn)
	for key, at := range h.received {
		if time.Since(at) < 200*time.Millisecond && len(h.finals[key]) == 0 {
			delete(h.received, key)
		}
	}
}

// unanswered lists the commands that reached the robot and have no final answer
// yet.
func (h *history) unanswered() (open []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key := range h.received {
		if len(h.finals[key]) == 0 {
			open = append(open, key)
		}
	}
	slices.Sort(open)
	return open
}

// reportedStory returns the robot's newest report on its story.
func (h *history) reportedStory() schema.ReportedStory {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reported
}

// robotLatches returns the ids of the stops in the robot's newest state.
func (h *history) robotLatches() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	ids := []string{}
	for _, l := range h.state.Safety.Latches {
		ids = append(ids, l.ID)
	}
	slices.Sort(ids)
	return ids
}

func (h *history) isAnswered(key string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.finals[key]) > 0
}

// failedStops lists the stops that were answered with anything but success.
func (h *history) failedStops() (found []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, answers := range h.finals {
		for _, each := range answers {
			id, status, _ := strings.Cut(each, " ")
			if v, _ := verb.Of(splitVerb(id)); (v.Class == verb.ClassStop || id == verb.LiveStop) && status != string(schema.StatusSucceeded) {
				found = append(found, key+" "+each)
			}
		}
	}
	return found
}

// contradictions lists the commands with more than one final answer. The robot may
// send the same answer again.
func (h *history) contradictions() (found []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, answers := range h.finals {
		distinct := slices.Compact(slices.Sorted(slices.Values(answers)))
		if len(distinct) > 1 {
			found = append(found, fmt.Sprintf("%s: %q", key, answers))
		}
	}
	slices.Sort(found)
	return found
}
