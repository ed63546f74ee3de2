package disk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// The latches lie in a file of their own beside the store, written in place: its
// space was taken when the robot first started, so that a full disk has room for a
// stop. A file system that never writes in place (copy on write) may refuse all the
// same; then KeepLatches says so.
//
// The file is two slots of a header (magic, length, number, checksum) and the value.
// A write goes to the slot that does not hold the newest value and is synced, so
// that one cut short leaves the newest as it was.
const (
	latchFile  = "robot.latches"
	latchMagic = 0x4c544348 // "LTCH"
	latchSlots = 2
	slotBytes  = 128 << 10 // what people can hold takes less than 80 KiB
	slotHeader = 24
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// inPlace is a file that has its size already.
type inPlace interface {
	ReadAt(b []byte, at int64) (int, error)
	WriteAt(b []byte, at int64) (int, error)
	Sync() error
	Close() error
}

// latches is the open file. One goroutine at a time uses it.
type latches struct {
	path  string
	file  inPlace
	tx    uint64 // number of the newest value
	spoil bool   // a slot is damaged or was never written: the next write goes to both, to that one first
}

// openLatches opens the file, or takes its space. Lost: it was there once, and not all
// of it can be read, so that the newest value may be missing. It stays so until write
// was called: whoever was told may end before it has kept anything.
func openLatches(dir string, expected bool) (l *latches, value []byte, lost bool, err error) {
	l = &latches{path: filepath.Join(dir, latchFile), spoil: true}
	if err := l.open(); err != nil {
		return l, nil, expected, err
	}
	value, lost = l.read(expected)
	if err = errors.Join(l.reserve(), syncDir(dir)); err == nil && !lost {
		err = l.write(value) // shows that the disk takes what is written in place
	}
	return l, value, lost, err
}

func (l *latches) open() error {
	file, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		l.file = file
	}
	return err
}

// reserve writes what the file lacks of its length: a hole takes its space when it is
// written, which may be too late.
func (l *latches) reserve() error {
	info, err := os.Stat(l.path)
	if err != nil || info.Size() >= latchSlots*slotBytes {
		return err
	}
	if _, err := l.file.WriteAt(make([]byte, latchSlots*slotBytes-info.Size()), info.Size()); err != nil {
		return err
	}
	return l.file.Sync()
}

// read finds the newest value. Both slots were written when the file was made.
func (l *latches) read(expected bool) (newest []byte, lost bool) {
	whole, blank := 0, 0
	for slot := range int64(latchSlots) {
		b := make([]byte, slotBytes)
		if _, err := l.file.ReadAt(b, slot*slotBytes); errors.Is(err, io.EOF) {
			blank++
			continue
		} else if err != nil {
			continue
		}
		tx, value, ok := readSlot(b)
		switch {
		case ok:
			if whole++; tx > l.tx {
				newest, l.tx = append([]byte(nil), value...), tx
			}
		case [slotHeader]byte(b) == [slotHeader]byte{}:
			blank++
		}
	}
	l.spoil = whole < latchSlots
	return newest, l.spoil && (expected || blank < latchSlots)
}

func readSlot(b []byte) (tx uint64, value []byte, ok bool) {
	n := uint64(binary.BigEndian.Uint32(b[4:]))
	if binary.BigEndian.Uint32(b) != latchMagic || n > slotBytes-slotHeader {
		return 0, nil, false
	}
	value = b[slotHeader : slotHeader+n]
	sum := crc32.Update(crc32.Checksum(b[:16], castagnoli), castagnoli, value)
	return binary.BigEndian.Uint64(b[8:]), value, binary.BigEndian.Uint32(b[16:]) == sum
}

// write keeps a value and returns when it is safe from a loss of power.
func (l *latches) write(value []byte) error {
	if len(value) > slotBytes-slotHeader {
		return fmt.Errorf("write to %s: %d bytes of latches do not fit", l.path, len(value))
	}
	if l.file == nil { // the disk had no room for it
		if err := l.open(); err != nil {
			return err
		}
	}
	times := 1
	if l.spoil {
		times = latchSlots
	}
	for range times {
		tx := l.tx + 1
		b := binary.BigEndian.AppendUint32(nil, latchMagic)
		b = binary.BigEndian.AppendUint32(b, uint32(len(value)))
		b = binary.BigEndian.AppendUint64(b, tx)
		b = binary.BigEndian.AppendUint32(b, crc32.Update(crc32.Checksum(b, castagnoli), castagnoli, value))
		b = append(append(b, 0, 0, 0, 0), value...)
		if _, err := l.file.WriteAt(b, int64(tx%latchSlots)*slotBytes); err != nil {
			return fmt.Errorf("write to %s: %w", l.path, err)
		}
		if err := l.file.Sync(); err != nil {
			return fmt.Errorf("sync %s: %w", l.path, err)
		}
		l.tx = tx
	}
	l.spoil = false
	return nil
}

// KeepLatches keeps what holds the robot in place of what was kept before, and returns
// when it is safe from a loss of power. It needs no free space and waits for no Apply.
func (d *Disk) KeepLatches(value []byte) error { return d.latches.write(value) }
