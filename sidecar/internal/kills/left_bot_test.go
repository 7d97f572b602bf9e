package kills

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// leavers are clients whose time-out ends no call: the connection stays open, and somebody or nobody
// takes the answer. By the program that each needs, and its arguments.
var leavers = map[string][]string{
	"urllib, a future with a time-out":   {"python3", "testdata/left.py", "urllib"},
	"requests, a future with a time-out": {"python3", "testdata/left.py", "requests"},
	"fetch, a race with a timer":         {"node", "testdata/left.mjs"},
	"curl in the background":             {"bash", "testdata/left.sh"},
	"go, a goroutine and a timer":        nil, // this program
}

// goesOn is what such a bot does when the time is over. It reads its positions, and then
// decides again; but one that is hasty or keyed does so at once, and reads when it is refused.
var goesOn = []string{
	"decides", // without a key
	"renews",  // under a new key
	"changes", // another size
	"keyed",   // the same under the same key
	"hasty",   // the same under a new key
}

// needed is what a client needs and this machine has not; empty if it can run.
func needed(client string) []string {
	needs := [][]string{}
	if args := leavers[client]; args != nil {
		needs = append(needs, []string{args[0], "--version"})
		switch args[len(args)-1] {
		case "requests":
			needs = append(needs, []string{"python3", "-c", "import requests"})
		case "testdata/left.sh":
			needs = append(needs, []string{"curl", "--version"})
		}
	}
	for _, n := range needs {
		if exec.Command(n[0], n[1:]...).Run() != nil { //nolint:gosec // a list of this file's
			return n
		}
	}
	return nil
}

// within is an answer; the status is 0 if it did not come in time, and -1 if it cannot come.
func within(method, path, body, key string) (int, []byte) {
	type answer struct {
		status int
		text   []byte
	}
	said := make(chan answer, 1)
	r, err := http.NewRequest(method, os.Getenv("LEFT_URL")+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("X-API-Key", os.Getenv("LEFT_KEY"))
	r.Header.Set("Content-Type", "application/json")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	go func() {
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			said <- answer{status: -1}
			return
		}
		defer func() { _ = a.Body.Close() }()
		text, _ := io.ReadAll(a.Body) // half of one says nothing
		said <- answer{a.StatusCode, text}
	}()
	patience, err := strconv.ParseFloat(os.Getenv("LEFT_PATIENCE"), 64)
	if err != nil {
		panic(err)
	}
	select {
	case a := <-said:
		return a.status, a.text
	case <-time.After(time.Duration(patience * float64(time.Second))):
		return 0, nil
	}
}

func hasIt() answer {
	switch status, text := within(http.MethodGet, "/positions?accountId=acc_1", "", ""); {
	case status != http.StatusOK:
		return none
	case bytes.Contains(text, []byte(`"symbol"`)):
		return yes
	default:
		return no
	}
}

// runLeaver is the same bot as those in testdata, in this program.
func runLeaver() {
	how := os.Getenv("LEFT_HOW")
	if hasIt() == yes && how != "keyed" { // from an earlier run
		fmt.Println("placed")
		return
	}
	number, last := 0, ""
	for n, end := 1, time.Now().Add(2*time.Minute); time.Now().Before(end); n++ {
		size, key := 1, ""
		switch how {
		case "keyed":
			key = fmt.Sprint("entry-", number)
		case "renews", "hasty":
			key = fmt.Sprint("entry-", os.Getpid(), "-", n)
		case "changes":
			size = n
		}
		status, text := within(http.MethodPost, "/orders", fmt.Sprintf(`{"accountId":"acc_1","symbol":"BTC","side":"long","size":0.0%d,"leverage":2}`, size), key)
		last = fmt.Sprintf("%d %s", status, text)
		if n > 1 {
			fmt.Println("again")
		}
		if status == http.StatusOK {
			fmt.Println("placed")
			return
		}
		if status == 0 && (how == "keyed" || how == "hasty") {
			continue
		}
		if how != "keyed" || status == http.StatusUnprocessableEntity || bytes.Contains(text, []byte("idempotency_result_unknown")) {
			switch hasIt() {
			case yes:
				fmt.Println("placed")
				return
			case no:
				number++
			}
		}
		time.Sleep(200 * time.Millisecond)
	}
	fmt.Println("gave up:", last)
}
