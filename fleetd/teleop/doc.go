// Package teleop connects people who drive robots: it takes their frames, lets package drive
// decide, and publishes what the robot gets, on a connection to the broker of its own, so that no
// burst of commands or documents delays a frame. fleetd's heartbeats and live stops go there, too.
//
// Control of a robot is taken, kept and given back with the ordinary commands of the group
// control. This package only knows which lease this instance holds for whom, from the robots'
// answers and states.
package teleop
