package mcp

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"html/template"
	"net/http"
)

// The page of approval is on the loopback interface. Its link is no capability: what approves is the
// passphrase.

const pageStyle = `body{font:16px/1.5 system-ui,sans-serif;margin:0;background:#f5f5f2;color:#1a1a1a}
main{max-width:34rem;margin:0 auto;padding:1.5rem 1rem}
section{background:#fff;border:1px solid #d8d8d2;border-radius:8px;padding:1rem 1.25rem;margin:1rem 0}
h1{font-size:1.35rem;margin:0 0 .25rem}
table{border-collapse:collapse;width:100%;margin:.5rem 0 1rem}
th,td{text-align:left;padding:.3rem .5rem .3rem 0;border-bottom:1px solid #ecece7;vertical-align:top;overflow-wrap:anywhere}
th{width:8.5rem;font-weight:500;color:#555}
td{font-variant-numeric:tabular-nums}
.warning{color:#9a2c00;font-weight:600}
label{display:block;margin:.25rem 0}
input[type=password]{box-sizing:border-box;width:100%;font:inherit;padding:.5rem;border:1px solid #999;border-radius:6px}
button{font:inherit;padding:.55rem 1.1rem;border-radius:6px;border:1px solid #777;background:#fff;margin:.75rem .5rem 0 0}
button.yes{background:#14532d;border-color:#14532d;color:#fff}
p.note{color:#555;font-size:.9rem}
@media (prefers-color-scheme:dark){body{background:#181816;color:#eee}section{background:#22221f;border-color:#3a3a35}th,p.note{color:#b0b0a8}th,td{border-color:#33332f}.warning{color:#ffb08a}button,input[type=password]{background:#2b2b28;color:#eee}}`

var pageTemplate = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>Approve a trade</title><style>` + pageStyle + `</style></head>
<body><main><h1>{{.Title}}</h1>{{with .Text}}<p>{{.}}</p>{{end}}
{{range .Waiting}}<section><table>{{range .Lines}}<tr><th>{{.Name}}</th><td{{if eq .Name "Warning"}} class="warning"{{end}}>{{.Value}}</td></tr>{{end}}</table>
<form method="post" action="/approve/{{.Ticket}}" autocomplete="off"><input type="hidden" name="digest" value="{{.Digest}}"><input type="hidden" name="token" value="{{call $.Token .Ticket .Digest}}">
<label>Passphrase <input type="password" name="passphrase" autocomplete="new-password" maxlength="200"></label>
<button class="yes" name="do" value="approve">Approve and send</button><button name="do" value="refuse">Refuse</button></form></section>
{{end}}<p class="note">A language model asks for this. Compare it with what you want, and not with what the chat says. Type the passphrase here or into trading approve, and nowhere else: one that was typed into the chat, or filled in by a browser that the model drives, is the model's for ever. Set another one then.</p></main></body></html>
`))

type pageData struct {
	Title, Text string
	Waiting     []Waiting
	Token       func(ticket, digest string) string
}

// Page is the page of approval. Its host is exact, such as 127.0.0.1:40123.
func (e *Engine) Page(host string) http.Handler {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // it cannot fail
	token := func(ticket, digest string) string {
		m := hmac.New(sha256.New, secret[:])
		m.Write([]byte(ticket + " " + digest))
		return hex.EncodeToString(m.Sum(nil))
	}
	sum := sha256.Sum256([]byte(pageStyle))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
	show := func(w http.ResponseWriter, status int, d pageData) {
		d.Token = token
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(status)
		_ = pageTemplate.Execute(w, d) // to a browser that is gone
	}
	mux := http.NewServeMux()
	waits := func(ticket string) []Waiting {
		for _, one := range e.Waiting() {
			if one.Ticket == ticket {
				return []Waiting{one}
			}
		}
		return nil
	}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		d := pageData{Title: "Waiting for approval", Waiting: e.Waiting()}
		if len(d.Waiting) == 0 {
			d.Text = "Nothing waits."
		}
		show(w, http.StatusOK, d)
	})
	mux.HandleFunc("GET /approve/{ticket}", func(w http.ResponseWriter, r *http.Request) {
		found := waits(r.PathValue("ticket"))
		if found == nil {
			show(w, http.StatusNotFound, pageData{Title: "This ticket does not wait", Text: "It was decided, has ended, or never was."})
			return
		}
		show(w, http.StatusOK, pageData{Title: "Approve this trade?", Waiting: found})
	})
	mux.HandleFunc("POST /approve/{ticket}", func(w http.ResponseWriter, r *http.Request) {
		ticket, digest := r.PathValue("ticket"), r.PostFormValue("digest")
		if !hmac.Equal([]byte(r.PostFormValue("token")), []byte(token(ticket, digest))) {
			show(w, http.StatusForbidden, pageData{Title: "Refused", Text: "The form is not of this page."})
			return
		}
		if r.PostFormValue("do") == "refuse" {
			e.Deny(ticket)
			show(w, http.StatusOK, pageData{Title: "Refused", Text: "Nothing was sent."})
			return
		}
		err := e.Approve(r.Context(), ticket, digest, r.PostFormValue("passphrase"))
		switch {
		case errors.Is(err, ErrPassphrase):
			show(w, http.StatusForbidden, pageData{Title: "The passphrase is wrong", Text: "Five wrong ones in a row lock all approvals.", Waiting: waits(ticket)})
		case err != nil:
			show(w, http.StatusConflict, pageData{Title: "Not approved", Text: err.Error()})
		default:
			show(w, http.StatusOK, pageData{Title: "Approved", Text: "It was sent, and it happened."})
		}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin") // without one the browser says Origin: null
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		if r.Host != host || r.Method != http.MethodGet && r.Header.Get("Origin") != "http://"+host {
			http.Error(w, "refused", http.StatusForbidden)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, mostBytes)
		mux.ServeHTTP(w, r)
	})
}
