package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"troupe/fleetd/api"
)

// otherFlags are the flags whose field in requests has another name, by the field.
var otherFlags = map[string]string{"modes": "in-mode", "mode": "in-mode", "text": "matching", "story": "has-story",
	"expected_count": "expect", "ttl_ms": "ttl"}

// flagErrors names the flags whose values the API's schema refuses, where its answer names
// fields of JSON. It returns nothing if a finding is about something else.
func flagErrors(c *cobra.Command, p *api.Problem) string {
	if p == nil || len(p.Errors) == 0 {
		return ""
	}
	var lines []string
	for _, f := range p.Errors {
		flag, value := flagAt(c, f.Pointer)
		if flag == nil || !strings.HasPrefix(f.Detail, "expected ") {
			return ""
		}
		lines = append(lines, refusedValue(flag.Name, value, f.Detail))
	}
	return strings.Join(lines, "\n")
}

// refusedValue is the error about the value of a flag, from what the schema expected.
func refusedValue(flag, value, expected string) string {
	list, ok := strings.CutPrefix(expected, `expected value to be one of "`)
	if !ok {
		return fmt.Sprintf("--%s %q: %s", flag, value, expected)
	}
	allowed := strings.TrimSuffix(list, `"`)
	text := fmt.Sprintf("--%s %q is not one of %s", flag, value, allowed)
	if near := closest(value, strings.Split(allowed, ", ")); len(near) > 0 && len(near) <= maxSuggestions {
		text += "; did you mean " + anyOf(near) + "?"
	}
	return text
}

// flagAt returns the flag that a field of a request comes from, and its value there.
func flagAt(c *cobra.Command, pointer string) (*pflag.Flag, string) {
	pointer = strings.TrimPrefix(pointer, "/selector")
	field, index, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	name := strings.ReplaceAll(field, "_", "-")
	for _, name := range []string{name, strings.TrimSuffix(name, "s"), otherFlags[field]} {
		flag := c.Flags().Lookup(name)
		if flag == nil || !flag.Changed {
			continue
		}
		values, several := flag.Value.(pflag.SliceValue)
		if i, err := strconv.Atoi(index); several && err == nil && i < len(values.GetSlice()) {
			return flag, values.GetSlice()[i]
		}
		if parts := strings.Split(flag.Value.String(), ","); index != "" {
			if i, err := strconv.Atoi(index); err == nil && i < len(parts) {
				return flag, parts[i]
			}
		}
		return flag, flag.Value.String()
	}
	return nil, ""
}
