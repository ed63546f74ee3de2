package main

import (
	"fmt"
	"strings"

	"troupe/schema/program"
)

// envFile is the file of settings of a service: every setting with what it means, commented out, with its default.
func envFile(s service, c program.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Settings of the service %[1]s, one a line: NAME=value, with quotes around a value that has spaces.
# A line with # in front of its name is not in force and has the default, if there is one. Each setting is a flag
# of %[2]q, see "man %[3]s". Paths are absolute, or in %[4]s.
# After a change: systemctl restart %[1]s
`, s.unit, strings.Join(append([]string{s.name}, s.serve...), " "), strings.Join(append([]string{s.name}, s.serve...), "-"), s.data)
	for _, f := range append(c.Flags, s.more...) {
		if s.unsaid[f.Name] {
			continue
		}
		b.WriteString("\n")
		for _, line := range wrap(f.Usage, 100) {
			b.WriteString("# " + line + "\n")
		}
		b.WriteString("#" + s.prefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_")) + "=" + quoted(value(f)) + "\n")
	}
	return b.String()
}

// value is the default of a flag as the environment has it: the items of a list with commas between them.
func value(f program.Flag) string {
	if f.Type == "stringSlice" || f.Type == "stringArray" {
		return strings.TrimSuffix(strings.TrimPrefix(f.Default, "["), "]")
	}
	return f.Default
}

// quoted is a value as both systemd and a shell read it.
func quoted(v string) string {
	if strings.ContainsAny(v, " \t\"'\\$`;&|<>()#*?[]{}~!") {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(v) + `"`
	}
	return v
}

// wrap breaks a text into lines of at most width bytes, at spaces.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}
