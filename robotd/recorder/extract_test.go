package recorder

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foxglove/mcap/go/mcap"

	"troupe/schema/bubble"
)

// While the recorder runs, an extract has what was recorded until now, also what was not on
// the disk yet, and nothing else; no record is lost, and nothing is left of the file.
func TestExtractHasTheLastMinutesUntilNow(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		r := New(dir, LimitMin, About{Robot: "r1"}, quiet)
		go r.Run()
		begin := time.Now()
		put := func(from, n int) {
			for i := range n {
				time.Sleep(20 * time.Millisecond)
				r.Put(time.Now(), sampleAt(from+i))
			}
		}
		put(0, 500) // 10 s
		go put(500, 100)
		from := time.Now().Add(-3 * time.Second)
		f, records, err := r.Extract(t.Context(), from, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		reader, err := mcap.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		it, err := reader.Messages()
		if err != nil {
			t.Fatal(err)
		}
		var n uint64
		var first, last time.Time
		for {
			_, _, m, err := it.NextInto(nil)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if last = logTime(m); n == 0 {
				first = last
			}
			n++
		}
		if n != records || first.Before(from) || first.After(from.Add(40*time.Millisecond)) || last.Before(begin.Add(10*time.Second)) {
			t.Errorf("%d of %d records, from %v to %v", n, records, first.Sub(begin), last.Sub(begin))
		}
		reader.Close()
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if left, _ := filepath.Glob(filepath.Join(dir, Folder, "*"+partSuffix)); len(left) > 0 || r.Dropped() > 0 {
			t.Errorf("files left: %v; %d records were lost", left, r.Dropped())
		}
		r.Close()
		<-r.Done()
	})
}

func TestExtractOfARobotWithoutRecordingsNamesNoTime(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		r := New(t.TempDir(), LimitMin, About{Robot: "r1"}, quiet)
		go r.Run()
		if _, _, err := r.Extract(t.Context(), time.Now(), 1<<20); !errors.Is(err, ErrNothing) ||
			!strings.Contains(err.Error(), "there is no recording yet") {
			t.Error(err)
		}
		r.Close()
		<-r.Done()
	})
}

func TestExtractSaysWhyThereIsNone(t *testing.T) {
	dir := t.TempDir()
	noise := strings.Builder{} // it does not shrink
	for i := range 3000 {
		noise.WriteString(noon.Add(time.Duration(i*i) * time.Millisecond).Format(".000150405"))
	}
	r := record(t, dir, LimitMin, entry{noon, Alert{Detail: noise.String()}}, entry{noon.Add(time.Second), sampleAt(1)})
	go func() { // Extract asks the recorder, which has ended
		for e := range r.queue {
			close(e.Record.(flush))
		}
	}()
	defer close(r.queue)
	for what, c := range map[string]struct {
		from  time.Time
		limit int64
		want  error
	}{
		"nothing":  {noon.Add(time.Minute), 1 << 20, ErrNothing},
		"too much": {noon, 1 << 10, ErrTooBig},
		"all":      {noon, 1 << 20, nil},
		"a part":   {noon.Add(time.Second), 20 << 10, nil},
	} {
		f, n, err := r.Extract(t.Context(), c.from, c.limit)
		if !errors.Is(err, c.want) || (err == nil) != (n > 0) {
			t.Errorf("%s: %d records, %v", what, n, err)
		}
		if f != nil {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if left, err := os.ReadDir(filepath.Join(dir, Folder)); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}
