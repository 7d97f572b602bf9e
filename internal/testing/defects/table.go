package defects

// The searches that play their seeds.
const (
	Crash = "internal/proof/crash"
	Books = "internal/books"
)

var table = []Defect{
	{Crash, "one program | 500 database_error after", 7,
		"an own 5xx with a code that no table has was taken for a refusal: the id was free, and the order ran twice",
		"internal/verdict/table.go", `"any other, known or not", Unclear, Unclear,`, `"any other, known or not", DidNotRun, Unclear,`},
	{Crash, "one program | a gateway's 429 after", 6,
		"a gateway answered in the service's shape after the work: under an id the order ran twice",
		"internal/verdict/table.go", `"any other, known or not", Unclear, DidNotRun,`, `"any other, known or not", DidNotRun, DidNotRun,`},
	{Crash, "one program | a gateway's 401 after", 1,
		"a gateway refused the API key after the work: an order that ran was not applied",
		"internal/verdict/table.go", `"of the key or the account", IfConfirmed, DidNotRun,`, `"of the key or the account", DidNotRun, DidNotRun,`},
	{Crash, "two clients on one journal", 164,
		"a refusal was taken for both of two sends, of which nobody had answered the first: it ran, and was not applied",
		"internal/ledger/sending.go", `case l.doubt && !ofTheFirst && !l.refusedBy(a):`, `case l.doubt && !ofTheFirst && !l.refusedBy(a) && !l.Keyed:`},
	{Crash, "two programs with journals of their own", 3,
		"two programs placed one named order at once, each under a key of its own: it ran twice",
		"key.go", `w.SetKey(resolve.Try{Key: derived(name, try), Number: try})`, `w.SetKey(resolve.Try{Key: NewKey(), Number: try})`},
	{Crash, "one program | a guard takes 45m", 1,
		"a send left after its guard, 45 minutes after the decision",
		"write.go", `	case resolve.Elapsed(w.began) >= w.of.Ledger.SendTTL():`, `	case false:`},
	{Crash, "one program | the machine stops for 10m0s", 33,
		"the machine stopped between the last check and the first byte, and the send left after its time",
		"write.go", `	case resolve.Elapsed(w.began) >= w.of.Ledger.SendTTL():`, `	case false:`},

	{Books, "orders", 46,
		"an order was given up before a restart, and judged after it by a trail that is younger: it ran, and was not applied",
		"internal/books/saved.go", `	if l.Note.Trail == nil || l.Note.NoTrail {`, `	if l.Note.Trail == nil {`},
	{Books, "what waits", 0,
		"an exit went before the journal was read, and stood in front of what an earlier run did: a false verdict",
		"internal/books/saved.go", `	t.clock += last`, `	last = 0`},
}
