package records

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"troupe/fleetd/atomicfile"
	"troupe/fleetd/audit"
	"troupe/schema"
)

// Deps is what a Keeper needs.
type Deps struct {
	Log *slog.Logger
	Dir string
	Now func() time.Time
	// Note adds an entry to the audit.
	Note func(audit.Note)
	// Outcome says whether a command has ended without success, and why.
	Outcome func(ctx context.Context, command string) (failed bool, why string)
	// Create opens a file to write; nil = os.Create. Tests fill a disk with it.
	Create func(path string) (io.WriteCloser, error)
}

// Keeper keeps the records of this instance.
type Keeper struct {
	Deps

	mu        sync.Mutex
	all       []*kept // the oldest first
	folderErr error   // why the folder cannot be used
}

// kept is a record with what nobody else sees of it.
type kept struct {
	Record
	source audit.Source // who asked
	why    string       // the reason that they gave
	key    string       // under which the robot sends it; empty = no longer valid
}

// New reads the folder. A record that was on its way ends.
func New(d Deps) *Keeper {
	if d.Create == nil {
		d.Create = func(path string) (io.WriteCloser, error) {
			f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) // a path of the folder
			return syncedFile{f}, err
		}
	}
	k := &Keeper{Deps: d}
	k.folderErr = errors.Join(os.MkdirAll(d.Dir, 0o700), os.Chmod(d.Dir, 0o700)) // a folder needs the right to enter it
	if k.folderErr == nil {
		k.folderErr = k.restore()
	}
	if k.folderErr != nil {
		d.Log.Error("flight records cannot be kept", "folder", d.Dir, "error", k.folderErr)
	}
	return k
}

const (
	fileSuffix  = ".mcap"
	partSuffix  = ".part"
	aboutSuffix = ".json"
)

// syncedFile is on the disk once it is closed without an error.
type syncedFile struct{ *os.File }

func (f syncedFile) Close() error { return errors.Join(f.Sync(), f.File.Close()) }

func (k *Keeper) path(id, suffix string) string { return filepath.Join(k.Dir, id+suffix) }

func (k *Keeper) restore() error {
	entries, err := os.ReadDir(k.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		id, about := strings.CutSuffix(e.Name(), aboutSuffix)
		if !about {
			continue
		}
		text, err := os.ReadFile(k.path(id, aboutSuffix))
		if err != nil {
			return err
		}
		var r Record
		if json.Unmarshal(text, &r) != nil || r.ID != id { // such as of a later release: nobody can find it, and its file is removed below
			if err := os.Remove(k.path(id, aboutSuffix)); err != nil {
				return err
			}
			continue
		}
		k.all = append(k.all, &kept{Record: r})
	}
	slices.SortFunc(k.all, func(a, b *kept) int { return cmp.Or(cmp.Compare(a.Asked, b.Asked), cmp.Compare(a.ID, b.ID)) })
	for _, r := range k.all {
		if r.open() {
			k.end(r, "fleetd was restarted before it had arrived; ask again")
		}
	}
	for _, e := range entries { // files without a record, and parts
		id, whole := strings.CutSuffix(e.Name(), fileSuffix)
		r := k.find(id)
		if strings.HasSuffix(e.Name(), partSuffix) || whole && (r == nil || r.State != Done) {
			if err := os.Remove(filepath.Join(k.Dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *Keeper) find(id string) *kept {
	for _, r := range k.all {
		if r.ID == id {
			return r
		}
	}
	return nil
}

func (k *Keeper) records() []Record {
	out := make([]Record, len(k.all))
	for i, r := range k.all {
		out[i] = r.Record
	}
	return out
}

// save writes what is known of a record beside its file.
func (k *Keeper) save(r *kept) error {
	text, err := json.Marshal(r.Record)
	if err != nil {
		return err
	}
	return atomicfile.Write(k.path(r.ID, aboutSuffix), text, 0o600)
}

// Ask begins a record of the last minutes of a robot, and returns the key under which the robot
// sends it.
func (k *Keeper) Ask(robot string, last time.Duration, by string, source audit.Source, why string) (Record, string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.folderErr != nil {
		return Record{}, "", refuse(DiskFailed, "see fleetd's log", "fleetd cannot use its folder of flight records: %v", k.folderErr)
	}
	now := k.Now()
	if no := refuseAsk(k.records(), robot); no != nil {
		return Record{}, "", no
	}
	k.remove(toRemove(k.records(), now, 0))
	r := &kept{source: source, why: why, key: random(), Record: Record{
		ID: fmt.Sprintf("%s-%s", now.UTC().Format("20060102t150405"), random()[:8]), Robot: robot, LastMS: last.Milliseconds(), State: Asked,
		By: by, Asked: schema.TimeOf(now),
	}}
	if err := k.save(r); err != nil {
		return Record{}, "", k.diskRefusal(err)
	}
	k.all = append(k.all, r)
	return r.Record, r.key, nil
}

func random() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

func (k *Keeper) diskRefusal(err error) *Refused {
	k.Log.Error("flight record not written", "folder", k.Dir, "error", err)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return refuse(DiskFailed, "make room on it", "the disk of fleetd is full")
	}
	return refuse(DiskFailed, "see fleetd's log", "fleetd cannot write the flight record to its disk")
}

// SetCommand notes the id of the command that asks the robot.
func (k *Keeper) SetCommand(id, command string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r := k.find(id); r != nil {
		r.Command = command
	}
}

// Forget removes a record for which the robot could not be asked.
func (k *Keeper) Forget(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.remove([]string{id})
}

// List lists the records of a robot, the newest first.
func (k *Keeper) List(robot string) []Record {
	k.mu.Lock()
	defer k.mu.Unlock()
	out := slices.DeleteFunc(k.records(), func(r Record) bool { return r.Robot != robot })
	slices.Reverse(out)
	return out
}

// Get returns one record of a robot.
func (k *Keeper) Get(robot, id string) (Record, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r := k.find(id); r != nil && r.Robot == robot {
		return r.Record, true
	}
	return Record{}, false
}

// Open opens the file of a record that is done.
func (k *Keeper) Open(r Record) (*os.File, error) { return os.Open(k.path(r.ID, fileSuffix)) }

// Downloaded notes in the audit that somebody got a record.
func (k *Keeper) Downloaded(r Record, by string, source audit.Source) {
	k.Note(audit.Note{Source: source, Who: audit.Text(by, 64), What: audit.ActionDownloadAFlightRecord, Target: "robot " + r.Robot,
		Detail: r.describe(), Outcome: audit.Done})
}

// describe says what a record is, for the audit.
func (r *Record) describe() string {
	text := fmt.Sprintf("%s, the last %v", r.ID, r.Last())
	if r.State == Done {
		text += fmt.Sprintf(": %d messages, %d bytes, %s to %s", r.Messages, r.Bytes, r.From, r.To)
	} else if r.Size > 0 {
		text += ": " + r.arrived()
	}
	return text
}

// end ends an open record, with why it failed or without; the audit says so.
func (k *Keeper) end(r *kept, why string) {
	r.State, r.Why, r.key = Failed, why, ""
	outcome := audit.Failed
	if why == "" {
		r.State, outcome = Done, audit.Done
	}
	now := k.Now()
	r.Ended, r.Expires = schema.TimeOf(now), schema.TimeOf(now.Add(KeepFor))
	if err := k.save(r); err != nil {
		k.Log.Error("state of a flight record not saved", "record", r.ID, "error", err) // a restart forgets it, or ends it again
	}
	k.Note(audit.Note{
		Source: r.source, Who: audit.Text(r.By, 64), What: audit.ActionFlightRecord, Target: "robot " + r.Robot,
		Why:    audit.Text(cmp.Or(why, r.why), 512),
		Detail: r.describe(), Outcome: outcome,
	})
}

func (k *Keeper) remove(ids []string) {
	for _, id := range ids {
		for _, suffix := range []string{fileSuffix, partSuffix, aboutSuffix} {
			if err := os.Remove(k.path(id, suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				k.Log.Error("flight record not removed", "record", id, "error", err)
			}
		}
	}
	k.all = slices.DeleteFunc(k.all, func(r *kept) bool { return slices.Contains(ids, r.ID) })
}

// pollInterval is how often the keeper checks for records that end by themselves.
const pollInterval = time.Second

// Run ends records that robots do not send, and removes old ones, until ctx ends.
func (k *Keeper) Run(ctx context.Context) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			k.look(ctx)
		}
	}
}

func (k *Keeper) look(ctx context.Context) {
	k.mu.Lock()
	now := k.Now()
	for _, r := range k.all {
		if why := r.overdue(now); why != "" {
			k.end(r, why)
		}
	}
	k.remove(toRemove(k.records(), now, 0))
	var asked []Record
	for _, r := range k.all {
		if r.open() && r.Command != "" {
			asked = append(asked, r.Record)
		}
	}
	k.mu.Unlock()
	for _, a := range asked { // without the lock: this asks the database
		failed, why := k.Outcome(ctx, a.Command)
		if !failed {
			continue
		}
		k.mu.Lock()
		if r := k.find(a.ID); r != nil && r.open() {
			k.end(r, why)
		}
		k.mu.Unlock()
	}
}
