CREATE SCHEMA IF NOT EXISTS trading;

CREATE TABLE trading.version (
	version    integer NOT NULL,
	min_reader integer NOT NULL, -- the oldest format that may still read and append
	at         timestamptz NOT NULL DEFAULT now()
);

-- Who holds a journal. The times are for people: nothing is decided by them.
CREATE TABLE trading.lease (
	name       text PRIMARY KEY,
	epoch      bigint  NOT NULL DEFAULT 0,    -- raised by each taking
	beat       bigint  NOT NULL DEFAULT 0,    -- raised by each renewal
	seq        bigint  NOT NULL DEFAULT 0,    -- how many records were appended
	holder     text    NOT NULL DEFAULT '',   -- random for each process
	place      text    NOT NULL DEFAULT '',   -- its machine and process, for people
	released   boolean NOT NULL DEFAULT true, -- handed over in order
	gap        boolean NOT NULL DEFAULT false, -- something may be missing that was pending
	halt       text,                          -- why entries are refused; null if they are not
	lease_ms   bigint  NOT NULL DEFAULT 0,    -- how long the holder may be silent
	digest     text    NOT NULL DEFAULT '',   -- what holders must agree on
	timeline   bigint  NOT NULL DEFAULT 0,    -- of the server at the last taking
	lost_at    timestamptz,                   -- when a taking found another timeline
	taken_at   timestamptz,
	renewed_at timestamptz
);

-- An account is of one lease.
CREATE TABLE trading.account (
	base_url text NOT NULL,
	account  text NOT NULL,
	lease    text NOT NULL REFERENCES trading.lease (name),
	PRIMARY KEY (base_url, account)
);

CREATE TABLE trading.record (
	lease  text     NOT NULL,
	n      bigint   NOT NULL, -- the lease's seq with it
	kind   smallint NOT NULL, -- 0 a record, 1 an intent's last, 2 the name is forgotten
	format smallint NOT NULL,
	intent bytea    NOT NULL,
	name   bytea    NOT NULL,
	data   bytea    NOT NULL,
	at     timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (lease, n)
);
CREATE INDEX record_intent ON trading.record (lease, intent);

-- What is open, for a person.
CREATE VIEW trading.pending AS
	SELECT r.lease, encode(r.intent, 'escape') AS intent, min(r.at) AS since, count(*) AS records
	FROM trading.record r
	WHERE r.kind = 0 AND NOT EXISTS (SELECT FROM trading.record f WHERE f.lease = r.lease AND f.intent = r.intent AND f.kind = 1)
	GROUP BY r.lease, r.intent;

INSERT INTO trading.version (version, min_reader) VALUES (1, 1);
