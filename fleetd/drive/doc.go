// Package drive decides what a person who drives a robot through fleetd makes the robot do:
// one session is one person, one robot and one connection.
//
// It is the second of three dead man's switches, between that of the person's own device and
// that of the robot. A session sends frames from its beginning to its end, also while the
// stick is at rest. Without a frame for a moment fleetd stops the robot, and after a while
// gives the person's control of it back. Whatever makes fleetd stop the robot, the stick must
// be released before it moves the robot again, so that no robot starts by itself because a cause went
// away.
//
// The time for which the robot follows one frame depends on its speed and its brakes, and so
// does how fast a person may drive it: the robot stands StandsWithin after the last frame,
// whatever breaks between the person and the robot. The robot has a limit of its own besides.
//
// Time is an argument; State is comparable.
package drive
