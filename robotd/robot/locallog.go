package robot

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"troupe/robotd/effect"
	"troupe/schema"
)

// The log on the robot is a file in its data directory, one JSON object a line. When it is
// full, it becomes the older one of two.
const (
	logDir      = "log"
	logFile     = "robotd.jsonl"
	olderFile   = "robotd.older.jsonl"
	logBytes    = 4 << 20 // of each file
	logQueue    = 1024    // lines that wait for the disk; further ones are dropped
	logFailures = 10      // further errors of the disk are not logged
)

// localLog writes the log on the robot. The loop adds lines and never waits for the disk.
type localLog struct {
	dir   string
	limit int64
	log   *slog.Logger
	on    bool // belongs to the loop
	lines chan []byte
	quit  chan struct{}
	done  chan struct{}

	file   *os.File
	size   int64
	failed int
}

func newLocalLog(dir string, limit int64, log *slog.Logger) *localLog {
	return &localLog{
		dir: filepath.Join(dir, logDir), limit: limit, log: log,
		lines: make(chan []byte, logQueue), quit: make(chan struct{}), done: make(chan struct{}),
	}
}

// logLine is one line: a transition, an alert, or an event as it was published.
type logLine struct {
	TS      schema.Time    `json:"ts"`
	Machine string         `json:"machine,omitempty"`
	From    string         `json:"from,omitempty"`
	To      string         `json:"to,omitempty"`
	Why     string         `json:"why,omitempty"`
	Cause   string         `json:"cause,omitempty"`
	Alert   string         `json:"alert,omitempty"`
	Source  string         `json:"source,omitempty"`
	Event   jsontext.Value `json:"event,omitempty"`
}

// take records an effect, if it is one for the log.
func (r *localLog) take(e effect.Effect) {
	switch e := e.(type) {
	case effect.SetLocalLog:
		r.on = e.On
	case effect.LogTransition:
		r.add(logLine{Machine: e.Machine, From: e.From, To: e.To, Why: e.Why, Cause: e.Cause})
	case effect.LogAlert:
		r.add(logLine{Alert: e.Type, Source: e.Source, Why: e.Detail})
	case effect.SaveEvent:
		r.add(logLine{Event: e.Payload})
	}
}

func (r *localLog) add(l logLine) {
	if !r.on {
		return
	}
	l.TS = schema.TimeOf(time.Now())
	line, err := json.Marshal(l)
	if err != nil {
		return
	}
	select {
	case r.lines <- append(line, '\n'):
	default: // the disk is too slow
	}
}

// close ends the log after the lines that wait.
func (r *localLog) close() { close(r.quit) }

func (r *localLog) run() {
	defer close(r.done)
	for {
		select { // what waits comes before the end
		case line := <-r.lines:
			r.writeOrWarn(line)
			continue
		default:
		}
		select {
		case line := <-r.lines:
			r.writeOrWarn(line)
		case <-r.quit:
			if r.file != nil {
				_ = r.file.Close()
			}
			return
		}
	}
}

func (r *localLog) writeOrWarn(line []byte) {
	if err := r.write(line); err != nil {
		if r.failed++; r.failed <= logFailures {
			r.log.Warn("log on the robot not written", "error", err)
		}
	}
}

// write appends a line. A full file replaces the older one.
func (r *localLog) write(line []byte) error {
	name := filepath.Join(r.dir, logFile)
	if r.file != nil && r.size+int64(len(line)) > r.limit {
		err := errors.Join(r.file.Close(), os.Rename(name, filepath.Join(r.dir, olderFile)))
		if r.file = nil; err != nil {
			return err
		}
	}
	if r.file == nil {
		if err := os.MkdirAll(r.dir, 0o700); err != nil {
			return err
		}
		file, err := os.OpenFile(filepath.Clean(name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		var info fs.FileInfo
		if info, err = file.Stat(); err != nil {
			return errors.Join(err, file.Close())
		}
		r.file, r.size = file, info.Size()
	}
	n, err := r.file.Write(line)
	r.size += int64(n)
	return err
}
