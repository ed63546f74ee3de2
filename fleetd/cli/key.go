package cli

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"troupe/schema/sign"
)

// keyCommand makes keys that sign the desired documents of robots.
func (sh *shell) keyCommand() *cobra.Command {
	return group("key", "keys that sign the desired documents of robots: new, show", sh.keyNew(), sh.keyShow())
}

func roleFlag(c *cobra.Command, role *string) {
	c.Flags().StringVar(role, "role", string(sign.SignsDesired), "desired (fleetd's key, signs desired documents) or release (fleetd's "+
		"second key, signs the stories, activities and places that are assigned)")
}

func roleOf(text string) (sign.Role, error) {
	switch role := sign.Role(text); role {
	case sign.SignsDesired, sign.SignsReleases:
		return role, nil
	}
	return "", usage("--role %s: write desired or release", text)
}

func (sh *shell) keyNew() *cobra.Command {
	var text string
	c := &cobra.Command{
		Use: "new FILE", Short: "make a key, and print the line that makes robots trust it", Args: exactlyOne,
		Long: `Make an Ed25519 key. The file is secret: fleetd serve signs with it (--sign-key FILE, or
--release-key FILE for a key of --role release). The printed line is public: give it to robotd --trust-key, or add it to the file of trusted keys
in the robot's data folder. An existing file is never overwritten.`,
		RunE: run(func(_ *cobra.Command, args []string) error {
			role, err := roleOf(text)
			if err != nil {
				return err
			}
			_, private, err := ed25519.GenerateKey(rand.Reader)
			if err != nil {
				return fmt.Errorf("make a key: %w", err)
			}
			secret, err := sign.EncodePrivate(private)
			if err != nil {
				return fmt.Errorf("write the key: %w", err)
			}
			f, err := os.OpenFile(args[0], os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if errors.Is(err, fs.ErrExist) {
				return &failure{code: exitConflict, err: fmt.Errorf("%s exists; nothing was changed, because robots may trust that key", args[0])}
			} else if err != nil {
				return err
			}
			_, err = f.Write(secret)
			if err = errors.Join(err, f.Close()); err != nil {
				return err
			}
			fmt.Fprintln(sh.Out, sign.PublicKey(role, private))
			return nil
		}),
	}
	roleFlag(c, &text)
	return c
}

func (sh *shell) keyShow() *cobra.Command {
	var text string
	c := &cobra.Command{
		Use: "show FILE", Short: "print the line that makes robots trust a key", Args: exactlyOne,
		RunE: run(func(_ *cobra.Command, args []string) error {
			role, err := roleOf(text)
			if err != nil {
				return err
			}
			private, err := signingKey(args[0])
			if err != nil {
				return err
			}
			fmt.Fprintln(sh.Out, sign.PublicKey(role, private))
			return nil
		}),
	}
	roleFlag(c, &text)
	return c
}

// signingKey reads a key from a file; without a path there is no key.
func signingKey(path string) (ed25519.PrivateKey, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	key, err := sign.DecodePrivate(text)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", path, err)
	}
	return key, nil
}
