package request

import (
	"cmp"
	"slices"
	"time"

	"troupe/schema"
)

// entry is a command in memory.
type entry struct {
	rec      Record
	phase    Phase
	class    schema.VerbClass
	asked    string // the id that is told; a stop that came again has another of its own
	dup      bool   // a stop that came again: done again, told as such
	kept     bool   // is in its client's journal
	told     bool   // its final answer was, though the disk refused the record
	retried  bool   // the disk was full, and is asked a second time
	perform  Perform
	arrived  time.Duration
	expires  time.Duration // while it waits for the disk; 0 = never
	tellAt   time.Duration // the next ACCEPTED or IN_PROGRESS
	interim  schema.Status // the newest that was told before the final one
	progress *int
	left     time.Duration
	stateSeq int64
	current  *schema.Now
	lease    *schema.Lease
	refs     []schema.Ref
}

// take moves e along the table and reports whether it could.
func (e *entry) take(on Event) bool {
	row, ok := Table.Next(e.phase, on)
	if ok {
		e.phase = row.To
	}
	return ok
}

func (e *entry) open() bool {
	return e.phase == Saving || e.phase == Handed || e.phase == Working || e.phase == Told
}

// journal is what the robot remembers of one client's commands, in the order of
// their arrival.
type journal struct {
	client  string
	entries []*entry
	heard   int64 // N of its newest command: who was least recently heard leaves first
}

func (j *journal) find(id string) *entry {
	for _, e := range j.entries {
		if e.rec.ID == id {
			return e
		}
	}
	return nil
}

// State is everything that is remembered of commands. It belongs to one
// goroutine.
type State struct {
	boot     int64 // how often the robot has started: makes its own ids unique
	made     int64 // ids made in this boot
	n        int64 // the newest record's number
	journals []*journal
	open     []*entry      // unfinished, in the order of their arrival
	marks    []mark        // the least recently used first
	late     []Record      // changed without haste: they go with the next Save
	offerAt  time.Duration // when they go at the latest; 0 = they have time
	erase    []Key         // so do these
	last     schema.LastRequest
	dropped  int64
}

// Restore makes the state of a robot that has started for the boot-th time from
// the records of its disk. What was unfinished is answered FAILED restarted;
// the answers are told once the link is there.
func Restore(boot int64, saved []Record, out []Effect) (*State, []Effect) {
	s := &State{boot: boot}
	saved = slices.Clone(saved)
	slices.SortFunc(saved, func(a, b Record) int { return cmp.Compare(a.N, b.N) })
	var save Save
	for _, r := range saved {
		s.n = max(s.n, r.N)
		s.mark(r.Client, verbOf(r.Verb).Group, r.Session, r.Seq)
		e := &entry{rec: r, phase: Done, asked: r.ID}
		if !r.Answer.Status.Final() {
			e.phase = Handed
			e.take(OnRestart)
			verb := verbOf(r.Verb)
			e.rec.Answer = complete(verb, Answer{Status: schema.StatusFailed, Reason: schema.ReasonRestarted,
				Detail: "the robot restarted before this ended; it starts from rest", UncheckedAge: r.Answer.UncheckedAge})
			save.Put = append(save.Put, e.rec)
			s.note(e)
		}
		j, forget := s.admit(r.Client)
		save.Forget = append(save.Forget, forget...)
		if j == nil {
			save.Forget = append(save.Forget, r.Key())
			continue
		}
		save.Forget = append(save.Forget, j.add(s, e)...)
	}
	save.Put = slices.DeleteFunc(save.Put, func(r Record) bool { return slices.Contains(save.Forget, r.Key()) })
	if len(save.Put)+len(save.Forget) > 0 {
		out = append(out, save)
	}
	return s, out
}

// Last is the newest answered command, for the state document.
func (s *State) Last() (schema.LastRequest, bool) { return s.last, s.last.ID != "" }

// Open is the number of unfinished commands.
func (s *State) Open() int { return len(s.open) }

// Running lists the unfinished commands that were begun, the oldest first.
func (s *State) Running() []schema.RunningReq {
	var out []schema.RunningReq
	for _, e := range s.open {
		if e.phase == Working || e.phase == Told {
			out = append(out, schema.RunningReq{ID: e.asked, Client: e.rec.Client, Verb: e.rec.Verb, Progress: e.progress})
		}
	}
	return out
}

// Dropped counts final answers that left the journal before the broker
// confirmed them.
func (s *State) Dropped() int64 { return s.dropped }

// Deadline is when time alone changes something, or false.
func (s *State) Deadline() (time.Duration, bool) {
	at, found := s.offerAt, s.offerAt > 0
	for _, e := range s.open {
		var t time.Duration
		switch e.phase {
		case Saving:
			t = e.expires
		case Working, Told:
			t = e.tellAt
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

// admit returns the journal of client, making room for a new one. It returns
// nil when every journal holds an unfinished command.
func (s *State) admit(client string) (*journal, []Key) {
	if j := s.journalOf(client); j != nil {
		return j, nil
	}
	var forget []Key
	if len(s.journals) >= MaxClients {
		oldest := -1
		for i, j := range s.journals {
			if !slices.ContainsFunc(j.entries, (*entry).open) && (oldest < 0 || j.heard < s.journals[oldest].heard) {
				oldest = i
			}
		}
		if oldest < 0 {
			return nil, nil
		}
		for _, e := range s.journals[oldest].entries {
			forget = append(forget, e.rec.Key())
			s.lose(e)
		}
		s.journals = slices.Delete(s.journals, oldest, oldest+1)
	}
	j := &journal{client: client}
	s.journals = append(s.journals, j)
	return j, forget
}

// add appends e and returns the keys that had to leave for it: there is always
// a finished one, since fewer commands may be unfinished than a journal holds.
func (j *journal) add(s *State, e *entry) []Key {
	var forget []Key
	if len(j.entries) >= MaxPerClient {
		if i := slices.IndexFunc(j.entries, func(e *entry) bool { return !e.open() }); i >= 0 {
			forget = append(forget, j.entries[i].rec.Key())
			s.lose(j.entries[i])
			j.entries = slices.Delete(j.entries, i, i+1)
		}
	}
	j.entries = append(j.entries, e)
	j.heard = e.rec.N
	e.kept = true
	return forget
}

// lose notes that e leaves the journal.
func (s *State) lose(e *entry) {
	e.kept = false
	if !e.rec.Delivered {
		s.dropped++
	}
	s.late = slices.DeleteFunc(s.late, func(r Record) bool { return r.N == e.rec.N })
}

// finished counts the commands that are remembered for the sake of their answers
// alone.
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

// shed forgets the older half of what is finished, of all clients: the disk is
// full, and what is asked now counts more than an old answer.
func (s *State) shed() []Key {
	var old []*entry
	for _, j := range s.journals {
		for _, e := range j.entries {
			if !e.open() {
				old = append(old, e)
			}
		}
	}
	slices.SortFunc(old, func(a, b *entry) int { return cmp.Compare(a.rec.N, b.rec.N) })
	var forget []Key
	for _, e := range old[:len(old)/2] {
		s.lose(e)
		s.remove(e)
		forget = append(forget, e.rec.Key())
	}
	return forget
}

// remove takes e out of its journal without a trace.
func (s *State) remove(e *entry) {
	if j := s.journalOf(e.rec.Client); j != nil {
		j.entries = slices.DeleteFunc(j.entries, func(o *entry) bool { return o == e })
	}
	e.kept = false
}

func (s *State) openByKey(k Key) *entry {
	for _, e := range s.open {
		if e.rec.Key() == k {
			return e
		}
	}
	return nil
}

func (s *State) close(e *entry) {
	s.open = slices.DeleteFunc(s.open, func(o *entry) bool { return o == e })
	e.perform = Perform{}
}

// save makes a Save of records and of what waited without haste.
func (s *State) save(forget []Key, put ...Record) Save {
	w := Save{Put: append(s.late, put...), Forget: append(s.erase, forget...)}
	s.late, s.erase, s.offerAt = nil, nil, 0
	return w
}
