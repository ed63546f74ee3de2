package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"
)

// outputs are the values of -o.
var outputs = []string{outTable, outWide, outJSON, outYAML, outName}

const (
	outTable = "table" // fits the terminal
	outWide  = "wide"  // with more columns, and nothing left out or shortened
	outJSON  = "json"
	outYAML  = "yaml"
	outName  = "name" // the name or id of each thing, one a line
)

// anyOf lists choices for a sentence: a, b or c.
func anyOf(choices []string) string {
	n := len(choices) - 1
	if n < 1 {
		return strings.Join(choices, "")
	}
	return strings.Join(choices[:n], ", ") + " or " + choices[n]
}

// forPeople reports whether the output is a table or a text, and not for programs.
func (sh *shell) forPeople() bool { return sh.output == outTable || sh.output == outWide }

// wide returns the cells of columns that only -o wide has.
func (sh *shell) wide(cells ...any) []any {
	if sh.output == outWide {
		return cells
	}
	return nil
}

// header formats the header of a table. The columns after the first ones are only of -o
// wide.
func (sh *shell) header(columns string, wide ...any) string {
	for _, c := range sh.wide(wide...) {
		columns += fmt.Sprint("\t", c)
	}
	return columns
}

// show prints an answer in the form of -o. table prints it for people.
func (sh *shell) show(v any, table func(w io.Writer)) error {
	switch sh.output {
	case outJSON, outYAML:
		return sh.encode(v)
	case outName:
		names, err := namesOf(v)
		for _, name := range names {
			fmt.Fprintln(sh.Out, oneLine(name))
		}
		return err
	case outWide:
		table(sh.Out)
	default:
		table(sh.screenOf(sh.Out))
	}
	return nil
}

// encode prints an answer as JSON or YAML.
func (sh *shell) encode(v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	if text = append(text, '\n'); sh.output == outYAML {
		if text, err = yaml.JSONToYAML(text); err != nil {
			return fmt.Errorf("write the answer: %w", err)
		}
	}
	_, err = sh.Out.Write(text)
	return err
}

// showNext prints one of an endless list of answers for programs: JSON in one line, or a
// YAML document.
func (sh *shell) showNext(v any) error {
	switch sh.output {
	case outYAML:
		if _, err := io.WriteString(sh.Out, "---\n"); err != nil {
			return err
		}
		return sh.encode(v)
	case outName:
		return sh.show(v, nil)
	}
	return json.NewEncoder(sh.Out).Encode(v)
}

// nameKeys are the fields that name a thing, the first one that it has.
var nameKeys = []string{"id", "name", "robot", "file"}

// namesOf returns the names of what an answer lists, or that of the one thing that it is.
func namesOf(v any) ([]string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	var any any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&any); err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	if names, ok := namesIn(any); ok {
		return names, nil
	}
	return nil, usage("-o name: this answer has no names; write %s", anyOf(outputs[:4]))
}

// namesIn returns the name of a thing, or those of the things in the one list that an
// answer has.
func namesIn(v any) (names []string, ok bool) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			name, ok := nameOf(one)
			if !ok {
				return nil, false
			}
			names = append(names, name)
		}
		return names, true
	case map[string]any:
		if name, ok := nameOf(v); ok {
			return []string{name}, true
		}
		var lists []any
		for _, field := range v {
			if list, ok := field.([]any); ok {
				lists = append(lists, list)
			}
		}
		if len(lists) == 1 {
			return namesIn(lists[0])
		}
	}
	return nil, false
}

// nameOf returns the name of a thing.
func nameOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case map[string]any:
		for _, key := range nameKeys {
			if name, ok := v[key].(string); ok && name != "" {
				return name, true
			}
		}
	}
	return "", false
}
