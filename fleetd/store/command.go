package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"troupe/fleetd/command"
	"troupe/schema"
)

// CommandQuery says which commands: zero values do not restrict.
type CommandQuery struct {
	Batch string
	Robot string
	State command.State
	Since time.Time // made at or after
	Until time.Time // made before
	Limit int       // 0 = 100
}

// AddBatch keeps a batch and its commands, all new. A robot that is not known
// makes it ErrNotFound, an id that is taken ErrConflict.
func (t *Tx) AddBatch(ctx context.Context, b command.Batch, commands []command.Command) error {
	args := b.Args
	if args == nil {
		args = map[string]any{}
	}
	text, err := schema.Encode(args)
	if err != nil {
		return fmt.Errorf("write the arguments of batch %s: %w", b.ID, err)
	}
	if _, err := t.exec(ctx, `INSERT INTO batches (id, verb, args, selector, total, created_at, created_by, why) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		b.ID, b.Verb, text, b.Selector, b.Total, micros(b.CreatedAt), b.By, b.Why); err != nil {
		return fmt.Errorf("add batch %s: %w", b.ID, err)
	}
	for _, c := range commands {
		answer, err := encodeAnswer(c.Answer)
		if err != nil {
			return err
		}
		if _, err := t.exec(ctx, `INSERT INTO commands (id, batch, robot, verb, payload, created_at, expires_at,
				state, because, sends, sent_at, reached, heard_at, asks, asked_at, answer, ended_at, owner)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)`,
			c.ID, c.Batch, c.Robot, c.Verb, bytesOf(c.Payload), micros(c.CreatedAt), micros(c.ExpiresAt),
			string(c.State), c.Because, c.Sends, micros(c.SentAt), flag(c.Reached), micros(c.HeardAt), c.Asks, micros(c.AskedAt), answer, micros(c.EndedAt), c.Owner); err != nil {
			return fmt.Errorf("add command %s to %s: %w", c.ID, c.Robot, err)
		}
	}
	return nil
}

// SaveCommands writes how far commands are. One that is final in the database
// already, another instance's, or not there, makes it ErrConflict, and nothing is
// written.
func (s *Store) SaveCommands(ctx context.Context, commands []command.Command) error {
	return s.batch(ctx, func(tx *Tx) error {
		for _, c := range commands {
			answer, err := encodeAnswer(c.Answer)
			if err != nil {
				return err
			}
			n, err := tx.exec(ctx, `UPDATE commands SET state = $2, because = $3, sends = $4, sent_at = $5, reached = $6,
					heard_at = $7, asks = $8, asked_at = $9, answer = $10, ended_at = $11 WHERE id = $1 AND owner = $12 AND ended_at = 0`,
				c.ID, string(c.State), c.Because, c.Sends, micros(c.SentAt), flag(c.Reached),
				micros(c.HeardAt), c.Asks, micros(c.AskedAt), answer, micros(c.EndedAt), c.Owner)
			if err := expectOne(n, err, "command "+c.ID); err != nil {
				return err
			}
		}
		return nil
	})
}

func encodeAnswer(a *schema.Ack) ([]byte, error) {
	if a == nil {
		return []byte{}, nil
	}
	return schema.Encode(a)
}

const commandColumns = `SELECT id, batch, robot, verb, payload, created_at, expires_at, state, because, sends, sent_at, reached,
	heard_at, asks, asked_at, answer, ended_at, owner FROM commands`

func scanCommand(scan func(...any) error) (command.Command, error) {
	var c command.Command
	var created, expires, sent, reached, heard, asked, ended int64
	var answer []byte
	err := scan(&c.ID, &c.Batch, &c.Robot, &c.Verb, &c.Payload, &created, &expires, &c.State, &c.Because, &c.Sends, &sent, &reached,
		&heard, &c.Asks, &asked, &answer, &ended, &c.Owner)
	if err != nil {
		return c, err
	}
	c.CreatedAt, c.ExpiresAt, c.SentAt, c.Reached = timeOf(created), timeOf(expires), timeOf(sent), reached == 1
	c.HeardAt, c.AskedAt, c.EndedAt, c.Payload = timeOf(heard), timeOf(asked), timeOf(ended), filled(c.Payload)
	if len(answer) > 0 {
		a, problems := schema.Decode[schema.Ack](answer)
		if len(problems) > 0 {
			return c, fmt.Errorf("read the answer to %s: %v", c.ID, problems[0])
		}
		c.Answer = &a
	}
	return c, nil
}

// Command finds one command, or answers ErrNotFound.
func (r reads) Command(ctx context.Context, id string) (command.Command, error) {
	c, err := one(ctx, r, scanCommand, commandColumns+" WHERE id = $1", id)
	if err != nil {
		return c, fmt.Errorf("command %s: %w", id, err)
	}
	return c, nil
}

// Commands lists commands, the newest first.
func (r reads) Commands(ctx context.Context, q CommandQuery) ([]command.Command, error) {
	var w where
	w.when(q.Batch != "", "batch = %s", q.Batch)
	w.when(q.Robot != "", "robot = %s", q.Robot)
	w.when(q.State != "", "state = %s", string(q.State))
	w.when(!q.Since.IsZero(), "created_at >= %s", micros(q.Since))
	w.when(!q.Until.IsZero(), "created_at < %s", micros(q.Until))
	query := commandColumns + w.String() + " ORDER BY created_at DESC, id DESC LIMIT " + w.arg(atMost(q.Limit))
	all, err := list(ctx, r, scanCommand, query, w.args...)
	if err != nil {
		return nil, fmt.Errorf("list commands: %w", err)
	}
	return all, nil
}

// OpenCommands lists the commands of a fleetd instance made at or after then that are not
// final, the oldest first: what it drives on after a restart.
func (r reads) OpenCommands(ctx context.Context, owner string, then time.Time) ([]command.Command, error) {
	all, err := list(ctx, r, scanCommand, commandColumns+" WHERE ended_at = 0 AND owner = $1 AND created_at >= $2 ORDER BY created_at, id", owner, micros(then))
	if err != nil {
		return nil, fmt.Errorf("list open commands: %w", err)
	}
	return all, nil
}

// CommandsByID lists the commands of these ids that there are.
func (r reads) CommandsByID(ctx context.Context, ids []string) ([]command.Command, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var w where
	places := make([]string, len(ids))
	for i, id := range ids {
		places[i] = w.arg(id)
	}
	all, err := list(ctx, r, scanCommand, commandColumns+" WHERE id IN ("+strings.Join(places, ", ")+") ORDER BY created_at, id", w.args...)
	if err != nil {
		return nil, fmt.Errorf("read commands: %w", err)
	}
	return all, nil
}

// OthersCommands are those of all fleetd instances but this one, likewise.
func (r reads) OthersCommands(ctx context.Context, owner string, then time.Time) ([]command.Command, error) {
	all, err := list(ctx, r, scanCommand, commandColumns+" WHERE ended_at = 0 AND owner <> $1 AND created_at >= $2 ORDER BY created_at, id", owner, micros(then))
	if err != nil {
		return nil, fmt.Errorf("list open commands of other fleetd instances: %w", err)
	}
	return all, nil
}

func scanBatch(scan func(...any) error) (command.Batch, error) {
	var b command.Batch
	var created int64
	var args []byte
	if err := scan(&b.ID, &b.Verb, &args, &b.Selector, &b.Total, &created, &b.By, &b.Why); err != nil {
		return b, err
	}
	b.CreatedAt = timeOf(created)
	if err := json.Unmarshal(args, &b.Args); err != nil {
		return b, fmt.Errorf("read the arguments of batch %s: %w", b.ID, err)
	}
	return b, nil
}

const batchColumns = `SELECT id, verb, args, selector, total, created_at, created_by, why FROM batches`

// Batch finds one batch, or answers ErrNotFound.
func (r reads) Batch(ctx context.Context, id string) (command.Batch, error) {
	b, err := one(ctx, r, scanBatch, batchColumns+" WHERE id = $1", id)
	if err != nil {
		return b, fmt.Errorf("batch %s: %w", id, err)
	}
	return b, nil
}

// Batches lists the newest batches, the newest first; limit 0 = 100.
func (r reads) Batches(ctx context.Context, limit int) ([]command.Batch, error) {
	all, err := list(ctx, r, scanBatch, batchColumns+" ORDER BY created_at DESC, id DESC LIMIT $1", atMost(limit))
	if err != nil {
		return nil, fmt.Errorf("list batches: %w", err)
	}
	return all, nil
}
