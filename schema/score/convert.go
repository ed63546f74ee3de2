package score

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	yamlv3 "go.yaml.in/yaml/v3"

	"troupe/schema"
)

// conversion writes the nodes of a YAML document as JSON. What it refuses would be read otherwise
// than it is written, or make a small file a large one.
type conversion struct {
	out   []byte
	path  []string // of the node
	words bool     // yes and no are texts
	found []schema.Problem
	more  int // problems that found has no room for
}

// problems returns what was refused, and how many more were.
func (c *conversion) problems() []schema.Problem { return withMore(c.found, c.more) }

// withMore adds to problems how many are not among them.
func withMore(found []schema.Problem, more int) []schema.Problem {
	if more == 0 {
		return found
	}
	return append(found, schema.NewProblem("", CodeMore, fmt.Sprintf("%d more are not listed", more),
		"correct the first ones, then check again"))
}

func (c *conversion) refuse(n *yamlv3.Node, code, detail, hint string) {
	if len(c.found) == MaxProblems {
		c.more++
		return
	}
	pointer := jsontext.Pointer("")
	for _, token := range c.path {
		pointer = pointer.AppendToken(token)
	}
	p := schema.NewProblem(string(pointer), code, detail, hint)
	p.Line, p.Column = n.Line, n.Column
	c.found = append(c.found, p)
}

func (c *conversion) value(n *yamlv3.Node) {
	switch {
	case n.Kind == yamlv3.AliasNode:
		c.refuse(n, CodeAlias, "*"+n.Value+" refers to another part of the file", "write it out, or quote a text that begins with *")
		c.null()
	case n.Kind == yamlv3.ScalarNode:
		c.scalar(n)
	case len(c.path) >= maxNesting:
		c.refuse(n, CodeTooDeep, fmt.Sprintf("nested deeper than %d levels", maxNesting), "flatten it")
		c.null()
	case n.Kind == yamlv3.SequenceNode:
		c.out = append(c.out, '[')
		for i, child := range n.Content {
			c.comma(i)
			c.below(fmt.Sprint(i), child)
		}
		c.out = append(c.out, ']')
	default:
		c.object(n)
	}
}

func (c *conversion) below(token string, n *yamlv3.Node) {
	c.path = append(c.path, token)
	c.value(n)
	c.path = c.path[:len(c.path)-1]
}

func (c *conversion) comma(i int) {
	if i > 0 {
		c.out = append(c.out, ',')
	}
}

func (c *conversion) object(n *yamlv3.Node) {
	c.out = append(c.out, '{')
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, name := n.Content[i], n.Content[i].Value
		if key.Kind != yamlv3.ScalarNode || key.Tag == "!!merge" {
			c.refuse(key, CodeAlias, "the name of a field refers to another part of the file, or is a group", "write the name as one word")
			continue
		}
		if truth, is := truthOf(key); is && !c.words {
			name = fmt.Sprint(truth)
		}
		if line, twice := lines[name]; twice {
			c.path = append(c.path, name)
			c.refuse(key, CodeDuplicateKey, fmt.Sprintf("%s is written twice, first in line %d", key.Value, line), "keep one of the two")
			c.path = c.path[:len(c.path)-1]
			continue
		}
		c.comma(len(lines))
		lines[name] = key.Line
		c.out, _ = jsontext.AppendQuote(c.out, name) // it is UTF-8
		c.out = append(c.out, ':')
		c.below(name, n.Content[i+1])
	}
	c.out = append(c.out, '}')
}

func (c *conversion) null() { c.out = append(c.out, "null"...) }

func (c *conversion) scalar(n *yamlv3.Node) {
	truth, isTruth := truthOf(n)
	switch {
	case n.Style&yamlv3.TaggedStyle != 0 && n.Tag != "!!str":
		c.refuse(n, CodeSyntax, n.Tag+" is a tag, which is not read", "leave it out, or quote a text that begins with !")
		c.null()
		return
	case isNull(n):
		c.null()
		return
	case isTruth && !(c.words && !strings.EqualFold(n.Value, fmt.Sprint(truth))):
		c.out = fmt.Append(c.out, truth)
		return
	case isPlainScalar(n):
		number, err := schema.ReadNumber(n.Value)
		if refused := (*schema.NumberRefused)(nil); errors.As(err, &refused) && n.Tag != "!!str" {
			c.refuse(n, CodeBadNumber, refused.Detail, refused.Hint+"; quote it if it is a text")
			c.null()
			return
		}
		if err == nil {
			c.out = append(c.out, number...)
			return
		}
	}
	c.out, _ = jsontext.AppendQuote(c.out, n.Value) // it is UTF-8
}

func isPlainScalar(n *yamlv3.Node) bool {
	return n.Kind == yamlv3.ScalarNode && n.Style&^yamlv3.FlowStyle == 0
}

func isNull(n *yamlv3.Node) bool {
	return n.Tag == "!!null" || isPlainScalar(n) && slices.Contains([]string{"", "~", "null", "Null", "NULL"}, n.Value)
}

// textOf returns the text of a node, empty if it is none.
func textOf(n *yamlv3.Node) string {
	_, truth := truthOf(n)
	if _, err := schema.ReadNumber(n.Value); n.Kind != yamlv3.ScalarNode || isNull(n) || isPlainScalar(n) && (truth || err == nil) {
		return ""
	}
	return n.Value
}

// truthOf returns the truth value of a word without quotes.
func truthOf(n *yamlv3.Node) (truth, is bool) {
	if !isPlainScalar(n) {
		return false, false
	}
	word := n.Value
	if word != strings.ToUpper(word) && len(word) > 1 && word[1:] != strings.ToLower(word[1:]) {
		return false, false
	}
	switch strings.ToLower(word) {
	case "y", "yes", "on", "true":
		return true, true
	case "n", "no", "off", "false":
		return false, true
	}
	return false, false
}
