package server

import (
	"fmt"
	"slices"
	"strings"

	"troupe/broker/access"
)

// exposure is where somebody could come who gives a name and proves it by nothing.
type exposure struct {
	beyond       []string // addresses that others than this machine reach
	local        bool     // there are others
	certificates bool     // a robot or a fleetd instance can prove its name by one
}

func (c *Config) exposure() exposure {
	e := exposure{certificates: c.Files.ClientCA != ""}
	for _, k := range kinds {
		switch addr := *k.addr(c); {
		case addr == "":
		case loopback(addr):
			e.local = true
		default:
			e.beyond = append(e.beyond, addr)
		}
	}
	return e
}

// unproven is what is wrong with users of whom some can prove their names by
// nothing, though others than this machine reach the broker. That such a name is
// refused at those doors is not enough: the line is there so that somebody comes
// by it, and whoever wrote it would take it for a protected one.
func (e exposure) unproven(users access.Users) error {
	names := users.WithoutCredential(e.certificates)
	if len(e.beyond) == 0 || len(names) == 0 {
		return nil
	}
	has := "has"
	if len(names) > 1 {
		has = "have"
	}
	return fmt.Errorf("%s %s no password, and others than this machine reach %s: write a hash into the line (broker hash-password); robots and fleetd instances may have a certificate instead (--client-ca)",
		strings.Join(names, ", "), has, strings.Join(e.beyond, ", "))
}

// byNameAlone lists whom anybody on this machine may call himself.
func (e exposure) byNameAlone(users access.Users) []string {
	if !e.local {
		return nil
	}
	return users.WithoutCredential(false)
}

// asksProof reports whether a name without a password is not enough at this door.
// Within the process there is none.
func (d *endpoint) asksProof() bool { return d != nil && !d.local }

// listed is names for a log: the first of them, if there are many.
func listed(names []string) []string {
	const most = 20
	if len(names) <= most {
		return names
	}
	return append(slices.Clone(names[:most]), fmt.Sprintf("and %d more", len(names)-most))
}
