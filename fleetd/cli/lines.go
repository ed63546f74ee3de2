package cli

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// lineOf returns the line of a YAML or JSON text at which a JSON Pointer points, or
// that of the nearest existing parent; 0 if the text cannot be parsed.
func lineOf(text []byte, pointer string) int {
	var document yaml.Node
	if len(text) == 0 || yaml.Unmarshal(text, &document) != nil || len(document.Content) == 0 {
		return 0
	}
	node := document.Content[0]
	line := node.Line
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer == "" {
			break
		}
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		next, at := child(node, token)
		if next == nil {
			break
		}
		node, line = next, at
	}
	return line
}

// child finds a member of a node and the line of its key.
func child(node *yaml.Node, token string) (*yaml.Node, int) {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == token {
				return node.Content[i+1], node.Content[i].Line
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i], node.Content[i].Line
		}
	}
	return nil, 0
}
