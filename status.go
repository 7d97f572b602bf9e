package trading

// AccountStatus is what an account is in, and decides what the service accepts
// on it. Live and sandbox accounts have vocabularies of their own, which differ
// by case. A status that this version does not know allows exits and no entry.
type AccountStatus string

const (
	// StatusActive is a live trial, challenge or tournament entry: everything
	// is accepted.
	StatusActive AccountStatus = "ACTIVE"
	// StatusPurchased is a legacy value that means the same as [StatusActive].
	StatusPurchased AccountStatus = "PURCHASED"
	// StatusFunded is a live funded account: everything is accepted.
	StatusFunded AccountStatus = "FUNDED"
	// StatusPassed is a live account that reached its target: closes, trigger
	// levels and ReduceOnly orders only.
	StatusPassed AccountStatus = "PASSED"
	// StatusFailed is a live account that broke a rule: nothing is accepted.
	StatusFailed AccountStatus = "FAILED"
	// StatusExpired is a tournament account past its end: nothing is accepted.
	StatusExpired AccountStatus = "EXPIRED"
	// StatusSandboxActive is a paper account that trades.
	StatusSandboxActive AccountStatus = "active"
	// StatusSandboxLocked is a paper account after a breach: nothing is accepted
	// until it is reset.
	StatusSandboxLocked AccountStatus = "locked"
	// StatusSandboxPassed is a paper account that reached its target, which
	// closed its positions. What it accepts then, the contract does not show.
	StatusSandboxPassed AccountStatus = "passed"
)

// AllowsEntry reports whether the service accepts new exposure on an account in
// this status. It is false for a status that this version does not know.
func (s AccountStatus) AllowsEntry() bool {
	switch s {
	case StatusActive, StatusPurchased, StatusFunded, StatusSandboxActive:
		return true
	default:
		return false
	}
}

// AllowsExit reports whether the service may accept closes, trigger levels and
// ReduceOnly orders on an account in this status. It is false only where the
// contract says that nothing is accepted, so it is true for a status that this
// version does not know: the way out is never blocked on a guess.
func (s AccountStatus) AllowsExit() bool {
	switch s {
	case StatusFailed, StatusExpired, StatusSandboxLocked:
		return false
	default:
		return true
	}
}
