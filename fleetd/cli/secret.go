package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"
)

// secret reads a password: from a file, from the terminal without showing it, or from the
// standard input, one line. Flags and arguments are visible in process lists.
func (sh *shell) secret(ctx context.Context, what, file string) (string, error) {
	if file != "" && file != "-" {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", usage("--password-file: %v", err)
		}
		sh.lines = bufio.NewReader(strings.NewReader(string(text)))
	}
	if in, ok := sh.In.(*os.File); ok && sh.lines == nil && term.IsTerminal(int(in.Fd())) {
		return sh.hidden(ctx, what, in)
	}
	return sh.nextLine(what)
}

// hidden asks for a line on a terminal that does not show it.
func (sh *shell) hidden(ctx context.Context, what string, terminal *os.File) (string, error) {
	fd := int(terminal.Fd())
	shows, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(sh.Err, "%s: ", what)
	text, err := typed(ctx, func() (string, error) {
		text, err := term.ReadPassword(fd)
		return string(text), err
	})
	fmt.Fprintln(sh.Err)
	if ctx.Err() != nil {
		err = errors.Join(err, term.Restore(fd, shows))
	}
	return text, err
}

// typed returns what a person types, or an error once ctx ends: the signal of Ctrl-C ends ctx and interrupts no read
// of a terminal. The goroutine that still reads then lives as long as the process, which is about to end.
func typed(ctx context.Context, read func() (string, error)) (string, error) {
	type line struct {
		text string
		err  error
	}
	lines := make(chan line, 1)
	go func() {
		text, err := read()
		lines <- line{text, err}
	}()
	select {
	case l := <-lines:
		return l.text, l.err
	case <-ctx.Done():
		return "", errors.New("interrupted")
	}
}

// nextLine reads the next line of the file or the standard input.
func (sh *shell) nextLine(what string) (string, error) {
	if sh.lines == nil {
		sh.lines = bufio.NewReader(sh.In)
	}
	line, err := sh.lines.ReadString('\n')
	if line = strings.TrimRight(line, "\r\n"); line != "" {
		return line, nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return "", usage("%s: nothing was read; write it as a line of the standard input or of --password-file", what)
	}
	return "", fmt.Errorf("read %s: %w", what, err)
}

// nextSecret reads one more password from where the last one came.
func (sh *shell) nextSecret(ctx context.Context, what string) (string, error) {
	if sh.lines != nil {
		return sh.nextLine(what)
	}
	return sh.secret(ctx, what, "")
}

// absolute makes a path independent of the present folder.
func absolute(path string) string {
	if path == "" {
		return ""
	}
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// firstBytes cuts a text to n bytes at most.
func firstBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}
