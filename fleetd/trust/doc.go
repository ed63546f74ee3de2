// Package trust manages certificates: the one of fleetd's address, fleetd's own with the
// broker, and what robots' certificates are issued with. It publishes the revocation list,
// and leads robots out of the fleet step by step.
package trust
