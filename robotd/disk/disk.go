// Package disk persists the state of a robot: its story, activities and places (each
// with its previous and staged version), the journal of commands, the newest events,
// small values by name, and the number of starts. All of it is in one transactional file in
// the robot's data directory. Latches, which prevent the robot from moving, are in a
// second file with preallocated space, so that a full disk can still store a stop
// (latches.go).
//
// A batch of writes is one transaction. If Apply returns no error, the whole batch
// survives a loss of power; if it returns an error, nothing was written. A second
// program cannot open the same directory. The package never repairs, empties or
// replaces a damaged robot.db: Open fails, and its error says what to do. Damaged
// latches do not keep the robot from starting: Open reports LatchesLost, and the next
// SaveLatches rewrites their file.
//
// The package does not decide what is stored; it takes the saves of package effect.
package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	storeerr "go.etcd.io/bbolt/errors"

	"troupe/robotd/command"
	"troupe/robotd/delivery"
	"troupe/schema"
	"troupe/schema/sign"
)

const (
	fileName = "robot.db"
	// The format number rises with every new record that prevents a robot from moving.
	// An older release would ignore such a record and let the robot move; because of
	// the number it refuses the file instead.
	// 2: latches are in robot.latches. 3: documents name the fleet by the field fleet_id, and
	// a record has its desired document in the field desired.
	format       = 3
	oldestFormat = 3 // files from before the first release are refused
	// Open waits up to 200 ms for the lock of a predecessor that is just ending.
	lockTries = 20
	lockPause = 10 * time.Millisecond
	maxBytes  = 128 << 20 // twice what the limits of delivery and request allow, in bbolt's layout
)

// MaxEvents is how many events are stored; the oldest are deleted first.
const MaxEvents = 1000

var (
	// ErrInUse is returned by Open if another program has opened the directory.
	ErrInUse = errors.New("another robotd uses this data directory")
	// ErrDamaged is returned by Open if the file is damaged.
	ErrDamaged = errors.New("the robot's data is damaged")
)

// Saved is everything that Open has read.
type Saved struct {
	Starts     int64 // number of starts of the robot, including this one
	Deliveries map[sign.Kind]delivery.Persisted
	Blobs      map[string][]byte // by SHA-256
	Commands   []command.Record
	Values     map[string]string

	Latches     []byte // argument of the last SaveLatches; empty before the first call
	LatchesLost bool   // the newest latches may be missing
	// WriteErr is why the disk cannot be written to. The robot may run with what
	// was read.
	WriteErr error
}

// Disk is an open data directory.
type Disk struct {
	path    string
	db      *bbolt.DB
	latches *latches
	starts  int64 // the number of starts to store with the next write; 0 = stored
}

var (
	metaBucket    = []byte("meta")    // format, boots
	storyBucket   = []byte("story")   // one record per kind of content: story, activities, places
	blobBucket    = []byte("blob")    // sha256 -> bytes
	commandBucket = []byte("command") // client/id -> record
	eventBucket   = []byte("event")   // number -> event
	valueBucket   = []byte("setting") // name -> small value, such as the volume; the fleet's settings are one of them

	buckets = [][]byte{metaBucket, storyBucket, blobBucket, commandBucket, eventBucket, valueBucket}

	formatKey = []byte("format")
	bootsKey  = []byte("boots")
	keptKey   = []byte("kept")
)

// contentKeyOf returns the key of a kind of content.
func contentKeyOf(k sign.Kind) []byte {
	if k == sign.Story {
		return keptKey
	}
	return []byte("kept." + k)
}

// kinds lists the kinds of content.
var kinds = []sign.Kind{sign.Story, sign.Activities, sign.Places}

// Open opens the data directory, creates it if necessary, and reads everything. It
// counts the start before it returns.
func Open(dir string) (*Disk, Saved, error) { return open(dir, maxBytes) }

func open(dir string, limit int) (_ *Disk, saved Saved, err error) {
	path := filepath.Join(dir, fileName)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, Saved{}, fmt.Errorf("make the data directory: %w", err)
	}
	// If the disk cannot read a page, bbolt's memory mapping of the file faults. The
	// file is then unlocked here, because the mapping that bbolt leaves behind would
	// otherwise keep the lock until the process ends.
	var file *os.File
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = errors.Join(damaged(path, fmt.Sprint(r)), syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close())
		}
	}()
	// bbolt trusts every page, so checkPages checks all of them first.
	opener := func(name string, flag int, mode fs.FileMode) (_ *os.File, err error) {
		if file, err = os.OpenFile(name, flag, mode); err != nil {
			return nil, err
		}
		if err = lock(file); err == nil {
			err = checkPages(file)
		}
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		return file, nil
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{MaxSize: limit, OpenFile: opener})
	if err != nil {
		return nil, Saved{}, openError(dir, path, err)
	}
	d := &Disk{path: path, db: db}
	if saved, err = d.load(dir); err != nil {
		return nil, Saved{}, errors.Join(err, d.Close())
	}
	return d, saved, nil
}

// lock locks the file in the same way as bbolt, whose own lock then succeeds at once.
func lock(file *os.File) error {
	for range lockTries {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return &fs.PathError{Op: "lock", Path: file.Name(), Err: err}
		}
		time.Sleep(lockPause)
	}
	return storeerr.ErrTimeout
}

// checkPages checks every page of a file. An empty file is new and valid.
func checkPages(file *os.File) error {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	return checkFile(file, info.Size())
}

// openError turns an error of bbolt into one that says what to do.
func openError(dir, path string, err error) error {
	var file *fs.PathError
	switch {
	case errors.Is(err, storeerr.ErrTimeout):
		return fmt.Errorf("%w: %s; end the other one, or give this robot a directory of its own", ErrInUse, dir)
	case errors.As(err, &file), Reason(err) == schema.ReasonNoSpace:
		return fmt.Errorf("open the robot's data: %w", err)
	}
	return damaged(path, err.Error())
}

func damaged(path, what string) error {
	return fmt.Errorf("%w: %s (%s). Nothing was changed. To start with a new file, move the file away, for instance to %s.damaged, and keep "+
		"it for a repair: fleetd sends the robot its story and its settings again; its journal of commands, the points and acts that it was "+
		"taught and the parameters of its modes are gone (read robots/ID/caps and robots/ID/acts at the broker before the start, which "+
		"overwrites them). In addition to the stops already latched, the robot latches the stop lost-disk, which a person must release. %s "+
		"beside it stays: it contains the latched stops, the id of the fleet whose releases count and the newest revisions of its stops; move "+
		"it away too only if the robot joins another fleet or the fleet's database was created anew", ErrDamaged, path, what, path, latchFile)
}

// load reads everything and then checks that the disk can be written to.
func (d *Disk) load(dir string) (Saved, error) {
	saved := Saved{Deliveries: map[sign.Kind]delivery.Persisted{}, Blobs: map[string][]byte{}, Values: map[string]string{}}
	was := int64(0) // the format of the file; 0 = the file is new
	err := d.db.View(func(tx *bbolt.Tx) (err error) {
		if was, err = d.formatOf(tx); err != nil || was == 0 {
			return err
		}
		saved.Starts = number(tx.Bucket(metaBucket).Get(bootsKey))
		return d.read(tx, &saved)
	})
	if err != nil {
		return Saved{}, err
	}
	saved.Starts++
	d.starts = saved.Starts
	var refused error
	d.latches, saved.Latches, saved.LatchesLost, refused = openLatches(dir, was > 0)
	err = d.db.Update(func(tx *bbolt.Tx) error {
		for _, name := range buckets {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return errors.Join(tx.Bucket(metaBucket).Put(formatKey, bigEndian(format)), d.countStart(tx))
	})
	switch {
	case err == nil:
		d.starts = 0
	case was == 0: // nothing was read with which the robot could run
		return Saved{}, fmt.Errorf("write to %s: %w", d.path, err)
	}
	saved.WriteErr = errors.Join(refused, err)
	return saved, nil
}

// countStart stores the number of starts if that is still to do.
func (d *Disk) countStart(tx *bbolt.Tx) error {
	if d.starts == 0 {
		return nil
	}
	return tx.Bucket(metaBucket).Put(bootsKey, bigEndian(d.starts))
}

// formatOf returns the format of the file; 0 if the file is new.
func (d *Disk) formatOf(tx *bbolt.Tx) (int64, error) {
	if k, _ := tx.Cursor().First(); k == nil {
		return 0, nil
	}
	meta := tx.Bucket(metaBucket)
	if meta == nil {
		return 0, damaged(d.path, "its format is missing")
	}
	v := number(meta.Get(formatKey))
	switch {
	case v > format && v < 1000:
		return 0, fmt.Errorf("%s has format %d, this robotd reads formats up to %d: start the release that wrote it", d.path, v, format)
	case v > 0 && v < oldestFormat:
		return 0, fmt.Errorf("%s has format %d, this robotd reads formats from %d: start the release that wrote it, or move the file away: "+
			"fleetd sends the robot its story again, and %s beside it, which contains the latched stops, stays", d.path, v, oldestFormat, latchFile)
	case v < 1 || v > format:
		return 0, damaged(d.path, "its format is missing")
	}
	for _, name := range buckets {
		if tx.Bucket(name) == nil {
			return 0, damaged(d.path, fmt.Sprintf("%s is missing", name))
		}
	}
	return v, nil
}

func (d *Disk) read(tx *bbolt.Tx, saved *Saved) error {
	for _, kind := range kinds {
		v := tx.Bucket(storyBucket).Get(contentKeyOf(kind))
		if v == nil {
			continue
		}
		kept, problems := schema.Decode[delivery.Persisted](v)
		if len(problems) > 0 {
			return damaged(d.path, string(kind)+": "+problems[0].String())
		}
		saved.Deliveries[kind] = kept
	}
	err := tx.Bucket(commandBucket).ForEach(func(k, v []byte) error {
		r, problems := schema.Decode[command.Record](v)
		if len(problems) > 0 {
			return damaged(d.path, fmt.Sprintf("command %s: %s", k, problems[0]))
		}
		if string(k) != string(r.Key()) {
			return damaged(d.path, fmt.Sprintf("the record under key %q is that of command %s", k, r.Key()))
		}
		saved.Commands = append(saved.Commands, r)
		return nil
	})
	if err != nil {
		return err
	}
	blobs := tx.Bucket(blobBucket).ForEach(func(k, v []byte) error {
		saved.Blobs[string(k)] = bytes.Clone(v)
		return nil
	})
	values := tx.Bucket(valueBucket).ForEach(func(k, v []byte) error {
		saved.Values[string(k)] = string(v)
		return nil
	})
	return errors.Join(blobs, values)
}

// syncDir makes the names of new files survive a loss of power.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("open the data directory: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// Close closes the files.
func (d *Disk) Close() error {
	if d.latches == nil || d.latches.file == nil {
		return d.db.Close()
	}
	return errors.Join(d.latches.file.Close(), d.db.Close())
}

// Reason returns the reason code of a failed write: no_space or internal.
func Reason(err error) schema.Reason {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, storeerr.ErrMaxSizeReached):
		return schema.ReasonNoSpace
	}
	for _, full := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		// bbolt does not wrap the system's error when it fails to grow its file.
		if errors.Is(err, full) || strings.Contains(err.Error(), full.Error()) {
			return schema.ReasonNoSpace
		}
	}
	return schema.ReasonInternal
}

func bigEndian(n int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

func number(b []byte) int64 {
	if len(b) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(b))
}
