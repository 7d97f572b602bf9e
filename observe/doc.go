// Package observe finds out what a service does where its document is silent: from evidence that is
// there already (audits, flight recordings, recorded exchanges, the log of trading sim), and from
// what [Ask] asks.
//
//	evidence, err := observe.Read("bot.audit.jsonl", "flight.jsonl")
//	…
//	p := observe.Judge(evidence, observe.About{BaseURL: baseURL})
//	err = p.Save("service.profile.json")
//
// An [Experiment] is data: its number, the two readings, what it costs, which other experiments
// must hold first, and a pure function from the exchanges that were seen to counts. [Judge] makes
// one of five verdicts of them. first means n of n; what no reading foresees is neither; what
// the evidence does not show is unseen, with the reason.
//
// [Ask] asks in rounds: fresh random keys, four connections, gaps of 0.1, 1 and 10 seconds, and
// again after an hour. On a live account that is no trial it sends cancels alone, of targets that
// cannot exist, in the form of the client's own fences. A guard in front of the transport compares
// the bytes of each with a list. The first 429, 5xx, refused key, 401 or 403 of a gateway, or lost
// answer ends a visit. On the paper account and on a trial it trades the smallest size from flat to flat; what a
// killed run leaves, the next one closes.
//
// A 429, a 5xx, an answer of something in front of the service and a refused API key decide
// nothing. What is seen on the paper account holds for paper alone.
package observe
