package sidecar

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/internal/admit"
	"github.com/tradingapi/trading-go/sidecar/internal/hearing"
	"github.com/tradingapi/trading-go/sidecar/internal/localkey"
)

// request is what a bot asks for.
type request struct {
	route
	bot     localkey.Key
	account string // of a live read, or in the body of a live write
	symbol  string
	body    []byte
	keyed   bool   // it has an Idempotency-Key
	key     string // which
	shared  bool   // it may have been used without the sidecar
	kind    hearing.Kind
	asks    *asks // of a live write that can add exposure
}

// root is where the API is, as on the service.
const root = "/v1"

// mostBody is how large a body may be: no write of the contract has a hundredth of that.
const mostBody = 64 << 10

// bodyTime is how long a bot has to send a body.
const bodyTime = 5 * time.Second

// parse reads a request up to where it can be carried out. The answer is one that refuses it.
func (s *Server) parse(w http.ResponseWriter, r *http.Request) (*request, *reply) {
	path, below := strings.CutPrefix(r.URL.EscapedPath(), root)
	to, account, ok := find(r.Method, path)
	if !below || !ok {
		return nil, refuse(http.StatusNotFound, trading.CodeNotFound, "There is no such path or method.")
	}
	q := &request{route: to, account: account}
	if no := s.authenticate(r, q); no != nil {
		return q, no
	}
	query := r.URL.Query()
	switch {
	case to.write:
		if no := s.readBody(w, r, q); no != nil {
			return q, no
		}
		if no := q.read(); no != nil {
			return q, no
		}
	case to.op == trading.OpPrices:
		q.symbol = query.Get("symbol")
	case to.env == live && account == "" && to.op != trading.OpAccounts:
		if q.account = query.Get("accountId"); q.account == "" {
			return q, refuse(http.StatusBadRequest, trading.CodeMissingFields, "accountId is missing.")
		}
	}
	no := q.allowed()
	return q, no
}

func refuse(status int, code trading.Code, message string) *reply {
	r := own(status, code, message, "")
	return &r
}

// authenticate finds whose key it is.
func (s *Server) authenticate(r *http.Request, q *request) *reply {
	if q.keyless {
		return nil
	}
	token := r.Header.Get("X-API-Key")
	if token == "" {
		token, _ = strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	bot, err := s.keys.Find(token)
	switch {
	case token == "":
		return refuse(http.StatusUnauthorized, trading.CodeMissingAPIKey, "Send your local key in the X-API-Key header.")
	case err != nil && !localkey.IsLocal(token):
		return refuse(http.StatusUnauthorized, trading.CodeInvalidAPIKey, "This is no local key of the sidecar. A key of the service itself is of no use here, and should not be sent.")
	case errors.Is(err, localkey.ErrUnknown):
		return refuse(http.StatusUnauthorized, trading.CodeInvalidAPIKey, "The local key is malformed or unknown.")
	case errors.Is(err, localkey.ErrTakenBack):
		return refuse(http.StatusUnauthorized, trading.CodeRevokedAPIKey, "The local key has been taken back.")
	case err != nil:
		s.alert("the local keys cannot be read: " + err.Error())
		no := own(http.StatusServiceUnavailable, trading.CodeUnavailable, "The local keys cannot be read.", "").after(again, s.random)
		return &no
	}
	admit.Known(r.Context())
	q.bot = bot
	if q.env != "" && q.env != q.keyEnv() {
		return refuse(http.StatusForbidden, trading.CodeWrongEnvironment, "The local key is for the other environment.")
	}
	return nil
}

// realKey names the API key that the service sees.
func (q *request) realKey() string { return "real API key of " + string(q.keyEnv()) }

// keyEnv is the environment of the bot's key.
func (q *request) keyEnv() trading.Environment {
	if q.bot.Live {
		return live
	}
	return paper
}

func (s *Server) readBody(w http.ResponseWriter, r *http.Request, q *request) *reply {
	if len(r.Header["Content-Encoding"]) > 0 {
		return refuse(http.StatusBadRequest, trading.CodeBadRequest, "The body must not be compressed.")
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTime)) // a connection in memory has none
	body, err := io.ReadAll(io.LimitReader(r.Body, mostBody+1))
	if err != nil || len(body) > mostBody { // the answer must not wait for the rest
		w.Header().Set("Connection", "close")
	} else {
		_ = control.SetReadDeadline(time.Time{})
	}
	switch {
	case err != nil:
		return refuse(http.StatusBadRequest, trading.CodeBadRequest, "The body cannot be read.")
	case len(body) > mostBody:
		return refuse(http.StatusBadRequest, trading.CodeBadRequest, "The body is too long.")
	}
	q.body = body
	if values := r.Header.Values("Idempotency-Key"); q.env == live && len(values) > 0 {
		q.keyed, q.key = true, strings.Join(values, ", ")
		if !validKey(q.key) {
			return refuse(http.StatusBadRequest, trading.CodeInvalidIdempotencyKey, "Idempotency-Key must be one header of 1 to 255 visible ASCII characters.")
		}
	}
	return nil
}

func validKey(key string) bool {
	const longest = 255
	return key != "" && len(key) <= longest && !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' })
}

// read takes out of the body what says where it belongs. Whether the body is right the client
// judges, which refuses a member twice and an account that is not this one: so both read the same.
func (q *request) read() *reply {
	switch {
	case q.adds:
		q.kind = hearing.Entry
	case q.part != "":
		q.kind = hearing.Partial
	}
	if len(q.body) == 0 && q.op == trading.OpSandboxReset {
		return nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(q.body, &members) != nil || members == nil {
		return refuse(http.StatusBadRequest, trading.CodeInvalidJSON, "The body is not a JSON object.")
	}
	text := func(name string) (value string) {
		_ = json.Unmarshal(members[name], &value) // "" is refused
		return value
	}
	if q.env == live {
		if q.account = text("accountId"); q.account == "" {
			return refuse(http.StatusBadRequest, trading.CodeMissingFields, "accountId is missing.")
		}
	}
	q.symbol = text("symbol")
	if q.adds && q.env == live {
		q.asks = asksOf(members)
	}
	switch {
	case q.adds && string(members["reduceOnly"]) == "true":
		q.kind = hearing.Partial
	case q.part != "" && isAll(members[q.part]):
		q.kind = hearing.Close
	}
	return nil
}

// isAll reports whether a close closes all of a position.
func isAll(part json.RawMessage) bool {
	if len(part) == 0 || string(part) == "null" {
		return true
	}
	percent, err := decimal.NewFromString(string(part))
	return err == nil && percent.Equal(decimal.NewFromInt(100))
}

// allowed refuses what the bot's key has no right to.
func (q *request) allowed() *reply {
	no := forbidden("the local key may not do this")
	switch {
	case q.keyless:
		return nil
	case q.env == live && q.account != "" && !q.bot.Sees(q.account):
		return refuse(http.StatusNotFound, trading.CodeAccountNotFound, "There is no such account.")
	case !q.write, q.bot.May == localkey.Trade:
		return nil
	case q.bot.May == localkey.Exits && q.kind != hearing.Entry:
		return nil
	default:
		return &no
	}
}

// place is the market that a write is for.
func (q *request) place() hearing.Place {
	account := q.account
	if q.env == paper {
		account = string(paper)
	}
	return hearing.Place{Bot: q.bot.Name, Account: account, Market: q.symbol}
}

// held is the answer to a write of which nothing is sent: what was sent under its key without the
// sidecar may have been executed.
func (q *request) held(r reply) reply {
	if q.shared {
		r.outcome, r.unsent = trading.Unknown, true
	}
	return r
}

// digest is of operation and bytes.
func (q *request) digest() string {
	sum := sha256.Sum256(slices.Concat([]byte(q.op), []byte{'\n'}, q.body))
	return hex.EncodeToString(sum[:])
}
