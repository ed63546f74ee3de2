package main

import (
	"fmt"
	"strings"

	"troupe/schema/program"
)

// manPages makes a page of section 1 of each command: fleetd(1), fleetd-serve(1), fleetd-robot-enrol(1).
func manPages(name string, c program.Command, put func(name, text string)) {
	page(name, nil, c, nil, put)
}

func page(name string, above []string, c program.Command, inherited []program.Flag, put func(name, text string)) {
	own := append(above[:len(above):len(above)], name)
	full := strings.Join(own, "-")
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" Troupe \"Troupe\"\n.nh\n.ad l\n", roffWord(strings.ToUpper(full)))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roffWord(full), roff(c.Short))
	_, arguments, _ := strings.Cut(c.Use, c.Name)
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n%s\n", roff(strings.Join(own, " ")), roff(strings.TrimSpace(arguments)))
	about := c.Long
	if about == "" {
		about = c.Short
	}
	b.WriteString(".SH DESCRIPTION\n" + paragraphs(about))
	options(&b, "OPTIONS", c.Flags)
	options(&b, "OPTIONS OF EVERY COMMAND", inherited)
	if c.Example != "" {
		b.WriteString(".SH EXAMPLES\n.nf\n" + roff(strings.Trim(c.Example, "\n")) + "\n.fi\n")
	}
	var others []string
	if len(above) > 0 {
		others = append(others, "\\fB"+roffWord(strings.Join(above, "-"))+"\\fP(1)")
	}
	for _, below := range c.Commands {
		others = append(others, "\\fB"+roffWord(full+"-"+below.Name)+"\\fP(1)")
	}
	if len(others) > 0 {
		b.WriteString(".SH SEE ALSO\n" + strings.Join(others, ",\n") + "\n")
	}
	put(full, b.String())
	passed := inherited
	if len(above) == 0 && len(c.Commands) > 0 {
		passed = c.Flags
	}
	for _, below := range c.Commands {
		page(below.Name, own, below, persistent(passed, below), put)
	}
}

// persistent leaves out the flags that a command has as its own.
func persistent(flags []program.Flag, c program.Command) []program.Flag {
	var left []program.Flag
	for _, f := range flags {
		if f.Persistent && !has(c.Flags, f.Name) {
			left = append(left, f)
		}
	}
	return left
}

func has(flags []program.Flag, name string) bool {
	for _, f := range flags {
		if f.Name == name {
			return true
		}
	}
	return false
}

func options(b *strings.Builder, title string, flags []program.Flag) {
	if len(flags) == 0 {
		return
	}
	b.WriteString(".SH " + title + "\n")
	for _, f := range flags {
		b.WriteString(".TP\n")
		if f.Shorthand != "" {
			b.WriteString("\\fB\\-" + roffWord(f.Shorthand) + "\\fP, ")
		}
		b.WriteString("\\fB\\-\\-" + roffWord(f.Name) + "\\fP")
		if f.Type != "bool" {
			b.WriteString(" \\fI" + roffWord(f.Type) + "\\fP")
		}
		b.WriteString("\n" + roff(f.Usage))
		if v := value(f); v != "" && v != "false" {
			b.WriteString(" (default " + roff(v) + ")")
		}
		b.WriteString("\n")
	}
}

// paragraphs keeps the lines of a text that are indented as they are, such as examples.
func paragraphs(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(part, " ") || strings.Contains(part, "\n ") {
			b.WriteString(".nf\n" + roff(part) + "\n.fi\n")
			continue
		}
		b.WriteString(roff(part) + "\n")
	}
	return b.String()
}

// roff is a text of several lines of which none is taken for a request.
func roff(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, `\`, `\e`), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.ReplaceAll(strings.Join(lines, "\n"), "-", `\-`)
}

func roffWord(word string) string {
	return strings.ReplaceAll(strings.ReplaceAll(word, `\`, `\e`), "-", `\-`)
}
