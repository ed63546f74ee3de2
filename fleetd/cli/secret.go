package cli

import (
	"bufio"
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
func (sh *shell) secret(what, file string) (string, error) {
	if file != "" && file != "-" {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", usage("--password-file: %v", err)
		}
		sh.lines = bufio.NewReader(strings.NewReader(string(text)))
	}
	if in, ok := sh.In.(*os.File); ok && sh.lines == nil && term.IsTerminal(int(in.Fd())) {
		fmt.Fprintf(sh.Err, "%s: ", what)
		text, err := term.ReadPassword(int(in.Fd()))
		fmt.Fprintln(sh.Err)
		return string(text), err
	}
	return sh.nextLine(what)
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
func (sh *shell) nextSecret(what string) (string, error) {
	if sh.lines != nil {
		return sh.nextLine(what)
	}
	return sh.secret(what, "")
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
