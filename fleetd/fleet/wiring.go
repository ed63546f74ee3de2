package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/accounts"
	"troupe/fleetd/alerts"
	"troupe/fleetd/audit"
	"troupe/fleetd/auditqueue"
	"troupe/fleetd/auth"
	"troupe/fleetd/certificate"
	"troupe/fleetd/change"
	"troupe/fleetd/command"
	"troupe/fleetd/decommissioner"
	"troupe/fleetd/dispatch"
	"troupe/fleetd/latch"
	"troupe/fleetd/measurer"
	"troupe/fleetd/notifier"
	"troupe/fleetd/provider"
	"troupe/fleetd/publish"
	"troupe/fleetd/records"
	"troupe/fleetd/replica"
	"troupe/fleetd/retained"
	"troupe/fleetd/revocation"
	"troupe/fleetd/rolloutrunner"
	"troupe/fleetd/scheduler"
	"troupe/fleetd/vault"
	"troupe/fleetd/view"
)

// newLeadership makes the leader election.
func (f *Fleet) newLeadership() *replica.Leadership {
	return replica.New(replica.Deps{
		Log: f.log, Name: f.cfg.Name, Now: time.Now,
		Store:   func() (replica.Store, error) { return f.Store() },
		Session: func() string { return f.link.Session() },
		Open: func(session string) (replica.Conn, error) {
			c, err := publish.OpenLeaderConn(publish.LeaderConnDeps{
				Log: f.log, Namespace: f.ns, Name: f.cfg.Name, Boot: f.boot, Version: f.cfg.Version, Started: f.started, Now: time.Now, Open: f.open,
				Leads: f.leadership.Leads, ConnectionChanged: f.leadership.ConnectionChanged, Replaced: f.leadership.Wake,
				RivalSeen: f.health.nameConflictSeen,
			}, f.publisher, session)
			if err != nil {
				return nil, err
			}
			return c, nil
		},
	})
}

// newPublisher makes the publisher of the leader's documents.
func (f *Fleet) newPublisher() *publish.Publisher {
	return publish.New(publish.Deps{
		Log: f.log, Namespace: f.ns, Name: f.cfg.Name, Now: time.Now, Leads: f.leadership.Leads, Failed: f.health.databaseFailed,
		Robots: f.view, Send: f.dispatcher.Send, Changed: f.changed, BeforePart: f.cfg.BeforePart,
		Writer: func() publish.Writer {
			if c, ok := f.leadership.Conn().(publish.Writer); ok {
				return c
			}
			return nil
		},
	})
}

// makeDispatcher makes the dispatcher of commands, the audit of other clients' commands, and
// what ends the commands of instances that are gone.
func (f *Fleet) makeDispatcher() {
	d := dispatch.Deps{
		Log: f.log, Namespace: f.ns, Name: f.cfg.Name, Now: time.Now, Failed: f.health.databaseFailed, Leads: f.leadership.Leads,
		Store:   func() (dispatch.Store, error) { return f.Store() },
		Publish: func(ctx context.Context, m link.Message) error { return f.link.PublishLive(ctx, m) },
		Robots:  f.view, Instances: &f.instances,
		DeferIfReleasing: f.releases.DeferIfReleasing, Settled: f.commandSettled,
	}
	f.auditQueue = auditqueue.New(auditqueue.Deps{Name: f.cfg.Name, Now: time.Now, Failed: f.health.databaseFailed})
	f.dispatcher, f.questions, f.auditor, f.orphanEnder = dispatch.New(d), dispatch.NewQuestions(d), dispatch.NewAuditor(d),
		dispatch.NewOrphanEnder(d)
}

// makeIdentity makes this instance's identity with the broker.
func (f *Fleet) makeIdentity() {
	f.identity = certificate.NewIdentity(certificate.IdentityDeps{
		Name: f.cfg.Name, Password: f.cfg.Password, BrokerFiles: f.cfg.BrokerFiles, Vault: f.vault, Server: f.certificates.robots,
		RobotBrokers: f.cfg.RobotBrokers, SignKey: f.cfg.SignKey, ReleaseKey: f.cfg.ReleaseKey, Now: time.Now, EnrolURL: f.EnrolURL,
	})
}

// makeRevocations makes the publisher of revocations, and what carries out decommissions.
func (f *Fleet) makeRevocations() {
	f.revocations = revocation.New(revocation.Deps{
		Log: f.log, Namespace: f.ns, Now: time.Now, Vault: f.vault, Leads: f.leadership.Leads, Failed: f.health.databaseFailed,
		Enqueue: f.publisher.Enqueue, Wake: f.publisher.Wake,
	})
	f.decommissions = decommissioner.New(decommissioner.Deps{
		Log: f.log, Namespace: f.ns, Name: f.cfg.Name, Now: time.Now, Leads: f.leadership.Leads, Failed: f.health.databaseFailed,
		Connection: f.view.Connection,
		Publish:    func(ctx context.Context, m link.Message) error { return f.link.PublishWait(ctx, m) }, Wake: f.publisher.Wake,
		Refresh: func(ctx context.Context) error {
			db, err := f.Store()
			if err != nil {
				return err
			}
			return f.view.Reload(ctx, db)
		},
	})
}

// newRolloutRunner makes the runner of rollouts.
func (f *Fleet) newRolloutRunner() *rolloutrunner.Runner {
	return rolloutrunner.New(rolloutrunner.Deps{
		Log: f.log, Now: time.Now, Leads: f.leadership.Leads, Failed: f.health.databaseFailed, Save: f.rolloutChanges().Step, Tracer: f.tracer,
		Fleetd: f.view.Fleetd, Robot: f.view.ForRollout, HealthOfOthers: f.view.HealthOfOthers, Windows: f.scheduler.Windows,
	})
}

// newScheduler makes what runs schedules.
func (f *Fleet) newScheduler() *scheduler.Scheduler {
	return scheduler.New(scheduler.Deps{
		Log: f.log, Now: f.Now, Leads: f.leadership.Leads, Failed: f.health.databaseFailed,
		Schedules: &change.Schedules{Deps: f.changes()}, Loaded: f.view.Loaded, Targets: f.view.Targets, Resolve: f.view.Resolve,
		Save: f.dispatcher.Save, Begin: f.dispatcher.Begin, Resume: f.dispatcher.ResumeBatch,
	})
}

// newMeasurer makes what keeps measurements of robots.
func (f *Fleet) newMeasurer() *measurer.Measurer {
	return measurer.New(measurer.Deps{
		Now: time.Now, Leads: f.leadership.Leads, AnotherLeads: f.leadership.AnotherLeads, Failed: f.health.databaseFailed,
		Adopted: f.view.Adopted,
	})
}

// makeNotifier makes what lists alerts and sends notifications about them.
func (f *Fleet) makeNotifier() {
	switch {
	case f.cfg.Notifications.SealKey != "":
		f.notify.sealer = vault.FileSealer(f.cfg.Notifications.SealKey)
	case f.vault != nil:
		f.notify.sealer = f.vault.Sealer()
	default:
		f.notify.sealer = vault.FileSealer(strings.TrimSuffix(f.cfg.Spool, ".stops") + ".seal-key")
	}
	f.notify.alerts = &alerts.Source{
		Now: f.Now, View: f.view, Acks: &change.Alerts{Deps: f.changes()}, Rollouts: f.rolloutChanges(),
		Schedules: &change.Schedules{Deps: f.changes()},
		Backups:   &change.Backups{Deps: f.changes()}, BackupAge: f.cfg.BackupAge, Buttons: f.notify.buttons,
	}
	f.notify.sender = notifier.NewSender(notifier.SenderDeps{
		Now: f.Now, Secrets: f.notificationChanges().Secrets, Filter: notifier.AddressFilter{Allow: f.cfg.Notifications.Allow},
		Link: f.cfg.PublicURL,
	})
	f.notify.notifier = notifier.New(notifier.Deps{
		Log: f.log, Now: f.Now, Leads: f.leadership.Leads, Failed: f.health.databaseFailed, Ready: f.view.Loaded,
		Alerts: f.notify.alerts.ForNotifications,
		SiteOf: func(robot string) string { return f.view.Labels(robot)[auth.SiteLabel] }, Save: f.notificationChanges(),
		Send:   f.notify.sender.Send,
		Tracer: f.tracer,
	})
}

// makeAccounts makes the keeper of users, tokens and sessions, and the provider that signs
// people in.
func (f *Fleet) makeAccounts() (err error) {
	var people *provider.Provider
	if f.cfg.Provider.Issuer != "" {
		if people, err = provider.New(f.cfg.Provider, f.Now); err != nil {
			return err
		}
	}
	beside := strings.TrimSuffix(f.cfg.Spool, ".stops")
	var firstAdmin func(name, password string)
	if f.cfg.FirstAdmin != nil {
		firstAdmin = func(name, password string) { f.cfg.FirstAdmin(name, password, beside+".admin-password") }
	}
	f.accounts = accounts.New(accounts.Deps{
		Log: f.log, Now: f.Now, Changes: &change.Accounts{Deps: f.changes()}, Dev: f.cfg.Dev, Secure: f.certificates.http != nil ||
			f.cfg.BehindProxy,
		FirstAdmin: firstAdmin, ResetAdmin: f.cfg.ResetAdmin, Copy: beside + ".accounts",
		Provider: people, Refused: f.auditQueue.Add,
		Rev: func(ctx context.Context) (int64, error) {
			db, err := f.Store()
			if err != nil {
				return 0, err
			}
			return db.AccountsRev(ctx)
		},
	})
	return nil
}

// newRecords makes the keeper of flight records, in a folder beside the spool.
func (f *Fleet) newRecords() *records.Keeper {
	return records.New(records.Deps{
		Log: f.log, Now: f.Now, Dir: strings.TrimSuffix(f.cfg.Spool, ".stops") + ".records", Note: f.auditQueue.Add,
		Outcome: func(ctx context.Context, id string) (failed bool, why string) {
			db, err := f.Store()
			if err != nil {
				return false, ""
			}
			c, err := db.Command(ctx, id)
			if err != nil || !c.State.Final() || c.State == command.Succeeded {
				return false, "" // what the robot sent says how it ends
			}
			if why = c.Because; c.Answer != nil && c.Answer.Detail != "" {
				why = c.Answer.Detail
			}
			return true, "robot " + c.Robot + " sends no flight record: " + why
		},
	})
}

// openVault opens the folder with the fleet's keys, if there is one.
func (f *Fleet) openVault(now time.Time) (err error) {
	if f.cfg.CA == "" {
		return nil
	}
	if f.vault, err = vault.Open(f.cfg.CA, now); err != nil {
		return fmt.Errorf("the fleet's keys: %w", err)
	}
	if f.vault.HasRootKey() {
		f.log.Warn("the root's key is in the same folder as the intermediate's, so a thief of the folder controls the fleet: move it offline",
			"folder", f.cfg.CA, "file", vault.RootKeyFile)
	}
	return nil
}

// newStops makes the latched stops. It opens the file on this machine where they wait.
func (f *Fleet) newStops() (*latch.Stops, error) {
	return latch.New(latch.Deps{
		Log: f.log, Namespace: f.ns, Name: f.cfg.Name, Spool: f.cfg.Spool, Now: time.Now, Failed: f.health.databaseFailed,
		Leads: f.leadership.Leads, AnotherLeads: f.leadership.AnotherLeads, Instance: f.instances.Has,
		Store:   func() (latch.Store, error) { return f.Store() },
		Session: func() string { return f.link.Session() },
		Publish: func(ctx context.Context, m link.Message) error { return f.link.PublishLive(ctx, m) }, PublishStop: f.publishUrgent,
		Dispatcher: f.dispatcher, Robots: f.view, Releases: &f.releases, WakeOutbox: f.publisher.Wake,
		LiveStopArrived: func() { f.retained.RequestSweep() },
	})
}

// newPersister makes the view's persister. In development mode it adopts unknown robots.
func (f *Fleet) newPersister() *view.Persister {
	d := view.PersisterDeps{
		Now: time.Now, Failed: f.health.databaseFailed, Worked: f.health.databaseWell, Works: f.health.databaseOK,
		Leads: f.leadership.Leads, AnotherLeads: f.leadership.AnotherLeads,
	}
	if f.cfg.Dev {
		adoptions := &change.Adoptions{Deps: f.changes()}
		d.Adopt = func(ctx context.Context, robots []string) error {
			robots = slices.DeleteFunc(robots, func(id string) bool { return f.TakenBy(id) != "" }) // only the API says why such a name is refused
			by := audit.Attribution{Who: f.cfg.Name, Why: "--dev adopts every robot"}
			added, err := adoptions.AdoptAll(ctx, auth.Principal{}, robots, by)
			for _, robot := range added {
				f.log.Info("robot adopted", "robot", robot)
			}
			return err
		}
	}
	return view.NewPersister(f.view, d)
}

// newSweeper makes the sweeper of stray retained messages.
func (f *Fleet) newSweeper() *retained.Sweeper {
	return retained.New(retained.Deps{
		Log: f.log, Namespace: f.ns, Name: f.cfg.Name, Now: time.Now, Leads: f.leadership.Leads,
		Collect:     func(ctx context.Context) ([]link.Message, error) { return retained.Collect(ctx, f.open, f.ns, f.log) },
		Session:     func() string { return f.link.Session() },
		Publish:     func(ctx context.Context, m link.Message) error { return f.link.Publish(ctx, m) },
		PublishWait: func(ctx context.Context, m link.Message) error { return f.link.PublishWait(ctx, m) },
		Robots:      f.view, Stops: f.stops,
	})
}
