package exchange

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// epoch stands for the earliest time of an exchange; each later one is a second
// further, so that their order stays.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// generated stands for an idempotency key that the client made.
const generated = "[generated]"

var (
	apiKeyText = regexp.MustCompile(`pk_(test|live)_[A-Za-z0-9_.~-]+`)
	uuidText   = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	timeText   = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)
	millisText = regexp.MustCompile(`^\d{13}$`)
	wordText   = regexp.MustCompile(`[A-Za-z0-9_-]+`)
)

// Normalize takes out of an exchange what depends on when and where it was
// recorded: API keys, generated idempotency keys, times and ids. keys are the
// API keys that were good; any other key is shown as an unknown one. Doing it
// twice changes nothing.
func Normalize(f *File, keys ...string) {
	f.Request.hideKeys(keys)
	f.Response.JSON = hideText(f.Response.JSON, keys)
	f.Response.Text = string(hideText([]byte(f.Response.Text), keys))

	n := names{ids: map[string]string{}, counts: map[string]int{}}
	n.learnPath(&f.Request)
	walk(f.Request.JSON, n.learn)
	walk(f.Response.JSON, n.learn)
	n.orderTimes()
	n.namePath(&f.Request)
	f.Request.JSON = walk(f.Request.JSON, n.name)
	f.Response.JSON = walk(f.Response.JSON, n.name)
	if _, ok := f.Response.Header["X-RateLimit-Reset"]; ok {
		f.Response.Header["X-RateLimit-Reset"] = strconv.FormatInt(epoch.Add(time.Minute).Unix(), 10)
	}
}

// hideKeys redacts both kinds of key in a request.
func (r *Request) hideKeys(keys []string) {
	for name, value := range r.Header {
		r.Header[name] = string(hideText([]byte(value), keys))
	}
	if uuidText.MatchString(r.Header["Idempotency-Key"]) {
		r.Header["Idempotency-Key"] = generated
	}
	r.JSON = hideText(r.JSON, keys)
	r.Text = string(hideText([]byte(r.Text), keys))
}

// hideText redacts API keys wherever they stand.
func hideText(text []byte, keys []string) []byte {
	return apiKeyText.ReplaceAllFunc(text, func(key []byte) []byte {
		prefix := string(key[:len("pk_test_")])
		if slices.Contains(keys, string(key)) {
			return []byte(prefix + "[redacted]")
		}
		return []byte(prefix + "[unknown]")
	})
}

// names are the ids and times of an exchange, and what stands for them.
type names struct {
	ids    map[string]string // as recorded → "account_1"
	counts map[string]int    // by kind
	times  []time.Time       // in order
}

// learn notes the id or the time of a leaf.
func (n *names) learn(parent, member string, leaf []byte) []byte {
	if at, _, ok := timeOf(member, leaf); ok {
		n.times = append(n.times, at)
		return leaf
	}
	var text string
	if kind := kindOf(parent, member); kind != "" && json.Unmarshal(leaf, &text) == nil {
		n.add(kind, text)
	}
	return leaf
}

func (n *names) add(kind, id string) {
	if _, known := n.ids[id]; known || id == "" {
		return
	}
	n.counts[kind]++
	n.ids[id] = kind + "_" + strconv.Itoa(n.counts[kind])
}

// name replaces the id or the time of a leaf, and ids inside other texts.
func (n *names) name(_, member string, leaf []byte) []byte {
	if at, write, ok := timeOf(member, leaf); ok {
		i, _ := slices.BinarySearchFunc(n.times, at, time.Time.Compare)
		return write(epoch.Add(time.Duration(i) * time.Second))
	}
	var text string
	if len(leaf) == 0 || leaf[0] != '"' || json.Unmarshal(leaf, &text) != nil {
		return leaf
	}
	named, isID := n.ids[text]
	if !isID {
		named = wordText.ReplaceAllStringFunc(text, n.of)
	}
	if named == text {
		return leaf
	}
	return quoted(named)
}

func (n *names) of(id string) string {
	if name, ok := n.ids[id]; ok {
		return name
	}
	return id
}

func (n *names) orderTimes() {
	slices.SortFunc(n.times, time.Time.Compare)
	n.times = slices.CompactFunc(n.times, time.Time.Equal)
}

// The account is the one id that a path or a query holds.
const (
	accountPath  = "/accounts/"
	accountQuery = "accountId="
)

func (n *names) learnPath(r *Request) {
	for _, id := range []string{pathID(r), queryID(r.Query)} {
		n.add("account", id)
	}
}

func (n *names) namePath(r *Request) {
	if id := pathID(r); id != "" {
		_, rest, _ := strings.Cut(r.Path[len(accountPath):], "/")
		r.Path = accountPath + url.PathEscape(n.of(id))
		if rest != "" {
			r.Path += "/" + rest
		}
	}
	if id := queryID(r.Query); id != "" {
		r.Query = accountQuery + url.QueryEscape(n.of(id))
	}
}

// pathID is the account in the path of a read. A write has none there.
func pathID(r *Request) string {
	rest, ok := strings.CutPrefix(r.Path, accountPath)
	if !ok || r.Method != http.MethodGet {
		return ""
	}
	segment, _, _ := strings.Cut(rest, "/")
	id, err := url.PathUnescape(segment)
	if err != nil {
		return ""
	}
	return id
}

func queryID(query string) string {
	value, ok := strings.CutPrefix(query, accountQuery)
	if !ok || strings.Contains(value, "&") {
		return ""
	}
	id, err := url.QueryUnescape(value)
	if err != nil {
		return ""
	}
	return id
}

// kindOf is what a member is the id of, or "" if it is none.
func kindOf(parent, member string) string {
	switch kind, ok := strings.CutSuffix(member, "Id"); {
	case member == "id":
		return strings.TrimSuffix(parent, "s")
	case !ok:
		return ""
	case strings.HasSuffix(kind, "Account"):
		return "account"
	default:
		return kind
	}
}

// timeOf reads a time in either form that the contract has for it, and returns
// how to write another in the same form.
func timeOf(member string, leaf []byte) (at time.Time, write func(time.Time) []byte, ok bool) {
	if millisText.Match(leaf) && (member == "asOf" || strings.HasSuffix(member, "At")) {
		ms, err := strconv.ParseInt(string(leaf), 10, 64)
		return time.UnixMilli(ms), func(t time.Time) []byte {
			return strconv.AppendInt(nil, t.UnixMilli(), 10)
		}, err == nil
	}
	var text string
	if len(leaf) == 0 || leaf[0] != '"' || json.Unmarshal(leaf, &text) != nil || !timeText.MatchString(text) {
		return time.Time{}, nil, false
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	return at, func(t time.Time) []byte {
		return quoted(t.UTC().Format("2006-01-02T15:04:05.000Z"))
	}, err == nil
}

// walk visits the leaves of a JSON text in order and returns it with what the
// visitor made of them. parent is the name of the object around a leaf, or of
// the list that the object is in. What is no JSON stays as it is.
func walk(raw []byte, visit func(parent, member string, leaf []byte) []byte) []byte {
	return walkIn(raw, "", "", visit)
}

func walkIn(raw []byte, parent, member string, visit func(parent, member string, leaf []byte) []byte) []byte {
	if len(raw) == 0 {
		return raw
	}
	var open, end byte
	switch raw[0] {
	case '{':
		open, end = '{', '}'
	case '[':
		open, end = '[', ']'
	default:
		return visit(parent, member, raw)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if _, err := d.Token(); err != nil {
		return raw
	}
	out := []byte{open}
	for first := true; d.More(); first = false {
		if !first {
			out = append(out, ',')
		}
		in, name := parent, member // of an element: those of the list
		if open == '{' {
			token, err := d.Token()
			if err != nil {
				return raw
			}
			in, name = member, token.(string)
			out = append(append(out, quoted(name)...), ':')
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return raw
		}
		out = append(out, walkIn(value, in, name, visit)...)
	}
	return append(out, end)
}

// quoted is a JSON string with no more escapes than it needs.
func quoted(text string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string has a JSON form
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
