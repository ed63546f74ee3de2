-- +goose Up

-- Contents on their way to robots. What people see as one row; its waves and robots have tables of their own.
CREATE TABLE rollouts (
    id          TEXT   PRIMARY KEY,
    version     BIGINT NOT NULL, -- rises with every change of the rollout, its waves or its robots
    name        TEXT   NOT NULL,
    state       TEXT   NOT NULL,
    why         TEXT   NOT NULL,
    cause       TEXT   NOT NULL,
    cause_id    TEXT   NOT NULL, -- the policy, schedule or folder
    topic       TEXT   NOT NULL, -- kind of the desired documents
    content     BYTEA  NOT NULL, -- JSON, resolved
    digest      TEXT   NOT NULL,
    selector    TEXT   NOT NULL,
    spec        BYTEA  NOT NULL, -- JSON, complete
    seed        BIGINT NOT NULL,
    wave        BIGINT NOT NULL,
    total       BIGINT NOT NULL, -- robots
    created_at  BIGINT NOT NULL,
    created_by  TEXT   NOT NULL,
    approved_at BIGINT NOT NULL,
    approved_by TEXT   NOT NULL,
    not_before  BIGINT NOT NULL,
    started_at  BIGINT NOT NULL,
    ended_at    BIGINT NOT NULL, -- 0 = not yet
    next_at     BIGINT NOT NULL  -- when it has to be looked at without any news; 0 = never
);
CREATE INDEX rollouts_open ON rollouts (created_at) WHERE ended_at = 0;
CREATE INDEX rollouts_by_time ON rollouts (created_at);
CREATE INDEX rollouts_by_state ON rollouts (state, created_at);
CREATE INDEX rollouts_by_end ON rollouts (ended_at) WHERE ended_at > 0;
CREATE INDEX rollouts_by_start ON rollouts (topic, started_at);

CREATE TABLE rollout_waves (
    rollout    TEXT   NOT NULL REFERENCES rollouts (id),
    number     BIGINT NOT NULL,
    name       TEXT   NOT NULL,
    state      TEXT   NOT NULL,
    why        TEXT   NOT NULL,
    gate       BYTEA  NOT NULL, -- JSON
    total      BIGINT NOT NULL,
    counts     BYTEA  NOT NULL, -- JSON: robots by state, always equal a recount of rollout_robots
    started_at BIGINT NOT NULL,
    soak_from  BIGINT NOT NULL,
    ended_at   BIGINT NOT NULL,
    PRIMARY KEY (rollout, number)
);

CREATE TABLE rollout_robots (
    rollout    TEXT   NOT NULL REFERENCES rollouts (id),
    robot      TEXT   NOT NULL REFERENCES robots (id),
    wave       BIGINT NOT NULL,
    place      BIGINT NOT NULL, -- in the wave
    state      TEXT   NOT NULL,
    phase      TEXT   NOT NULL,
    why        TEXT   NOT NULL,
    reason     TEXT   NOT NULL, -- groups failures
    rev        BIGINT NOT NULL, -- of the desired document that it was offered; 0 = none yet
    had        BYTEA  NOT NULL, -- JSON of the content before; empty = it was not offered yet
    tries      BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    offered_at BIGINT NOT NULL,
    active_at  BIGINT NOT NULL,
    retry_at   BIGINT NOT NULL,
    spent_us   BIGINT NOT NULL, -- time online in its present phase
    spent_at   BIGINT NOT NULL,
    retry_us   BIGINT NOT NULL, -- the wait before the next try
    PRIMARY KEY (robot, rollout)
);
CREATE INDEX rollout_robots_by_state ON rollout_robots (rollout, state, wave, place);
CREATE INDEX rollout_robots_by_place ON rollout_robots (rollout, wave, place);

-- What people pinned: policies and rollouts leave it as it is.
CREATE TABLE pins (
    robot  TEXT   NOT NULL REFERENCES robots (id),
    topic  TEXT   NOT NULL,
    at     BIGINT NOT NULL,
    by_who TEXT   NOT NULL,
    why    TEXT   NOT NULL,
    PRIMARY KEY (robot, topic)
);
CREATE INDEX pins_by_topic ON pins (topic, robot);
