package records

import (
	"errors"
	"io"
	"os"
)

// Upload is the bytes of a record on their way.
type Upload struct {
	Robot string // that the client certificate names; empty without one: then the key alone names the record
	Size  int64
	Body  io.Reader
	// Extend allows so much more time for the next bytes.
	Extend func()
}

// Receive takes the bytes that a robot sends under a key. They are on the disk, and are the
// readable record of that robot, if it returns nil. The error is a *Refused.
func (k *Keeper) Receive(key string, in Upload) error {
	r, no := k.begin(key, in)
	if no != nil {
		return no
	}
	path := k.path(r.ID, partSuffix)
	no = k.take(r, in)
	var has contents
	var unreadable error
	if no == nil {
		has, unreadable = verify(path)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case no != nil:
	case !r.open(): // it took too long
		no = refuse(UnknownKey, "ask for it again", "%s", r.Why)
	default:
		no = accept(&r.Record, has, unreadable)
	}
	if no == nil {
		if err := os.Rename(path, k.path(r.ID, fileSuffix)); err != nil {
			no = k.diskRefusal(err)
		}
	}
	if no != nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			k.Log.Error("part of a flight record not removed", "record", r.ID, "error", err)
		}
		if r.open() {
			k.end(r, no.sentence())
		}
		return no
	}
	k.end(r, "")
	return nil
}

func (r *Refused) sentence() string {
	if r.Hint == "" {
		return r.Detail
	}
	return r.Detail + "; " + r.Hint
}

// begin finds the record of a key, and makes room for it.
func (k *Keeper) begin(key string, in Upload) (*kept, *Refused) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var r *kept
	for _, one := range k.all {
		if key != "" && one.key == key {
			r = one
		}
	}
	var of Record
	if r != nil {
		of = r.Record
	}
	if no := refuseSend(of, r != nil, in.Robot, in.Size); no != nil {
		if no.Why == TooLarge {
			k.end(r, no.sentence())
		}
		return nil, no
	}
	k.remove(toRemove(k.records(), k.Now(), in.Size))
	r.State, r.Size = Sending, in.Size
	return r, nil
}

// take writes the bytes to the disk as they come.
func (k *Keeper) take(r *kept, in Upload) *Refused {
	out, err := k.Create(k.path(r.ID, partSuffix))
	if err != nil {
		return k.diskRefusal(err)
	}
	no := k.copy(out, r, in)
	if err := out.Close(); err != nil && no == nil {
		no = k.diskRefusal(err)
	}
	return no
}

func (k *Keeper) copy(out io.Writer, r *kept, in Upload) *Refused {
	buffer := make([]byte, 64<<10)
	var got int64
	for got < in.Size {
		in.Extend()
		n, err := in.Body.Read(buffer[:min(int64(len(buffer)), in.Size-got)])
		if n > 0 {
			if _, err := out.Write(buffer[:n]); err != nil {
				return k.diskRefusal(err)
			}
			got += int64(n)
			if !k.progress(r, got) {
				return nil // Receive says why
			}
		}
		if err != nil && got < in.Size {
			return refuse(Broken, "ask again when the robot is back", "the connection of robot %s broke after %d of %d bytes", r.Robot, got, in.Size)
		}
	}
	return nil
}

// progress notes how much has arrived, and reports whether the rest is still wanted.
func (k *Keeper) progress(r *kept, got int64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	r.Bytes = got
	return r.open()
}
