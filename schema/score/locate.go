package score

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

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
	if yamlv3.Unmarshal(text, &document) == nil && len(document.Content) > 0 {
		for i := range problems {
			if p := &problems[i]; p.Line == 0 {
				p.Line, p.Column = place(document.Content[0], p.Pointer)
			}
		}
	}
	slices.SortStableFunc(problems, func(a, b schema.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return problems
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

// member returns a member of n, and the node that marks its place.
func member(n *yamlv3.Node, token string) (value, mark *yamlv3.Node) {
	switch n.Kind {
	case yamlv3.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if key := n.Content[i]; key.Value == token || isTruth(key, token) {
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
	if key.Style != 0 {
		return false
	}
	word := strings.ToLower(key.Value)
	return token == "true" && (word == "y" || word == "yes" || word == "on") || token == "false" && (word == "n" || word == "no" || word == "off")
}
