package fleet

import (
	"time"

	"troupe/fleetd/publish"
	"troupe/fleetd/replica"
)

// newLeadership makes this instance's part in who leads.
func (f *Fleet) newLeadership() *replica.Leadership {
	return replica.New(replica.Deps{
		Log: f.log, Name: f.cfg.Name, Now: time.Now,
		Store:   func() (replica.Store, error) { return f.Store() },
		Session: func() string { return f.link.Session() },
		Open: func(session string) (replica.Conn, error) {
			c, err := publish.OpenLeaderConn(publish.LeaderConnDeps{
				Log: f.log, Namespace: f.ns, Name: f.cfg.Name, Boot: f.boot, Version: f.cfg.Version, Started: f.started, Now: time.Now, Open: f.open,
				Leads: f.leadership.Leads, Linked: f.leadership.Linked, Foreign: f.leadership.Wake, Disputed: f.disputed,
			}, f.publisher, session)
			if err != nil {
				return nil, err
			}
			return c, nil
		},
	})
}

// newPublisher makes what publishes for all robots.
func (f *Fleet) newPublisher() *publish.Publisher {
	return publish.New(publish.Deps{
		Log: f.log, Namespace: f.ns, Name: f.cfg.Name, Now: time.Now, Leads: f.leadership.Leads, Failed: f.databaseFailed,
		Robots: f.view, Send: f.dispatcher.Send, Changed: f.Changed,
		Writer: func() publish.Writer {
			if c, ok := f.leadership.Conn().(publish.Writer); ok {
				return c
			}
			return nil
		},
	})
}
