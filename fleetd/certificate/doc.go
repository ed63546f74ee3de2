// Package certificate has the certificates of a fleetd instance itself: its server certificate,
// its client certificate for the broker, and the intermediate with which it signs certificates
// of robots. The keys of the fleet lie in a vault.
package certificate
