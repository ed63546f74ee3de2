package interrupts

import (
	"github.com/go-json-experiment/json/jsontext"

	"troupe/schema"
)

// The names of the settings.
const (
	RulesSetting    = "interrupts.rules"
	HandlersSetting = "interrupts.handlers"
)

// CheckSetting returns what is wrong with the value of a setting; nothing if it is not one
// of interrupts. Pointers refer to the value.
func CheckSetting(name string, value jsontext.Value) (problems []schema.Problem) {
	switch name {
	case RulesSetting:
		_, problems = ParseRules(value)
	case HandlersSetting:
		_, problems = ParseHandlers(value)
	}
	return problems
}
