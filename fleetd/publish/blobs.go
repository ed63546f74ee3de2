package publish

import (
	"context"
	"errors"
	"sync"
	"time"

	"troupe/broker/link"
	"troupe/fleetd/store"
	"troupe/schema"
)

// fetchGrace is how long a robot may be fetching a blob before it is
// published again: the broker may have lost it.
const fetchGrace = 2 * time.Second

// blobs publishes blobs again for robots that have waited too long for the bytes of a story
// or a set. A robot that is not reachable receives nothing, and is not served before it returns.
type blobs struct {
	deps   Deps
	outbox *outboxPublisher

	mu sync.Mutex
	at map[reportKey]fetching
}

// reportKey is a robot with one of its reports.
type reportKey struct {
	robot string
	on    schema.TopicKind
}

// fetching is the blob that a robot waits for, and since when, or since it was last
// published again.
type fetching struct {
	digest string
	since  time.Time
}

// reported records how far a robot is.
func (b *blobs) reported(k reportKey, phase schema.DeployPhase, digest string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch was, ok := b.at[k]; {
	case phase != schema.DeployFetching || digest == "":
		delete(b.at, k)
	case !ok || was.digest != digest:
		b.at[k] = fetching{digest, now}
	}
}

// due lists the digests that reachable robots have waited for too long, with those robots, and
// restarts their wait.
func (b *blobs) due(now time.Time) map[string][]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.at) == 0 {
		b.at = map[reportKey]fetching{} // a new one: a map whose entries were deleted is as long to walk as it ever was
		return nil
	}
	out := map[string][]string{}
	for k, at := range b.at {
		if now.Sub(at.since) > fetchGrace && b.deps.Robots.Reachable(k.robot) {
			out[at.digest] = append(out[at.digest], k.robot)
			b.at[k] = fetching{at.digest, now}
		}
	}
	return out
}

func (b *blobs) run(ctx context.Context, db Store) {
	look := time.NewTicker(fetchGrace / 4)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-look.C:
			if !b.deps.Leads() {
				continue
			}
			for digest, robots := range b.due(now) {
				b.repeat(ctx, db, digest, robots)
			}
		}
	}
}

func (b *blobs) repeat(ctx context.Context, db Store, digest string, robots []string) {
	body, err := db.Blob(ctx, digest)
	switch {
	case errors.Is(err, store.ErrNotFound):
		if _, err := db.File(ctx, digest); err == nil {
			return // it is too large for a blob; robots fetch it over HTTP
		}
		b.deps.Log.Warn("robots wait for a content that the database does not have; assign them their story or set again", "sha256", digest,
			"robots", robots)
	case err != nil:
		b.deps.Failed("blob not read", err)
	default:
		if err := db.RecordPublishedBlob(ctx, digest); err != nil {
			b.deps.Failed("time of publication of a blob not saved", err)
		}
		b.deps.Log.Info("blob published again", "sha256", digest, "robots", robots)
		b.outbox.enqueue(link.Message{Topic: b.deps.Namespace.Topic(schema.TopicBlob, digest), Payload: body, QoS: 1, Retain: true})
	}
}
