// Package soak runs one robot, one fleetd and a broker in one process and in fake
// time. A seed decides which messages are lost, duplicated or delayed, and which
// connections and programs are cut, restarted or taken over. Then the tests check
// the promises:
//
//   - the robot reports what the fleet desires,
//   - every command that reached the robot got exactly one final answer, and had
//     its effect at most once,
//   - the robot missed no stop of fleetd.
//
// The seed decides each fault from the connection, the topic and the number of the
// message on it. It also decides the nanosecond in which each packet arrives, so
// that the effects of one packet have happened before the next one arrives. The
// incidents, the ends of the robot's writes and the ticks of fleetd's parts have
// instants of their own, too. Within one instant the scheduler decides, and the
// programs' behaviour must not depend on it: every twentieth seed runs twice, and
// the packets of both runs have to be the same.
package soak
