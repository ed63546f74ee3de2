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

// The latches have a file of their own, which is written in place. Its space is
// allocated at the robot's first start, so that a full disk can still store a stop. On
// a file system that never writes in place (copy on write) a write may fail all the
// same; SaveLatches then returns the error.
//
// The file has two slots, each with a header (magic, length, number, checksum) and a
// value. A write goes to the slot that does not contain the newest value and is then
// synced, so that an interrupted write leaves the newest value intact.
const (
	latchFile  = "robot.latches"
	latchMagic = 0x4c544348 // "LTCH"
	latchSlots = 2
	slotBytes  = 128 << 10 // all latches that can exist take less than 80 KiB
	slotHeader = 24
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// inPlaceFile is a file that is written in place.
type inPlaceFile interface {
	ReadAt(b []byte, at int64) (int, error)
	WriteAt(b []byte, at int64) (int, error)
	Sync() error
	Close() error
}

// latches is the open file of latches. Only one goroutine at a time may use it.
type latches struct {
	path        string
	file        inPlaceFile
	tx          uint64 // number of the newest value
	rewriteBoth bool   // a slot is damaged or was never written: the next write goes to both slots, that one first
}

// openLatches opens the file or creates it with its full size. lost means that the file
// should exist but cannot be read completely, so that the newest value may be missing.
// A loss is reported at every start until write has succeeded, because robotd may end
// before it has stored its reaction to the loss.
func openLatches(dir string, expected bool) (l *latches, value []byte, lost bool, err error) {
	l = &latches{path: filepath.Join(dir, latchFile), rewriteBoth: true}
	if err := l.open(); err != nil {
		return l, nil, expected, err
	}
	value, lost = l.read(expected)
	if err = errors.Join(l.reserve(), syncDir(dir)); err == nil && !lost {
		err = l.write(value) // tests that the disk can be written in place
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

// reserve extends the file to its full size by writing zeros: a hole would take its
// space only when it is written, and the disk may be full by then.
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

// read finds the newest value. Both slots were written when the file was created.
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
	l.rewriteBoth = whole < latchSlots
	return newest, l.rewriteBoth && (expected || blank < latchSlots)
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

// write stores a value and returns when it survives a loss of power.
func (l *latches) write(value []byte) error {
	if len(value) > slotBytes-slotHeader {
		return fmt.Errorf("write to %s: %d bytes of latches do not fit", l.path, len(value))
	}
	if l.file == nil { // opening it failed at the start
		if err := l.open(); err != nil {
			return err
		}
	}
	times := 1
	if l.rewriteBoth {
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
	l.rewriteBoth = false
	return nil
}

// SaveLatches replaces the stored latches and returns when they survive a loss of
// power. It needs no free disk space and does not wait for Apply.
func (d *Disk) SaveLatches(value []byte) error { return d.latches.write(value) }
