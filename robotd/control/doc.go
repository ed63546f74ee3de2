// Package control decides who controls the robot manually: one holder at a time,
// under a lease with an end.
//
// A lease belongs to a client, and to a person if the client names one. It ends
// when it expires, when its holder releases it, when the fleetd that holds it has
// disconnected (the robot does not see the connections of other clients: their
// leases expire), or when a sender of at least the same rank takes over. After boot
// there is no holder. A stop never needs a lease and ends none.
//
// It knows neither modes nor motion: it decides whether a sender may do something
// and reports a change of holder. Motions of the previous holder are stopped
// elsewhere. Time is counted from boot and is an argument; State is comparable.
package control
