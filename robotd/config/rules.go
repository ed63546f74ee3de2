package config

import (
	"errors"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"troupe/robotd/signal"
	"troupe/schema"
	"troupe/schema/intents"
	"troupe/schema/interrupts"
)

// setRules takes the value of the setting interrupts.rules.
func (c *Config) setRules(v jsontext.Value) error {
	rules, problems := interrupts.ParseRules(v)
	if len(problems) == 0 {
		c.Rules, problems = signal.Compile(rules)
	}
	return firstOf(problems)
}

// setIntents takes the value of the setting intents.
func (c *Config) setIntents(v jsontext.Value) (err error) {
	table, problems := intents.Parse(v)
	if err = firstOf(problems); err == nil {
		c.Intents.Rows = table
	}
	return err
}

// checkRules returns one sentence for each handler that rules ask for and that there is
// not.
func (c *Config) checkRules() (faults []string) {
	if c.Rules == nil {
		return nil
	}
	asked := c.Rules.Handlers()
	for _, id := range slices.Sorted(maps.Keys(asked)) {
		if _, ok := c.Interrupts.Handler(id); !ok {
			faults = append(faults, asked[id]+": "+c.Interrupts.Unknown(id))
		}
	}
	return faults
}

func firstOf(problems []schema.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return errors.New(problems[0].String())
}
