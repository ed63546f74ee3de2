package crowd

import (
	"slices"

	"troupe/robotd/brain"
	"troupe/robotd/command"
	"troupe/robotd/delivery"
	"troupe/robotd/effect"
	"troupe/robotd/event"
	"troupe/schema/sign"
)

// What a robot of the crowd remembers is in memory, and less than a robot's disk has.
const (
	eventsKept  = 16 // newest entries of the history, for replays
	recordsKept = 32 // newest commands; an older one that is repeated after a restart is carried out again
)

// journal is what would be on the robot's disk. It survives a restart of the robot, not the end of the crowd.
type journal struct {
	boots      int64
	latches    []byte
	records    []command.Record
	deliveries map[sign.Kind]delivery.Persisted
	blobs      map[string][]byte // by digest; the bytes are shared by all robots
	values     map[string]string
	events     [][]byte
}

// memory is what a robot that starts finds.
func (j *journal) memory() brain.Memory {
	j.boots++
	m := brain.Memory{
		Boots: j.boots, Requests: j.records, Deliveries: j.deliveries, Contents: delivery.DiskContents{Blobs: j.blobs}, Values: j.values,
	}
	m.Latches = j.latches
	return m
}

// save keeps e, and returns what a disk would report, if anything. shared returns the one copy of a blob that all
// robots have.
func (j *journal) save(e effect.Effect, shared func(delivery.Blob) []byte) event.Event {
	switch e := e.(type) {
	case effect.SaveLatches:
		j.latches = e.Value
		return event.LatchesSaved{N: e.N}
	case effect.SaveRequests:
		return j.saveRequests(e)
	case effect.SaveValue:
		if j.values == nil {
			j.values = map[string]string{}
		}
		if j.values[e.Name] = e.Value; e.Value == "" {
			delete(j.values, e.Name)
		}
		return event.ValuesSaved{Names: []string{e.Name}}
	case effect.SaveContent:
		j.saveContent(e.Save, shared)
		if len(e.Blobs) > 0 {
			return event.ContentSaved{Kind: e.Kind, Rev: e.Rev}
		}
	case effect.SaveEvent:
		if len(j.events) >= eventsKept {
			j.events = slices.Delete(j.events, 0, 1)
		}
		j.events = append(j.events, e.Payload)
	}
	return nil
}

func (j *journal) saveRequests(e effect.SaveRequests) event.Event {
	forget := func(k command.Key) {
		j.records = slices.DeleteFunc(j.records, func(r command.Record) bool { return r.Key() == k })
	}
	for _, k := range e.Forget {
		forget(k)
	}
	var saved event.RequestsSaved
	for _, r := range e.Put {
		forget(r.Key())
		if len(j.records) >= recordsKept {
			j.records = slices.Delete(j.records, 0, 1)
		}
		j.records = append(j.records, r)
		saved.Keys = append(saved.Keys, r.Key())
	}
	if len(saved.Keys) == 0 {
		return nil
	}
	return saved
}

func (j *journal) saveContent(s delivery.Save, shared func(delivery.Blob) []byte) {
	if j.deliveries == nil {
		j.deliveries, j.blobs = map[sign.Kind]delivery.Persisted{}, map[string][]byte{}
	}
	j.deliveries[s.Kind] = s.Persisted
	for _, b := range s.Blobs {
		j.blobs[b.SHA256] = shared(b)
	}
	var wanted []string
	for _, kept := range j.deliveries {
		wanted = append(wanted, kept.Digests()...)
	}
	for sha := range j.blobs {
		if !slices.Contains(wanted, sha) {
			delete(j.blobs, sha)
		}
	}
}
