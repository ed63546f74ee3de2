package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// resultsFolder has a file of make bench and one of make bench-quick. They are committed after a run on a machine with
// nothing else to do; the next run shows its differences from what was committed last.
const resultsFolder = "deploy/bench/results"

// A Report is all that a run found.
type Report struct {
	Machine Machine  `json:"machine"`
	Results []Result `json:"results"`
}

// result returns the result of a bench; without figures if the report, which may be nil, lacks it.
func (r *Report) result(name string) Result {
	if r != nil {
		if at := slices.IndexFunc(r.Results, func(one Result) bool { return one.Bench == name }); at >= 0 {
			return r.Results[at]
		}
	}
	return Result{}
}

func (r Result) arm(name string) Arm {
	if at := slices.IndexFunc(r.Arms, func(one Arm) bool { return one.Name == name }); at >= 0 {
		return r.Arms[at]
	}
	return Arm{}
}

// encodeReport writes a report as JSON.
func encodeReport(r Report) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetIndent("", "\t")
	e.SetEscapeHTML(false)
	err := e.Encode(r)
	return out.Bytes(), err
}

// decodeReport reads what encodeReport wrote.
func decodeReport(text []byte) (*Report, error) {
	var r Report
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, err
	}
	return &r, nil
}

// writeResults writes a report into a file.
func writeResults(path string, r Report) error {
	text, err := encodeReport(r)
	if err != nil {
		return fmt.Errorf("encode the results: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return fmt.Errorf("write the results: %w", err)
	}
	return nil
}

// committedResults returns the last committed report in a file of the tree; nil if there is none, or if it was written
// in another form.
func committedResults(path string) *Report {
	text, err := exec.Command("git", "show", "HEAD:"+path).Output()
	if err != nil {
		return nil
	}
	r, err := decodeReport(text)
	if err != nil {
		return nil
	}
	return r
}
