// Package notify decides which notifications people get about alerts and events of the fleet, when, and what they say.
// A receiver is where notifications go; a route says which alerts and events go to which receiver. Step takes what is the
// case at this moment and returns what is due; the caller has the clock, keeps the state, and delivers.
package notify
