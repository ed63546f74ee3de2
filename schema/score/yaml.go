package score

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	yamlv3 "go.yaml.in/yaml/v3"

	"troupe/schema"
)

// unreadable returns why bytes are no text at all.
func unreadable(data []byte, limit int) []schema.Problem {
	whole := func(code, detail, hint string) []schema.Problem {
		p := schema.NewProblem("", code, detail, hint)
		p.Line, p.Column = 1, 1
		return []schema.Problem{p}
	}
	switch {
	case len(data) > limit:
		p := tooBig(len(data), limit)
		return whole(p.Code, p.Detail, p.Hint)
	case len(bytes.TrimSpace(data)) == 0:
		return whole(CodeEmpty, "the file is empty", "begin it with act:, story: or activity: and an id, such as act: welcome")
	}
	return NotText(data)
}

// NotText returns why bytes are not text in UTF-8, and in which encoding they seem to be.
func NotText(data []byte) []schema.Problem {
	utf16 := ""
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")):
		utf16 = "the file is UTF-16 text"
	case bytes.Count(data, []byte{0}) > len(data)/4:
		utf16 = "the file is UTF-16 text without a byte order mark"
	case !utf8.Valid(data):
		return []schema.Problem{notUTF8(data)}
	default:
		return nil
	}
	p := schema.NewProblem("", CodeNotUTF8, utf16, "save the file as UTF-8, or convert it: iconv -f UTF-16 -t UTF-8 FILE")
	p.Line, p.Column = 1, 1
	return []schema.Problem{p}
}

// notUTF8 names the first byte of a text that is not UTF-8. Such a text is nearly always
// Latin-1 or its Windows variant, in which every byte is a character.
func notUTF8(data []byte) schema.Problem {
	at := 0
	for {
		r, width := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && width == 1 {
			break
		}
		at += width
	}
	what := fmt.Sprintf("byte %02X is not UTF-8", data[at])
	if data[at] >= 0xa0 {
		what += fmt.Sprintf("; it is %q in Latin-1, in which the file seems to be saved", rune(data[at]))
	}
	p := schema.NewProblem("", CodeNotUTF8, what, "save the file as UTF-8, or convert it: iconv -f LATIN1 -t UTF-8 FILE")
	p.Line, p.Column = lineAndColumn(data, at)
	return p
}

// ReadYAML converts one YAML or JSON document of at most limit bytes to JSON. It is the only reader
// of YAML: it expands no aliases, and reads numbers as they are written.
func ReadYAML(data []byte, limit int) (jsontext.Value, []schema.Problem) {
	if found := unreadable(data, limit); len(found) > 0 {
		return nil, found
	}
	if v := jsontext.Value(data); v.IsValid() {
		return v, nil
	}
	return fromYAML(data)
}

// fromYAML converts the YAML document of a file to JSON.
func fromYAML(data []byte) ([]byte, []schema.Problem) {
	n, found := parseYAML(data)
	if len(found) > 0 {
		return nil, found
	}
	var c conversion
	c.value(n)
	return c.out, c.problems()
}

// parseYAML parses the one document of a file into nodes, which are as many as its text has.
func parseYAML(data []byte) (*yamlv3.Node, []schema.Problem) {
	reader := yamlv3.NewDecoder(bytes.NewReader(data))
	var first, second yamlv3.Node
	if err := reader.Decode(&first); err != nil && !errors.Is(err, io.EOF) {
		return nil, notYAML(data, err)
	}
	switch err := reader.Decode(&second); {
	case err == nil:
		p := schema.NewProblem("", CodeTrailingData, "a second document starts here",
			"keep one act, story or activity here, and put the other into a file of its own")
		p.Line, p.Column = second.Line, second.Column
		return nil, []schema.Problem{p}
	case !errors.Is(err, io.EOF):
		return nil, notYAML(data, err)
	case len(first.Content) == 0:
		return &yamlv3.Node{Kind: yamlv3.ScalarNode, Tag: "!!null"}, nil
	}
	return first.Content[0], nil
}

// notYAML returns the errors of a text that the parser refuses: every line that a tab
// indents, or else the place where the parser stopped.
func notYAML(data []byte, err error) []schema.Problem {
	if looksLikeJSON(data) {
		return notJSON(data)
	}
	lines := strings.Split(string(data), "\n")
	var found []schema.Problem
	for i, line := range lines {
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		if tab := strings.IndexByte(indent, '\t'); tab >= 0 && len(indent) < len(line) && len(found) < MaxProblems {
			p := schema.NewProblem("", CodeSyntax, "a tab indents this line, and YAML allows only spaces there",
				"replace the tab by spaces, as many as its neighbours have")
			p.Line, p.Column = i+1, tab+1
			found = append(found, p)
		}
	}
	if len(found) > 0 {
		return found
	}
	detail, reported := syntaxText(err)
	p := schema.NewProblem("", CodeSyntax, detail, "check the indentation and quote texts that hold : or #")
	p.Line = stoppedAt(data, reported)
	line := lines[min(p.Line, len(lines))-1]
	p.Column = 1 + len(line) - len(strings.TrimLeft(line, " "))
	p.Detail, p.Hint = syntaxHint(detail, line, lines[:min(p.Line, len(lines))-1])
	if m := hash.FindStringSubmatchIndex(line); m != nil {
		p.Column = m[2] + 1
	}
	return []schema.Problem{p}
}

// looksLikeJSON reports whether a text begins as a JSON object with a member.
func looksLikeJSON(data []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(data), []byte("{"))
	return ok && bytes.HasPrefix(bytes.TrimSpace(rest), []byte(`"`))
}

// notJSON returns the error of a text that is meant as JSON.
func notJSON(data []byte) []schema.Problem {
	detail, offset := "the text is not JSON", 0
	var no *jsontext.SyntacticError
	if _, err := jsontext.NewDecoder(bytes.NewReader(data)).ReadValue(); errors.As(err, &no) {
		detail, offset = no.Err.Error(), int(no.ByteOffset)
	}
	p := schema.NewProblem("", CodeSyntax, detail, "close what is open, put a comma between members, and quote every name and text")
	p.Line, p.Column = lineAndColumn(data, offset)
	return []schema.Problem{p}
}

// lineAndColumn returns the place of a byte in a text.
func lineAndColumn(data []byte, offset int) (line, column int) {
	before := data[:min(offset, len(data))]
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
}

var errorLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)$`)

// syntaxText returns the text of an error of the YAML parser, and its line; 0 if it has
// none.
func syntaxText(err error) (text string, line int) {
	m := errorLine.FindStringSubmatch(strings.Join(strings.Fields(err.Error()), " "))
	_, _ = fmt.Sscan(m[1], &line) // stays 0
	return m[2], line
}

// maxSearched bounds the bytes that stoppedAt parses. In a large file it takes the parser's own line.
const maxSearched = MaxBytes / 2

// stoppedAt returns the line that spoils a text: behind the longest part of whole lines that
// is YAML. The parser's own line is up to two lines off, or that of the end of the text if
// a bracket or quote is never closed.
func stoppedAt(data []byte, reported int) int {
	var ends []int // of each line
	for i, c := range data {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	ends = append(ends, len(data))
	searched := 0
	for n := min(reported+2, len(ends)-1); n > 0; n-- {
		if searched += ends[n-1]; searched > maxSearched {
			return max(reported, 1)
		}
		var node yamlv3.Node
		if yamlv3.Unmarshal(data[:ends[n-1]], &node) == nil {
			return n + 1
		}
	}
	return 1
}

var (
	hash       = regexp.MustCompile(`:\s+(#[^\s,}\]]*)`)
	apostrophe = regexp.MustCompile(`'([^'"]*\pL)'(\pL[^'"]*)'`)               // 'It's late'
	twoColons  = regexp.MustCompile(`^[\s-]*([^\s:{["']+): +([^"'{[].*: .*)$`) // en: One thing: the fountain
)

// begins returns the column in which the fields of a line begin: behind its spaces and the
// marks of lists.
func begins(line string) int { return 1 + len(line) - len(strings.TrimLeft(line, " -")) }

// sameColumn says in which column a line has to begin: in that of the one before it.
func sameColumn(line string, before []string) string {
	for i := len(before) - 1; i >= 0; i-- {
		if text := strings.TrimSpace(before[i]); text != "" && text[0] != '#' {
			if column := begins(before[i]); column != begins(line) {
				return fmt.Sprintf("begin it in column %d, as the fields of line %d do; it begins in column %d", column, i+1, begins(line))
			}
			break
		}
	}
	return "let entries of one list, and fields of one action, begin in the same column"
}

// syntaxHint puts an error of the YAML parser into words that help with the line. before are
// the lines before it.
func syntaxHint(detail, line string, before []string) (string, string) {
	says := func(part string) bool { return strings.Contains(detail, part) }
	switch m := hash.FindStringSubmatch(line); {
	case m != nil:
		return "# begins a comment, so the rest of the line is not read", fmt.Sprintf("quote it: %q", m[1])
	case strings.ContainsAny(line, "“”„"):
		return detail, `write straight quotes, ", in place of “ and ”`
	case apostrophe.MatchString(line):
		m := apostrophe.FindStringSubmatch(line)
		return "a text between ' ends at the ' within it", fmt.Sprintf(`write it between ": "%s'%s"`, m[1], m[2])
	case says("mapping values are not allowed") && twoColons.MatchString(line):
		m := twoColons.FindStringSubmatch(line)
		return `a second : stands in this line`, fmt.Sprintf("quote the text that holds it: %s: %q", m[1], strings.TrimSpace(m[2]))
	case says("mapping values are not allowed"):
		return "a second : stands in this line, or the line is indented too far", `quote a text that holds ": ", and give the fields of one action the same indentation`
	case says("could not find expected ':'"):
		return "the line has no :", "write a field as name: value, and an entry of a list with - before it"
	case says("did not find expected ',' or"):
		return "a bracket is not closed, or a comma or a quote is missing", `check {, [, , and " in this line; quote a text that holds , : { } [ ] or '`
	case says("did not find expected '-'"), says("did not find expected key"), says("block sequence entries are not allowed"):
		return "the line is indented differently from the lines that it belongs to", sameColumn(line, before)
	case says("unexpected end of stream"), says("unexpected document indicator"):
		return "a quote that opens here is never closed", `close it with the same quote; write ' in a text as "it's"`
	case says("unknown escape character"):
		return `\ begins an escape in a text between "`, `write \\ for \, or put the text between '`
	case says("cannot start any token"):
		return "a text begins with a character that YAML keeps for itself, such as @, ` or %", `quote the text`
	}
	return detail, "check the indentation and quote texts that hold : or #"
}
