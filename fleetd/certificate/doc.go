// Package certificate has the certificates of a fleetd instance itself: the one of its HTTP
// address, its own with the broker, and what it issues the certificates of robots with. The
// keys of the fleet lie in a vault.
package certificate
