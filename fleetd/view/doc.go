// Package view holds the newest of everything that is known of robots, in memory:
// what the API shows, what the stream of changes reports, and what other parts of
// fleetd ask about robots. Its persister writes it behind into the database.
package view
