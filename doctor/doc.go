// Package doctor looks at what a bot depends on before it trades real money: its
// configuration, the service, its accounts, its journal and the machine.
//
//	report := doctor.Run(ctx, doctor.Options{
//		BaseURL: doctor.Setting{Value: os.Getenv("TRADING_BASE_URL"), From: "TRADING_BASE_URL"},
//		LiveKey: doctor.Setting{Value: os.Getenv("TRADING_LIVE_KEY"), From: "TRADING_LIVE_KEY"},
//		Journal: "bot.journal",
//	})
//	if report.Failed() {
//		log.Print(report)
//	}
//
// It only reads: GET requests, at most ten for the service and four for each account.
// A transport refuses every other request. It leaves the paper account alone, whose reads
// fire triggers, unless Options.Paper is set. It writes one thing: a file of its own beside
// the journal, to measure how long the disk takes for a sync, and removes it.
//
// Each check is one [Line]: ok, warn, FAIL or skipped. What the contract does not show
// is skipped, never FAIL. No line holds an API key. [FromProcess] takes the environment of
// a bot that runs, so that a command of another shell sees what the bot sees.
package doctor
