package disk

import (
	"bytes"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"troupe/robotd/delivery"
	"troupe/robotd/effect"
	"troupe/schema"
)

// reserve is how far the file may grow beyond its limit for deletions, because they
// need pages too.
const reserve = 8 << 20

// Apply writes a batch in one transaction and returns when the batch survives a loss of
// power. If the file has no space for the batch, Apply first makes the deletions of the
// batch in a transaction of their own, which is not undone if the rest then fails.
func (d *Disk) Apply(batch ...effect.Save) error {
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

// deletions returns the saves of a batch that free space.
func deletions(batch []effect.Save) (out []effect.Save) {
	for _, s := range batch {
		if r, ok := s.(effect.SaveRequests); ok && len(r.Forget) > 0 {
			out = append(out, effect.SaveRequests{Forget: r.Forget})
		}
	}
	return out
}

func (d *Disk) update(batch []effect.Save) error {
	err := d.db.Update(func(tx *bbolt.Tx) error {
		for _, s := range batch {
			if err := write(tx, s); err != nil {
				return err
			}
		}
		return d.countStart(tx)
	})
	if err != nil {
		return fmt.Errorf("write to %s: %w", d.path, err)
	}
	d.starts = 0
	return nil
}

func write(tx *bbolt.Tx, s effect.Save) error {
	switch s := s.(type) {
	case effect.SaveContent:
		return writeContent(tx, s.Save)
	case effect.SaveRequests:
		return writeRequests(tx, s)
	case effect.SaveEvent:
		return writeEvent(tx, s.Payload)
	case effect.SaveValue:
		return writeValue(tx, s.Name, s.Value)
	}
	panic(fmt.Sprintf("disk: no such save: %T", s))
}

// writeContent stores a delivery and its blobs, and deletes the blobs that no delivery
// refers to.
func writeContent(tx *bbolt.Tx, s delivery.Save) error {
	kept, err := schema.Encode(s.Persisted)
	if err != nil {
		return err
	}
	stories := tx.Bucket(storyBucket)
	if err := stories.Put(contentKeyOf(s.Kind), kept); err != nil {
		return err
	}
	blobs := tx.Bucket(blobBucket)
	for _, b := range s.Blobs {
		if err := blobs.Put([]byte(b.SHA256), b.Bytes); err != nil {
			return err
		}
	}
	var wanted []string
	for _, kind := range kinds {
		if v := stories.Get(contentKeyOf(kind)); v != nil {
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

// writeRequests first deletes and then stores records of the journal.
func writeRequests(tx *bbolt.Tx, s effect.SaveRequests) error {
	commands := tx.Bucket(commandBucket)
	for _, k := range s.Forget {
		if err := commands.Delete([]byte(k)); err != nil {
			return err
		}
	}
	for i := range s.Put {
		v, err := schema.Encode(&s.Put[i])
		if err != nil {
			return err
		}
		if err := commands.Put([]byte(s.Put[i].Key()), v); err != nil {
			return err
		}
	}
	return nil
}

// writeEvent appends an event in its published form and deletes the oldest beyond
// MaxEvents.
func writeEvent(tx *bbolt.Tx, payload []byte) error {
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
	return events.Put(bigEndian(int64(n)), payload)
}

// writeValue stores a small value under a name; an empty value deletes it.
func writeValue(tx *bbolt.Tx, name, value string) error {
	values := tx.Bucket(valueBucket)
	if value == "" {
		return values.Delete([]byte(name))
	}
	return values.Put([]byte(name), []byte(value))
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
