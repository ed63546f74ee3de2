package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestScriptIsSplitAtSemicolons(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "[]",
		" ; ":                                 "[]",
		"status":                              "[[status]]",
		"perform; kill leader-of=MQTT_msgs;;": "[[perform] [kill leader-of=MQTT_msgs]]",
		"away n1  2m ; fleetd robot list":     "[[away n1 2m] [fleetd robot list]]",
	} {
		if got, err := parseScript(text); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%q: %v, %v, want %s", text, got, err, want)
		}
	}
}

// A fleet takes its time to start: a misspelt command is found before.
func TestScriptWithAnUnknownCommandIsRefused(t *testing.T) {
	for _, text := range []string{"kil n1", "status; figure MQTT_msgs"} {
		if script, err := parseScript(text); err == nil || !strings.Contains(err.Error(), "is no command") ||
			!strings.Contains(err.Error(), "figures") {
			t.Errorf("%q: %v, %v", text, script, err)
		}
	}
}

// A suffix that a round of attempts adds is no other client; further connections of a client have names.
func TestClientIDNamesItsUser(t *testing.T) {
	for id, want := range map[string]string{"r1": "r1", "r1_3": "r1", "fleetd-a_12": "fleetd-a", "fleetd-a_drive": "", "r1_blob": "", "": ""} {
		if got := userOf(id); got != want {
			t.Errorf("%s is a connection of %q, want %q", id, got, want)
		}
	}
}

func TestMemoryOfAProgramIsRead(t *testing.T) {
	if got := residentMiB("Name:\tnats-server\nVmPeak:\t  999 kB\nVmRSS:\t  204800 kB\nThreads:\t9\n"); got != 200 {
		t.Errorf("it is %d MiB", got)
	}
}
