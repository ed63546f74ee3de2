package provider

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/coreos/go-oidc/v3/oidc"

	"troupe/fleetd/auth"
)

// Person is somebody whom the provider signed in.
type Person struct {
	Subject string // names the person for ever, with the issuer
	Name    string // of the account that the person gets at the first sign-in
	Display string
	Roles   []auth.Role
	Sites   []string
}

// maxDisplay is the longest name to show, in bytes.
const maxDisplay = 63

// person reads a verified token.
func (c Config) person(token *oidc.IDToken) (Person, error) {
	who := Person{Subject: token.Issuer + " " + token.Subject}
	var named struct {
		Name          string `json:"name"`
		Username      string `json:"preferred_username"`
		Email         string `json:"email"`
		EmailVerified any    `json:"email_verified"` // some providers send text
	}
	all := map[string]json.RawMessage{}
	if err := token.Claims(&named); err != nil {
		return who, fmt.Errorf("%w: %w", ErrToken, err)
	}
	if err := token.Claims(&all); err != nil {
		return who, fmt.Errorf("%w: %w", ErrToken, err)
	}
	who.Name = strings.ToLower(named.Username)
	if verified := named.EmailVerified == true || named.EmailVerified == "true"; who.Name == "" && verified {
		who.Name = strings.ToLower(named.Email)
	}
	if len(named.Name) <= maxDisplay && !strings.ContainsFunc(named.Name, unicode.IsControl) {
		who.Display = named.Name
	}
	if who.Name == "" {
		return who, fmt.Errorf("%w: there is neither preferred_username nor a verified email in the ID token", ErrNoName)
	}
	if !c.allows(who.Name) {
		return who, ErrNotAllowed
	}
	values := claimed(all, c.Claim)
	if who.Roles, who.Sites = c.rolesAndSites(values); len(who.Roles) == 0 {
		return who, fmt.Errorf("%w: %s is %q", ErrNoRole, c.Claim, values)
	}
	return who, nil
}

// claimed returns the texts of a claim: one or a list. The name may be a path, if there is no
// claim of that name.
func claimed(all map[string]json.RawMessage, name string) []string {
	raw, ok := all[name]
	if first, rest, nested := strings.Cut(name, "."); !ok && nested {
		inside := map[string]json.RawMessage{}
		if json.Unmarshal(all[first], &inside) != nil {
			return nil
		}
		return claimed(inside, rest)
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	return nil
}
