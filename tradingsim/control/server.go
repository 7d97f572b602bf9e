package control

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/tradingapi/trading-go/internal/admit"
	"github.com/tradingapi/trading-go/tradingsim"
)

// root is where the control API is.
const root = "/_sim/v1"

//go:embed openapi.json
var description []byte

//go:embed page
var page embed.FS

// server is the control of one simulation.
type server struct {
	sim     *tradingsim.Sim
	host    string          // what it is called
	hosts   map[string]bool // what it answers to
	cookie  string          // the name of the session cookie: cookies know no ports
	token   [sha256.Size]byte
	session string
	feed    *feed
	streams chan struct{} // a place for each
}

// maxStreams bounds the event streams.
const maxStreams = 16

func newServer(sim *tradingsim.Sim, token string, hosts []string, port string) *server {
	s := &server{
		sim: sim, host: hosts[0], hosts: map[string]bool{},
		cookie: "tradingsim_" + port, token: sha256.Sum256([]byte(token)), session: rand.Text(),
		feed: newFeed(rand.Text()[:8]), streams: make(chan struct{}, maxStreams),
	}
	for _, host := range hosts {
		s.hosts[host] = true
	}
	if ledger := sim.Ledger(); len(ledger) > 0 {
		s.feed.ledger = ledger[len(ledger)-1].ID
	}
	s.sample()
	return s
}

// route is one operation of the control API.
type route struct {
	method, path string
	open         bool // needs no token
	serve        func(*server, http.ResponseWriter, *http.Request) error
}

var routes = []route{
	{"GET", "/openapi.json", true, (*server).openapi},
	{"POST", "/session", true, (*server).signIn},
	{"GET", "/state", false, (*server).state},
	{"GET", "/history", false, (*server).history},
	{"GET", "/ledger", false, (*server).ledger},
	{"GET", "/requests", false, (*server).requests},
	{"GET", "/events", false, (*server).events},
	{"GET", "/faults", false, (*server).planned},
	{"POST", "/faults", false, (*server).plan},
	{"DELETE", "/faults", false, (*server).clearFaults},
	{"PUT", "/marks/{symbol}", false, (*server).setMark},
	{"PUT", "/markets/{symbol}", false, (*server).setMarket},
	{"PUT", "/health", false, (*server).setHealth},
	{"PUT", "/accounts/{id}", false, (*server).setAccount},
	{"PUT", "/clock", false, (*server).setClock},
	{"POST", "/clock/advance", false, (*server).advance},
	{"POST", "/trades", false, (*server).trade},
	{"POST", "/funding", false, (*server).payFunding},
	{"POST", "/keys/revoke", false, (*server).revokeKey},
}

// assets are the files of the page.
var assets = []struct{ path, file, kind string }{
	{"/{$}", "index.html", "text/html; charset=utf-8"},
	{"/page.css", "page.css", "text/css; charset=utf-8"},
	{"/page.js", "page.js", "text/javascript; charset=utf-8"},
	{"/uplot.css", "uplot.css", "text/css; charset=utf-8"},
	{"/uplot.js", "uplot.js", "text/javascript; charset=utf-8"},
	{"/icon.svg", "icon.svg", "image/svg+xml"},
	{"/NOTICE", "NOTICE", "text/plain; charset=utf-8"},
}

// handler judges the host first, then the origin, then the session.
func (s *server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.HandleFunc(r.method+" "+root+r.path, func(w http.ResponseWriter, req *http.Request) {
			err := errUnauthorized
			known := s.signedIn(req)
			if known {
				admit.Known(req.Context())
			}
			if r.open || known {
				err = r.serve(s, w, req)
			}
			writeProblem(w, err)
		})
	}
	for _, a := range assets {
		mux.HandleFunc("GET "+a.path, func(w http.ResponseWriter, _ *http.Request) {
			text, err := page.ReadFile("page/" + a.file)
			if err != nil {
				panic(err) // it is embedded
			}
			w.Header().Set("Content-Type", a.kind)
			_, _ = w.Write(text)
		})
	}
	protection := http.NewCrossOriginProtection()
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeProblem(w, problem{http.StatusForbidden, "cross_origin", "a page of another origin may not change anything"})
	}))
	return s.guard(protection.Handler(mux))
}

// guard answers its own hosts alone, so that a name which leads here is of no use to a
// page of somebody else, and sets what every answer carries.
func (s *server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if !s.hosts[strings.ToLower(r.Host)] {
			writeProblem(w, problem{http.StatusMisdirectedRequest, "wrong_host", "this host is not answered; it is " + s.host})
			return
		}
		if len(r.Header["Origin"]) > 1 || len(r.Header["Sec-Fetch-Site"]) > 1 { // what judges them reads one
			writeProblem(w, badRequest("Origin and Sec-Fetch-Site may be there once each"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// signedIn reports whether a request has the token of programs, or the session of the page.
func (s *server) signedIn(r *http.Request) bool {
	if header := r.Header.Get("Authorization"); header != "" {
		token, ok := strings.CutPrefix(header, "Bearer ")
		return ok && s.isToken(token)
	}
	cookie, err := r.Cookie(s.cookie)
	return err == nil && subtle.ConstantTimeCompare([]byte(cookie.Value), []byte(s.session)) == 1
}

func (s *server) isToken(text string) bool {
	sum := sha256.Sum256([]byte(text))
	return subtle.ConstantTimeCompare(sum[:], s.token[:]) == 1
}

// signIn gives the page its session for the token.
func (s *server) signIn(w http.ResponseWriter, r *http.Request) error {
	body, err := decode[struct {
		Token string `json:"token"`
	}](w, r)
	if err != nil {
		return err
	}
	if !s.isToken(body.Token) {
		return errUnauthorized
	}
	http.SetCookie(w, &http.Cookie{
		Name: s.cookie, Value: s.session, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	w.WriteHeader(http.StatusNoContent)
	return nil
}

func (s *server) openapi(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(description)
	return nil
}

// problem is a refusal.
type problem struct {
	status  int
	code    string
	message string
}

func (p problem) Error() string { return p.message }

var errUnauthorized error = problem{http.StatusUnauthorized, "unauthorized", "send the token as Authorization: Bearer, or sign in with it"}

func badRequest(message string) error {
	return problem{http.StatusBadRequest, "bad_request", message}
}

func notFound(message string) error {
	return problem{http.StatusNotFound, "not_found", message}
}

// writeProblem answers with an error; nil has been answered.
func writeProblem(w http.ResponseWriter, err error) {
	if err == nil {
		return
	}
	var p problem
	if !errors.As(err, &p) {
		p = problem{http.StatusInternalServerError, "internal_error", err.Error()}
	}
	if p.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	writeJSON(w, p.status, map[string]string{"error": p.code, "message": p.message})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"internal_error","message":"the answer has no JSON form"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}

// isJSON reports whether a Content-Type is that of JSON.
func isJSON(contentType string) bool {
	kind, params, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "application/json" {
		return false
	}
	charset, ok := params["charset"]
	return !ok || slices.Contains([]string{"utf-8", "UTF-8"}, charset)
}
