package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// aliases are other names of commands, by their name, wherever they are.
var aliases = map[string][]string{
	"robot": {"robots"}, "act": {"acts"}, "story": {"stories"}, "activity": {"activities"}, "asset": {"assets"}, "command": {"commands"},
	"event": {"events"}, "mode": {"modes"}, "condition": {"conditions"}, "key": {"keys"}, "alert": {"alerts"}, "user": {"users"},
	"token": {"tokens"}, "session": {"sessions"},
	"list": {"ls"}, "get": {"show"}, "delete": {"rm"},
}

// meanings are words that people use for a command and that are not similar to its name.
var meanings = map[string][]string{
	"acquire": {"take", "lease"}, "release": {"clear", "give"}, "enable": {"start", "on"}, "withdraw": {"unassign", "remove"},
	"assign": {"set"},
	"robot":  {"ps"}, "safety": {"enable"}, "serve": {"server", "run"}, "get": {"describe"}, "publish": {"save", "put", "apply"},
	"watch": {"follow", "tail"},
}

// nameAlternatives gives every command its aliases, and the words for which it is suggested.
func nameAlternatives(c *cobra.Command) {
	c.Aliases = append(c.Aliases, aliases[c.Name()]...)
	c.SuggestFor = append(c.SuggestFor, meanings[c.Name()]...)
	c.SuggestionsMinimumDistance = suggestionDistance
	for _, below := range c.Commands() {
		nameAlternatives(below)
	}
}

// suggestionDistance is how many letters a word may be off.
const suggestionDistance = 2

// unknownCommand is the error for a word that is none of the commands below c.
func unknownCommand(c *cobra.Command, word string) error {
	c.SuggestionsMinimumDistance = suggestionDistance
	if near := c.SuggestionsFor(word); len(near) > 0 {
		return usage("%s has no command %q; did you mean %s?", c.CommandPath(), word, anyOf(near))
	}
	if c.HasParent() && slices.ContainsFunc(c.Root().Commands(), func(other *cobra.Command) bool { return other.Name() == word }) {
		return usage("%s has no command %q; did you mean %s %s?", c.CommandPath(), word, c.Root().Name(), word)
	}
	var all []string
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			all = append(all, below.Name())
		}
	}
	return usage("%s has no command %q; it has %s", c.CommandPath(), word, strings.Join(all, ", "))
}

// flagError adds to pflag's error the flags that may have been meant, or those that there
// are.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return &failure{code: exitUsage, err: err}
	}
	if words := c.Flags().Args(); isGroup(c) && len(words) > 0 {
		return unknownCommand(c, words[0]) // the flag is one of the command that was meant
	}
	var own, inherited, all []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		switch all = append(all, f.Name); {
		case c.InheritedFlags().Lookup(f.Name) != nil:
			inherited = append(inherited, "--"+f.Name)
		case f.Name != "help":
			own = append(own, "--"+f.Name)
		}
	})
	has := strings.Join(own, ", ")
	if has == "" {
		has = "only those of every command: " + strings.Join(inherited, ", ")
	}
	if unknown.GetSpecifiedShortnames() != "" { // a single letter is similar to no name
		return usage("%s has no flag -%s; it has %s", asTyped(c), unknown.GetSpecifiedName(), has)
	}
	name := "--" + unknown.GetSpecifiedName()
	if near := closest(unknown.GetSpecifiedName(), all); len(near) > 0 {
		return usage("%s has no flag %s; did you mean --%s?", asTyped(c), name, strings.Join(near, " or --"))
	}
	return usage("%s has no flag %s; it has %s", asTyped(c), name, has)
}

// isGroup reports whether a command only contains others and takes no arguments.
func isGroup(c *cobra.Command) bool { return c.HasAvailableSubCommands() && c.Use == c.Name() }

// asTyped is the path of a command with the alias that the person typed.
func asTyped(c *cobra.Command) string {
	if c.CalledAs() == "" || !c.HasParent() {
		return c.CommandPath()
	}
	return c.Parent().CommandPath() + " " + c.CalledAs()
}

// suggestNames adds to an error what the arguments that do not exist may mean, of what the
// shell would complete in their places.
func suggestNames(c *cobra.Command, args []string, err error) error {
	if c.ValidArgsFunction == nil {
		return err
	}
	for i, arg := range args {
		choices, _ := c.ValidArgsFunction(c, args[:i], "")
		if slices.Contains(choices, arg) || slices.Contains(args[:i], arg) {
			continue
		}
		if near := closest(arg, choices); len(near) > 0 && len(near) <= maxSuggestions {
			return fmt.Errorf("%w; did you mean %s?", err, anyOf(near))
		}
	}
	return err
}

// maxSuggestions is how many similar names help; among more, the list does.
const maxSuggestions = 3

// closest returns the choices that a misspelt word may mean, as cobra finds commands.
func closest(word string, choices []string) []string {
	parent := &cobra.Command{SuggestionsMinimumDistance: suggestionDistance}
	for _, choice := range choices {
		if strings.EqualFold(choice, word) {
			return []string{choice}
		}
		parent.AddCommand(&cobra.Command{Use: choice, Run: func(*cobra.Command, []string) {}})
	}
	return parent.SuggestionsFor(word)
}
