package mosquittotest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shippedPath is the path of the shipped configuration, relative to the folders
// beside it, in which tests run.
const shippedPath = "../mosquitto/mosquitto.conf"

// Shipped runs a mosquitto with every line of the shipped configuration, on free
// ports of 127.0.0.1, until the test ends. The folder takes the place of
// /etc/mosquitto and holds the files that the configuration names. Clients with certificates
// connect to the address robots, clients with passwords to people. The folder's
// file pid holds the process id.
func Shipped(t testing.TB, folder string) (robots, people string) {
	t.Helper()
	text := readShipped(t)
	Start(t, Options{Closed: true, Fresh: func() []string {
		conf := strings.ReplaceAll(text, "/etc/mosquitto", folder)
		for line, at := range map[string]*string{"\nlistener 8883\n": &robots, "\nlistener 1883 127.0.0.1\n": &people} {
			if strings.Count(conf, line) != 1 {
				t.Fatalf("mosquitto.conf has no line %q", line)
			}
			port := FreePort(t)
			conf = strings.Replace(conf, line, fmt.Sprintf("\nlistener %d 127.0.0.1\n", port), 1)
			*at = fmt.Sprintf("127.0.0.1:%d", port)
		}
		return append(strings.Split(conf, "\n"), "pid_file "+filepath.Join(folder, "pid"))
	}})
	return robots, people
}

// Limits returns the lines of the shipped configuration that limit what the broker
// accepts and keeps.
func Limits(t testing.TB) []string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(readShipped(t)) {
		if strings.HasPrefix(line, "max_") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	if len(lines) == 0 {
		t.Fatal("mosquitto.conf has no limits")
	}
	return lines
}

func readShipped(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(shippedPath)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
