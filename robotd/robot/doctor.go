package robot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"troupe/robotd/identity"
	"troupe/robotd/page"
	"troupe/robotd/renew"
	"troupe/schema/build"
	"troupe/schema/finding"
	"troupe/schema/host"
)

// Computer is what an examination reads of the robot's computer. Tests put a fault into it.
type Computer struct {
	Now          func() time.Time
	Built        time.Time               // when robotd was built; zero: unknown
	Synchronised func() (bool, error)    // whether the computer's clock follows a source
	Load         func() (float64, error) // load average of the last minute
	Processors   int
	Free         func(dir string) uint64 // bytes for files
	Sync         func(*os.File) error
	Find         func(program string) error // whether it is installed
	Sounds       string                     // folder of the sound devices
}

// ThisComputer is the one that the program runs on.
func ThisComputer() Computer {
	return Computer{
		Now: time.Now, Built: build.Time(), Synchronised: host.ClockSynchronised, Load: host.LoadAverage, Processors: runtime.NumCPU(),
		Free: host.FreeBytes, Sync: (*os.File).Sync,
		Find:   func(program string) error { _, err := exec.LookPath(program); return err },
		Sounds: "/dev/snd",
	}
}

const (
	freeEnough = 512 << 20 // bytes: a story with its sounds, and the log
	freeLeast  = 32 << 20
	syncSlow   = 200 * time.Millisecond // each command waits for one write
)

// Examine looks for the usual mistakes in the settings and around them. It changes nothing
// but a file that it removes again, and may run beside robotd. unread is the error of Load.
func Examine(ctx context.Context, c Config, unread error, on Computer) finding.List {
	x := examination{c: c, on: on}
	if unread != nil {
		x.fail("settings", strings.ReplaceAll(unread.Error(), "\n", "; "), "correct them in the file, the environment or the flags that they "+
			"come from; robotd --help lists all. What depends on them was not examined: run this again then")
	} else {
		x.ok("settings", "robot "+c.ID)
	}
	x.clock()
	x.processor()
	if unread != nil {
		return x.found
	}
	x.disk()
	x.identity()
	x.running(ctx)
	for _, url := range append([]string{c.Broker}, c.FallbackBrokers...) {
		x.broker(ctx, url)
	}
	x.adapters(ctx)
	x.sound()
	x.page(ctx)
	return x.found
}

type examination struct {
	c     Config
	on    Computer
	found finding.List

	robotdRuns, connected bool // robotd runs, and has a session with a broker
}

func (x *examination) ok(part, detail string)         { x.found.Add(part, finding.OK, detail, "") }
func (x *examination) warn(part, detail, help string) { x.found.Add(part, finding.Warn, detail, help) }
func (x *examination) fail(part, detail, help string) { x.found.Add(part, finding.Fail, detail, help) }

func (x *examination) clock() {
	now := x.on.Now()
	says := "it is " + now.UTC().Format(time.RFC3339) + ", " + now.In(x.c.zone()).Format("15:04") + " in the time zone " + x.c.zone().String()
	const set = "set the clock and let it follow a source, such as with systemd-timesyncd or chrony"
	fleet, err := identity.LoadFleetTime(x.c.dir())
	following, unknown := x.on.Synchronised()
	switch {
	case now.Before(x.on.Built):
		x.fail("clock", says+", and this robotd was built at "+x.on.Built.UTC().Format(time.RFC3339), set)
	case err == nil && now.Before(fleet.Add(-time.Minute)):
		x.fail("clock", says+", and the fleet's time was "+fleet.UTC().Format(time.RFC3339)+" before", set)
	case unknown != nil:
		x.warn("clock", says+"; whether it follows a source is unknown: "+unknown.Error(), set)
	case !following:
		x.warn("clock", says+", and it follows no source", set)
	default:
		x.ok("clock", says+", and it follows a source")
	}
}

// busyLoad is the load average per processor from which on programs wait so long for their turn
// that robotd and the adapters are late.
const busyLoad = 2

// processor reports how busy the computer is: an adapter that has to wait for a processor is
// silent for robotd, which then stops the robot.
func (x *examination) processor() {
	average, err := x.on.Load()
	says := fmt.Sprintf("load average %.1f in the last minute, %d processors", average, x.on.Processors)
	switch {
	case err != nil:
		x.ok("processor", fmt.Sprintf("%d processors; the load average is unknown: %v", x.on.Processors, err))
	case average > float64(busyLoad*x.on.Processors):
		x.warn("processor", says, "programs wait for a processor, and an adapter that waits is silent for robotd: see with top what runs, and "+
			"start robotd and the adapters with a higher priority (sudo nice -n -5, or Nice=-5 in their services)")
	default:
		x.ok("processor", says)
	}
}

func (x *examination) disk() {
	dir := x.c.dir()
	_, none := os.Stat(dir)
	for at := none; errors.Is(at, fs.ErrNotExist) && dir != filepath.Dir(dir); { // robotd makes the folders above it, too
		dir = filepath.Dir(filepath.Clean(dir))
		_, at = os.Stat(dir)
	}
	took, err := x.write(dir)
	const owner = "give it to the user that runs robotd, or run this as that user"
	switch room := x.on.Free(dir); {
	case errors.Is(err, syscall.EROFS):
		x.fail("disk", "nothing can be written to "+dir+": "+err.Error(),
			"see in the kernel's log (dmesg) why its file system is read-only, and mount it writable; a worn-out card has to be replaced")
	case errors.Is(err, fs.ErrPermission):
		x.fail("disk", "nothing can be written to "+dir+": "+err.Error(), owner)
	case errors.Is(err, syscall.ENOSPC) || err == nil && room < freeLeast:
		x.fail("disk", fmt.Sprintf("%s is full: %d MiB are free", dir, room>>20),
			"make room; the robot refuses commands that it cannot write down, and obeys stops only")
	case err != nil:
		x.fail("disk", err.Error(), "see whether the disk is broken: the kernel's log (dmesg) says")
	case errors.Is(none, fs.ErrNotExist):
		x.warn("disk", "the data directory "+x.c.dir()+" does not exist yet",
			"robotd makes it; if the robot ran before, name its directory with --data")
	case room < freeEnough:
		x.warn("disk", fmt.Sprintf("%d MiB are free in %s", room>>20, dir), "make room for stories with sounds: at least 512 MiB")
	case took > syncSlow:
		x.warn("disk", fmt.Sprintf("writing to %s took %d ms", dir, took.Milliseconds()),
			"each command waits for the disk: use a faster one, or see what else writes to it")
	default:
		x.ok("disk", fmt.Sprintf("%s is written in %d ms, %d MiB are free", dir, took.Milliseconds(), room>>20))
	}
}

// write writes a small file as durably as the journal is written.
func (x *examination) write(dir string) (took time.Duration, err error) {
	began := x.on.Now()
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return 0, err
	}
	_, err = f.Write(make([]byte, 4096))
	err = errors.Join(err, x.on.Sync(f), f.Close(), os.Remove(f.Name()))
	return x.on.Now().Sub(began), err
}

func (x *examination) identity() {
	const again = "make a token with fleetd robot enrol, then robotd enrol --again"
	who, err := identity.Load(x.c.dir())
	switch {
	case errors.Is(err, identity.ErrNone) && !encrypted(x.c.Broker):
		x.ok("identity", "the robot has no certificate; its broker asks for none")
		return
	case errors.Is(err, identity.ErrNone):
		if x.c.Password == "" {
			x.fail("identity", "the robot has neither a certificate nor a password for "+x.c.Broker,
				"make a token with fleetd robot enrol, then robotd enrol; or give --password-file")
			return
		}
		x.ok("identity", "the robot has a password and no certificate")
		return
	case errors.Is(err, fs.ErrPermission):
		x.fail("identity", err.Error(), "run robotd, and this, as the user that enrolled the robot")
		return
	case err != nil:
		x.fail("identity", err.Error(), again)
		return
	}
	leaf, now := who.Leaf(), x.on.Now()
	until := "the certificate of " + who.Robot + " is valid until " + leaf.NotAfter.UTC().Format(time.DateOnly)
	key := filepath.Join(x.c.dir(), "identity", "key.pem")
	switch {
	case readable(key):
		x.fail("identity", "others on this computer may read "+key, "chmod 600 "+key+"; if others have used the computer, enrol the robot anew")
	case now.After(leaf.NotAfter):
		x.fail("identity", "the certificate of "+who.Robot+" expired on "+leaf.NotAfter.UTC().Format(time.DateOnly), again)
	case now.Before(leaf.NotBefore):
		x.fail("identity", "the certificate of "+who.Robot+" is valid only from "+leaf.NotBefore.UTC().Format(time.DateOnly),
			"see whether the clock is right")
	case now.After(renew.Due(renew.Certificate{Robot: who.Robot, Serial: who.Serial(), NotBefore: leaf.NotBefore, NotAfter: leaf.NotAfter}).
		Add(24 * time.Hour)):
		x.warn("identity", until+", and it should have been renewed", "see whether robotd runs and reaches fleetd: robotd renew")
	default:
		x.ok("identity", until)
	}
}

// encrypted reports whether a broker is reached over TLS, where a robot proves who it is.
func encrypted(broker string) bool {
	return strings.HasPrefix(broker, "mqtts://") || strings.HasPrefix(broker, "wss://")
}

// readable reports whether others than its owner may read a file.
func readable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().Perm()&0o077 != 0
}

func (x *examination) sound() {
	const where = "; or let the speaker's adapter run where there is one"
	if _, err := os.Stat(x.on.Sounds); err != nil {
		x.warn("sound", "this computer has no sound device: "+err.Error(), "connect one if the robot's speaker plays here, or it stays silent"+
			where)
		return
	}
	if err := x.on.Find("aplay"); err != nil {
		x.warn("sound", "aplay is not installed", "the adapter of a speaker plays with it: apt-get install alsa-utils"+where)
		return
	}
	x.ok("sound", "there is a device in "+x.on.Sounds)
}

func (x *examination) page(ctx context.Context) {
	at := cmp.Or(x.c.Page.Listen, noPage)
	password := filepath.Join(x.c.dir(), page.PasswordFile)
	switch {
	case at == noPage:
		x.ok("page", "the robot has none")
	case readable(password):
		x.warn("page", "others on this computer may read "+password, "chmod 600 "+password+", and write another password into it")
	case !x.pageAddressUsable(ctx, at):
		x.warn("page", "the address "+at+" is in use by another program", "choose another one with --page")
	case x.robotdRuns:
		x.ok("page", "robotd serves it at http://"+at)
	default:
		x.ok("page", "http://"+at+" is free for robotd")
	}
}

// pageAddressUsable reports whether the page's address is free or that of this robot's page.
func (x *examination) pageAddressUsable(ctx context.Context, at string) bool {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at)
	if err == nil {
		return l.Close() == nil
	}
	return !errors.Is(err, syscall.EADDRINUSE) || page.IsServedAt(ctx, at, x.c.ID)
}
