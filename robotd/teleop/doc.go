// Package teleop decides how fast the drive is to go while somebody drives it by
// hand, frame by frame.
//
// It is a dead man's handle. A set-point counts for at most 400 ms from the frame
// that it came with; a frame counts only from the holder of control, newer than
// the newest, made by somebody who saw the robot within the last 500 ms, while
// the robot may move. At the beginning of every lease, whenever the robot may not
// move, and when somebody stops it, the stick has to be seen let go before it
// counts: a frame that says zero. Silence says nothing, for frames are lost as well.
// So nothing starts to move because a stick was still pressed when the gate opened,
// when the link came back, or when somebody else took over.
//
// Frames are not answered. What is refused is gathered and told once a second.
// Time is counted from boot and is an argument; State is comparable.
package teleop
