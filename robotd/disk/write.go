package disk

import (
	"bytes"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"troupe/robotd/delivery"
	"troupe/robotd/request"
	"troupe/schema"
)

// Write is one write operation: Content, Commands, Event or Setting.
type Write interface{ write(tx *bbolt.Tx) error }

// The writes.
type (
	// Content stores a delivery and its blobs, and deletes the blobs that no
	// delivery refers to.
	Content struct{ delivery.Save }
	// Commands first deletes and then stores records of the journal.
	Commands struct{ request.Save }
	// Event appends an event in its published form and deletes the oldest beyond
	// MaxEvents.
	Event struct{ Payload []byte }
	// Setting stores a small value under a name; an empty value deletes it.
	Setting struct{ Name, Value string }
)

// reserve is how far the file may grow beyond its limit for deletions, because they
// need pages too.
const reserve = 8 << 20

// Apply writes a batch in one transaction and returns when the batch survives a loss of
// power. If the file has no space for the batch, Apply first makes the deletions of the
// batch in a transaction of their own, which is not undone if the rest then fails.
func (d *Disk) Apply(batch ...Write) error {
	if len(batch) == 0 {
		return nil
	}
	err := d.update(batch)
	if freeing := deletions(batch); len(freeing) > 0 && Reason(err) == schema.ReasonNoSpace {
		d.db.MaxSize += reserve
		freeErr := d.update(freeing)
		d.db.MaxSize -= reserve
		if freeErr == nil {
			err = d.update(batch)
		}
	}
	return err
}

// deletions returns the writes of a batch that free space.
func deletions(batch []Write) (out []Write) {
	for _, w := range batch {
		if c, ok := w.(Commands); ok && len(c.Forget) > 0 {
			out = append(out, Commands{request.Save{Forget: c.Forget}})
		}
	}
	return out
}

func (d *Disk) update(batch []Write) error {
	err := d.db.Update(func(tx *bbolt.Tx) error {
		for _, w := range batch {
			if err := w.write(tx); err != nil {
				return err
			}
		}
		return d.countBoot(tx)
	})
	if err != nil {
		return fmt.Errorf("write to %s: %w", d.path, err)
	}
	d.boots = 0
	return nil
}

func (w Content) write(tx *bbolt.Tx) error {
	kept, err := schema.Encode(w.Persisted)
	if err != nil {
		return err
	}
	stories := tx.Bucket(storyBucket)
	if err := stories.Put(keptKeyOf(w.Kind), kept); err != nil {
		return err
	}
	blobs := tx.Bucket(blobBucket)
	for _, b := range w.Blobs {
		if err := blobs.Put([]byte(b.SHA256), b.Bytes); err != nil {
			return err
		}
	}
	var wanted []string
	for _, kind := range kinds {
		if v := stories.Get(keptKeyOf(kind)); v != nil {
			k, problems := schema.Decode[delivery.Persisted](v)
			if len(problems) > 0 {
				return fmt.Errorf("read the stored %s: %s", kind, problems[0])
			}
			wanted = append(wanted, k.Digests()...)
		}
	}
	var unused [][]byte
	err = blobs.ForEach(func(k, _ []byte) error {
		if !slices.Contains(wanted, string(k)) {
			unused = append(unused, bytes.Clone(k))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, k := range unused {
		if err := blobs.Delete(k); err != nil {
			return err
		}
	}
	return nil
}

func (w Commands) write(tx *bbolt.Tx) error {
	commands := tx.Bucket(commandBucket)
	for _, k := range w.Forget {
		if err := commands.Delete([]byte(k)); err != nil {
			return err
		}
	}
	for i := range w.Put {
		v, err := schema.Encode(&w.Put[i])
		if err != nil {
			return err
		}
		if err := commands.Put([]byte(w.Put[i].Key()), v); err != nil {
			return err
		}
	}
	return nil
}

func (w Event) write(tx *bbolt.Tx) error {
	events := tx.Bucket(eventBucket)
	n, err := events.NextSequence()
	if err != nil {
		return err
	}
	if n > MaxEvents {
		if err := events.Delete(bigEndian(int64(n - MaxEvents))); err != nil {
			return err
		}
	}
	return events.Put(bigEndian(int64(n)), w.Payload)
}

func (w Setting) write(tx *bbolt.Tx) error {
	settings := tx.Bucket(settingBucket)
	if w.Value == "" {
		return settings.Delete([]byte(w.Name))
	}
	return settings.Put([]byte(w.Name), []byte(w.Value))
}

// Events returns the payloads of the stored events, oldest first.
func (d *Disk) Events() ([][]byte, error) {
	var out [][]byte
	err := d.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(eventBucket).ForEach(func(_, v []byte) error {
			out = append(out, bytes.Clone(v))
			return nil
		})
	})
	return out, err
}
