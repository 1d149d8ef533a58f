-- A transactional outbox, for PostgreSQL 12 or newer. A business transaction writes its pushes into this table, and
-- Outbox.java sends them after the commit.

CREATE TABLE outbox (
  -- The order of the pushes of a matter, and the idempotency key.
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  op           text NOT NULL CHECK (op IN ('upsert', 'status', 'reopen', 'delete')),
  -- No valid body is longer. A longer one fails the business transaction, so that its developer sees the mistake.
  body         jsonb NOT NULL CHECK (octet_length(body::text) <= 1000000),
  external_id  text NOT NULL GENERATED ALWAYS AS (body ->> 'externalId') STORED,
  -- waiting: to be sent, or sent again; done: in the ledger; failed: rejected for good, for the reason in `reason`.
  state        text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'done', 'failed')),
  tries        int NOT NULL DEFAULT 0,
  next_try_at  timestamptz NOT NULL DEFAULT now(),
  created_at   timestamptz NOT NULL DEFAULT now(),
  finished_at  timestamptz,
  reason       text,
  -- The service's result of the last try, with requestId, message and errors.
  answer       json
);

CREATE INDEX outbox_waiting ON outbox (id) WHERE state = 'waiting';
CREATE INDEX outbox_waiting_of_matter ON outbox (external_id, id) WHERE state = 'waiting';

-- The business table of the example.
CREATE TABLE purchase_request (
  id        text PRIMARY KEY,
  title     text NOT NULL,
  approver  text NOT NULL,
  status    text NOT NULL DEFAULT 'PENDING'
);
