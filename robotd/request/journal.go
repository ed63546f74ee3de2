package request

import (
	"cmp"
	"slices"
	"time"

	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/schema"
	"troupe/schema/verb"
)

// entry is a command in memory.
type entry struct {
	rec         command.Record
	phase       Phase
	class       verb.Class
	ackID       string // the id in answers; a repeated stop is recorded under a generated one
	dup         bool   // it is a repeated stop: performed again, answered with dup
	inJournal   bool   // it is in its client's journal
	answered    bool   // the final answer was sent, although the disk refused the record
	retried     bool   // the disk was full, and the record was written a second time
	unrecorded  bool   // it was begun without a record, because it would change nothing
	dispatch    effect.Dispatch
	arrived     time.Duration
	expires     time.Duration // while it waits for the disk; 0 = never
	interimAt   time.Duration // when the next ACCEPTED or IN_PROGRESS is due
	lastInterim schema.Status // of the newest answer before the final one
	progress    *int
	remaining   time.Duration
	stateSeq    int64
	current     *schema.AckState
	lease       *schema.Lease
	refs        []schema.Ref
}

// transition moves e along the table, and reports whether there is such a transition.
func (e *entry) transition(on Event) bool {
	row, ok := Table.Next(e.phase, on)
	if ok {
		e.phase = row.To
	}
	return ok
}

func (e *entry) open() bool {
	return e.phase == Saving || e.phase == Dispatched || e.phase == Working || e.phase == Acknowledged
}

// journal contains one client's commands in the order of their arrival.
type journal struct {
	client  string
	entries []*entry
	newestN int64 // N of its newest command; the journal with the lowest one is evicted first
}

func (j *journal) find(id string) *entry {
	for _, e := range j.entries {
		if e.rec.ID == id {
			return e
		}
	}
	return nil
}

// Restore returns the state of a robot that has started for the boot-th time, from
// the records on its disk. Unfinished commands get the answer FAILED restarted,
// which is sent at the next connection.
func Restore(boot int64, saved []command.Record, out *effect.List) State {
	s := State{boot: boot}
	saved = slices.Clone(saved)
	slices.SortFunc(saved, func(a, b command.Record) int { return cmp.Compare(a.N, b.N) })
	var save effect.SaveRequests
	for _, r := range saved {
		s.lastN = max(s.lastN, r.N)
		s.markSeq(r.Client, verbOf(r.Verb).Group, r.Session, r.Seq)
		e := &entry{rec: r, phase: Done, ackID: r.ID}
		if !r.Answer.Status.Final() {
			e.phase = Dispatched
			e.transition(OnRestart)
			v := verbOf(r.Verb)
			e.rec.Answer.Verdict = complete(v, schema.Verdict{Status: schema.StatusFailed, Reason: schema.ReasonRestarted,
				Detail: "the robot restarted before this ended; it starts from rest"})
			save.Put = append(save.Put, e.rec)
			s.noteLast(e)
		}
		j, forget := s.admit(r.Client)
		save.Forget = append(save.Forget, forget...)
		if j == nil {
			save.Forget = append(save.Forget, r.Key())
			continue
		}
		save.Forget = append(save.Forget, j.add(&s, e)...)
	}
	save.Put = slices.DeleteFunc(save.Put, func(r command.Record) bool { return slices.Contains(save.Forget, r.Key()) })
	if len(save.Put)+len(save.Forget) > 0 {
		out.Do(save)
	}
	return s
}

// Last returns the command that was answered last, for the state document.
func (s *State) Last() (schema.LastRequest, bool) { return s.last, s.last.ID != "" }

// Open returns the number of unfinished commands.
func (s *State) Open() int { return len(s.open) }

// Running lists the unfinished commands that have begun, oldest first.
func (s *State) Running() []schema.RunningReq {
	var out []schema.RunningReq
	for _, e := range s.open {
		if e.phase == Working || e.phase == Acknowledged {
			out = append(out, schema.RunningReq{ID: e.ackID, Client: e.rec.Client, Verb: e.rec.Verb, Progress: e.progress})
		}
	}
	return out
}

// Dropped counts final answers that were evicted from the journal before the
// broker confirmed them.
func (s *State) Dropped() int64 { return s.dropped }

// Deadline returns when the next Tick has something to do, or false.
func (s *State) Deadline() (time.Duration, bool) {
	at, found := s.rewriteAt, s.rewriteAt > 0
	for _, e := range s.open {
		var t time.Duration
		switch e.phase {
		case Saving:
			t = e.expires
		case Working, Acknowledged:
			t = e.interimAt
		}
		if t > 0 && (!found || t < at) {
			at, found = t, true
		}
	}
	return at, found
}

func (s *State) journalOf(client string) *journal {
	for _, j := range s.journals {
		if j.client == client {
			return j
		}
	}
	return nil
}

// admit returns the client's journal; if there is none, it creates one, evicting
// another if necessary. It returns nil if every journal contains an unfinished
// command.
func (s *State) admit(client string) (*journal, []command.Key) {
	if j := s.journalOf(client); j != nil {
		return j, nil
	}
	var forget []command.Key
	if len(s.journals) >= MaxClients {
		oldest := -1
		for i, j := range s.journals {
			if !slices.ContainsFunc(j.entries, (*entry).open) && (oldest < 0 || j.newestN < s.journals[oldest].newestN) {
				oldest = i
			}
		}
		if oldest < 0 {
			return nil, nil
		}
		for _, e := range s.journals[oldest].entries {
			forget = append(forget, e.rec.Key())
			s.evicted(e)
		}
		s.journals = slices.Delete(s.journals, oldest, oldest+1)
	}
	j := &journal{client: client}
	s.journals = append(s.journals, j)
	return j, forget
}

// add appends e and returns the keys of the records evicted for it. A full journal
// always contains a finished command, since MaxOpen is below MaxPerClient.
func (j *journal) add(s *State, e *entry) []command.Key {
	var forget []command.Key
	if len(j.entries) >= MaxPerClient {
		if i := slices.IndexFunc(j.entries, func(e *entry) bool { return !e.open() }); i >= 0 {
			forget = append(forget, j.entries[i].rec.Key())
			s.evicted(j.entries[i])
			j.entries = slices.Delete(j.entries, i, i+1)
		}
	}
	j.entries = append(j.entries, e)
	j.newestN = e.rec.N
	e.inJournal = true
	return forget
}

// evicted updates the state for e, which leaves the journal.
func (s *State) evicted(e *entry) {
	e.inJournal = false
	if !e.rec.Delivered {
		s.dropped++
	}
	s.unsaved = slices.DeleteFunc(s.unsaved, func(r command.Record) bool { return r.N == e.rec.N })
}

// finished counts the commands that are kept only for their answers.
func (s *State) finished() (n int) {
	for _, j := range s.journals {
		for _, e := range j.entries {
			if !e.open() {
				n++
			}
		}
	}
	return n
}

// evictHalf evicts the older half of the finished commands of all clients. The
// disk is full, and new commands matter more than old answers.
func (s *State) evictHalf() []command.Key {
	var old []*entry
	for _, j := range s.journals {
		for _, e := range j.entries {
			if !e.open() {
				old = append(old, e)
			}
		}
	}
	slices.SortFunc(old, func(a, b *entry) int { return cmp.Compare(a.rec.N, b.rec.N) })
	var forget []command.Key
	for _, e := range old[:len(old)/2] {
		s.evicted(e)
		s.remove(e)
		forget = append(forget, e.rec.Key())
	}
	return forget
}

// remove deletes e from its journal.
func (s *State) remove(e *entry) {
	if j := s.journalOf(e.rec.Client); j != nil {
		j.entries = slices.DeleteFunc(j.entries, func(o *entry) bool { return o == e })
	}
	e.inJournal = false
}

func (s *State) openByKey(k command.Key) *entry {
	for _, e := range s.open {
		if e.rec.Key() == k {
			return e
		}
	}
	return nil
}

func (s *State) closeEntry(e *entry) {
	s.open = slices.DeleteFunc(s.open, func(o *entry) bool { return o == e })
	e.dispatch = effect.Dispatch{}
}

// save writes these records and those that waited for a save.
func (t Step) save(forget []command.Key, put ...command.Record) {
	t.Out.Do(effect.SaveRequests{Put: append(t.unsaved, put...), Forget: append(t.toErase, forget...)})
	t.unsaved, t.toErase, t.rewriteAt = nil, nil, 0
}
