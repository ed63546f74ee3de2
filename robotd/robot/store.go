package robot

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"troupe/robotd/brain"
	"troupe/robotd/delivery"
	"troupe/robotd/disk"
	"troupe/robotd/effect"
	"troupe/robotd/identity"
	"troupe/robotd/latch"
	"troupe/schema"
)

// store persists what the robot must remember.
type store interface {
	// save writes all of saves or nothing, and returns when they are on the disk.
	save(saves []effect.Save) error
	// saveLatches does the same for latches, also if the disk is full.
	saveLatches(value []byte) error
	// events returns the newest events as they were published, the oldest first.
	events() ([][]byte, error)
	// why returns the reason for an error of save.
	why(error) schema.Reason
	close() error
}

// onDisk is the robot's data directory.
type onDisk struct {
	*disk.Disk
	assets *assets
}

// openStore opens the data directory and reads the robot's memory from it.
func openStore(dir string, log *slog.Logger) (store, *assets, brain.Memory, error) {
	before := ranBefore(dir)
	d, saved, err := disk.Open(dir)
	if err != nil {
		return nil, nil, brain.Memory{}, err
	}
	lost := saved.Values[latch.LostKey] != ""
	if before && saved.Starts == 1 {
		lost = true
		saved.WriteErr = errors.Join(saved.WriteErr, d.Apply(effect.SaveValue{Name: latch.LostKey, Value: "yes"}))
	}
	files, large, err := openAssets(dir, saved.Deliveries, saved.Blobs)
	if err != nil {
		return nil, nil, brain.Memory{}, errors.Join(err, d.Close())
	}
	if saved.WriteErr != nil {
		log.Error("disk refuses to write: make room or replace it, then release the stop unwritable-disk", "error", saved.WriteErr)
	}
	return onDisk{d, files}, files, brain.Memory{
		Memory: latch.Memory{Latches: saved.Latches, LatchesLost: saved.LatchesLost, Refused: disk.Reason(saved.WriteErr), Lost: lost},
		Boots:  saved.Starts, Requests: saved.Commands, Deliveries: saved.Deliveries, Contents: delivery.DiskContents{Blobs: saved.Blobs,
			Files: large}, Values: saved.Values,
	}, nil
}

// ranBefore reports whether a robot has run in this directory before, even if robot.db is
// gone: it has a folder for large files, or a saved fleet time. After an enrolment alone
// there is neither.
func ranBefore(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, assetsDir))
	saved, unread := identity.LoadFleetTime(dir)
	return err == nil || !saved.IsZero() || unread != nil
}

func (d onDisk) save(saves []effect.Save) error {
	for _, e := range saves {
		if e, ok := e.(effect.SaveContent); ok {
			if err := d.assets.add(e.Save); err != nil {
				return err
			}
		}
	}
	if err := d.Apply(saves...); err != nil {
		return err
	}
	for _, e := range saves {
		if e, ok := e.(effect.SaveContent); ok {
			_ = d.assets.removeUnused(e.Save) // the save succeeded; the next save removes what could not be removed now
		}
	}
	return nil
}

func (d onDisk) saveLatches(value []byte) error { return d.SaveLatches(value) }

func (d onDisk) events() ([][]byte, error) { return d.Events() }

func (d onDisk) why(err error) schema.Reason { return disk.Reason(err) }

func (d onDisk) close() error { return d.Close() }
