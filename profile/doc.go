// Package profile reads and writes what was seen of a service where its document leaves room: the
// answers to experiments, what was measured, and the exchanges that prove both, in one JSON file.
//
//	p, err := profile.Load("service.profile.json")
//	…
//	if r, ok := p.Result("49", profile.Live); ok && r.Verdict == profile.First {
//		// one namespace of idempotency keys
//	}
//
// It is data and its validation alone: it imports neither the client, which imports it, nor the
// simulator, which reads the JSON by itself. Package observe makes profiles.
//
// A file has a version. A file of a newer version is refused with a [*VersionError], since a
// verdict could mean something else in it, and so is a member that this version does not know. No
// file holds an API key: Decode refuses one that does.
package profile
