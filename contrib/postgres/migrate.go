package postgres

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// format is of the records that this version writes, and reads.
const format = 1

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate makes the tables in the schema trading, or adds what newer versions have. It only adds,
// does nothing where nothing is to be done, and may run in several programs at once. The role needs
// to create a schema; a bot's own role does not ([Grants]).
func Migrate(ctx context.Context, url string) error {
	conn, err := connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.close()
	tx, err := conn.Begin(ctx)
	if err != nil {
		return fmt.Errorf("postgres: migrate: %w", err)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if err := migrate(ctx, tx); err != nil {
		return fmt.Errorf("postgres: migrate: %w", err)
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("postgres: migrate: %w", err)
	}
	return nil
}

func migrate(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('trading.migrate'))`); err != nil {
		return err
	}
	has := 0
	var table *string
	if err := tx.QueryRow(ctx, `SELECT to_regclass('trading.version')::text`).Scan(&table); err != nil {
		return err
	}
	if table != nil {
		if err := tx.QueryRow(ctx, `SELECT max(version) FROM trading.version`).Scan(&has); err != nil {
			return err
		}
	}
	for version := has + 1; ; version++ {
		text, err := migrations.ReadFile(fmt.Sprintf("migrations/%04d.sql", version))
		if err != nil {
			return nil // there is none that is newer
		}
		if _, err := tx.Conn().PgConn().Exec(ctx, string(text)).ReadAll(); err != nil {
			return fmt.Errorf("version %d: %w", version, err)
		}
	}
}

// Grants are the statements that give a role what a bot needs, and no more: to read, to append
// records, to name its accounts, and to move its lease. It may change and delete no record, and end
// no halt. The last one has the server end a transaction that somebody leaves open under the role, as
// in a terminal: it could hold the lease's row.
func Grants(role string) string {
	return strings.ReplaceAll(`GRANT USAGE ON SCHEMA trading TO $role;
GRANT SELECT ON ALL TABLES IN SCHEMA trading TO $role;
GRANT INSERT ON trading.record, trading.account TO $role;
GRANT INSERT (name) ON trading.lease TO $role;
GRANT UPDATE (epoch, beat, seq, holder, place, released, gap, lease_ms, digest, timeline, lost_at, taken_at, renewed_at) ON trading.lease TO $role;
ALTER ROLE $role SET idle_in_transaction_session_timeout = '5s';
`, "$role", pgx.Identifier{role}.Sanitize())
}
