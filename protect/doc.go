// Package protect keeps an account from being lost by accident.
//
// An account whose equity is at or below a loss floor is lost for good. A [Protection]
// watches the room above the floor, refuses entries that the room is too small for, and
// flattens the account while closing it still ends above the floor.
//
//	protection, err := protect.New(protect.Options{
//		Client:   own, // a client with a live key of its own, and the bot's journal
//		Accounts: []trading.AccountID{"acc_1"},
//		Dir:      "protect.state",
//	})
//	bot, err := trading.FromEnv(
//		trading.WithGuard(protection.Guard()),
//		trading.WithHooks(protection.Hooks()), // both, or entries are refused
//	)
//	left, err := bot.Pending(ctx)
//	err = protection.Adopt(left...) // before the bot trades
//	err = protection.Run(ctx)       // ends after the bot
//
// [Main] runs one beside bots in any language, where it can only flatten and report. Other Go
// programs obey its halts with [Follow]. [Protection.Events] says what happens,
// [Protection.State] what is, and a person has [Protection.Halt], [Protection.Flatten] and
// [Protection.Resume], and [Ask] for the same from another process. Live accounts only: a
// paper account cannot be lost.
//
// # What it computes
//
// The floor is the highest of the service's loss floors, the program's own, and what the
// daily floor becomes when a new day begins with the present balance (the guard always
// counts it, the loop in the last ten minutes). A floor that vanishes counts as last
// known. The equity is the lower of what the account says and of what its positions are
// worth at the marks; if they disagree, both are read again at once. The room is the
// equity less the floor.
//
// The loop looks at an account every 2, 5 or 15 seconds while anything is open, every 30
// while it is flat, and at the marks every 2 seconds. The positions need as much room as
// closing them costs, and four deviations of their profit until that is done, or a shock
// in every market if that is more. At three times the need it warns, at one and a half it
// refuses entries until there is room again for a minute, and at the need it cancels and
// closes everything, once a second reading agrees. Where closing itself would reach the
// floor it sends nothing and says so, unless [Options.CloseTooLate] is set.
//
// The guard counts the worst that may come of all that is held, rests, runs and may be on
// its way, on the worse side of every market, without credit for hedges. An entry passes if
// [Limits.Keep] is left after that, and a quarter more than the positions would need. It
// judges and reserves under one lock. A position loses what it loses until its stop, and
// a shock beyond it, but no more than a gap, which is also what it loses without a stop. A
// stop in profit counts like any other: the equity includes the profit that it gives back.
//
// The guard's price is size. With the defaults, at 5x and with 5 percent of room, an entry
// without a stop may have 2.15 times leverage, and one with a stop at 1 percent 2.8 times.
//
// # States
//
// Each change of [State] is on the disk before it is acted on: a process that is killed
// goes on where it was. A file that is damaged halts the account until a person resumes it.
// An account without a good look for half a minute is blind besides, and refuses entries. A
// good look has read everything, while the service says that it is safe to trade and the
// marks of what is held change.
//
// What a bot enters while its account is held is flattened at once, three times; after that only
// when it is urgent, since every round costs fees. Each says that the bot has to be stopped.
//
// Exits always pass. While entries are refused, so is an opposite order that was to reduce
// a position: racing a close it would open one. Use a reduce-only order or a close.
//
// # Limits
//
//   - A jump beyond the assumed shock can lose the account, and so can a market that cannot
//     be closed.
//   - Guards bind only the clients that carry them. What others place is found at the next
//     look, and counts from then on. A run that was not placed through this guard, in this
//     run or an earlier one on the same folder, keeps entries closed as long as it runs, since its
//     total is not known.
//   - The contract shows neither when a live account is judged, nor at what hour its day
//     begins ([Options.Rollover]), nor what is in the record of a run.
//   - Funding has no estimate of its own: it is in Keep.
//   - One account in seven that would have lived was flattened in the experiment that
//     docs/protect.md describes.
//   - It makes no losing strategy win.
//   - Programs that [Follow] are not judged: together they can use more room than there is.
//   - Writes that an earlier run of a bot in another process left in doubt count once
//     [Protection.Adopt] has them. What this guard let pass is on the disk before it is sent.
package protect
