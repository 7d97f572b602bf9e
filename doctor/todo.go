package doctor

import (
	"errors"
	"net/http"

	"github.com/tradingapi/trading-go"
)

// toDo is what a person does about a read that failed, and keyRefused whether it was the key that was
// refused. The code of a refusal decides, and its status only where the code is not known.
func toDo(err error) (do string, keyRefused bool) {
	refusal := (*trading.Error)(nil)
	if !errors.As(err, &refusal) {
		return "Check the base URL and the network.", false
	}
	rule := ruleOf(refusal)
	switch {
	case refusal.Code == trading.CodeMissingAPIKey:
		return "Set the base URL to that of the service: something on the way drops the key.", true
	case refusal.Code == trading.CodeWrongEnvironment:
		return "Give each environment its own key.", true
	case refusal.Code == trading.CodeAPIAccessDenied:
		return "Ask for access: every key of the owner is refused.", true
	case rule.Kind == trading.ErrKeyRefused:
		return "Make a new key in the account settings.", true
	case rule.Advice == trading.AdviseWait:
		return "Wait: a rate limit is full.", false
	case rule.Advice == trading.AdviseNever:
		return "Ask the service.", false
	case rule.Advice == trading.AdviseChange:
		return "Check the base URL.", false
	default:
		return "Wait, and look again.", false
	}
}

// ruleOf is the rule of a code, and of one that is not known that of the code which is named for the status.
func ruleOf(refusal *trading.Error) (rule trading.Rule) {
	named := trading.CodeBadRequest
	switch {
	case refusal.Status == http.StatusUnauthorized:
		named = trading.CodeUnauthorized
	case refusal.Status == http.StatusForbidden:
		named = trading.CodeForbidden
	case refusal.Status == http.StatusTooManyRequests:
		named = trading.CodeRateLimited
	case refusal.Status >= http.StatusInternalServerError:
		named = trading.CodeInternalError
	}
	for r := range trading.Rules() {
		switch r.Code {
		case refusal.Code:
			return r
		case named:
			rule = r
		}
	}
	return rule
}

// toDo keeps a key that was refused from being sent again, besides. A read of no environment has no key.
func (l *look) toDo(env trading.Environment, err error) string {
	do, keyRefused := toDo(err)
	if keyRefused && env == "" {
		return "Check the base URL: this needs no key."
	}
	if keyRefused {
		l.refused[env] = true
	}
	return do
}
