package records

import (
	"fmt"
	"time"

	"troupe/schema"
)

// State is how far a record is.
type State string

const (
	Asked   State = "asked"   // the robot collects it
	Sending State = "sending" // it is on its way
	Done    State = "done"    // it can be downloaded
	Failed  State = "failed"
)

// Bounds.
const (
	KeepFor = 24 * time.Hour
	// Silence is how long no byte may come. A robot that sees none go out ends it after 15 s.
	Silence = 20 * time.Second

	keepBytes = 512 << 20 // of all records together; the oldest ones are removed for a new one
	openMost  = 8         // records that are asked for or on their way

	flightRecordsMost = 200 // also failed ones, which have no bytes

	askedFor = 2 * time.Minute  // until the robot begins to send; the key expires then
	sendFor  = 15 * time.Minute // until it has arrived
)

// Record is what is known of one flight record.
type Record struct {
	ID       string      `json:"id"`
	Robot    string      `json:"robot"`
	LastMS   int64       `json:"last_ms" doc:"how long before the request it begins"`
	State    State       `json:"state" enum:"asked,sending,done,failed"`
	Bytes    int64       `json:"bytes" doc:"that have arrived"`
	Size     int64       `json:"size,omitempty" doc:"bytes of the whole file, once the robot sends it"`
	Why      string      `json:"why,omitempty" doc:"why it failed, and what to do"`
	By       string      `json:"by,omitempty"`
	Asked    schema.Time `json:"asked_at"`
	Ended    schema.Time `json:"ended_at,omitzero"`
	Expires  schema.Time `json:"expires_at,omitzero" doc:"when fleetd removes it, or earlier for the room of newer ones"`
	Command  string      `json:"command,omitempty" doc:"id of the command that asked the robot"`
	Messages uint64      `json:"records,omitempty"`
	From     schema.Time `json:"from,omitzero" doc:"time of the first message in it"`
	To       schema.Time `json:"to,omitzero" doc:"time of the last message in it"`
}

func (r *Record) open() bool { return r.State == Asked || r.State == Sending }

// Last is the span that was asked for.
func (r *Record) Last() time.Duration { return time.Duration(r.LastMS) * time.Millisecond }

// KiB is how much has arrived, in units of 1024 bytes.
func (r *Record) KiB() int64 { return (r.Bytes + 1023) >> 10 }

// overdue says why an open record ends by its age; empty = it does not.
func (r *Record) overdue(now time.Time) string {
	age := now.Sub(time.UnixMilli(int64(r.Asked)))
	switch {
	case r.State == Asked && age >= askedFor:
		return fmt.Sprintf("robot %s sent nothing within %v; check that it reaches fleetd over HTTP: --fleetd of its robotd, or the address "+
			"with which it enrolled (--enrol-url of fleetd)", r.Robot, askedFor)
	case r.State == Sending && age >= sendFor:
		return fmt.Sprintf("only %s arrived within %v; ask for a shorter time", r.arrived(), sendFor)
	}
	return ""
}

// onDisk is how many bytes the record takes, or will take.
func (r *Record) onDisk() int64 {
	if r.State == Failed {
		return 0
	}
	return r.Size
}

func (r *Record) arrived() string { return fmt.Sprintf("%d of %d bytes", r.Bytes, r.Size) }

// Refused is why a robot may not send something, or a person may not ask for it.
type Refused struct {
	Why    RefusalKind
	Detail string
	Hint   string
}

// RefusalKind is the kind of a refusal.
type RefusalKind int

// The refusals.
const (
	UnknownKey RefusalKind = iota // or it has expired, or was used
	OtherRobot
	TooLarge
	Unreadable
	Broken     // the connection
	DiskFailed // the disk is full, or the folder cannot be used
	Busy
)

func (r *Refused) Error() string { return r.Detail }

func refuse(k RefusalKind, hint, format string, args ...any) *Refused {
	return &Refused{k, fmt.Sprintf(format, args...), hint}
}

// refuseAsk says why no record of a robot can be asked for now; nil = it can.
func refuseAsk(all []Record, robot string) *Refused {
	open := 0
	for i := range all {
		switch r := &all[i]; {
		case !r.open():
		case r.Robot == robot:
			return refuse(Busy, "wait until it has arrived", "a flight record of %s is on its way already, for %s", robot, orNobody(r.By))
		default:
			open++
		}
	}
	if open >= openMost {
		return refuse(Busy, "try again in a minute", "%d flight records are on their way already", open)
	}
	return nil
}

func orNobody(by string) string {
	if by == "" {
		return "somebody"
	}
	return by
}

// refuseSend says why a robot may not send size bytes as a record; nil = it may. The robot is
// empty if nothing but the key says which one it is.
func refuseSend(r Record, known bool, robot string, size int64) *Refused {
	switch {
	case !known:
		return refuse(UnknownKey, "ask for the record again; with several fleetd instances, at the one that the robot reaches",
			"this instance asked for no flight record under this key")
	case robot != "" && robot != r.Robot:
		return refuse(OtherRobot, "", "this key is for another robot than %s", robot)
	case r.State == Sending:
		return refuse(UnknownKey, "", "this flight record is on its way already")
	case r.State != Asked:
		return refuse(UnknownKey, "ask for the record again", "this key was used, or has expired")
	case size <= 0:
		return refuse(TooLarge, "send its Content-Length", "the size of the flight record is not known")
	case size > schema.MaxRecordBytes:
		return refuse(TooLarge, "ask for a shorter time", "the flight record has %d bytes, at most %d are taken", size,
			int64(schema.MaxRecordBytes))
	}
	return nil
}

// toRemove are the records that are removed at a time, so that more bytes and one more record
// fit: those that have expired, and the oldest ones.
func toRemove(all []Record, now time.Time, more int64) (ids []string) {
	total, left := more, len(all)
	for i := range all {
		total += all[i].onDisk()
	}
	for i := range all { // the oldest first
		r := &all[i]
		expired := !now.Before(time.UnixMilli(int64(r.Expires)))
		full := left >= flightRecordsMost || total > keepBytes && r.onDisk() > 0
		if !r.open() && (expired || full) {
			ids, total, left = append(ids, r.ID), total-r.onDisk(), left-1
		}
	}
	return ids
}
