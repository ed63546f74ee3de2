package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"troupe/fleetd/auth"
	"troupe/fleetd/command"
	"troupe/schema"
)

// CommandQuery selects commands; a zero field does not restrict.
type CommandQuery struct {
	Batch string
	Robot string
	State command.State
	Since time.Time // created at or after
	Until time.Time // created before
	Limit int       // 0 = 100
	Sites []string  // of robots with one of these values of the label site; none = of all
}

// AddBatch adds a new batch with its commands. The error is ErrNotFound if a robot is
// unknown, and ErrConflict if an id exists already.
func (t *Tx) AddBatch(ctx context.Context, b command.Batch, commands []command.Command) error {
	args := b.Args
	if args == nil {
		args = map[string]any{}
	}
	text, err := schema.Encode(args)
	if err != nil {
		return fmt.Errorf("write the arguments of batch %s: %w", b.ID, err)
	}
	if _, err := t.exec(ctx, `INSERT INTO batches (id, verb, args, selector, total, created_at, created_by, why, principal) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		b.ID, b.Verb, text, b.Selector, b.Total, micros(b.CreatedAt), b.By, b.Why, b.Principal); err != nil {
		return fmt.Errorf("add batch %s: %w", b.ID, err)
	}
	rows, err := commandRows(commands)
	if err != nil {
		return err
	}
	if _, err := writeRows(ctx, t, rows, newCommandColumns, `INSERT INTO commands (id, batch, robot, verb, payload, created_at, expires_at, owner,
			state, because, sends, sent_at, reached, heard_at, asks, asked_at, answer, ended_at)
		SELECT id, batch, robot, verb, payload, created_at, expires_at, owner,
			state, because, sends, sent_at, reached, heard_at, asks, asked_at, answer, ended_at FROM given`); err != nil {
		return fmt.Errorf("add the %d commands of batch %s: %w", len(commands), b.ID, err)
	}
	t.NoteAs(ctx, b.ID, b.CreatedAt, command.IssuedNote(b, commands))
	return t.noteOutcomes(ctx, commands) // stops may have ended before they are persisted
}

// ConflictError is an ErrConflict of some rows of several: those were not written, all
// others were.
type ConflictError struct{ IDs []string }

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%d rows: %v: %s", len(e.IDs), ErrConflict, strings.Join(e.IDs, " "))
}

func (e *ConflictError) Unwrap() error { return ErrConflict }

// SaveCommands saves the progress of commands. It does not write a command that is final in
// the database already, that another instance owns or that does not exist; the error is then
// a *ConflictError with its id. commands must not hold one id twice.
func (s *Store) SaveCommands(ctx context.Context, commands []command.Command) error {
	rows, err := commandRows(commands)
	if err != nil {
		return err
	}
	var saved []string
	if err := s.plainTx(ctx, func(tx *Tx) (err error) {
		if saved, err = writeReturning(ctx, tx, rows, progressColumns, `UPDATE commands SET payload = given.payload, expires_at = given.expires_at, state = given.state, because = given.because,
				sends = given.sends, sent_at = given.sent_at, reached = given.reached, heard_at = given.heard_at, asks = given.asks,
				asked_at = given.asked_at, answer = given.answer, ended_at = given.ended_at
			FROM given WHERE commands.id = given.id AND commands.owner = given.owner AND commands.ended_at = 0 RETURNING commands.id`); err != nil {
			return err
		}
		slices.Sort(saved)
		return tx.noteOutcomes(ctx, slices.DeleteFunc(slices.Clone(commands), func(c command.Command) bool { return !inSorted(saved, c.ID) }))
	}); err != nil {
		return fmt.Errorf("save %d commands: %w", len(commands), err)
	}
	if len(saved) == len(commands) {
		return nil
	}
	conflict := &ConflictError{}
	for _, c := range commands {
		if !inSorted(saved, c.ID) {
			conflict.IDs = append(conflict.IDs, c.ID)
		}
	}
	return conflict
}

func inSorted(sorted []string, id string) bool {
	_, found := slices.BinarySearch(sorted, id)
	return found
}

// commandRow is a command with its encoded answer.
type commandRow struct {
	command.Command
	answer []byte
}

func commandRows(commands []command.Command) ([]commandRow, error) {
	rows := make([]commandRow, len(commands))
	for i, c := range commands {
		answer, err := encodeAnswer(c.Answer)
		if err != nil {
			return nil, fmt.Errorf("write the answer to %s: %w", c.ID, err)
		}
		rows[i] = commandRow{c, answer}
	}
	return rows, nil
}

var (
	// progressColumns are the key of a command, and what changes after it was added. The columns
	// heard_at, asks and asked_at have the names of an earlier release: AnsweredAt, Queries, QueriedAt.
	progressColumns = []column[commandRow]{
		binary("payload", func(c commandRow) []byte { return c.Payload }),
		number("expires_at", func(c commandRow) int64 { return micros(c.ExpiresAt) }),
		text("id", func(c commandRow) string { return c.ID }),
		text("owner", func(c commandRow) string { return c.Owner }),
		text("state", func(c commandRow) string { return string(c.State) }),
		text("because", func(c commandRow) string { return c.Because }),
		number("sends", func(c commandRow) int64 { return int64(c.Sends) }),
		number("sent_at", func(c commandRow) int64 { return micros(c.SentAt) }),
		number("reached", func(c commandRow) int64 { return boolToInt(c.Reached) }),
		number("heard_at", func(c commandRow) int64 { return micros(c.AnsweredAt) }),
		number("asks", func(c commandRow) int64 { return int64(c.Queries) }),
		number("asked_at", func(c commandRow) int64 { return micros(c.QueriedAt) }),
		binary("answer", func(c commandRow) []byte { return c.answer }),
		number("ended_at", func(c commandRow) int64 { return micros(c.EndedAt) }),
	}
	newCommandColumns = slices.Concat(progressColumns, []column[commandRow]{
		text("batch", func(c commandRow) string { return c.Batch }),
		text("robot", func(c commandRow) string { return c.Robot }),
		text("verb", func(c commandRow) string { return c.Verb }),
		number("created_at", func(c commandRow) int64 { return micros(c.CreatedAt) }),
	})
)

func encodeAnswer(a *schema.Ack) ([]byte, error) {
	if a == nil {
		return []byte{}, nil
	}
	return schema.Encode(a)
}

const selectCommands = `SELECT id, batch, robot, verb, payload, created_at, expires_at, state, because, sends, sent_at, reached,
	heard_at, asks, asked_at, answer, ended_at, owner FROM commands`

func scanCommand(scan func(...any) error) (command.Command, error) {
	var c command.Command
	var created, expires, sent, reached, answered, asked, ended int64
	var answer []byte
	err := scan(&c.ID, &c.Batch, &c.Robot, &c.Verb, &c.Payload, &created, &expires, &c.State, &c.Because, &c.Sends, &sent, &reached,
		&answered, &c.Queries, &asked, &answer, &ended, &c.Owner)
	if err != nil {
		return c, err
	}
	c.CreatedAt, c.ExpiresAt, c.SentAt, c.Reached = timeOf(created), timeOf(expires), timeOf(sent), reached == 1
	c.AnsweredAt, c.QueriedAt, c.EndedAt, c.Payload = timeOf(answered), timeOf(asked), timeOf(ended), nilIfEmpty(c.Payload)
	if len(answer) > 0 {
		a, problems := schema.Decode[schema.Ack](answer)
		if len(problems) > 0 {
			return c, fmt.Errorf("read the answer to %s: %v", c.ID, problems[0])
		}
		c.Answer = &a
	}
	return c, nil
}

// Command returns one command, or ErrNotFound.
func (r reads) Command(ctx context.Context, id string) (command.Command, error) {
	c, err := queryOne(ctx, r, scanCommand, selectCommands+" WHERE id = $1", id)
	if err != nil {
		return c, fmt.Errorf("command %s: %w", id, err)
	}
	return c, nil
}

// Commands lists commands, the newest first.
func (r reads) Commands(ctx context.Context, q CommandQuery) ([]command.Command, error) {
	var w where
	w.addIf(q.Batch != "", "batch = %s", q.Batch)
	w.addIf(q.Robot != "", "robot = %s", q.Robot)
	w.addIf(q.State != "", "state = %s", string(q.State))
	w.addIf(!q.Since.IsZero(), "created_at >= %s", micros(q.Since))
	w.addIf(!q.Until.IsZero(), "created_at < %s", micros(q.Until))
	w.addSites(q.Sites)
	query := selectCommands + w.String() + " ORDER BY created_at DESC, id DESC LIMIT " + w.arg(limitOf(q.Limit))
	all, err := queryAll(ctx, r, scanCommand, query, w.args...)
	if err != nil {
		return nil, fmt.Errorf("list commands: %w", err)
	}
	return all, nil
}

// OpenCommands lists the commands of an instance that were created at or after then and are
// not final, the oldest first: it continues them after a restart.
func (r reads) OpenCommands(ctx context.Context, owner string, then time.Time) ([]command.Command, error) {
	all, err := queryAll(ctx, r, scanCommand, selectCommands+" WHERE ended_at = 0 AND owner = $1 AND created_at >= $2 ORDER BY created_at, id",
		owner, micros(then))
	if err != nil {
		return nil, fmt.Errorf("list open commands: %w", err)
	}
	return all, nil
}

// CommandsByID lists those of these commands that exist.
func (r reads) CommandsByID(ctx context.Context, ids []string) ([]command.Command, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var w where
	w.addNamed("id", ids)
	all, err := queryAll(ctx, r, scanCommand, selectCommands+w.String()+" ORDER BY created_at, id", w.args...)
	if err != nil {
		return nil, fmt.Errorf("read commands: %w", err)
	}
	return all, nil
}

// OpenCommandsOfOthers is OpenCommands for all other instances.
func (r reads) OpenCommandsOfOthers(ctx context.Context, owner string, then time.Time) ([]command.Command, error) {
	all, err := queryAll(ctx, r, scanCommand,
		selectCommands+" WHERE ended_at = 0 AND owner <> $1 AND created_at >= $2 ORDER BY created_at, id", owner, micros(then))
	if err != nil {
		return nil, fmt.Errorf("list open commands of other fleetd instances: %w", err)
	}
	return all, nil
}

func scanBatch(scan func(...any) error) (command.Batch, error) {
	var b command.Batch
	var created int64
	var args []byte
	if err := scan(&b.ID, &b.Verb, &args, &b.Selector, &b.Total, &created, &b.By, &b.Why, &b.Principal); err != nil {
		return b, err
	}
	b.CreatedAt = timeOf(created)
	if err := json.Unmarshal(args, &b.Args); err != nil {
		return b, fmt.Errorf("read the arguments of batch %s: %w", b.ID, err)
	}
	return b, nil
}

const selectBatches = `SELECT id, verb, args, selector, total, created_at, created_by, why, principal FROM batches`

// Batch returns one batch, or ErrNotFound.
func (r reads) Batch(ctx context.Context, id string) (command.Batch, error) {
	b, err := queryOne(ctx, r, scanBatch, selectBatches+" WHERE id = $1", id)
	if err != nil {
		return b, fmt.Errorf("batch %s: %w", id, err)
	}
	return b, nil
}

// BatchQuery selects batches; a zero field does not restrict.
type BatchQuery struct {
	Limit int      // 0 = 100
	Sites []string // with commands to robots with one of these values of the label site, of which Total is the number; none = all
}

// Batches lists the newest batches, the newest first.
func (r reads) Batches(ctx context.Context, q BatchQuery) ([]command.Batch, error) {
	var w where
	columns := selectBatches
	if len(q.Sites) > 0 {
		of := where{conditions: []string{"c.batch = batches.id"}}
		of.addIf(true, "l.key = %s", auth.SiteLabel)
		of.addIn("l.value", q.Sites)
		count := "(SELECT COUNT(*) FROM commands c JOIN labels l ON l.robot = c.robot" + of.String() + ")"
		columns = strings.Replace(selectBatches, "total", count, 1)
		w = where{conditions: []string{count + " > 0"}, args: of.args}
	}
	all, err := queryAll(ctx, r, scanBatch, columns+w.String()+" ORDER BY created_at DESC, id DESC LIMIT "+w.arg(limitOf(q.Limit)), w.args...)
	if err != nil {
		return nil, fmt.Errorf("list batches: %w", err)
	}
	return all, nil
}

// BatchesByID lists those of these batches that exist.
func (r reads) BatchesByID(ctx context.Context, ids []string) ([]command.Batch, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var w where
	w.addNamed("id", ids)
	all, err := queryAll(ctx, r, scanBatch, selectBatches+w.String(), w.args...)
	if err != nil {
		return nil, fmt.Errorf("read batches: %w", err)
	}
	return all, nil
}
