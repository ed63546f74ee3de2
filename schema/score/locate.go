package score

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	yamlv3 "go.yaml.in/yaml/v3"

	"troupe/schema"
)

// Locate sets the line and column of problems in a file, YAML or JSON, from their pointers,
// and puts them in the order of the file. A problem about something that is not there is
// at what should contain it. A problem with a place keeps it.
func Locate(text []byte, problems []schema.Problem) []schema.Problem {
	if len(problems) == 0 {
		return problems
	}
	var document yamlv3.Node
	unplaced := slices.ContainsFunc(problems, func(p schema.Problem) bool { return p.Line == 0 && p.Code != CodeMore })
	if unplaced && yamlv3.Unmarshal(text, &document) == nil && len(document.Content) > 0 {
		for i := range problems {
			if p := &problems[i]; p.Line == 0 && p.Code != CodeMore {
				p.Line, p.Column = place(document.Content[0], p.Pointer)
				asWritten(p, document.Content[0])
			}
		}
	}
	lines := strings.Split(string(text), "\n")
	for i := range problems {
		nameLookalike(&problems[i], lines)
	}
	slices.SortStableFunc(problems, func(a, b schema.Problem) int {
		return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return problems
}

// lookalikes are characters that look like what YAML reads, and are a part of a text to it. Word
// processors and web pages put them in place of spaces and quotes.
var lookalikes = []struct{ characters, name, write string }{
	{"\u00a0\u2007\u202f\u2003\u2009\u200b\ufeff", "a no-break space, or another space that YAML does not take for one,",
		"write a usual space there"},
	{"“”„‟«»", "a typographic quote", `write straight quotes, ", in place of “ and ”`},
}

// nameLookalike says that such a character stands in the line of an error, which it probably caused.
func nameLookalike(p *schema.Problem, lines []string) {
	if p.Severity != schema.SeverityError || p.Line == 0 {
		return
	}
	near := []int{p.Line}
	switch p.Code {
	case CodeSyntax: // the parser may stop a line later or earlier
		near = append(near, p.Line-1, p.Line+1)
	case "bad_type": // a field that has the wrong value below it
		near = append(near, p.Line+1)
	}
	for _, n := range near {
		if n < 1 || n > len(lines) {
			continue
		}
		for _, l := range lookalikes {
			at := strings.IndexAny(lines[n-1], l.characters)
			if at < 0 || strings.Contains(p.Hint, l.write) {
				continue
			}
			p.Hint = fmt.Sprintf("%s stands in line %d, column %d: %s", l.name, n, utf8.RuneCountInString(lines[n-1][:at])+1, l.write)
			return
		}
	}
}

// last sorts behind all others how many problems are not listed.
func last(p schema.Problem) int {
	if p.Code == CodeMore {
		return 1
	}
	return 0
}

// place returns the place of the key or entry at a pointer below n, or of the nearest
// parent that there is.
func place(n *yamlv3.Node, pointer string) (line, column int) {
	line, column = n.Line, n.Column
	for token := range jsontext.Pointer(pointer).Tokens() {
		next, mark := member(n, token)
		if next == nil {
			break
		}
		n, line, column = next, mark.Line, mark.Column
	}
	return line, column
}

// asWritten names what stands in the file in place of what YAML makes of it: a truth value
// of a word, and nothing of what a # takes for a comment.
func asWritten(p *schema.Problem, n *yamlv3.Node) {
	pointer := jsontext.Pointer(p.Pointer)
	for token := range pointer.Parent().Tokens() {
		if n, _ = member(n, token); n == nil {
			return
		}
	}
	value, key := member(n, pointer.LastToken())
	switch {
	case value == nil || n.Kind != yamlv3.MappingNode:
	case p.Code == CodeBadLanguage && key.Value != pointer.LastToken():
		p.Pointer = at(string(pointer.Parent()), key.Value)
		p.Detail, p.Hint = fmt.Sprintf("%s is not a language tag without quotes", key.Value), fmt.Sprintf("quote it: %q; %s", key.Value,
			truthWords)
	case p.Code == "bad_type" && isTruth(value, "true") || p.Code == "bad_type" && isTruth(value, "false"):
		_, is, _ := strings.Cut(p.Detail, " ") // true is not a text
		p.Detail, p.Hint = value.Value+" "+is, fmt.Sprintf("quote it: %q; %s", value.Value, truthWords)
	case p.Code == CodeMissing && value.Tag == "!!null" && commentOf(key, value) != "":
		p.Detail, p.Hint = "# begins a comment, so "+key.Value+" is empty", fmt.Sprintf("quote it: %q", commentOf(key, value))
	}
}

// commentOf returns the first word of the comment behind a field.
func commentOf(key, value *yamlv3.Node) string {
	for _, text := range []string{value.LineComment, key.LineComment, value.HeadComment} {
		if word, _, _ := strings.Cut(text, " "); len(word) > 1 {
			return word
		}
	}
	return ""
}

// member returns a member of n, and the node that marks its place.
func member(n *yamlv3.Node, token string) (value, mark *yamlv3.Node) {
	switch n.Kind {
	case yamlv3.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if key := n.Content[i]; key.Value == token || (token == "true" || token == "false") && isTruth(key, token) {
				return n.Content[i+1], key
			}
		}
	case yamlv3.SequenceNode:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], n.Content[i]
		}
	}
	return nil, nil
}

// isTruth reports whether a key is one of the words that the conversion to JSON takes for
// the truth value token.
func isTruth(key *yamlv3.Node, token string) bool {
	truth, is := truthOf(key)
	return is && token == strconv.FormatBool(truth)
}
