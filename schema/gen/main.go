// Command gen generates the JSON Schemas, the tables between the markers of topics.md and docs/cluster.md, the
// reference of authors and that of messages from package schema and those below it. Run it with `make gen`; CI fails if its output is not
// committed.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"troupe/schema/enums"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run expects the folder of package schema as the working directory, as go generate sets
// it.
func run() error {
	schemas, err := jsonSchemas()
	if err != nil {
		return err
	}
	for name, text := range schemas {
		if err := write(filepath.Join("json", name), text); err != nil {
			return err
		}
	}
	authors, err := authorSchemas()
	if err != nil {
		return err
	}
	for name, text := range authors {
		if err := write(name, text); err != nil {
			return err
		}
	}
	adapters, err := busSchemas()
	if err != nil {
		return err
	}
	for name, text := range adapters {
		if err := write(filepath.Join("bus", "json", name), text); err != nil {
			return err
		}
	}
	if err := write(filepath.Join("..", "docs", "authoring-reference.md"), []byte(authorReference())); err != nil {
		return err
	}
	if err := write(filepath.Join("..", "docs", "messages.md"), []byte(messageReference())); err != nil {
		return err
	}
	source, err := os.ReadFile("enum.go")
	if err != nil {
		return fmt.Errorf("read the enums: %w", err)
	}
	all, err := enums.Parse(source)
	if err != nil {
		return err
	}
	page := filepath.Join("..", "topics.md")
	text, err := os.ReadFile(page)
	if err != nil {
		return fmt.Errorf("read topics.md: %w", err)
	}
	filled, err := fill(string(text), map[string]string{
		"topics":  topicTable(),
		"verbs":   verbTable(),
		"reasons": reasonTable(),
		"config":  configTable(),
		"events":  eventTable(),
		"alerts":  alertTable(),
		"words":   wordTable(all),
		"sim":     simTable(),
		"signals": signalTable(),
		"keys":    keyTable(),

		"bus-topics": busTopicTable(),
		"bus-fields": busFieldTable(),
	})
	if err != nil {
		return err
	}
	if err := write(page, []byte(filled)); err != nil {
		return err
	}
	page = filepath.Join("..", "docs", "cluster.md")
	if text, err = os.ReadFile(page); err != nil {
		return fmt.Errorf("read the page about engines: %w", err)
	}
	if filled, err = fill(string(text), map[string]string{"engines": engineTable()}); err != nil {
		return err
	}
	return write(page, []byte(filled))
}

func write(path string, text []byte) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == string(text) {
		return nil
	}
	return os.WriteFile(path, text, 0o644)
}
