package sim

import "troupe/robotd/driver"

// ReadMapIn loads a map into a body with that directory of files.
func ReadMapIn(dir string, m driver.Map) driver.MapResult {
	return New(Config{Assets: dir}).loadMap(m)
}
