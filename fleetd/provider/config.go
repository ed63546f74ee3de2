package provider

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"troupe/fleetd/auth"
	"troupe/schema"
)

// Config is how fleetd signs people in with an OpenID Connect provider.
type Config struct {
	Issuer       string // URL; empty: there is no provider
	ClientID     string
	ClientSecret string // empty: a public client, which proves itself with PKCE alone
	Redirect     string // URL to which the provider sends browsers back
	Name         string // of the provider, on the button to sign in; empty: the host of Issuer
	Scopes       []string
	Claim        string // of the ID token, with a person's groups or roles; a path such as realm_access.roles reaches inside
	Grants       []Grant
	// Allowed are the people who may sign in, by user name or as @domain; none = everybody who
	// gets a role.
	Allowed []string
	// Client makes requests of the provider; nil: one with a time limit.
	Client *http.Client
}

// Grant is what a value of the claim gives to a person.
type Grant struct {
	Value string
	Role  auth.Role
	Site  string // empty: every site
}

// ParseGrant reads GROUP=ROLE or GROUP=ROLE@SITE. GROUP, a value of the claim, may contain "=".
func ParseGrant(text string) (Grant, error) {
	at := strings.LastIndex(text, "=")
	if at < 1 {
		return Grant{}, fmt.Errorf("%q: write GROUP=ROLE or GROUP=ROLE@SITE", text)
	}
	role, site, sited := strings.Cut(text[at+1:], "@")
	g := Grant{Value: text[:at], Role: auth.Role(role), Site: site}
	row, known := auth.RoleOf(g.Role)
	switch {
	case !known:
		return g, fmt.Errorf("%q: there is no role %q; write %s", text, role, auth.RolesWith(auth.All))
	case sited && site == "":
		return g, fmt.Errorf("%q: the site is missing after @", text)
	case sited && row.FleetWide:
		return g, fmt.Errorf("%q: the role %s is for the whole fleet; leave out the site", text, role)
	}
	return g, nil
}

// check reports what is wrong with a configuration.
func (c Config) check() error {
	issuer, err := url.Parse(c.Issuer)
	switch {
	case err != nil || issuer.Host == "" || issuer.Scheme != "https" && !(issuer.Scheme == "http" && loopback(issuer.Hostname())):
		return fmt.Errorf("oidc-issuer %q: write the https URL of the provider", schema.PrintableURL(c.Issuer))
	case c.ClientID == "":
		return errors.New("oidc-client-id: write the client id that the provider gave to fleetd")
	case c.Redirect == "":
		return errors.New("public-url: write the URL at which people reach this console; the provider sends them back there")
	case len(c.Grants) == 0:
		return errors.New("oidc-role: nobody would have a role; write GROUP=ROLE at least once")
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// rolesAndSites returns the roles and sites that the values of the claim give. If one of them names a
// site, the person has the named sites only, so that no group adds robots to the role of another, and
// no role that is for the whole fleet, which a user with sites cannot have.
func (c Config) rolesAndSites(values []string) (roles []auth.Role, sites []string) {
	for _, g := range c.Grants {
		if !slices.Contains(values, g.Value) {
			continue
		}
		roles = append(roles, g.Role)
		if g.Site != "" {
			sites = append(sites, g.Site)
		}
	}
	if slices.Contains(roles, auth.Admin) {
		sites = nil // an administrator has every right in the whole fleet
	}
	if len(sites) > 0 {
		roles = slices.DeleteFunc(roles, func(r auth.Role) bool { row, _ := auth.RoleOf(r); return row.FleetWide })
	}
	slices.Sort(roles)
	slices.Sort(sites)
	return slices.Compact(roles), slices.Compact(sites)
}

// allows reports whether a person may sign in.
func (c Config) allows(user string) bool {
	return len(c.Allowed) == 0 || slices.ContainsFunc(c.Allowed, func(one string) bool {
		one = strings.ToLower(one)
		return one == user || strings.HasPrefix(one, "@") && strings.HasSuffix(user, one)
	})
}
