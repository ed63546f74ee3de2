// Package disk keeps what a robot must not forget: its story, its activities and
// its places, each with the two beside it, the journal of its commands, the newest events, small settings, and how
// often it has started. All of it lies in one transactional file in the robot's
// data directory. What keeps the robot from moving lies in a second one, whose space
// was taken beforehand: a stop is kept on a full disk too (latches.go).
//
// A batch of writes is one transaction: after Apply returned without an error
// everything of it survives the loss of power; after an error nothing of it
// happened. A second program on the same directory is refused at once. A
// damaged file is never repaired, emptied or replaced by itself: the robot does
// not start and says what to do.
//
// It decides nothing about what is kept; the records are those of the rooms.
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

	"troupe/robotd/delivery"
	"troupe/robotd/request"
	"troupe/schema"
	"troupe/schema/sign"
)

const (
	fileName = "robot.db"
	// The format is raised with every record that keeps a robot from moving: an older
	// release would not read it, and let the robot move. It refuses the file instead.
	// 2: what holds the robot lies in robot.latches. 3: documents name the fleet by
	// fleet_id and are kept as desired.
	format       = 3
	oldestFormat = 3 // files before the first release are not read
	// A predecessor that is just ending is waited for, 200 ms.
	lockTries = 20
	lockPause = 10 * time.Millisecond
	maxBytes  = 128 << 20 // twice what the bounds of the rooms allow, as the store lays it out
)

// MaxEvents is how many events are kept, the newest ones.
const MaxEvents = 1000

var (
	// ErrInUse is returned by Open when another program holds the directory.
	ErrInUse = errors.New("another robotd uses this data directory")
	// ErrDamaged is returned by Open when the file cannot be trusted.
	ErrDamaged = errors.New("the robot's data is damaged")
)

// Saved is everything that Open found.
type Saved struct {
	Boots    int64 // how often the robot has started, this time included
	Kept     map[sign.Kind]delivery.Kept
	Blobs    map[string][]byte // by SHA-256
	Commands []request.Record
	Settings map[string]string

	Latches     []byte // as KeepLatches took them; empty before the first time
	LatchesLost bool   // the newest ones may be missing
	// Refused: the disk does not take what is written. The robot may run on what was
	// read.
	Refused error
}

// Disk is an open data directory.
type Disk struct {
	path    string
	db      *bbolt.DB
	latches *latches
	boots   int64 // to be counted with the next write; 0 = they are
}

var (
	metaBucket    = []byte("meta")    // format, boots
	storyBucket   = []byte("story")   // kept, and one for each other kind
	blobBucket    = []byte("blob")    // sha256 -> bytes
	commandBucket = []byte("command") // client/id -> record
	eventBucket   = []byte("event")   // number -> event
	settingBucket = []byte("setting") // name -> value

	buckets = [][]byte{metaBucket, storyBucket, blobBucket, commandBucket, eventBucket, settingBucket}

	formatKey = []byte("format")
	bootsKey  = []byte("boots")
	keptKey   = []byte("kept")
)

// keptKeyOf is where a kind of content is kept.
func keptKeyOf(k sign.Kind) []byte {
	if k == sign.Story {
		return keptKey
	}
	return []byte("kept." + k)
}

// kinds are the contents that are kept.
var kinds = []sign.Kind{sign.Story, sign.Activities, sign.Places}

// Open opens the data directory, makes it if need be, and reads everything. It
// counts the boot before it returns.
func Open(dir string) (*Disk, Saved, error) { return open(dir, maxBytes) }

func open(dir string, limit int) (_ *Disk, saved Saved, err error) {
	path := filepath.Join(dir, fileName)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, Saved{}, fmt.Errorf("make the data directory: %w", err)
	}
	// A disk that fails to read a page faults in the store's mapping of the file. The
	// mapping that it leaves behind would hold the lock as long as this process lives.
	var file *os.File
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = errors.Join(damaged(path, fmt.Sprint(r)), syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close())
		}
	}()
	// The store trusts every page, so all are looked at before it sees the first.
	opener := func(name string, flag int, mode fs.FileMode) (_ *os.File, err error) {
		if file, err = os.OpenFile(name, flag, mode); err != nil {
			return nil, err
		}
		if err = lock(file); err == nil {
			err = sound(file)
		}
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		return file, nil
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{MaxSize: limit, OpenFile: opener})
	if err != nil {
		return nil, Saved{}, opening(dir, path, err)
	}
	d := &Disk{path: path, db: db}
	if saved, err = d.load(dir); err != nil {
		return nil, Saved{}, errors.Join(err, d.Close())
	}
	return d, saved, nil
}

// lock takes the file for this process as the store does, which then has it already.
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

// sound looks at every page of a file; an empty one is new.
func sound(file *os.File) error {
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	return walk(file, info.Size())
}

// opening turns the store's errors into what an operator can act on.
func opening(dir, path string, err error) error {
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
	return fmt.Errorf("%w: %s (%s). Nothing was changed. To start anew move the file away, for instance to %s.damaged, and keep it for a repair: the fleet sends the robot its story again, its journal of commands and its settings start empty, and a stop is held until somebody releases it. %s beside it stays: it has the latched stops, the fleet whose releases count and the newest revisions of its stops; move it away as well only if the robot begins with another fleet or its fleet's database began anew", ErrDamaged, path, what, path, latchFile)
}

// load reads everything, and then sees whether the disk takes what is written.
func (d *Disk) load(dir string) (Saved, error) {
	saved := Saved{Kept: map[sign.Kind]delivery.Kept{}, Blobs: map[string][]byte{}, Settings: map[string]string{}}
	was := int64(0) // the format; 0 = the file is new
	err := d.db.View(func(tx *bbolt.Tx) (err error) {
		if was, err = d.formatOf(tx); err != nil || was == 0 {
			return err
		}
		saved.Boots = number(tx.Bucket(metaBucket).Get(bootsKey))
		return d.read(tx, &saved)
	})
	if err != nil {
		return Saved{}, err
	}
	saved.Boots++
	d.boots = saved.Boots
	var refused error
	d.latches, saved.Latches, saved.LatchesLost, refused = openLatches(dir, was > 0)
	err = d.db.Update(func(tx *bbolt.Tx) error {
		for _, name := range buckets {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return errors.Join(tx.Bucket(metaBucket).Put(formatKey, bigEndian(format)), d.count(tx))
	})
	switch {
	case err == nil:
		d.boots = 0
	case was == 0: // there is nothing to run on
		return Saved{}, fmt.Errorf("write to %s: %w", d.path, err)
	}
	saved.Refused = errors.Join(refused, err)
	return saved, nil
}

// count counts the boot, if the disk refused to at the start.
func (d *Disk) count(tx *bbolt.Tx) error {
	if d.boots == 0 {
		return nil
	}
	return tx.Bucket(metaBucket).Put(bootsKey, bigEndian(d.boots))
}

// formatOf returns the format of the file, 0 of a new one.
func (d *Disk) formatOf(tx *bbolt.Tx) (int64, error) {
	if k, _ := tx.Cursor().First(); k == nil {
		return 0, nil
	}
	meta := tx.Bucket(metaBucket)
	if meta == nil {
		return 0, damaged(d.path, "it does not say its format")
	}
	v := number(meta.Get(formatKey))
	switch {
	case v > format && v < 1000:
		return 0, fmt.Errorf("%s has format %d, this robotd reads formats up to %d: start the release that wrote it", d.path, v, format)
	case v > 0 && v < oldestFormat:
		return 0, fmt.Errorf("%s has format %d, this robotd reads formats from %d: start the release that wrote it, or move the data directory away and start anew; the fleet then sends the robot its story again", d.path, v, oldestFormat)
	case v < 1 || v > format:
		return 0, damaged(d.path, "it does not say its format")
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
		v := tx.Bucket(storyBucket).Get(keptKeyOf(kind))
		if v == nil {
			continue
		}
		kept, problems := schema.Decode[delivery.Kept](v)
		if len(problems) > 0 {
			return damaged(d.path, string(kind)+": "+problems[0].String())
		}
		saved.Kept[kind] = kept
	}
	err := tx.Bucket(commandBucket).ForEach(func(k, v []byte) error {
		r, problems := schema.Decode[request.Record](v)
		if len(problems) > 0 {
			return damaged(d.path, fmt.Sprintf("command %s: %s", k, problems[0]))
		}
		if string(k) != string(r.Key()) {
			return damaged(d.path, fmt.Sprintf("command %q is that of %s", k, r.Key()))
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
	settings := tx.Bucket(settingBucket).ForEach(func(k, v []byte) error {
		saved.Settings[string(k)] = string(v)
		return nil
	})
	return errors.Join(blobs, settings)
}

// syncDir makes a new file's name survive the loss of power.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("open the data directory: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// Close ends the use of the directory.
func (d *Disk) Close() error {
	if d.latches == nil || d.latches.file == nil {
		return d.db.Close()
	}
	return errors.Join(d.latches.file.Close(), d.db.Close())
}

// Reason tells why the disk refused a write: no_space, or internal.
func Reason(err error) schema.Reason {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, storeerr.ErrMaxSizeReached):
		return schema.ReasonNoSpace
	}
	for _, full := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		// The store does not wrap what the system said when it grows its file.
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
