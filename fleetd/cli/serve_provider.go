package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"

	"troupe/fleetd/provider"
)

// providerFlags adds the settings of the OpenID Connect provider.
func providerFlags(f *pflag.FlagSet) {
	f.String("public-url", "", "URL at which people reach the console, such as https://fleet.example; below a path, which the proxy takes "+
		"away, with it; requests may carry its host")
	f.String("oidc-issuer", "", "URL of an OpenID Connect provider with which people also sign in")
	f.String("oidc-name", "", "name of the provider on the button to sign in; default: its host")
	f.String("oidc-client-id", "", "what the provider calls fleetd")
	f.String("oidc-client-secret-file", "", "file with the secret that the provider gave to fleetd; default: none, PKCE only")
	f.StringSlice("oidc-scope", []string{"openid", "profile", "email"},
		"what fleetd asks of the provider; some give groups only with the scope groups")
	f.String("oidc-claim", "groups", "claim of the ID token with a person's groups or roles; a.b is b inside a")
	f.StringArray("oidc-role", nil, "role that a group gives: GROUP=ROLE, or GROUP=ROLE@SITE for one site; may be repeated")
	f.StringSlice("oidc-allow", nil, "who may sign in: names as the provider gives them (preferred_username, or else the verified email), "+
		"or @domain for all names that end with it; default: everybody whose groups give a role")
}

// providerConfig reads these settings.
func providerConfig(k *koanf.Koanf) (c provider.Config, err error) {
	c = provider.Config{
		Issuer: k.String("oidc-issuer"), ClientID: k.String("oidc-client-id"), Name: k.String("oidc-name"),
		Scopes: stringList(k, "oidc-scope"), Claim: k.String("oidc-claim"), Allowed: stringList(k, "oidc-allow"),
	}
	for _, text := range stringList(k, "oidc-role") {
		g, err := provider.ParseGrant(text)
		if err != nil {
			return c, usage("oidc-role %v", err)
		}
		c.Grants = append(c.Grants, g)
	}
	if path := k.String("oidc-client-secret-file"); path != "" {
		secret, err := os.ReadFile(path)
		if err != nil {
			return c, fmt.Errorf("read the client secret: %w", err)
		}
		c.ClientSecret = strings.TrimSpace(string(secret))
	}
	return c, nil
}
