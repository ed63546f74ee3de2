package stage

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// An AddressError says why an address cannot be served.
type AddressError struct {
	Of      string // mqtt or http
	Address string
	Why     string
	Taken   bool // another program listens there
}

func (e *AddressError) Error() string {
	return fmt.Sprintf("%s address %s: %s", e.Of, e.Address, e.Why)
}

// checkAddresses checks before anything is started that both addresses can be
// listened on.
func checkAddresses(mqtt, http string) error {
	for _, a := range []struct{ of, address string }{{"mqtt", mqtt}, {"http", http}} {
		if err := checkAddress(a.of, a.address); err != nil {
			return err
		}
	}
	if _, port, _ := net.SplitHostPort(mqtt); mqtt == http && port != "0" {
		return &AddressError{Of: "http", Address: http, Why: "the mqtt address is the same", Taken: true}
	}
	return nil
}

func checkAddress(of, address string) error {
	refuse := func(taken bool, format string, args ...any) error {
		return &AddressError{Of: of, Address: address, Why: fmt.Sprintf(format, args...), Taken: taken}
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return refuse(false, "write it as 127.0.0.1:PORT; port 0 takes a free one")
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return refuse(false, "there are no passwords here, so only this machine is served: use 127.0.0.1")
	}
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return refuse(true, "another program listens there")
	}
	if err != nil {
		return refuse(false, "%v", err)
	}
	return l.Close()
}
