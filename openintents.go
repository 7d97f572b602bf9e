package trading

import "slices"

// openIntents are the intents that are not settled, by name and by where they show
// on an account. An order beside a thousand others must not look at each of them.
type openIntents struct {
	byID   map[IntentID]*openIntent
	places map[accountPlace]*shownIntents
}

// accountPlace is a part of an account in which a write can show: a symbol, or
// what waits on the account, which need not tell its symbol.
type accountPlace struct {
	account AccountID
	symbol  string
	waiting bool
}

// shownIntents are the open intents that show in one place. It stays when they are
// settled: an account has few symbols, and the next order needs it again.
type shownIntents struct {
	open    int
	lone    []*openIntent // those not noted to have been beside another: one, nearly always
	unknown map[IntentID]*openIntent
}

// placesOf returns where an intent shows; the second is the zero value for one that
// leaves nothing waiting.
func placesOf(in *Intent) [2]accountPlace {
	places := [2]accountPlace{{account: in.Account, symbol: in.Symbol}}
	if waits(in.Operation) {
		places[1] = accountPlace{account: in.Account, waiting: true}
	}
	return places
}

func (o *openIntents) find(id IntentID) *openIntent { return o.byID[id] }

// put adds an intent whose name is not among them.
func (o *openIntents) put(in *openIntent) {
	o.show(in)
	o.add(in)
}

// show finds the places in which an intent shows.
func (o *openIntents) show(in *openIntent) {
	if o.byID == nil {
		o.byID = make(map[IntentID]*openIntent)
		o.places = make(map[accountPlace]*shownIntents)
	}
	for i, place := range placesOf(&in.Intent) {
		if place == (accountPlace{}) {
			continue
		}
		if in.shown[i] = o.places[place]; in.shown[i] == nil {
			in.shown[i] = &shownIntents{}
			o.places[place] = in.shown[i]
		}
	}
}

// add adds an intent whose places are found.
func (o *openIntents) add(in *openIntent) {
	o.byID[in.ID] = in
	for _, shown := range in.shown {
		if shown != nil {
			shown.open++
			shown.note(in)
		}
	}
}

// note brings the sets up to date with what has become known of an intent.
func (in *openIntent) note() {
	for _, shown := range in.shown {
		if shown != nil {
			shown.note(in)
		}
	}
}

func (s *shownIntents) note(in *openIntent) {
	at := slices.Index(s.lone, in)
	switch {
	case in.Beside && at >= 0:
		s.lone = slices.Delete(s.lone, at, at+1)
	case !in.Beside && at < 0:
		s.lone = append(s.lone, in)
	}
	switch {
	case !in.unknown:
		delete(s.unknown, in.ID)
	case s.unknown == nil:
		s.unknown = map[IntentID]*openIntent{in.ID: in}
	default:
		s.unknown[in.ID] = in
	}
}

func (s *shownIntents) drop(in *openIntent) {
	s.open--
	if at := slices.Index(s.lone, in); at >= 0 {
		s.lone = slices.Delete(s.lone, at, at+1)
	}
	delete(s.unknown, in.ID)
}

// drop forgets an intent.
func (o *openIntents) drop(in *openIntent) {
	if in == nil || in.dropped {
		return
	}
	in.dropped = true
	delete(o.byID, in.ID)
	for _, shown := range in.shown {
		if shown != nil {
			shown.drop(in)
		}
	}
}

// beside returns the open intents that show where this one does and are not noted
// yet to have been beside another, and whether there are any at all.
func (in *openIntent) beside() (lone []IntentID, any bool) {
	for _, shown := range in.shown {
		if shown == nil {
			continue
		}
		any = any || shown.open > 0
		for _, other := range shown.lone {
			lone = append(lone, other.ID)
		}
	}
	return lone, any
}
