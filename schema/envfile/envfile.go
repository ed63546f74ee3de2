// Package envfile reads the files with the environment of a service, which systemd gives to it.
package envfile

import (
	"fmt"
	"regexp"
	"strings"
)

// Read reads a file of environment variables as systemd's EnvironmentFile= does: NAME=VALUE lines, comments
// after # or ;, and values in quotes. A line that is none of these is an error that names it.
func Read(text string) (map[string]string, error) {
	all := map[string]string{}
	for i, line := range strings.Split(text, "\n") {
		name, value, ok := ReadLine(line)
		if name != "" {
			all[name] = value
		}
		if !ok {
			return all, fmt.Errorf("line %d: write NAME=VALUE, or a comment after #", i+1)
		}
	}
	return all, nil
}

var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ReadLine reads one line of such a file. name is "" for an empty line, a comment, and one that cannot be read.
func ReadLine(line string) (name, value string, ok bool) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' || line[0] == ';' {
		return "", "", true
	}
	name, value, ok = strings.Cut(line, "=")
	if !ok || !variable.MatchString(strings.TrimSpace(name)) {
		return "", "", false
	}
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	switch {
	case len(value) >= 2 && value[0] == '\'' && value[len(value)-1] == '\'':
		value = value[1 : len(value)-1]
	case len(value) >= 2 && value[0] == '"' && value[len(value)-1] == '"':
		value = unescaped(value[1 : len(value)-1])
	case strings.HasPrefix(value, `"`) || strings.HasPrefix(value, "'"):
		return "", "", false
	}
	return name, value, true
}

func unescaped(value string) string {
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		if value[i] == '\\' && i+1 < len(value) {
			i++
		}
		b.WriteByte(value[i])
	}
	return b.String()
}
