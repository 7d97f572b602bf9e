package tradingsim

import "fmt"

// environment is what a key is for.
type environment string

const (
	sandboxEnv environment = "sandbox"
	liveEnv    environment = "live"
	anyEnv     environment = "any"  // either kind of key
	keyless    environment = "none" // no key at all
)

// holder is the one person whose keys and accounts are simulated.
const holder = "user_1"

type apiKey struct {
	id      string
	env     environment
	text    string
	print   string // its fingerprint
	revoked bool
	window  window
}

// maxKeys is how many active keys an owner may have.
const maxKeys = 20

// addKey issues a key.
func (s *Sim) addKey(env environment) *apiKey {
	active := 0
	for _, k := range s.keys {
		if !k.revoked {
			active++
		}
	}
	if active >= maxKeys {
		panic(fmt.Sprintf("tradingsim: an owner has at most %d active keys", maxKeys))
	}
	n := len(s.keys) + 1
	prefix := "pk_test_"
	if env == liveEnv {
		prefix = "pk_live_"
	}
	k := &apiKey{
		id: fmt.Sprintf("key_%d", n), env: env,
		text:   fmt.Sprintf("%ssimulated%08d", prefix, n),
		window: window{limit: s.keyLimit},
	}
	k.print = KeyFingerprint(k.text)
	s.keys[k.text] = k
	return k
}

// keyOf is the latest active key of an environment.
func (s *Sim) keyOf(env environment) string {
	var latest *apiKey
	for _, k := range s.keys {
		if k.env == env && (latest == nil || newer(k, latest)) {
			latest = k
		}
	}
	return latest.text
}

// newer prefers active keys, then later ones.
func newer(a, b *apiKey) bool {
	if a.revoked != b.revoked {
		return b.revoked
	}
	return a.text > b.text
}

// SandboxKey is a key of the sandbox.
func (s *Sim) SandboxKey() string {
	s.enter()
	defer s.leave()
	return s.keyOf(sandboxEnv)
}

// LiveKey is a key of the live environment.
func (s *Sim) LiveKey() string {
	s.enter()
	defer s.leave()
	return s.keyOf(liveEnv)
}

// NewSandboxKey issues another key to the same holder.
func (s *Sim) NewSandboxKey() string {
	s.enter()
	defer s.leave()
	return s.addKey(sandboxEnv).text
}

// NewLiveKey issues another key to the same holder.
func (s *Sim) NewLiveKey() string {
	s.enter()
	defer s.leave()
	return s.addKey(liveEnv).text
}

// knows reports whether a call carries a key that was issued.
func (s *Sim) knows(c *call) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keys[s.sentKey(c)] != nil
}

// RevokeKey revokes a key; no other takes its place.
func (s *Sim) RevokeKey(key string) {
	s.enter()
	defer s.leave()
	k, ok := s.keys[key]
	if !ok {
		panic("tradingsim: RevokeKey of a key that was never issued")
	}
	k.revoked = true
}

// SetAccess withdraws or restores the holder's access to the API: without it
// every key answers api_access_denied.
func (s *Sim) SetAccess(allowed bool) {
	s.enter()
	defer s.leave()
	s.denied = !allowed
}

// sentKey is the key of a request, from X-API-Key or else from Authorization.
func (s *Sim) sentKey(c *call) string {
	if c.direct == "" || (c.bearer != "" && s.other(48)) {
		return c.bearer
	}
	return c.direct
}

// authenticate judges a request in front of its route: throttle, key, access,
// environment, rate limit of the key.
func (s *Sim) authenticate(c *call) *refusal {
	if c.operation.env == keyless {
		return nil
	}
	if w, ok := s.failed[c.from]; ok && w.full(s.now) {
		r := refuse("rate_limited", "Too many failed authentications from this address; wait a minute.")
		if !s.other(3) {
			r.wait = rateWindow
		}
		return r
	}
	text := s.sentKey(c)
	k := s.keys[text]
	switch {
	case text == "":
		return s.failAuth(c, refuse("missing_api_key", "Send your API key in the X-API-Key header."))
	case k == nil:
		return s.failAuth(c, refuse("invalid_api_key", "The API key is malformed or unknown."))
	case k.revoked:
		return s.failAuth(c, refuse("revoked_api_key", "The API key has been revoked."))
	}
	c.key = k
	denied := s.judgeAccess(c)
	if denied != nil && s.other(2) {
		s.failAuth(c, denied)
	}
	if denied != nil && s.other(5) {
		return denied
	}
	if inBudget := k.window.take(s.now); denied == nil && !inBudget {
		r := refuse("rate_limited", "This key may send %d requests a minute.", k.window.limit)
		r.wait, r.limit = rateWindow, &k.window
		return r
	}
	return denied
}

// judgeAccess judges a real key's holder and environment.
func (s *Sim) judgeAccess(c *call) *refusal {
	env := c.operation.env
	wrong := env != anyEnv && env != c.key.env
	if s.denied && !(wrong && s.other(1)) {
		return refuse("api_access_denied", "This account has no access to the API.")
	}
	if wrong {
		return refuse("wrong_environment", "This is a %s key; the route is %s only.", c.key.env, env)
	}
	return nil
}

// failAuth counts a failed authentication against the caller's address.
func (s *Sim) failAuth(c *call, r *refusal) *refusal {
	w, ok := s.failed[c.from]
	if !ok {
		w = &window{limit: s.authLimit}
		s.failed[c.from] = w
	}
	w.take(s.now)
	return r
}
