// Package control decides who drives the robot manually: one holder at a time,
// under a lease that ends.
//
// A lease belongs to a client, and to the person behind it where the client says
// who that is. It ends by its own time, by its holder, when its holder is known to
// be gone, or when somebody of at least the same rank takes over. A robot that
// starts has no holder. A stop never needs a lease and ends none.
//
// It knows neither modes nor motion: it answers whether somebody may, and says
// when a holder changed. What was moved by the old one is stopped elsewhere. Time
// is counted from boot and is an argument; State is comparable.
package control
