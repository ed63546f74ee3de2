package disk

import (
	"os"
	"path/filepath"
	"testing"

	"troupe/robotd/command"
	"troupe/robotd/effect"
	"troupe/robotd/request"
	"troupe/schema"
)

// BenchmarkWrite compares durable journal writes with the minimum of this machine:
// appending the same number of bytes to a file and syncing it.
func BenchmarkWrite(b *testing.B) {
	r := record(1)
	bytes, err := schema.Encode(&r)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("floor=append-and-sync", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "floor"))
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		for b.Loop() {
			if _, err := f.Write(bytes); err != nil {
				b.Fatal(err)
			}
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, c := range []struct {
		name string
		n    int
	}{{"journal=1", 1}, {"journal=64-in-one-batch", 64}} {
		b.Run(c.name, func(b *testing.B) {
			d, _, err := Open(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			defer d.Close()
			n := int64(0)
			for b.Loop() {
				var put []command.Record
				for range c.n {
					n = n%(request.MaxClients*request.MaxPerClient) + 1
					put = append(put, record(n))
				}
				if err := d.Apply(effect.SaveRequests{Put: put}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
