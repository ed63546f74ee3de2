package apply

import (
	"slices"
	"testing"
)

// The text is what systemctl show prints of fleetd.service as the package installs it, with a folder that an administrator
// has added.
func TestUnitIsReadFromSystemd(t *testing.T) {
	u, installed := parseUnit([]byte(`EnvironmentFiles=/etc/troupe/fleetd.env (ignore_errors=yes)
EnvironmentFiles=/etc/default/fleetd (ignore_errors=no)
ReadWritePaths=-/etc/troupe/ca /srv/troupe
PrivateTmp=yes
ProtectHome=yes
ProtectSystem=strict
StateDirectory=troupe/fleetd
LoadState=loaded
`))
	if !installed || !slices.Equal(u.Settings, []string{"/etc/troupe/fleetd.env", "/etc/default/fleetd"}) {
		t.Errorf("%t, %v", installed, u.Settings)
	}
	for path, want := range map[string][2]bool{ // sees, writes
		"/var/lib/troupe/fleetd/db": {true, true}, "/etc/troupe/ca": {true, true}, "/srv/troupe": {true, true},
		"/etc/troupe": {true, false}, "/srv/troupe-2": {true, false}, "/root/keys": {false, false}, "/tmp/x": {false, false},
	} {
		if u.sees(path) != want[0] || u.writes(path) != want[1] {
			t.Errorf("%s: sees %t, writes %t", path, u.sees(path), u.writes(path))
		}
	}
	u, installed = parseUnit(
		[]byte("ReadWritePaths=\nPrivateTmp=no\nProtectHome=no\nProtectSystem=no\nStateDirectory=\nLoadState=not-found\n"))
	if installed || !u.writes("/root") || !u.sees("/root") {
		t.Errorf("of no unit: %t, %v", installed, u)
	}
}
