package fleet

import (
	"context"
	"time"

	"troupe/fleetd/trust"
)

// openVault opens the fleet's keys, if there are any.
func (f *Fleet) openVault(now time.Time) (err error) {
	f.vault, err = trust.OpenVault(f.cfg.CA, now, f.log)
	return err
}

// makeTrust makes this instance's identity, and what takes that of others away.
func (f *Fleet) makeTrust() {
	f.identity = trust.NewIdentity(trust.IdentityDeps{
		Name: f.cfg.Name, Password: f.cfg.Password, BrokerFiles: f.cfg.BrokerFiles, Vault: f.vault, Certificate: f.certificate,
		RobotBrokers: f.cfg.RobotBrokers, SignKey: f.cfg.SignKey, ReleaseKey: f.cfg.ReleaseKey, Now: time.Now,
	})
	f.revocations = trust.NewRevocationPublisher(trust.RevocationDeps{
		Log: f.log, Namespace: f.ns, Now: time.Now, Vault: f.vault, Leads: f.leadership.Leads, Failed: f.databaseFailed, Whereabouts: f.view.Whereabouts,
		Send: f.dispatcher.Send, Say: f.publisher.Say, Wake: f.publisher.Wake,
		Refresh: func(ctx context.Context) error {
			db, err := f.Store()
			if err != nil {
				return err
			}
			return f.refresh(ctx, db)
		},
	})
}
