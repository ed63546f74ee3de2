// Package fleet is fleetd put together: database, link to the robots, HTTP
// and the loops between them.
//
// It decides nothing about stories, commands or presence; those rooms do. It
// carries: what robots say into the view (the newest of everything, in memory)
// and behind it into the database; desired documents from the database to the broker;
// commands through their states; fleetd's own sign of life, every second.
//
// The database is the truth and the broker is a wire: whatever fleetd owns
// there is published anew at every connect. Without the database robots go on
// and stops work; without the broker fleetd says that it knows nothing.
package fleet
