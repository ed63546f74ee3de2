// Package trust is what fleetd shows, issues and takes away: the certificate of its
// own address, its identity with the broker, the certificates of robots, the list of
// the revoked, and the steps by which a robot leaves the fleet.
package trust
