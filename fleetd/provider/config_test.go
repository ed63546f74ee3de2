package provider

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"troupe/fleetd/auth"
)

func TestParseGrant(t *testing.T) {
	for text, want := range map[string]Grant{
		"guides=operator":             {"guides", auth.Operator, ""},
		"guides=operator@lobby":       {"guides", auth.Operator, "lobby"},
		"cn=ops,ou=groups=viewer@a@b": {"cn=ops,ou=groups", auth.Viewer, "a@b"},
	} {
		if g, err := ParseGrant(text); err != nil || g != want {
			t.Errorf("%s is %+v, %v", text, g, err)
		}
	}
	for text, says := range map[string]string{
		"guides": "write GROUP=ROLE", "=viewer": "write GROUP=ROLE", "guides=boss": "no role", "guides=viewer@": "site is missing",
		"it=admin@lobby": "whole fleet", "it=auditor@lobby": "whole fleet",
	} {
		if _, err := ParseGrant(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v does not say %q", text, err, says)
		}
	}
}

// One group never adds robots to the role of another.
func TestSeveralGroupsGiveTheirRolesAndSites(t *testing.T) {
	c := Config{Grants: []Grant{{"guides", auth.Operator, "lobby"}, {"guides", auth.Operator, "hall"}, {"staff", auth.Viewer, ""},
		{"it", auth.Admin, ""}, {"audit", auth.Auditor, ""}}}
	for _, one := range []struct {
		values []string
		roles  []auth.Role
		sites  []string
	}{
		{[]string{"staff"}, []auth.Role{auth.Viewer}, nil},
		{[]string{"guides", "staff"}, []auth.Role{auth.Operator, auth.Viewer}, []string{"hall", "lobby"}},
		{[]string{"guides", "it"}, []auth.Role{auth.Admin, auth.Operator}, nil},
		{[]string{"guides", "audit"}, []auth.Role{auth.Operator}, []string{"hall", "lobby"}}, // a user with sites cannot be an auditor
		{[]string{"staff", "audit"}, []auth.Role{auth.Auditor, auth.Viewer}, nil},
		{[]string{"choir"}, nil, nil},
	} {
		if roles, sites := c.rolesAndSites(one.values); !reflect.DeepEqual(roles, one.roles) && len(roles)+len(one.roles) > 0 ||
			len(sites) != len(one.sites) || len(sites) > 0 && !reflect.DeepEqual(sites, one.sites) {
			t.Errorf("%v gives %v at %v", one.values, roles, sites)
		}
	}
}

func TestClaimed(t *testing.T) {
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(`{"groups":["a","b"],"role":"c","realm_access":{"roles":["d"]},"https://x.example/roles":["e"],"n":[1]}`), &all); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"groups": "a b", "role": "c", "realm_access.roles": "d", "https://x.example/roles": "e", "n": "",
		"missing": "", "role.inside": "", "realm_access.x": ""} {
		if got := strings.Join(claimed(all, name), " "); got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
}

func TestAllows(t *testing.T) {
	c := Config{Allowed: []string{"Ben", "@Museum.example"}}
	for user, want := range map[string]bool{"ben": true, "anna@museum.example": true, "anna@evil-museum.example": false,
		"anna@museum.example.evil": false, "anna": false} {
		if c.allows(user) != want {
			t.Errorf("%s is allowed: %v", user, !want)
		}
	}
}

func TestIncompleteConfigurationIsRefused(t *testing.T) {
	whole := Config{Issuer: "https://id.example/realm", ClientID: "troupe", Redirect: "https://fleet.example/x",
		Grants: []Grant{{"staff", auth.Viewer, ""}}}
	for says, change := range map[string]func(*Config){
		"":               func(*Config) {},
		"oidc-issuer":    func(c *Config) { c.Issuer = "http://id.example" },
		"oidc-client-id": func(c *Config) { c.ClientID = "" },
		"public-url":     func(c *Config) { c.Redirect = "" },
		"oidc-role":      func(c *Config) { c.Grants = nil },
	} {
		c := whole
		change(&c)
		p, err := New(c, time.Now)
		if says == "" && (err != nil || p.Name() != "id.example") || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("%q: %v", says, err)
		}
	}
}
