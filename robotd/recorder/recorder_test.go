package recorder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/foxglove/mcap/go/mcap"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"troupe/robotd/driver"
	"troupe/schema"
	"troupe/schema/bubble"
	"troupe/schema/score"
)

var (
	quiet = slog.New(slog.DiscardHandler)
	noon  = time.Date(2026, 5, 17, 12, 0, 0, 0, time.UTC)
)

// record gives a recorder records, and returns when they are on the disk.
func record(t testing.TB, dir string, limit int64, each ...entry) *Recorder {
	t.Helper()
	r := New(dir, limit, About{Robot: "r1", Boot: "b1", Version: "v1"}, quiet)
	go r.Run()
	for _, e := range each {
		r.Put(e.at, e.Record)
	}
	r.Close()
	<-r.Done()
	return r
}

// sampleAt is a usual record.
func sampleAt(i int) Sample {
	speed := 0.3 + 0.001*float64(i%100)
	v := &Velocity{VXMPS: speed, WZRadPS: -0.1}
	level := 0.8
	s := Sample{StepUS: 120 + int64(i%7), Safety: schema.SafetyEnabled, Mode: schema.ModeAto, Auto: schema.AutoPerforming,
		Demanded: v, Sent: v, Measured: v, Position: &Position{XM: float64(i) / 50, YM: 1, ThetaRad: 0.2}, Battery: &level}
	for _, u := range []string{"battery", "drive", "face", "head", "led", "screen", "speaker"} {
		s.Units = append(s.Units, Unit{Unit: u, State: driver.Run})
	}
	return s
}

// oneOfEach has a record of each type.
func oneOfEach() []Record {
	yaw, sent, sure := 9.0, 1.5, 0.8
	return []Record{
		sampleAt(1), Unit{Unit: "head", State: driver.Error, Detail: "too hot"},
		Action{
			What: "start", Key: 7, Unit: "head", Demanded: &score.Action{Do: score.Head{Axes: score.Axes{YawRad: &yaw}}},
			Sent: &score.Action{Do: score.Head{Axes: score.Axes{YawRad: &sent}}},
		},
		Order{Order: driver.ToRun}, Command{Client: "op1", Verb: "safety/stop", Payload: []byte(`not JSON`)},
		Answer{Client: "op1", Ack: []byte(`{"id":"a1","status":"SUCCEEDED"}`)},
		Event{Payload: []byte(`{"ts":"2026-05-17T12:00:00.000Z","boot":"b1","seq":1,"type":"booted","level":"info","source":"robotd"}`)},
		Transition{Machine: "safety", From: "DISABLED", To: "ENABLED", Why: "it was requested"},
		Alert{Level: schema.AlertWarn, Type: "device_hot", Source: "head"},
		Signal{Signal: "heard", On: true, Heard: &schema.Utterance{Name: "greet", Confidence: &sure}}, Dropped{Records: 3},
	}
}

func TestLibraryReadsEachRecordAndItsSchemaHolds(t *testing.T) {
	dir := t.TempDir()
	all := oneOfEach()
	if len(all) != len(channels) {
		t.Fatalf("%d types of records, %d channels", len(all), len(channels))
	}
	var entries []entry
	for i, r := range all {
		entries = append(entries, entry{noon.Add(time.Duration(i) * time.Millisecond), r})
	}
	record(t, dir, 1<<20, entries...)
	spans, err := List(filepath.Join(dir, Folder))
	if err != nil || len(spans) != 1 || !spans[0].Closed || spans[0].Messages != uint64(len(all)) {
		t.Fatalf("%+v, %v", spans, err)
	}
	f, err := os.Open(spans[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	reader, err := mcap.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	it, err := reader.Messages(mcap.UsingIndex(true), mcap.InOrder(mcap.LogTimeOrder))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = mcap.Range(it, func(s *mcap.Schema, c *mcap.Channel, m *mcap.Message) error {
		want, err := encode(all[n])
		if err != nil || !bytes.Equal(m.Data, want) || c.Topic != channels[channelOf(all[n])-1].topic || c.MessageEncoding != "json" ||
			s.Encoding != "jsonschema" {
			t.Errorf("%s: %s, want %s (%v)", c.Topic, m.Data, want, err)
		}
		n++
		return validate(s, m.Data)
	})
	if err != nil || n != len(all) {
		t.Fatalf("%d records: %v", n, err)
	}
	info, err := reader.Info()
	if err != nil || len(info.MetadataIndexes) != 1 {
		t.Fatalf("%+v, %v", info, err)
	}
	if about, err := reader.GetMetadata(info.MetadataIndexes[0].Offset); err != nil || about.Metadata["robot"] != "r1" {
		t.Errorf("%+v, %v", about, err)
	}
}

func validate(s *mcap.Schema, data []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(s.Data))
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		return err
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	if err := compiled.Validate(v); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return nil
}

// TestFoxgloveReadsEachSchema applies the rules of Foxglove's parser of JSON Schemas: it opens no
// channel whose schema breaks one.
func TestFoxgloveReadsEachSchema(t *testing.T) {
	var check func(where string, object map[string]any)
	check = func(where string, object map[string]any) {
		declared, ok := object["properties"].(map[string]any)
		if object["type"] != "object" || !ok {
			t.Errorf("%s: type %v, properties %v; want an object with declared properties", where, object["type"], object["properties"])
		}
		for name, p := range declared {
			at := where + "." + name
			property, _ := p.(map[string]any)
			if property["type"] == "array" {
				property, _ = property["items"].(map[string]any)
				at += "[]"
			}
			switch property["type"] {
			case "object":
				check(at, property)
			case "boolean", "string", "number", "integer":
			default:
				t.Errorf("%s: type %v; want one that Foxglove has", at, property["type"])
			}
			if property["oneOf"] != nil || property["$ref"] != nil || property["contentEncoding"] != nil {
				t.Errorf("%s: oneOf, $ref or contentEncoding: %v", at, property)
			}
		}
	}
	for _, c := range channels {
		text, err := schemaOf(c)
		if err != nil {
			t.Fatal(err)
		}
		var s map[string]any
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		check(c.topic, s)
	}
}

func TestRingNeverExceedsItsBound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir := filepath.Join(t.TempDir(), "ring")
		limit := rapid.Int64Range(LimitMin, 2*LimitMin).Draw(rt, "limit")
		noise := make([]byte, 40<<10)
		rnd := rapid.Uint64().Draw(rt, "seed")
		for i := range noise { // it does not shrink
			rnd = rnd*6364136223846793005 + 1442695040888963407
			noise[i] = 'a' + byte(rnd>>40)%26
		}
		var w *writer
		start := func() {
			r, err := openRing(dir, limit)
			if err == nil {
				err = r.makeRoom(0)
			}
			if err == nil {
				err = r.reindexCutFile()
			}
			if err != nil {
				rt.Fatal(err)
			}
			w = &writer{ring: r, open: openFile}
		}
		start()
		at := noon
		write := func(detail []byte) {
			at = at.Add(20 * time.Millisecond)
			r := Alert{Type: "t", Detail: string(detail)}
			data, err := encode(r)
			if err == nil {
				err = w.write(at, r, data)
			}
			if err != nil {
				rt.Fatal(err)
			}
		}
		for range rapid.IntRange(1, 10).Draw(rt, "rounds") {
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				_ = w.abandon() // as kill -9
				start()
			case 1:
				if err := w.close(); err != nil {
					rt.Fatal(err)
				}
				start()
			default:
				size := rapid.IntRange(1, len(noise)).Draw(rt, "size")
				for range 20 {
					write(noise[:size])
				}
			}
			all, err := files(dir)
			if err != nil {
				rt.Fatal(err)
			}
			var bytes int64
			for _, f := range all {
				bytes += f.bytes
			}
			if bytes > limit || bytes != w.ring.total || len(all) > maxFiles {
				rt.Fatalf("%d files of %d bytes, counted %d; the limit is %d", len(all), bytes, w.ring.total, limit)
			}
		}
		write(nil)
		if err := w.close(); err != nil {
			rt.Fatal(err)
		}
		if spans, err := List(dir); err != nil || !Newest(spans).Equal(at) {
			rt.Fatalf("the newest record of %v is gone: %v", at, err)
		}
	})
}

func TestManySmallFilesAreBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range maxFiles + 5 {
		record(t, dir, LimitMin*100, entry{noon.Add(time.Duration(i) * time.Second), sampleAt(i)})
	}
	spans, err := List(filepath.Join(dir, Folder))
	if err != nil || len(spans) != maxFiles || !spans[0].From.Equal(noon.Add(5*time.Second)) {
		t.Errorf("%d files from %v: %v", len(spans), spans[0].From, err)
	}
}

// hungDisk does not return from a write before it is let go.
type hungDisk struct {
	outFile
	begun chan struct{}
	free  chan struct{}
}

func (h hungDisk) Write(p []byte) (int, error) {
	select {
	case h.begun <- struct{}{}:
	default:
	}
	<-h.free
	return h.outFile.Write(p)
}

func TestDiskThatHangsBlocksNobodyAndLossesAreCounted(t *testing.T) {
	bubble.Test(t, diskHangs)
}

func diskHangs(t *testing.T) {
	dir := t.TempDir()
	r := New(dir, LimitMin, About{}, quiet)
	h := hungDisk{begun: make(chan struct{}, 1), free: make(chan struct{})}
	r.writer.open = func(path string) (outFile, error) {
		f, err := openFile(path)
		h.outFile = f
		return h, err
	}
	go r.Run()
	r.Put(noon, sampleAt(0))
	<-h.begun
	const more = 3 * maxQueue
	for i := range more {
		r.Put(noon.Add(time.Duration(i)*20*time.Millisecond), sampleAt(i))
	}
	const rare = maxQueue - maxSamples // what happens while samples are dropped
	for range rare + 10 {
		r.Put(noon.Add(time.Hour), Answer{})
	}
	const lost = more - maxSamples + 10
	if got := r.Dropped(); got != lost {
		t.Errorf("%d dropped, want %d", got, lost)
	}
	close(h.free)
	synctest.Wait() // everything that waited was written
	r.Put(noon.Add(time.Hour), sampleAt(0))
	r.Close()
	<-r.Done()
	spans, err := List(filepath.Join(dir, Folder))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Verify(spans[0].Path)
	if err != nil || c.Topics["/sample"] != maxSamples+2 || c.Topics["/answer"] != rare || c.Dropped != lost || c.Dropped != r.Dropped() {
		t.Errorf("%+v, %v; %d dropped", c, err, r.Dropped())
	}
}

// failingDisk refuses to write after some bytes.
type failingDisk struct {
	outFile
	left int
}

func (f *failingDisk) Write(p []byte) (int, error) {
	if f.left -= len(p); f.left < 0 {
		return 0, errors.New("no space left on device")
	}
	return f.outFile.Write(p)
}

func TestDiskThatRefusesIsTriedAgainAndLossesAreCounted(t *testing.T) {
	dir := t.TempDir()
	r := New(dir, LimitMin, About{}, quiet)
	opened := 0
	r.writer.open = func(path string) (outFile, error) {
		f, err := openFile(path)
		if opened++; opened == 1 {
			f = &failingDisk{f, 40 << 10}
		}
		return f, err
	}
	go r.Run()
	const all = 2000 // 40 s
	for i := range all {
		r.Put(noon.Add(time.Duration(i)*20*time.Millisecond), sampleAt(i))
	}
	r.Close()
	<-r.Done()
	spans, err := List(filepath.Join(dir, Folder))
	if err != nil || len(spans) != 2 || spans[0].Closed || spans[0].Err != nil || !spans[1].Closed {
		t.Fatalf("%+v, %v", spans, err)
	}
	c, err := Verify(spans[1].Path)
	lost := uint64(r.Dropped())
	if err != nil || c.Dropped != r.Dropped() || lost < 400 || lost > 700 || r.Failing() {
		t.Errorf("%+v, %v; %d lost", c, err, lost)
	}
}

// A disk that is nearly full is left to the robot's database.
func TestRecorderLeavesReservedSpaceOnDisk(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		record(t, dir, LimitMin*64, entry{noon, sampleAt(i)})
	}
	r, err := openRing(filepath.Join(dir, Folder), LimitMin*64)
	if err != nil {
		t.Fatal(err)
	}
	r.free = func(string) (int64, error) {
		if len(r.files) > 1 {
			return reservedBytes, nil
		}
		return reservedBytes + 64<<20, nil
	}
	if err := r.removeUntilFree(); err != nil || len(r.files) != 1 {
		t.Errorf("%d files are left: %v", len(r.files), err)
	}
	r.free = func(string) (int64, error) { return reservedBytes / 2, nil }
	if err := r.removeUntilFree(); !errors.Is(err, errNoneLeft) {
		t.Errorf("it goes on: %v", err)
	}
}

func TestFileThatWasCutOffIsReadableAndIsClosedByTheNextStart(t *testing.T) {
	dir := t.TempDir()
	var entries []entry
	for i := range 1000 {
		entries = append(entries, entry{noon.Add(time.Duration(i) * 20 * time.Millisecond), sampleAt(i)})
	}
	record(t, dir, 8*LimitMin, entries...)
	dir = filepath.Join(dir, Folder)
	spans, err := List(dir)
	if err != nil || len(spans) != 1 {
		t.Fatal(spans, err)
	}
	whole, err := os.ReadFile(spans[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		// The summary is cut off, too.
		cut := whole[:rapid.IntRange(0, len(whole)-9).Draw(rt, "cut")]
		if err := os.WriteFile(spans[0].Path, cut, 0o600); err != nil {
			rt.Fatal(err)
		}
		before, err := readFile(spans[0].Path, visitor{})
		if err != nil {
			rt.Fatalf("a file that breaks off is no error: %v", err)
		}
		r, err := openRing(dir, 8*LimitMin)
		if err == nil {
			err = r.reindexCutFile()
		}
		if err != nil {
			rt.Fatal(err)
		}
		after, err := List(dir)
		switch {
		case err != nil:
			rt.Fatal(err)
		case before.Messages == 0:
			if len(after) != 0 || r.total != 0 {
				rt.Fatalf("an empty file is left: %+v, %d bytes", after, r.total)
			}
		default:
			c, err := Verify(spans[0].Path)
			if err != nil || len(after) != 1 || !c.Closed || c.Messages != before.Messages || c.To != before.To || after[0].Bytes != r.total {
				rt.Fatalf("%+v became %+v, %v", before, c, err)
			}
		}
	})
}

// A copy whose end could not be written must not replace what the damage has left.
func TestDamagedFileStaysIfItsCopyIsNotWritten(t *testing.T) {
	dir := t.TempDir()
	var entries []entry
	for i := range 1000 {
		entries = append(entries, entry{noon.Add(time.Duration(i) * 20 * time.Millisecond), sampleAt(i)})
	}
	record(t, dir, 8*LimitMin, entries...)
	dir = filepath.Join(dir, Folder)
	spans, err := List(dir)
	if err != nil || len(spans) != 1 {
		t.Fatal(spans, err)
	}
	path := spans[0].Path
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b = b[:statisticsAt(t, b)]          // it was not closed
	for at := len(b) - 1; ; at -= 100 { // the copy of what is before it fits into one chunk
		b[at] ^= 0x40
		if c, err := read(bytes.NewReader(b), visitor{}); errors.As(err, new(damaged)) && c.Messages > 0 && c.Messages < 200 {
			break
		}
		b[at] ^= 0x40
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := openRing(dir, int64(len(b))+1024) // has room for the beginning of the copy
	if err != nil {
		t.Fatal(err)
	}
	if err := r.reindexCutFile(); !errors.Is(err, errNoneLeft) {
		t.Errorf("the copy was not written, and the error is %v", err)
	}
	if is, err := os.ReadFile(path); err != nil || !bytes.Equal(is, b) {
		t.Errorf("%d bytes became %d, %v", len(b), len(is), err)
	}
}

func TestVerifyFindsDamage(t *testing.T) {
	dir := t.TempDir()
	var entries []entry
	for i := range 200 {
		entries = append(entries, entry{noon.Add(time.Duration(i) * 20 * time.Millisecond), sampleAt(i)})
	}
	record(t, dir, LimitMin, entries...)
	spans, err := List(filepath.Join(dir, Folder))
	if err != nil {
		t.Fatal(err)
	}
	path := spans[0].Path
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Verify(path); err != nil {
		t.Fatalf("a whole file: %v", err)
	}
	changes := map[string]func(b []byte){
		"the count of the index": func(b []byte) { b[statisticsAt(t, b)]++ },
		"the first byte":         func(b []byte) { b[0] = 0 },
	}
	for i := -100; i <= 100; i++ { // within a chunk; the decompression notices each in its own way
		changes[fmt.Sprint("byte ", i, " of a chunk")] = func(b []byte) { b[len(b)/2+i] ^= 0x40 }
	}
	for what, change := range changes {
		bad := slices.Clone(whole)
		change(bad)
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if c, err := Verify(path); err == nil {
			t.Errorf("%s was changed: %+v", what, c)
		}
	}
}

// robotd reads its newest recording when it starts.
func TestDamagedHeaderOfAChunkDoesNotEndTheProgram(t *testing.T) {
	dir := t.TempDir()
	record(t, dir, LimitMin, entry{noon, sampleAt(1)})
	spans, err := List(filepath.Join(dir, Folder))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(spans[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	codec := bytes.Index(b, []byte(mcap.CompressionZSTD)) // the header ends with it and the length of the records
	if codec < 0 {
		t.Fatal("no chunk")
	}
	for at := codec - 41; at < codec+12; at++ {
		for bit := range 8 {
			b[at] ^= 1 << bit
			if _, err := read(bytes.NewReader(b), visitor{}); err != nil && !errors.As(err, new(damaged)) {
				t.Errorf("byte %d of the header is wrong: %v", at-codec, err)
			}
			b[at] ^= 1 << bit
		}
	}
}

// statisticsAt is where the number of messages stands in the summary of a file.
func statisticsAt(t *testing.T, b []byte) int {
	i := bytes.LastIndex(b, []byte{byte(mcap.OpStatistics), 8 + 2 + 4 + 4 + 4 + 4 + 8 + 8 + 4 + 10, 0, 0, 0, 0, 0, 0, 0})
	if i < 0 {
		t.Fatal("no statistics")
	}
	return i + 9
}

func TestExportHasWhatWasRecordedThen(t *testing.T) {
	dir := t.TempDir()
	for file := range 3 { // of 10 s each
		var entries []entry
		for i := range 500 {
			entries = append(entries, entry{noon.Add(time.Duration(file*500+i) * 20 * time.Millisecond), sampleAt(i)})
		}
		record(t, dir, 8*LimitMin, entries...)
	}
	spans, err := List(filepath.Join(dir, Folder))
	if err != nil || len(spans) != 3 {
		t.Fatal(spans, err)
	}
	if newest := Newest(spans); !newest.Equal(noon.Add(30*time.Second - 20*time.Millisecond)) {
		t.Errorf("newest: %v", newest)
	}
	var out bytes.Buffer
	n, err := Export(&out, spans, noon.Add(5*time.Second), noon.Add(25*time.Second))
	if err != nil || n != 1001 {
		t.Fatalf("%d records, %v", n, err)
	}
	path := filepath.Join(t.TempDir(), "x.mcap")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Verify(path)
	if err != nil || c.Messages != 1001 || !c.From.Equal(noon.Add(5*time.Second)) || !c.To.Equal(noon.Add(25*time.Second)) {
		t.Errorf("%+v, %v", c, err)
	}
}

// A record that could not be written whole must not replace one that is whole.
func TestFailedWriteOfAnExportIsNoDamage(t *testing.T) {
	dir := t.TempDir()
	record(t, dir, LimitMin, entry{noon, sampleAt(1)})
	spans, err := List(filepath.Join(dir, Folder))
	if err != nil {
		t.Fatal(err)
	}
	for room := range 3 {
		full := &fullWriter{room}
		if _, err := Export(full, spans, time.Time{}, time.Time{}); err == nil || IsDamage(err) {
			t.Errorf("after %d writes: %v counts as damage of the source", room, err)
		}
	}
}

// fullWriter refuses to write after some writes.
type fullWriter struct{ room int }

func (f *fullWriter) Write(p []byte) (int, error) {
	if f.room--; f.room < 0 {
		return 0, errors.New("no space left")
	}
	return len(p), nil
}

// TestCommandWithoutAPayloadIsRecorded: a message of MQTT that is empty has a payload of no bytes.
func TestCommandWithoutAPayloadIsRecorded(t *testing.T) {
	text, err := encode(Command{Client: "op1", Verb: "safety/reset", Payload: []byte{}})
	if want := `{"client":"op1","verb":"safety/reset"}`; err != nil || string(text) != want {
		t.Errorf("recorded as %s, %v; want %s", text, err, want)
	}
}

func TestRecordThatCannotBeEncodedIsCounted(t *testing.T) {
	dir := t.TempDir()
	r := record(t, dir, LimitMin, entry{noon, Signal{Level: math.NaN()}}, entry{noon, Signal{Signal: "dark"}})
	spans, err := List(filepath.Join(dir, Folder))
	if err != nil || r.Dropped() != 1 || r.Failing() {
		t.Fatalf("%d dropped, %v", r.Dropped(), err)
	}
	if c, err := Verify(spans[0].Path); err != nil || c.Dropped != 1 || c.Messages != 2 {
		t.Errorf("%+v, %v", c, err)
	}
}

// BenchmarkRecord and BenchmarkBareWrite write the same bytes: the difference is what encoding,
// compression and index cost.
func BenchmarkRecord(b *testing.B) {
	dir := b.TempDir()
	w := writer{about: About{}, open: openFile}
	var err error
	if w.ring, err = openRing(dir, 1<<30); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	at := noon
	for i := 0; b.Loop(); i++ {
		at = at.Add(20 * time.Millisecond)
		s := sampleAt(i)
		data, err := encode(s)
		if err == nil {
			err = w.write(at, s, data)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	if err := w.close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(w.ring.total)/float64(b.N), "B/record")
}

func BenchmarkBareWrite(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "f"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	data := []byte(strings.Repeat("x", 70))
	for b.Loop() {
		if _, err := f.Write(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPut(b *testing.B) {
	r := New(b.TempDir(), LimitMin, About{}, quiet)
	go func() {
		for range r.queue { // nothing is slower than this
		}
	}()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		r.Put(noon, sampleAt(i))
	}
}
