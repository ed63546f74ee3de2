package schema

// What a broker takes of one robot, answers, stops and presence excepted. It leaves
// out what is above and says so; a robot keeps below it by itself.
const (
	RobotMessages = 50       // a second
	RobotBytes    = 64 << 10 // a second, topics and payloads

	// How many seconds' worth of either may come at once. All documents of a robot
	// together are less.
	RobotMessagesBurst = 2
	RobotBytesBurst    = 4
)
