package trading

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/tradingapi/trading-go/internal/check"
	"github.com/tradingapi/trading-go/internal/secret"
)

// apiKey never prints.
type apiKey = secret.APIKey

// newAPIKey returns a key of which only the prefix prints, which names the
// environment.
func newAPIKey(text string) apiKey {
	switch {
	case strings.HasPrefix(text, check.SandboxPrefix):
		return secret.New("key/"+string(EnvSandbox), text, len(check.SandboxPrefix))
	case strings.HasPrefix(text, check.LivePrefix):
		return secret.New("key/"+string(EnvLive), text, len(check.LivePrefix))
	default:
		return secret.New("key", text, 0)
	}
}

// prefixSimulator is that of the live keys of the simulator, and of no others that anybody
// issues.
const prefixSimulator = check.LivePrefix + "simulated"

// checkKey refuses a key that the service would refuse on this environment's routes.
func checkKey(env Environment, text string) error { return local(env, check.APIKey(string(env), text)) }

// keyring is where the key of an environment comes from: it is given once, or
// asked for at each attempt.
type keyring struct {
	given         apiKey
	fetch         func(context.Context) (string, error)
	simulatorOnly bool // what is sent can be read on its way
}

func (r keyring) isZero() bool { return r.given.IsZero() && r.fetch == nil }

func (r keyring) current(ctx context.Context, env Environment) (apiKey, error) {
	if r.fetch == nil {
		return r.given, nil
	}
	text, err := r.fetch(ctx)
	if err != nil {
		return apiKey{}, fmt.Errorf("trading: the function of the %s key failed: %w", env, err)
	}
	if err := checkKey(env, text); err != nil {
		return apiKey{}, err
	}
	return r.allowed(newAPIKey(text))
}

// allowed refuses a key that must not be read on its way. Every live key is one but a
// simulator's, which opens nothing.
func (r keyring) allowed(key apiKey) (apiKey, error) {
	if !r.simulatorOnly || key.IsZero() || strings.HasPrefix(key.Reveal()[0], prefixSimulator) {
		return key, nil
	}
	return apiKey{}, refuse(EnvLive, CodeInvalidAPIKey,
		"a live key is not sent over plain http: only a simulator's, which begins with %s", prefixSimulator)
}

// checkBreaker refuses a key that was refused a moment ago.
func checkBreaker(breaker *secret.Breaker, env Environment, key apiKey) error {
	held, is := breaker.Check(key)
	if !is {
		return nil
	}
	refusal := refuse(env, Code(held.Code), "the key was refused a moment ago and is not tried again yet: %s", held.Message)
	refusal.RetryAfter = Some(time.Until(held.Until))
	return refusal
}

// holdsKey reports whether text has one of the known keys in it, or what looks like
// another.
func holdsKey(known *secret.Scrubber, text string) bool {
	if known.Text(text) != text {
		return true
	}
	if decoded, err := url.PathUnescape(text); err == nil {
		text = decoded
	}
	text = strings.ToLower(text)
	return strings.Contains(text, check.SandboxPrefix) || strings.Contains(text, check.LivePrefix)
}
