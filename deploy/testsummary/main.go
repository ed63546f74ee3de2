// Command testsummary runs `go test -json` with the arguments that it is given
// and tells what happened so that a person can follow it: one line for each
// package as it ends, the whole output of what failed, and the totals last.
//
// It only ever makes the verdict harder. It ends with go test's exit status;
// where that is 0 it still fails when a test was skipped, or when no test ran,
// because neither proves anything.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"time"
)

// quiet is how long nothing may be printed before a line says what still runs.
const quiet = 20 * time.Second

func main() {
	code, err := test(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsummary:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func test(args []string, out io.Writer) (code int, err error) {
	// Ctrl-C reaches go test by itself; we stay to say how far it came. To be
	// notified, unlike to ignore, is not inherited by go test.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)

	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return 1, fmt.Errorf("listen to go test: %w", err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 1, fmt.Errorf("start go test: %w", err)
	}
	s := newSummary(out)
	lines, readErr := follow(stdout, s, func() time.Duration { return time.Since(began) })
	waitErr := cmd.Wait()
	code = cmd.ProcessState.ExitCode()
	if exit := (*exec.ExitError)(nil); waitErr != nil && !errors.As(waitErr, &exit) {
		return 1, fmt.Errorf("wait for go test: %w", waitErr)
	}
	if readErr != nil {
		return 1, fmt.Errorf("read what go test says: %w", readErr)
	}
	if lines == 0 && code == 0 {
		return 1, errors.New("go test said nothing")
	}
	return s.close(code, time.Since(began)), nil
}
