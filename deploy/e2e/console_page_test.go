package e2e

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A page is a markdown file. Its blocks marked console show commands, on lines
// that begin with "$ ", and their output; a line "..." matches any number of
// lines. Each line of a block marked sh is a command to paste, which must
// succeed and whose output is not shown. A session begins with make or a fresh
// folder, and continues over blocks and headings.
type page struct {
	path     string
	lines    []string
	sessions []*session
}

// A session is a list of commands that run in one terminal.
type session struct{ typed []*typed }

// typed is one command with the output that the page shows.
type typed struct {
	line    int // of its first line, from 1
	from    int // index of its first line,
	out     int // of the first line that it printed,
	to      int // and of the line after those
	command string
	shown   []string
	pasted  bool // from a block marked sh
}

// begins matches commands with which a session begins.
var begins = regexp.MustCompile(`^(make demo|make build|mkdir (\S+) && cd (\S+))$`)

// omitted is the line of a page that matches any number of lines.
const omitted = "..."

func readPage(t testing.TB, path string) *page {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p := &page{path: path, lines: strings.Split(string(text), "\n")}
	block := ""
	var last *typed
	for i := 0; i < len(p.lines); i++ {
		line := p.lines[i]
		pasted := block == "sh"
		switch {
		case strings.HasPrefix(line, "```"):
			block, last = strings.TrimPrefix(line, "```"), nil
		case !pasted && block != "console":
		case pasted || strings.HasPrefix(line, "$ "):
			last = &typed{line: i + 1, from: i, command: strings.TrimPrefix(line, "$ "), pasted: pasted}
			for goesOn(last.command) && i+1 < len(p.lines) {
				i++
				last.command += "\n" + p.lines[i]
			}
			last.out, last.to = i+1, i+1
			if begins.MatchString(last.command) {
				p.sessions = append(p.sessions, &session{})
			}
			if len(p.sessions) == 0 {
				t.Fatalf("%s:%d: this command belongs to no session: begin the first block of the page with make, or with a fresh folder (mkdir ... "+
					"&& cd ...)", path, i+1)
			}
			of := p.sessions[len(p.sessions)-1]
			of.typed = append(of.typed, last)
		case last == nil:
			t.Fatalf("%s:%d: output without a command above it: a command begins with \"$ \"", path, i+1)
		default:
			last.shown = append(last.shown, line)
			last.to = i + 1
		}
	}
	return p
}

// goesOn reports whether a command continues on the next line.
func goesOn(command string) bool {
	return strings.HasSuffix(command, "\\") || strings.HasSuffix(command, "|") || strings.Count(command, "'")%2 == 1
}

// rewritten returns the page with the commands and output of these sessions.
func (p *page) rewritten(sessions map[*session][]printed) string {
	var b strings.Builder
	next := 0
	for _, s := range p.sessions {
		for i, said := range sessions[s] {
			c := s.typed[i]
			if c.pasted {
				continue
			}
			b.WriteString(joined(p.lines[next:c.from]))
			b.WriteString(joined(strings.Split("$ "+said.command, "\n")))
			b.WriteString(joined(said.excerpt(c.shown)))
			next = c.to
		}
	}
	b.WriteString(strings.Join(p.lines[next:], "\n"))
	return b.String()
}

func joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// printed is one command and its output in a run.
type printed struct {
	command string   // with the ids of this run
	lines   []string // with the page's ports
}

// excerpt leaves out the lines that the page leaves out. If the lines that it
// shows are no longer printed, it takes as many from the beginning and the end.
func (p printed) excerpt(shown []string) []string {
	var parts [][]string
	part := []string{}
	for _, line := range shown {
		if line == omitted {
			parts, part = append(parts, part), []string{}
			continue
		}
		part = append(part, line)
	}
	parts = append(parts, part)
	if len(parts) == 1 {
		return p.lines
	}
	if found, ok := matchLines(shown, p.lines); ok {
		return found
	}
	head, tail := len(parts[0]), len(parts[len(parts)-1])
	if head+tail > len(p.lines) {
		return p.lines
	}
	sorted := byTopic(p.lines)
	return slices.Concat(sorted[:head], []string{omitted}, sorted[len(sorted)-tail:])
}
