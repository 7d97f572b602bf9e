package ledger

import "time"

// Without is what is not relied on although the contract allows it: what was seen of the service
// says otherwise. It only takes away: nothing that is sent has another form for it, and an exit is
// sent as often as without it.
type Without struct {
	// Probe: the original bytes are never sent to ask for the stored answer.
	Probe bool `json:"probe,omitempty"`
	// Resend: an entry is sent once.
	Resend bool `json:"resend,omitempty"`
	// Fence: no fence proves anything, and none is sent.
	Fence bool `json:"fence,omitempty"`
	// Rotation: nothing that is sent with another API key than the write had proves anything of
	// it, and an entry is not sent again with one.
	Rotation bool `json:"rotation,omitempty"`
	// Accounting: the lists of trades decide nothing. Applied: nor that a write was executed.
	Accounting bool `json:"accounting,omitempty"`
	Applied    bool `json:"applied,omitempty"`
	// Answers: what an answer says of the position is not the position after it.
	Answers bool `json:"answers,omitempty"`
	// Times: no trade is left out for its time.
	Times bool `json:"times,omitempty"`
	// Dates: no Date of an answer says what the time is at the service.
	Dates bool `json:"dates,omitempty"`
	// AgeUnknown: no assessment of the health is used for an entry whose age is not known.
	AgeUnknown bool `json:"ageUnknown,omitempty"`
	// Lag is how far behind reads may be, where that is longer than [Lag].
	Lag time.Duration `json:"lag,omitempty"`
	// Dead is for how long a spent key is not used again, where that is longer than [Forgotten].
	Dead time.Duration `json:"dead,omitempty"`
}

// And is what neither relies on.
func (w Without) And(o Without) Without {
	return Without{
		Probe: w.Probe || o.Probe, Resend: w.Resend || o.Resend, Fence: w.Fence || o.Fence, Rotation: w.Rotation || o.Rotation,
		Accounting: w.Accounting || o.Accounting, Applied: w.Applied || o.Applied, Answers: w.Answers || o.Answers, Times: w.Times || o.Times,
		Dates: w.Dates || o.Dates, AgeUnknown: w.AgeUnknown || o.AgeUnknown,
		Lag: max(w.Lag, o.Lag), Dead: max(w.Dead, o.Dead),
	}
}

// ReadLag is how far behind a read of the account may be.
func (w Without) ReadLag() time.Duration { return max(Lag, w.Lag) }
