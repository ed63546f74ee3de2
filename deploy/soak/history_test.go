package soak

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"troupe/schema"
)

// A history is what a bystander at the robot's end of the wire saw: what reached
// the robot, and what it said before anything could befall it.
type history struct {
	mu     sync.Mutex
	heard  map[string]time.Time // commands by client and id, when last
	finals map[string][]string
	// What became of what, by the command that is named as its cause: the events
	// of it. One that is told again has the same boot and number.
	effects map[string]map[string]bool
	// What comes before the robot's connection is ready waits, and is forgotten
	// if it never is. A connection is ready when the robot tells what it can.
	early map[string][]string
	ready map[string]bool
	said  schema.ReportedStory // the newest
	state schema.State
}

// fleetStop stands for the verb in the answer to a live stop of the fleet.
const fleetStop = "fleet/stop"

func newHistory() *history {
	return &history{heard: map[string]time.Time{}, finals: map[string][]string{}, effects: map[string]map[string]bool{}, early: map[string][]string{}, ready: map[string]bool{}}
}

func (h *history) came(conn string, topic string, payload []byte) {
	row, params, ok := ns.Match(topic)
	if !ok || row.Kind != schema.TopicCmd {
		return
	}
	verb, ok := schema.VerbOf(params.Group, params.Verb)
	if !ok {
		return
	}
	r, problems := schema.DecodeRequest(verb, payload)
	if len(schema.Errors(problems)) > 0 || r.ID == "" || forgets(verb.ID()) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if key := params.CID + " " + r.ID; h.ready[conn] {
		h.heard[key] = time.Now()
	} else {
		h.early[conn] = append(h.early[conn], key)
	}
}

func (h *history) sent(conn string, topic string, payload []byte) {
	row, params, ok := ns.Match(topic)
	if !ok {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if row.Kind == schema.TopicCaps {
		h.ready[conn] = true
		for _, key := range h.early[conn] {
			h.heard[key] = time.Now()
		}
		delete(h.early, conn)
	}
	switch row.Kind {
	case schema.TopicEvent:
		h.happened(payload)
	case schema.TopicState:
		h.state, _ = schema.Decode[schema.State](payload)
	case schema.TopicReportedStory:
		h.said, _ = schema.Decode[schema.ReportedStory](payload)
	}
	if row.Kind != schema.TopicAck {
		return
	}
	a, problems := schema.Decode[schema.Ack](payload)
	if len(problems) > 0 || a.ID == nil || !a.Status.Final() || forgets(a.Verb) {
		return
	}
	key, told := params.CID+" "+*a.ID, fmt.Sprintf("%s %s %s %s", a.Verb, a.Status, a.Result, a.Reason)
	if v, _ := schema.VerbOf(split(a.Verb)); v.Class == schema.ClassStop || a.Verb == fleetStop {
		// Every copy of a stop stops again; the second finds it done.
		told = fmt.Sprintf("%s %s", a.Verb, a.Status)
	}
	h.finals[key] = append(h.finals[key], told)
}

func (h *history) happened(payload []byte) {
	e, _ := schema.Decode[schema.Event](payload)
	if e.ReqID == "" || e.Type == "safety_changed" && strings.Contains(string(e.Data), `"stopped"`) {
		return // every copy of a stop stops again
	}
	key := fmt.Sprintf("%s %s %s", e.ReqID, e.Type, e.Data)
	if h.effects[key] == nil {
		h.effects[key] = map[string]bool{}
	}
	h.effects[key][fmt.Sprint(e.Boot, " ", e.Seq)] = true
}

// repeated lists the commands that had their effect more than once.
func (h *history) repeated() (found []string) {
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

// over says that a connection broke. What reached the robot in that moment may
// have been refused, and a refusal is not written down to be told again.
func (h *history) over(conn string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.ready, conn)
	delete(h.early, conn)
	for key, at := range h.heard {
		if time.Since(at) < 200*time.Millisecond && len(h.finals[key]) == 0 {
			delete(h.heard, key)
		}
	}
}

// unanswered lists the commands that reached the robot and have no final answer
// yet.
func (h *history) unanswered() (open []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key := range h.heard {
		if len(h.finals[key]) == 0 {
			open = append(open, key)
		}
	}
	slices.Sort(open)
	return open
}

// report is what the robot said last of its story.
func (h *history) report() schema.ReportedStory {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.said
}

// latches are the stops that the robot said last that it holds.
func (h *history) latches() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	ids := []string{}
	for _, l := range h.state.Safety.Latches {
		ids = append(ids, l.ID)
	}
	slices.Sort(ids)
	return ids
}

func (h *history) answered(key string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.finals[key]) > 0
}

// missed lists the stops that were answered with anything but success.
func (h *history) missed() (found []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, told := range h.finals {
		for _, each := range told {
			verb, status, _ := strings.Cut(each, " ")
			if v, _ := schema.VerbOf(split(verb)); (v.Class == schema.ClassStop || verb == fleetStop) && status != string(schema.StatusSucceeded) {
				found = append(found, key+" "+each)
			}
		}
	}
	return found
}

// contradictions lists the commands that got more than one final answer. The
// same answer may be told again.
func (h *history) contradictions() (found []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, told := range h.finals {
		distinct := slices.Compact(slices.Sorted(slices.Values(told)))
		if len(distinct) > 1 {
			found = append(found, fmt.Sprintf("%s: %q", key, told))
		}
	}
	slices.Sort(found)
	return found
}
