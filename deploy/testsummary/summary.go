package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// A summary turns events into lines for a person. Packages run in parallel, so
// everything is kept by package until the package has ended.
type summary struct {
	out      io.Writer
	packages map[string]*pkg   // those that have not ended
	builds   map[string]string // what the compiler said, by import path

	ended   int
	passed  int
	failed  []string
	skipped []string
}

type pkg struct {
	output string // said outside of any test
	tests  map[string]*result
	order  []string // of the tests, as they began
}

type result struct {
	action string // pass, fail or skip; empty while it runs
	output string
	parent bool // has subtests: they count, it does not
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, packages: map[string]*pkg{}, builds: map[string]string{}}
}

// plain shows a line that is no event. The go command writes such lines when
// it has more to say than its own format holds.
func (s *summary) plain(line string) (printed bool) {
	fmt.Fprintln(s.out, strings.TrimSuffix(line, "\n"))
	return true
}

// add takes in one event.
func (s *summary) add(e event) (printed bool) {
	switch e.Action {
	case "build-output":
		s.builds[e.ImportPath] += e.Output
		return false
	case "build-fail":
		return false // the package that needed it fails and names it
	}
	p := s.packages[e.Package]
	if p == nil {
		p = &pkg{tests: map[string]*result{}}
		s.packages[e.Package] = p
	}
	if e.Test != "" {
		p.add(e)
		return false
	}
	switch e.Action {
	case "output":
		p.output += e.Output
	case "pass", "fail", "skip":
		s.end(e, p)
		return true
	}
	return false
}

func (p *pkg) add(e event) {
	r := p.tests[e.Test]
	if r == nil {
		r = &result{}
		p.tests[e.Test] = r
		p.order = append(p.order, e.Test)
		for above, rest := split(e.Test); rest; above, rest = split(above) {
			if outer := p.tests[above]; outer != nil {
				outer.parent = true
			}
		}
	}
	switch e.Action {
	case "output":
		r.output += e.Output
	case "pass", "fail", "skip":
		r.action = e.Action
	}
}

func split(test string) (above string, ok bool) {
	at := strings.LastIndex(test, "/")
	if at < 0 {
		return "", false
	}
	return test[:at], true
}

// end counts a package's tests and prints its line, under the output of what
// failed in it.
func (s *summary) end(e event, p *pkg) {
	s.ended++
	delete(s.packages, e.Package)
	failures := 0
	for _, name := range p.order {
		r := p.tests[name]
		full := e.Package + " " + name
		switch {
		case r.action == "fail" || r.action == "" && e.Action == "fail":
			// A test above a failed one fails with it; its output is shown
			// for what it adds, and only the one below is counted.
			fmt.Fprint(s.out, r.output)
			if !r.parent || !p.failedBelow(name) {
				failures++
				s.failed = append(s.failed, full)
			}
		case r.action == "skip" && !seed(name):
			s.skipped = append(s.skipped, full+": "+reason(r.output))
		case r.action == "pass" && !r.parent:
			s.passed++
		}
	}
	if e.Action == "fail" {
		if e.FailedBuild != "" {
			fmt.Fprint(s.out, s.builds[e.FailedBuild])
		}
		if failures == 0 {
			s.failed = append(s.failed, e.Package)
		}
	}
	// What go test prints of the package itself; its last line is the verdict
	// with the time. PASS and FAIL before it only repeat that.
	for line := range strings.Lines(p.output) {
		if e.Action == "fail" || line != "PASS\n" {
			fmt.Fprint(s.out, line)
		}
	}
}

func (p *pkg) failedBelow(name string) bool {
	for other, r := range p.tests {
		if strings.HasPrefix(other, name+"/") && r.action == "fail" {
			return true
		}
	}
	return false
}

// seed tells the inputs of a fuzz target: it skips those that its format does
// not allow, which is no test left out.
func seed(test string) bool {
	return strings.HasPrefix(test, "Fuzz") && strings.Contains(test, "/")
}

// reason is the sentence given to t.Skip, without the frame around it.
func reason(output string) string {
	var said []string
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			said = append(said, line)
		}
	}
	return strings.Join(said, " ")
}

func (s *summary) stillRunning(since time.Duration) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(s.packages)) {
		names = append(names, name+s.packages[name].current())
	}
	doing := "compiling"
	if len(names) > 0 {
		doing = "in " + strings.Join(names, ", ")
	}
	fmt.Fprintf(s.out, "... %v: %d packages done, %d tests passed, %d failed; %s\n",
		since.Round(time.Second), s.ended, s.passed, len(s.failed), doing)
}

// current names the first of the tests that still run.
func (p *pkg) current() string {
	for _, name := range slices.Backward(p.order) {
		if r := p.tests[name]; r.action == "" && !r.parent {
			return " " + name
		}
	}
	return ""
}

// close prints the totals and returns the exit status: that of go test, or 1
// where go test was content with less than we are.
func (s *summary) close(code int, took time.Duration) int {
	for _, name := range slices.Sorted(maps.Keys(s.packages)) {
		fmt.Fprintf(s.out, "unfinished: %s%s\n%s", name, s.packages[name].current(), s.packages[name].output)
		s.failed = append(s.failed, name)
	}
	fmt.Fprintf(s.out, "\n%d packages in %v\n", s.ended, took.Round(100*time.Millisecond))
	for _, name := range s.failed {
		fmt.Fprintf(s.out, "failed: %s\n", name)
	}
	for _, name := range s.skipped {
		fmt.Fprintf(s.out, "skipped, which counts as failed: %s\n", name)
	}
	failed := len(s.failed) + len(s.skipped)
	if code == 0 && failed > 0 {
		code = 1
	}
	if code == 0 && s.passed == 0 {
		fmt.Fprintln(s.out, "no test ran, which proves nothing")
		code = 1
	}
	if code != 0 && failed == 0 {
		fmt.Fprintf(s.out, "go test failed with status %d\n", code)
	}
	fmt.Fprintf(s.out, "%d passed, %d failed\n", s.passed, failed)
	return code
}
