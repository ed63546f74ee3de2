// Package view keeps the newest documents of all robots in memory. The API shows them, feeds
// report what changes of them, and other parts of fleetd ask about robots. A persister
// writes them to the database in the background.
package view
