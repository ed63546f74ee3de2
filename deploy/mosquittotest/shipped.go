package mosquittotest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shippedPath is where the configuration lies that people are given, as seen from
// the folders beside it, in which tests run.
const shippedPath = "../mosquitto/mosquitto.conf"

// Shipped runs a mosquitto with every line of the configuration that people are
// given, on free ports of 127.0.0.1, until the test ends. The folder stands for
// /etc/mosquitto and holds the files that it names. Who comes by certificate is
// let in at the address robots, who comes by password at people. The id of the
// process is in the folder's file pid.
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

// Limits are those lines of that configuration which say how much the broker takes
// and keeps.
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
