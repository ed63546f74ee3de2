package robot

import (
	"cmp"
	"os"
	"strings"
	"time"

	"troupe/schema"
)

// zone returns the robot's time zone: that of its settings, else that of the computer.
func (c *Config) zone() *time.Location {
	if zone, err := schema.ZoneOf(cmp.Or(c.TimeZone, computerZone())); err == nil {
		return zone
	}
	return time.Local
}

// computerZone returns the name of the computer's time zone; empty if it has none.
func computerZone() string {
	if name := os.Getenv("TZ"); name != "" {
		return strings.TrimPrefix(name, ":")
	}
	file, err := os.Readlink("/etc/localtime") // such as /usr/share/zoneinfo/Europe/Berlin
	if err != nil {
		return ""
	}
	_, name, _ := strings.Cut(file, "zoneinfo/")
	return name
}
