package cli

import (
	"fmt"
	"io"
	"strings"
)

// progressLine says in one line on the standard error how far something is. It is silent unless that is a
// terminal. Clear it before anything else is printed.
type progressLine struct {
	out        io.Writer // of the terminal; nil = silent
	columns    int
	what, unit string
}

func (sh *shell) progress(what, unit string) progressLine {
	if !isTerminal(sh.Err) {
		return progressLine{}
	}
	return progressLine{unsanitized(sh.Err), sh.columns(), what, unit}
}

// show replaces the line. The last column stays free, in which some terminals begin a new line.
func (p progressLine) show(done, total int) {
	if p.out == nil {
		return
	}
	var text strings.Builder
	fmt.Fprintf(sanitizingWriter{&text}, "%s: %d of %d %s", p.what, done, total, p.unit)
	fmt.Fprintf(p.out, "\r%s\x1b[K", shorten(text.String(), p.columns-1))
}

func (p progressLine) clear() {
	if p.out != nil {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
