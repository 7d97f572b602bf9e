package control

import (
	"fmt"
	"net/http"
	"sort"
	"strconv"

	"github.com/tradingapi/trading-go/tradingsim"
)

func (s *server) state(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, s.sim.State())
	return nil
}

func (s *server) ledger(w http.ResponseWriter, r *http.Request) error {
	return list(w, r, "executions", s.sim.Ledger(), func(e tradingsim.Execution) int64 { return e.ID })
}

func (s *server) requests(w http.ResponseWriter, r *http.Request) error {
	return list(w, r, "requests", s.sim.Requests(), func(r tradingsim.Request) int64 { return r.ID })
}

// maxRows bounds an answer.
const maxRows = 1000

// list answers with the part of a list that a request asks for.
func list[T any](w http.ResponseWriter, r *http.Request, name string, all []T, id func(T) int64) error {
	rows, more, err := pageOf(r, all, id)
	if err == nil {
		writeJSON(w, http.StatusOK, map[string]any{name: rows, "more": more})
	}
	return err
}

// pageOf is the part of a list that a request asks for: what follows the id "after", or
// else the latest. more reports whether further rows follow.
func pageOf[T any](r *http.Request, all []T, id func(T) int64) (rows []T, more bool, err error) {
	query := r.URL.Query()
	limit, err := whole(query.Get("limit"), "limit", maxRows, 1, maxRows)
	if err != nil {
		return nil, false, err
	}
	if !query.Has("after") {
		return append([]T{}, all[max(0, len(all)-int(limit)):]...), false, nil
	}
	after, err := whole(query.Get("after"), "after", -1, 0, 1<<53)
	if err != nil {
		return nil, false, err
	}
	from := sort.Search(len(all), func(i int) bool { return id(all[i]) > after })
	to := min(len(all), from+int(limit))
	return append([]T{}, all[from:to]...), to < len(all), nil
}

// whole reads a whole number of the query.
func whole(text, name string, fallback, least, most int64) (int64, error) {
	if text == "" && fallback >= least {
		return fallback, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most {
		return 0, badRequest(fmt.Sprintf("%s must be a whole number from %d to %d, and is %.40q", name, least, most, text))
	}
	return n, nil
}
