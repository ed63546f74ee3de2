package notifier

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
)

// AddressFilter decides to which addresses notifications may go. Without it, an administrator could make fleetd
// send requests to programs that trust their own machine, and to the metadata service of a cloud.
type AddressFilter struct {
	Allow []netip.Prefix // all the same
	// Interfaces lists the addresses of this machine as they are now; nil = net.InterfaceAddrs.
	Interfaces func() ([]net.Addr, error)
}

// metadata are addresses of metadata services of clouds that are not link-local.
var metadata = []netip.Addr{
	netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("192.0.0.192"), netip.MustParseAddr("168.63.129.16"),
	netip.MustParseAddr("fd00:ec2::254"),
	netip.MustParseAddr("fd20:ce::254"),
}

var (
	thisNetwork = netip.MustParsePrefix("0.0.0.0/8")
	reserved    = netip.MustParsePrefix("240.0.0.0/4") // with the broadcast address
	nat64       = netip.MustParsePrefix("64:ff9b::/96")
	sixToFour   = netip.MustParsePrefix("2002::/16")
	compatible  = netip.MustParsePrefix("::/96")
	translated  = netip.MustParsePrefix("::ffff:0:0:0/96")
	// Both lead to an IPv4 address that cannot be read from them: where it stands is up to the network, or it is that of a relay.
	localNAT64 = netip.MustParsePrefix("64:ff9b:1::/48")
	teredo     = netip.MustParsePrefix("2001::/32")
)

// embedded returns the IPv4 address that an IPv6 address stands for, or the address itself.
func embedded(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if a.Is4() {
		return a
	}
	b := a.As16()
	switch {
	case nat64.Contains(a), translated.Contains(a), compatible.Contains(a) && a != netip.IPv6Loopback() && a != netip.IPv6Unspecified():
		return netip.AddrFrom4([4]byte(b[12:16]))
	case sixToFour.Contains(a):
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return a
}

// Check reports why no notification may go to an address.
func (f AddressFilter) Check(a netip.Addr) error {
	of := embedded(a)
	if slices.ContainsFunc(f.Allow, func(p netip.Prefix) bool { return p.Contains(a.Unmap().WithZone("")) || p.Contains(of) }) {
		return nil
	}
	what := ""
	switch {
	case of.IsLoopback():
		what = "of this machine"
	case of.IsUnspecified(), of.Is4() && thisNetwork.Contains(of):
		what = "of no machine"
	case of.IsLinkLocalUnicast():
		what = "link-local, where clouds have their metadata"
	case of.IsMulticast(), of.Is4() && reserved.Contains(of):
		what = "of many machines or of none"
	case slices.Contains(metadata, of):
		what = "of the metadata service of a cloud"
	case localNAT64.Contains(of), teredo.Contains(of):
		what = "of a translation that hides where it leads"
	default:
		own, err := f.isOwn(of)
		if err != nil || !own {
			return err
		}
		what = "of this machine"
	}
	return &AddressRefused{a, what}
}

// isOwn reports whether an interface of this machine has an address.
func (f AddressFilter) isOwn(a netip.Addr) (bool, error) {
	list := f.Interfaces
	if list == nil {
		list = net.InterfaceAddrs
	}
	all, err := list()
	if err != nil {
		return false, fmt.Errorf("list the addresses of this machine: %w", err)
	}
	return slices.ContainsFunc(all, func(one net.Addr) bool {
		at, ok := one.(*net.IPNet)
		if !ok {
			return false
		}
		own, _ := netip.AddrFromSlice(at.IP)
		return own.Unmap() == a
	}), nil
}

// AddressRefused says why no notification may go to an address.
type AddressRefused struct {
	Address netip.Addr
	what    string
}

func (e *AddressRefused) Error() string {
	return fmt.Sprintf("the address %s is %s: if the receiver is meant, start fleetd with --notify-allow %s", e.Address, e.what, e.Address)
}

// control is for net.Dialer: it runs for the address to which the connection goes, whatever the name resolved to before.
func (f AddressFilter) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("read the address %q: %w", address, err)
	}
	return f.Check(at.Addr())
}
