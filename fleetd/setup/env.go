package setup

import (
	"fmt"
	"regexp"
	"strings"
)

// bareValue needs no quotes in a file of environment variables.
var bareValue = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,=?&~\[\]-]*$`)

func envLine(s Setting) string {
	if bareValue.MatchString(s.Value) {
		return s.Name + "=" + s.Value
	}
	return s.Name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", "$", `\$`).Replace(s.Value) + `"`
}

// ReadEnv reads a file of environment variables as systemd's EnvironmentFile= does: NAME=VALUE lines, comments
// after # or ;, and values in quotes. A line that is none of these is an error that names it.
func ReadEnv(text string) (map[string]string, error) {
	all := map[string]string{}
	for i, line := range strings.Split(text, "\n") {
		name, value, ok := readEnvLine(line)
		if name != "" {
			all[name] = value
		}
		if !ok {
			return all, fmt.Errorf("line %d: write NAME=VALUE, or a comment after #", i+1)
		}
	}
	return all, nil
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func readEnvLine(line string) (name, value string, ok bool) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' || line[0] == ';' {
		return "", "", true
	}
	name, value, ok = strings.Cut(line, "=")
	if !ok || !envName.MatchString(strings.TrimSpace(name)) {
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

// Difference is a variable whose value in a file is not that of the answers. Was or Is is "" if there is none.
type Difference struct {
	Name, Was, Is  string
	Absent, Unused bool // it is not in the file; the answers do not give it
}

// MergeEnv puts settings into the text of a file, in which everything else stays as it is. It also returns the variables
// to which the file gives another value than the settings, and which the new text gives that of the settings.
func MergeEnv(text string, settings []Setting) (merged string, other []Difference) {
	want := map[string]Setting{}
	for _, s := range settings {
		want[s.Name] = s
	}
	present := map[string]bool{}
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		name, value, _ := readEnvLine(line)
		s, given := want[name]
		switch {
		case name == "":
		case given && s.Value != value:
			other = append(other, Difference{Name: name, Was: value, Is: s.Value})
			line = envLine(s)
		case !given && Managed(name):
			other = append(other, Difference{Name: name, Was: value, Unused: true})
			line = "# " + line
		}
		if name != "" {
			present[name] = true
		}
		lines = append(lines, line)
	}
	var missing []string
	for _, s := range settings {
		if !present[s.Name] {
			missing = append(missing, envLine(s))
		}
	}
	if len(missing) > 0 {
		block := append([]string{"# Written by fleetd setup, which leaves all other lines as they are."}, missing...)
		if len(present) == 0 && len(lines) > 0 { // a file of comments, as a package brings it: they explain what follows
			block = append(block, "")
			lines = append(block, lines...)
		} else {
			lines = append(lines, block...)
		}
	}
	return strings.Join(lines, "\n") + "\n", other
}
