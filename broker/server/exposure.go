package server

import (
	"fmt"
	"slices"
	"strings"

	"troupe/broker/access"
)

// exposure describes from where a client could connect with a name that it does not have
// to prove.
type exposure struct {
	remote       []string // addresses that other machines can reach
	local        bool     // there are addresses that only this machine can reach
	certificates bool     // robots and fleetd instances can authenticate by certificate
}

func (c *Config) exposure() exposure {
	e := exposure{certificates: c.Files.ClientCA != ""}
	for _, k := range endpointKinds {
		switch addr := *k.addr(c); {
		case addr == "":
		case loopback(addr):
			e.local = true
		default:
			e.remote = append(e.remote, addr)
		}
	}
	return e
}

// checkUsers returns an error if some users cannot authenticate although other machines can
// reach the broker. Refusing such a name at those endpoints is not enough: the person who wrote the
// line expects clients to use the name there, and would take the name for protected.
func (e exposure) checkUsers(users access.Users) error {
	names := users.WithoutCredential(e.certificates)
	if len(e.remote) == 0 || len(names) == 0 {
		return nil
	}
	has := "has"
	if len(names) > 1 {
		has = "have"
	}
	return fmt.Errorf("%s %s no password, and other machines can reach %s: add a hash to the line (broker hash-password); "+
		"robots and fleetd instances may have a certificate instead (--client-ca)",
		strings.Join(names, ", "), has, strings.Join(e.remote, ", "))
}

// impersonable lists the users that any local process can impersonate.
func (e exposure) impersonable(users access.Users) []string {
	if !e.local {
		return nil
	}
	return users.WithoutCredential(false)
}

// requiresProof reports whether a name without a password is refused at this endpoint.
// In-process connections have no endpoint.
func (d *endpoint) requiresProof() bool { return d != nil && !d.local }

// shorten shortens names for the log.
func shorten(names []string) []string {
	const most = 20
	if len(names) <= most {
		return names
	}
	return append(slices.Clone(names[:most]), fmt.Sprintf("and %d more", len(names)-most))
}
