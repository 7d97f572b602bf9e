package profile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Version is the newest version of the file that this package reads, and the one it writes.
const Version = 1

// MaxAge is how old a profile may be to be relied on.
const MaxAge = 30 * 24 * time.Hour

// Verdict is what the answers to an experiment came to.
type Verdict string

// The verdicts.
const (
	First   Verdict = "first"   // the reading that the simulator takes unless set otherwise, n of n
	Other   Verdict = "other"   // the other reading, n of n
	Mixed   Verdict = "mixed"   // both were seen: the worse case holds
	Neither Verdict = "neither" // something that no reading foresees; Why says what
	Unseen  Verdict = "unseen"  // not seen; Why says why
)

// Environment is where a result was seen: what is seen on the paper account holds for
// paper alone.
type Environment string

// The environments.
const (
	Paper Environment = "sandbox" // the paper account
	Live  Environment = "live"    // real accounts, trials among them
)

// Profile is what was seen of one service by the keys of one holder.
type Profile struct {
	// Version is the version of the file: 1.
	Version int `json:"version"`
	// BaseURL is the root of the API, and Holder whose keys were used: a token that is
	// equal for the same holder, and not the id itself. Empty where the evidence does not say.
	BaseURL string `json:"baseURL,omitempty"`
	Holder  string `json:"holder,omitempty"`
	// MeasuredAt is when the last of the evidence was seen.
	MeasuredAt time.Time `json:"measuredAt"`
	// By is the version of the module that judged.
	By string `json:"by"`
	// Results are the verdicts, one for an experiment and environment.
	Results []Result `json:"results"`
	// Measured are the figures.
	Measured Measured `json:"measured"`
	// Exchanges prove the results, which name them by their place here, from 0.
	Exchanges []Exchange `json:"exchanges,omitempty"`
	// Begun are experiments that need a second visit.
	Begun []Begun `json:"begun,omitempty"`
}

// Result is the verdict of one experiment in one environment.
type Result struct {
	// Experiment is its number: of a reading of the contract, such as "49", or of an
	// assumption, such as "A1".
	Experiment  string      `json:"experiment"`
	Environment Environment `json:"environment"`
	Verdict     Verdict     `json:"verdict"`
	// N counts the answers that decided, and CountFirst, CountOther and CountNeither how
	// many of them spoke for what.
	N            int `json:"n"`
	CountFirst   int `json:"first"`
	CountOther   int `json:"other"`
	CountNeither int `json:"neither"`
	// Connections is how many connections they came over, 0 if that is not known, and
	// Span the time from the first to the last.
	Connections int      `json:"connections,omitempty"`
	Span        Duration `json:"span,omitempty"`
	// At is when the last was seen; zero for unseen.
	At time.Time `json:"at,omitzero"`
	// Why says why a result is unseen or neither.
	Why string `json:"why,omitempty"`
	// Proof are the places of exchanges in the profile.
	Proof []int `json:"proof,omitempty"`
}

// Measured are figures of the service. What was not measured has N 0, or is empty.
type Measured struct {
	// AnswerTime is how long answers took, by kind of call, such as "GET /positions".
	AnswerTime map[string]Spread `json:"answerTime,omitempty"`
	// ReadLag is how long after the answer of a write a read still showed the state before it.
	ReadLag Spread `json:"readLag,omitzero"`
	// KeptFor is the longest time after which a request got its stored answer, where none did not before; 0 where
	// nothing shows it.
	KeptFor Duration `json:"keptFor,omitempty"`
	// MarkAge is the age of the mark that a paper order was filled at.
	MarkAge Spread `json:"markAge,omitzero"`
	// TakerFee and MakerFee are shares of the notional, such as "0.00045"; MinNotional is in
	// dollars; DefaultLeverage is that of a paper order without one. Exact decimals.
	TakerFee        string `json:"takerFee,omitempty"`
	MakerFee        string `json:"makerFee,omitempty"`
	MinNotional     string `json:"minNotional,omitempty"`
	DefaultLeverage string `json:"defaultLeverage,omitempty"`
}

// Spread is how something was distributed.
type Spread struct {
	N      int      `json:"n"`      // how many were measured
	Median Duration `json:"median"` // half were less
	P99    Duration `json:"p99"`    // 99 of 100 were less
	Most   Duration `json:"most"`   // the most that was seen
}

// Exchange is a request and its answer, without keys and ids: what was one text before is
// one token in all exchanges of a file.
type Exchange struct {
	At        time.Time `json:"at,omitzero"`        // when the answer came
	Operation string    `json:"operation"`          // such as "POST /orders/cancel"
	Key       string    `json:"key,omitempty"`      // token of the Idempotency-Key
	Request   string    `json:"request,omitempty"`  // the body
	Status    int       `json:"status,omitempty"`   // 0 without an answer
	Replayed  bool      `json:"replayed,omitempty"` // it was marked as a stored one
	Response  string    `json:"response,omitempty"` // the body
	Source    string    `json:"source,omitempty"`   // the file that it was found in
}

// Begun is an experiment whose second visit is due.
type Begun struct {
	Experiment string    `json:"experiment"`          // its number
	At         time.Time `json:"at"`                  // when the first visit was
	Due        time.Time `json:"due"`                 // when the second is
	Key        string    `json:"key,omitempty"`       // the Idempotency-Key of the first visit
	Account    string    `json:"account,omitempty"`   // token of the account that it named; empty for one of nobody
	Operation  string    `json:"operation,omitempty"` // the endpoint
}

// Duration is a time in a file, such as "1.5s".
type Duration time.Duration

// MarshalText writes it as time.Duration does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what time.ParseDuration reads.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// Result finds the result of an experiment in an environment. One that the profile does
// not have is unseen.
func (p *Profile) Result(experiment string, env Environment) (r Result, ok bool) {
	for _, r := range p.Results {
		if r.Experiment == experiment && r.Environment == env {
			return r, true
		}
	}
	return Result{Experiment: experiment, Environment: env, Verdict: Unseen, Why: "it is not in the profile"}, false
}

// Stale says why a profile must not be relied on at a time: it is too old, or of the future.
// nil if it may.
func (p *Profile) Stale(now time.Time) error {
	switch age := now.Sub(p.MeasuredAt); {
	case age > MaxAge:
		return fmt.Errorf("profile: it was measured %d days ago, and 30 are the most: measure anew with trading observe", int(age/(24*time.Hour)))
	case age < -24*time.Hour:
		return fmt.Errorf("profile: it was measured at %s, which is in the future", p.MeasuredAt.UTC().Format(time.RFC3339))
	default:
		return nil
	}
}

// Change is what differs between two profiles.
type Change struct {
	Experiment  string      `json:"experiment"`  // its number
	Environment Environment `json:"environment"` // where it was seen
	Was         Verdict     `json:"was"`         // in the older profile
	Is          Verdict     `json:"is"`          // in the newer one
}

// String is the change in words.
func (c Change) String() string {
	return fmt.Sprintf("%s (%s): %s before, %s now", c.Experiment, c.Environment, c.Was, c.Is)
}

// Compare returns what was seen before and is answered otherwise now. What is unseen in either
// says nothing.
func Compare(before, now *Profile) (changes []Change) {
	for _, r := range now.Results {
		old, ok := before.Result(r.Experiment, r.Environment)
		if ok && old.Verdict != Unseen && r.Verdict != Unseen && old.Verdict != r.Verdict {
			changes = append(changes, Change{r.Experiment, r.Environment, old.Verdict, r.Verdict})
		}
	}
	return changes
}

// Token names something without showing it, such as a holder by "holder" and its id, and is equal for
// what is equal. It is empty for nothing.
func Token(kind, of string) string {
	if of == "" {
		return ""
	}
	const enough = 6
	sum := sha256.Sum256([]byte(of))
	return kind + "_" + hex.EncodeToString(sum[:enough])
}
