// Command licences lists the Go modules that are part of the programs, with the texts of their
// licences, for the console:
//
//	go run ./fleetd/console/licences > fleetd/console/web/dist/licences-go.json
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// programs are the packages whose modules are listed.
var programs = []string{"troupe/fleetd", "troupe/broker", "troupe/robotd"}

// Part is a module. The names of the fields are those that Vite writes for the parts of the
// page.
type Part struct {
	Name       string `json:"name"`
	Version    string `json:"version"`
	Identifier string `json:"identifier"` // SPDX
	Text       string `json:"text"`
}

// titles recognise licences by words that only they contain, the longer licence first.
var titles = []struct {
	identifier string
	words      *regexp.Regexp
}{
	{"Apache-2.0", regexp.MustCompile(`Apache License\s+Version 2\.0`)},
	{"MPL-2.0", regexp.MustCompile(`Mozilla Public License,? [Vv]ersion 2\.0`)},
	{"EPL-2.0", regexp.MustCompile(`Eclipse Public License - v 2\.0`)},
	{"BSD-3-Clause", regexp.MustCompile(`Neither the name|may not be used to endorse|may be used to endorse`)},
	{"BSD-2-Clause", regexp.MustCompile(`Redistributions in binary form`)},
	{"MIT", regexp.MustCompile(`Permission is hereby granted, free of charge`)},
	{"ISC", regexp.MustCompile(`Permission to use, copy, modify,? and/?o?r? distribute`)},
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)`)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run() error {
	list := exec.Command("go",
		append([]string{"list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}"}, programs...)...)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("list the modules: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(lines)
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("find the standard library: %w", err)
	}
	standard, err := partOf([]string{"Go standard library", "", strings.TrimSpace(string(root))})
	if err != nil {
		return err
	}
	parts := []Part{standard}
	for _, line := range slices.Compact(lines) {
		p, err := partOf(strings.SplitN(line, " ", 3))
		if err != nil {
			return err
		}
		parts = append(parts, p)
	}
	e := json.NewEncoder(os.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	return e.Encode(parts)
}

// partOf reads the licence of a module: its path, version and folder.
func partOf(of []string) (Part, error) {
	if len(of) != 3 {
		return Part{}, fmt.Errorf("go list printed %q", of)
	}
	p := Part{Name: of[0], Version: of[1]}
	entries, err := os.ReadDir(of[2])
	if err != nil {
		return p, err
	}
	var identifiers []string
	for _, entry := range entries {
		if entry.IsDir() || !licenceFile.MatchString(entry.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(of[2], entry.Name()))
		if err != nil {
			return p, err
		}
		p.Text += strings.TrimSpace(string(text)) + "\n\n"
		for _, t := range titles {
			if t.words.Match(text) {
				identifiers = append(identifiers, t.identifier)
				break
			}
		}
	}
	slices.Sort(identifiers)
	p.Text, p.Identifier = strings.TrimSpace(p.Text), strings.Join(slices.Compact(identifiers), " AND ")
	if p.Identifier == "" {
		return p, fmt.Errorf("%s: its licence is not known: add it to the table of titles", p.Name)
	}
	return p, nil
}
