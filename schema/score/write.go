package score

import (
	"bytes"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	yamlv3 "go.yaml.in/yaml/v3"

	"troupe/schema"
)

// ToYAML encodes an act, a story or an activity as the file that an author would write: the
// fields in the order of this package, and what fits into one line in one line.
func ToYAML(v any) ([]byte, error) {
	text, err := schema.Encode(v)
	if err != nil {
		return nil, err
	}
	return FormatYAML(text)
}

// FormatYAML converts JSON to YAML with its members in their order.
func FormatYAML(text []byte) ([]byte, error) {
	n, err := nodeOf(jsontext.NewDecoder(bytes.NewReader(text)))
	if err != nil {
		return nil, err
	}
	layOutNode(n, 0)
	var out bytes.Buffer
	e := yamlv3.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(n); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// nodeOf reads the next JSON value.
func nodeOf(d *jsontext.Decoder) (*yamlv3.Node, error) {
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	n := &yamlv3.Node{Kind: yamlv3.ScalarNode, Value: token.String()}
	switch token.Kind() {
	case '{':
		n.Kind, n.Value = yamlv3.MappingNode, ""
	case '[':
		n.Kind, n.Value = yamlv3.SequenceNode, ""
	case '"':
		n.Tag = "!!str"
		return n, nil
	default:
		return n, nil
	}
	for d.PeekKind() != '}' && d.PeekKind() != ']' {
		child, err := nodeOf(d)
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, child)
	}
	_, err = d.ReadToken()
	return n, err
}

// maxFlow is the greatest length of what is written in one line.
const maxFlow = 110

// layOutNode sets the styles of n and what is below it, and returns about how many characters
// n has in one line.
func layOutNode(n *yamlv3.Node, depth int) int {
	if n.Kind == yamlv3.ScalarNode {
		n.Style = 0
		if n.Tag == "!!str" && !isPlain(n.Value) {
			n.Style = yamlv3.DoubleQuotedStyle
		}
		return utf8.RuneCountInString(n.Value) + 2
	}
	length := 2
	for _, child := range n.Content {
		length += layOutNode(child, depth+1) + 2
	}
	n.Style = 0
	ofObjects := n.Kind == yamlv3.SequenceNode && len(n.Content) > 0 && n.Content[0].Kind == yamlv3.MappingNode
	if depth > 0 && length <= maxFlow && !(depth == 1 && ofObjects) {
		n.Style = yamlv3.FlowStyle
	}
	return length
}

// plain are texts that YAML, of any version, reads as texts without quotes.
var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*( [A-Za-z0-9_.-]+)*$`)

func isPlain(s string) bool {
	words := []string{"y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF", "true", "True", "TRUE",
		"false", "False", "FALSE", "null", "Null", "NULL"}
	return plain.MatchString(s) && !slices.Contains(words, s)
}
