package store

import (
	"context"
	"fmt"

	"troupe/fleetd/content"
	"troupe/fleetd/policy"
	"troupe/fleetd/selector"
	"troupe/schema"
)

const selectPolicies = `SELECT id, version, place, selector, content, enabled, rollout, owner, changed_at, changed_by, why FROM policies`

func scanPolicy(scan func(...any) error) (p policy.Policy, err error) {
	var robots, body []byte
	var place, enabled, changed int64
	if err := scan(&p.ID, &p.Version, &place, &robots, &body, &enabled, &p.Rollout, &p.Owner, &changed, &p.ChangedBy, &p.Why); err != nil {
		return p, err
	}
	p.Place, p.Enabled, p.ChangedAt = int(place), enabled == 1, timeOf(changed)
	if p.Selector, err = decodeColumn[selector.Selector](robots, "selector", "policy "+p.ID); err != nil {
		return p, err
	}
	p.Content, err = decodeColumn[content.Content](body, "content", "policy "+p.ID)
	return p, err
}

// Policies lists the policies about one kind of document, or all if topic is empty, in the order in which they decide.
func (r reads) Policies(ctx context.Context, topic schema.TopicKind) ([]policy.Policy, error) {
	var w where
	w.addIf(topic != "", "topic = %s", string(topic))
	all, err := queryAll(ctx, r, scanPolicy, selectPolicies+w.String()+" ORDER BY topic, place, id", w.args...)
	if err != nil {
		return nil, fmt.Errorf("list policies: %w", err)
	}
	return all, nil
}

// Policy returns one policy, or ErrNotFound.
func (r reads) Policy(ctx context.Context, id string) (policy.Policy, error) {
	p, err := queryOne(ctx, r, scanPolicy, selectPolicies+" WHERE id = $1", id)
	if err != nil {
		return p, fmt.Errorf("policy %s: %w", id, err)
	}
	return p, nil
}

// SavePolicy writes a policy over the version before its own. If the database has another one, the error is ErrConflict.
func (t *Tx) SavePolicy(ctx context.Context, p policy.Policy) error {
	robots, err := schema.Encode(p.Selector)
	if err != nil {
		return fmt.Errorf("write the selector of policy %s: %w", p.ID, err)
	}
	body, err := schema.Encode(p.Content)
	if err != nil {
		return fmt.Errorf("write the content of policy %s: %w", p.ID, err)
	}
	n, err := t.exec(ctx, `INSERT INTO policies (id, version, place, selector, topic, content, enabled, rollout, owner, changed_at, changed_by, why)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (id) DO UPDATE SET version = excluded.version, place = excluded.place, selector = excluded.selector, topic = excluded.topic,
			content = excluded.content, enabled = excluded.enabled, rollout = excluded.rollout, owner = excluded.owner, changed_at = excluded.changed_at,
			changed_by = excluded.changed_by, why = excluded.why
		WHERE policies.version = excluded.version - 1`,
		p.ID, p.Version, p.Place, robots, string(p.Topic()), body, boolToInt(p.Enabled), p.Rollout, p.Owner, micros(p.ChangedAt),
		p.ChangedBy, p.Why)
	return expectOne(n, err, "policy "+p.ID)
}

// SetPolicyRollout records the rollout that brings what a policy says to its robots. It is no new version of the policy.
func (t *Tx) SetPolicyRollout(ctx context.Context, id, rollout string) error {
	n, err := t.exec(ctx, `UPDATE policies SET rollout = $2 WHERE id = $1`, id, rollout)
	return expectOne(n, err, "policy "+id)
}

// DeletePolicy deletes this version of a policy, or returns ErrConflict.
func (t *Tx) DeletePolicy(ctx context.Context, p policy.Policy) error {
	n, err := t.exec(ctx, `DELETE FROM policies WHERE id = $1 AND version = $2`, p.ID, p.Version)
	return expectOne(n, err, "policy "+p.ID)
}
