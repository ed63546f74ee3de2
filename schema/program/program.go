// Package program describes the commands and flags of a program as data, from which deploy/package makes manual
// pages and the files of settings. So a new flag is in them without a second list. It also keeps a program within the
// memory that its unit allows.
package program

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A Command is one command of a program, and those below it.
type Command struct {
	Name     string    `json:"name"`
	Use      string    `json:"use"` // the whole line, from the program's name on
	Short    string    `json:"short,omitzero"`
	Long     string    `json:"long,omitzero"`
	Example  string    `json:"example,omitzero"`
	Flags    []Flag    `json:"flags,omitzero"`
	Commands []Command `json:"commands,omitzero"`
}

// A Flag is one flag of a command.
type Flag struct {
	Name      string `json:"name"`
	Shorthand string `json:"shorthand,omitzero"`
	Type      string `json:"type"` // as pflag calls it: string, stringSlice, bool, int, duration
	Default   string `json:"default,omitzero"`
	Usage     string `json:"usage"`
	// Persistent flags hold for the commands below, too.
	Persistent bool `json:"persistent,omitzero"`
}

// Of describes a command. Hidden and deprecated commands and flags are left out.
func Of(c *cobra.Command) Command {
	d := Command{Name: c.Name(), Use: c.UseLine(), Short: c.Short, Long: c.Long, Example: c.Example}
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Deprecated == "" && f.Name != "help" {
			d.Flags = append(d.Flags, Flag{Name: f.Name, Shorthand: f.Shorthand, Type: f.Value.Type(), Default: f.DefValue, Usage: f.Usage,
				Persistent: c.PersistentFlags().Lookup(f.Name) != nil})
		}
	})
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() {
			d.Commands = append(d.Commands, Of(below))
		}
	}
	return d
}

// Describe is the hidden command that prints the description of its program.
func Describe() *cobra.Command {
	return &cobra.Command{
		Use: "describe", Short: "print the commands and flags as JSON", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := json.Marshal(Of(cmd.Root()))
			if err != nil {
				return fmt.Errorf("describe the commands: %w", err)
			}
			fmt.Fprintln(cmd.OutOrStdout(), string(text))
			return nil
		},
	}
}
