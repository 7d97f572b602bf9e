// Package postgres keeps the journal of a bot in PostgreSQL, where every machine sees it, so that
// another machine can go on where one has died. The journal is held under a lease, by one process
// at a time.
//
//	err := postgres.Campaign(ctx, url, postgres.Options{
//		Name: "desk-1/momentum", BaseURL: baseURL, Accounts: []string{"acc_1"},
//	}, func(ctx context.Context, journal *postgres.Store) error {
//		client, err := trading.New(baseURL, trading.WithLiveKey(key), trading.WithJournal(journal))
//		if err != nil {
//			return err
//		}
//		defer client.Close()
//		return run(ctx, client) // which calls client.Recover first, and ends with ctx
//	})
//
// Run the same on two machines: one runs, the other waits. [Campaign] returns when the function
// does, or the lease is lost, and a supervisor starts it again.
//
// # Who holds the lease
//
// No clock of the database's decides it. The holder raises a number, its beat, every fifth of the
// lease. A candidate takes a lease whose beat has stood still for all of it, by its own clock that
// a suspend does not stop; a lease that was released it takes at once. Taking raises the lease's
// epoch, and each statement of a holder names its epoch: what another one sends finds no row.
//
// # Until when a byte may leave
//
// [Store.Deadline] is 2 s before the lease ends, counted from before the last renewal was sent, by
// the later of a clock that runs through a suspend and the wall. The client asks it with the first
// byte of each write and with the last, and closes a connection with what it still holds when it
// passes. A passed deadline is no end: if nobody has taken the lease meanwhile, the holder goes on.
//
// # What was lost
//
// Each append moves a count in the lease from the value that the holder knows. A database that has
// another one has lost what it acknowledged, as an asynchronous standby can: [journal.ErrLostHistory],
// and nothing is sent. An append whose answer is lost is no failure, since it may commit later. The
// store takes the lease from itself then, which waits for the append, and reads what is there.
//
// # What it needs
//
// [Migrate] makes the tables, in the schema trading, by a role that may. The bot's own role needs
// what [Grants] says: to read, to append, and to move the lease. The database must be in read
// committed, and fsync on; both are checked. PgBouncer may stand in front, in transaction mode.
package postgres
