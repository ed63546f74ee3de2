package setup

import (
	"regexp"
	"strings"

	"troupe/schema/envfile"
)

// bareValue needs no quotes in a file of environment variables.
var bareValue = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,=?&~\[\]-]*$`)

func envLine(s Setting) string {
	if bareValue.MatchString(s.Value) {
		return s.Name + "=" + s.Value
	}
	return s.Name + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", "$", `\$`).Replace(s.Value) + `"`
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
		name, value, _ := envfile.ReadLine(line)
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
