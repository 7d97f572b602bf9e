package tradingotel

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// seriesOf are the series of the golden files as Prometheus has them, by OpenTelemetry's rules for
// names: dots are underscores, seconds and totals are at the end, units in braces are left out.
func seriesOf(t *testing.T) (names map[string]bool, labels map[string]bool, page string) {
	t.Helper()
	line := regexp.MustCompile(`^(\S+) \[(\S+)\] (.*): (?:(\d+) in )?(\S+)$`)
	names, labels = map[string]bool{}, map[string]bool{"instance": true, "le": true, "severity": true}
	counters := map[string]bool{"trading.calls": true, "trading.attempts": true, "trading.outcomes": true, "trading.resolutions": true}
	var text strings.Builder
	for _, file := range []string{"metrics", "gauges", "resolutions"} {
		golden, err := os.ReadFile(filepath.Join("testdata", file+".golden"))
		require.NoError(t, err)
		for one := range strings.Lines(string(golden)) {
			m := line.FindStringSubmatch(strings.TrimSpace(one))
			require.NotNil(t, m, one)
			name := strings.ReplaceAll(m[1], ".", "_")
			if m[2] == "s" {
				name += "_seconds"
			}
			if counters[m[1]] {
				name += "_total"
			}
			var set []string
			for _, pair := range regexp.MustCompile(`([\w.]+)=(.*?)( [\w.]+=|$)`).FindAllStringSubmatch(m[3], -1) {
				label := strings.ReplaceAll(pair[1], ".", "_")
				labels[label] = true
				set = append(set, fmt.Sprintf("%s=%q", label, pair[2]))
			}
			for _, pair := range regexp.MustCompile(`[\w.]+=`).FindAllString(m[3], -1) {
				labels[strings.ReplaceAll(strings.TrimSuffix(pair, "="), ".", "_")] = true
			}
			if m[4] == "" {
				names[name] = true
				fmt.Fprintf(&text, "%s{%s} %s\n", name, strings.Join(set, ","), m[5])
				continue
			}
			for _, part := range []string{"_bucket", "_count", "_sum"} {
				names[name+part] = true
			}
			fmt.Fprintf(&text, "%s_bucket{%s} %s\n", name, strings.Join(append(set, `le="+Inf"`), ","), m[4])
			fmt.Fprintf(&text, "%s_count{%s} %s\n%[1]s_sum{%[2]s} %[4]s\n", name, strings.Join(set, ","), m[4], m[5])
		}
	}
	return names, labels, text.String()
}

type rule struct {
	Alert, Expr string
	Annotations map[string]string
}

func readRules(t *testing.T) (rules []rule) {
	t.Helper()
	text, err := os.ReadFile("prometheus/rules.yml")
	require.NoError(t, err)
	var file struct{ Groups []struct{ Rules []rule } }
	require.NoError(t, yaml.Unmarshal(text, &file))
	for _, group := range file.Groups {
		rules = append(rules, group.Rules...)
	}
	require.NotEmpty(t, rules)
	return rules
}

type panel struct {
	ID          int
	Type, Title string
	Description string
	Datasource  struct{ Type, UID string }
	GridPos     struct{ H, W, X, Y int }
	FieldConfig struct{ Defaults struct{ Unit string } }
	Targets     []struct{ RefID, Expr, LegendFormat string }
	Collapsed   bool
	Panels      []panel
}

func readDashboard(t *testing.T) (panels []panel) {
	t.Helper()
	text, err := os.ReadFile("prometheus/dashboard.json")
	require.NoError(t, err)
	var board struct {
		Title, UID    string
		SchemaVersion int
		Panels        []panel
		Templating    struct {
			List []struct{ Name, Type, Definition string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &board))
	require.NotEmpty(t, board.UID)
	require.NotEmpty(t, board.Title)
	require.GreaterOrEqual(t, board.SchemaVersion, 39)
	require.Len(t, board.Templating.List, 2)
	require.Equal(t, "datasource", board.Templating.List[0].Type)
	names, _, _ := seriesOf(t)
	metric := regexp.MustCompile(`^label_values\((\w+), instance\)$`).FindStringSubmatch(board.Templating.List[1].Definition)
	require.True(t, names[metric[1]], metric)
	return board.Panels
}

// TestTheDashboardIsWhole: what a linter of dashboards asks for.
func TestTheDashboardIsWhole(t *testing.T) {
	ids, titles, taken := map[int]bool{}, map[string]bool{}, map[[2]int]string{}
	for _, p := range readDashboard(t) {
		assert.False(t, ids[p.ID] || titles[p.Title], p.Title)
		ids[p.ID], titles[p.Title] = true, true
		require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, p.Title)
		for x := range p.GridPos.W {
			for y := range p.GridPos.H {
				at := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
				require.Empty(t, taken[at], "%s lies over it", p.Title)
				taken[at] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		assert.Contains(t, []string{"timeseries", "stat"}, p.Type)
		assert.Equal(t, "${datasource}", p.Datasource.UID, p.Title)
		assert.NotEmpty(t, p.Description, p.Title)
		assert.NotEmpty(t, p.FieldConfig.Defaults.Unit, p.Title)
		require.NotEmpty(t, p.Targets, p.Title)
		for _, target := range p.Targets {
			assert.NotEmpty(t, target.LegendFormat, p.Title)
			for _, label := range regexp.MustCompile(`{{(\w+)}}`).FindAllStringSubmatch(target.LegendFormat, -1) {
				_, labels, _ := seriesOf(t)
				assert.True(t, labels[label[1]], label[1])
			}
		}
	}
}

// expressions are those of the rules and of the dashboard, as a server takes them.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, r := range readRules(t) {
		require.NotEmpty(t, r.Annotations["summary"], r.Alert)
		require.NotEmpty(t, r.Annotations["do"], r.Alert)
		all[r.Alert] = r.Expr
	}
	for _, p := range readDashboard(t) {
		for _, target := range p.Targets {
			all[p.Title+" "+target.RefID] = strings.NewReplacer("$instance", ".*", "$__rate_interval", "1m").Replace(target.Expr)
		}
	}
	return all
}

// TestEachMetricIsReported: what the rules and the dashboard name is in the golden files.
func TestEachMetricIsReported(t *testing.T) {
	names, labels, _ := seriesOf(t)
	word := regexp.MustCompile(`\btrading_\w+|\berror_type\b|\bhttp_\w+`)
	used := map[string]bool{}
	for where, expression := range expressions(t) {
		for _, name := range word.FindAllString(expression, -1) {
			assert.True(t, names[name] || labels[name], "%s: %s", where, name)
			used[name] = true
		}
	}
	for _, watched := range []string{
		"trading_pending_writes", "trading_pending_age_seconds", "trading_lease_left_seconds", "trading_lease_taken_seconds",
		"trading_journal_append_duration_seconds_bucket", "trading_halted", "trading_floor_room", "trading_ratelimit_left", "trading_calls_total",
	} {
		assert.True(t, used[watched], watched)
	}
}

// tool finds a program of the distribution's prometheus.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	missing := "NOT TESTED WITH PROMETHEUS: there is no " + name + " on this machine; install the distribution's prometheus"
	if os.Getenv("CI") != "" {
		t.Fatal(missing)
	}
	t.Skip(missing)
	return ""
}

func TestRulesByPromtool(t *testing.T) {
	promtool := tool(t, "promtool")
	for _, args := range [][]string{{"check", "rules", "prometheus/rules.yml"}, {"test", "rules", "prometheus/rules_test.yml"}} {
		said, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput()
		require.NoError(t, err, string(said))
	}
	text, err := os.ReadFile("prometheus/rules_test.yml")
	require.NoError(t, err)
	for _, r := range readRules(t) {
		require.Regexp(t, `alertname: `+r.Alert+`\n\s+exp_alerts:\n\s+- exp_labels`, string(text), "it is seen to fire")
	}
}

// TestRulesInAServer loads the rules into a real server, which reads the golden series, and asks it
// what the dashboard asks.
func TestRulesInAServer(t *testing.T) {
	program := tool(t, "prometheus")
	if testing.Short() {
		t.Skip("starts a server")
	}
	_, _, page := seriesOf(t)
	scraped := make(chan struct{}, 100)
	bot := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, page)
		select {
		case scraped <- struct{}{}:
		default:
		}
	}))
	defer bot.Close()
	rules, err := filepath.Abs("prometheus/rules.yml")
	require.NoError(t, err)
	dir := t.TempDir()
	config := fmt.Sprintf("global: {scrape_interval: 250ms, evaluation_interval: 250ms}\nrule_files: [%q]\nscrape_configs:\n- job_name: bots\n  static_configs: [{targets: [%q]}]\n",
		rules, strings.TrimPrefix(bot.URL, "http://"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	server := exec.CommandContext(t.Context(), program, "--config.file", filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path", filepath.Join(dir, "data"), "--web.listen-address", address)
	var log strings.Builder
	server.Stderr = &log
	require.NoError(t, server.Start())
	defer func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		if t.Failed() {
			t.Log(log.String())
		}
	}()
	for range 3 {
		select {
		case <-scraped:
		case <-time.After(30 * time.Second):
			t.Fatal("nothing was scraped")
		}
	}
	get := func(path string, into any) {
		t.Helper()
		resp, err := http.Get("http://" + address + path)
		require.NoError(t, err)
		defer resp.Body.Close()
		require.Equal(t, http.StatusOK, resp.StatusCode, path)
		require.NoError(t, json.NewDecoder(resp.Body).Decode(into))
	}
	var loaded struct {
		Data struct {
			Groups []struct {
				Rules []struct{ Name, Health, State, LastError string }
			}
		}
	}
	require.Eventually(t, func() bool {
		get("/api/v1/rules", &loaded)
		for _, r := range loaded.Data.Groups[0].Rules {
			if r.Health == "unknown" {
				return false
			}
		}
		return true
	}, time.Minute, 100*time.Millisecond)
	require.Len(t, loaded.Data.Groups[0].Rules, len(readRules(t)))
	for _, r := range loaded.Data.Groups[0].Rules {
		require.Equal(t, "ok", r.Health, "%s: %s", r.Name, r.LastError)
	}
	var answer struct{ Status string }
	for where, expression := range expressions(t) {
		get("/api/v1/query?query="+url.QueryEscape(expression), &answer)
		require.Equal(t, "success", answer.Status, where)
	}
}
