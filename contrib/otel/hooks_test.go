package tradingotel

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"github.com/tradingapi/trading-go"
	"github.com/tradingapi/trading-go/tradingsim"
)

var update = flag.Bool("update", false, "write the golden files")

// watched is a client whose spans and metrics are kept.
type watched struct {
	*trading.Client
	spans  *tracetest.InMemoryExporter
	reader *sdkmetric.ManualReader
}

func watch(t *testing.T, config Config, url string, opts ...trading.Option) watched {
	t.Helper()
	w := watched{spans: tracetest.NewInMemoryExporter(), reader: sdkmetric.NewManualReader()}
	config.TracerProvider = sdktrace.NewTracerProvider(sdktrace.WithSyncer(w.spans))
	config.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(w.reader))
	hooks, err := New(config)
	require.NoError(t, err)
	w.Client, err = trading.New(url, append(opts, trading.WithHooks(hooks))...)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := w.Close(); !errors.As(err, new(*trading.PendingError)) {
			require.NoError(t, err)
		}
	})
	return w
}

func simulated(t *testing.T, config Config, sim *tradingsim.Sim) watched {
	return watch(t, config, sim.URL(),
		trading.WithLiveKey(sim.LiveKey()), trading.WithSandboxKey(sim.SandboxKey()), trading.WithTransport(sim.Transport()))
}

// tree writes spans as lines, children indented, in the order in which they began.
func (w watched) tree() string {
	spans := w.spans.GetSpans()
	slices.SortStableFunc(spans, func(a, b tracetest.SpanStub) int { return a.StartTime.Compare(b.StartTime) })
	var text strings.Builder
	var write func(indent string, parent string)
	write = func(indent, parent string) {
		for _, s := range spans {
			own := s.SpanContext.SpanID().String()
			if s.Parent.SpanID().String() != parent {
				continue
			}
			fmt.Fprintf(&text, "%s%s, %s, %s: %s\n", indent, s.Name, s.SpanKind, s.Status.Code, inWords(s.Attributes))
			for _, e := range s.Events {
				fmt.Fprintf(&text, "%s  (%s: %s)\n", indent, e.Name, inWords(e.Attributes))
			}
			write(indent+"  ", own)
		}
	}
	write("", "0000000000000000")
	return text.String()
}

func inWords(attrs []attribute.KeyValue) string {
	var words []string
	for _, a := range attrs {
		words = append(words, string(a.Key)+"="+a.Value.String())
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// series writes each series of the metrics as a line.
func (w watched) series(t *testing.T) string {
	t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(t, w.reader.Collect(context.Background(), &all))
	var lines []string
	line := func(m metricdata.Metrics, set attribute.Set, n any) {
		lines = append(lines, fmt.Sprintf("%s [%s] %s: %v\n", m.Name, m.Unit, inWords(set.ToSlice()), n))
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					line(m, p.Attributes, p.Value)
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					line(m, p.Attributes, fmt.Sprint(p.Count, " in ", p.Sum))
				}
			case metricdata.Gauge[int64]:
				for _, p := range data.DataPoints {
					line(m, p.Attributes, p.Value)
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					line(m, p.Attributes, p.Value)
				}
			default:
				t.Errorf("%s is a %T", m.Name, data)
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// accountID is the account that a simulation has.
const accountID = "acc_1"

func buy() trading.Order {
	return trading.Order{Symbol: "BTC", Side: trading.Long, Size: trading.Dec("0.01"), Leverage: trading.Dec("2")}
}

// The spans and metrics of a run with a success, refusals of each side, a lost answer, a wait
// for a rate limit, and a failure.
func TestSpansAndMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New()
		w := simulated(t, Config{Account: true}, sim)
		ctx, account := t.Context(), w.Live.Account(accountID)
		step := func(err error, ok bool) {
			t.Helper()
			require.Equal(t, ok, err == nil, "%v", err)
			time.Sleep(time.Second) // so that spans are in order
		}
		_, err := account.PlaceOrder(ctx, buy())
		step(err, true)
		_, err = account.ClosePosition(ctx, "ETH", trading.All)
		step(err, false)
		_, err = account.PlaceOrder(ctx, trading.Order{Symbol: "BTC"})
		step(err, false)
		sim.Fault("POST /positions/close", tradingsim.RateLimit(3*time.Second))
		_, err = account.ClosePosition(ctx, "BTC", trading.All)
		step(err, true)
		sim.Fault("GET /positions", tradingsim.Fail(400, "made_up_code"))
		_, err = account.Positions(ctx)
		step(err, false)
		sim.Fault("GET /trades", tradingsim.GatewayError(403))
		_, err = account.Trades(ctx)
		step(err, false)
		golden(t, "spans", w.tree())
		golden(t, "metrics", w.series(t))
	})
}

// A write that was in doubt is counted once it is known.
func TestResolutionsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sim := tradingsim.New()
		w := simulated(t, Config{}, sim)
		sim.Fault("POST /orders", tradingsim.DropResponse())
		_, err := w.Live.Account(accountID).PlaceOrder(t.Context(), buy(), trading.WithRetry(trading.Retry{Attempts: 1}))
		require.NoError(t, err)
		var resolutions strings.Builder
		for line := range strings.Lines(w.series(t)) {
			if strings.HasPrefix(line, "trading.resolutions") {
				resolutions.WriteString(line)
			}
		}
		golden(t, "resolutions", resolutions.String())
	})
}

// The account is named only where that is asked for, and never in a metric.
func TestTheAccountIsNamedOnDemand(t *testing.T) {
	for _, asked := range []bool{false, true} {
		sim := tradingsim.New()
		w := simulated(t, Config{Account: asked}, sim)
		_, err := w.Live.Account(accountID).Positions(t.Context())
		require.NoError(t, err)
		assert.Equal(t, asked, strings.Contains(w.tree(), accountID))
		assert.NotContains(t, w.series(t), accountID)
	}
}

// A span of another hook's between ours does not take our place.
func TestOtherHooksKeepTheirSpans(t *testing.T) {
	sim := tradingsim.New()
	other := tracetest.NewInMemoryExporter()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSyncer(other)).Tracer("another")
	w := watch(t, Config{}, sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()))
	hooks, err := New(Config{TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(w.spans))})
	require.NoError(t, err)
	client, err := trading.New(sim.URL(), trading.WithLiveKey(sim.LiveKey()), trading.WithTransport(sim.Transport()),
		trading.WithHooks(hooks), trading.WithHooks(trading.Hooks{
			CallStart: func(ctx context.Context, _ trading.Call) context.Context {
				ctx, _ = tracer.Start(ctx, "another")
				return ctx
			},
		}))
	require.NoError(t, err)
	defer client.Close()
	_, err = client.Live.Accounts(t.Context())
	require.NoError(t, err)
	require.Len(t, w.spans.GetSpans(), 2)
	assert.Equal(t, 1, strings.Count(w.tree(), "\n  GET /accounts, client"), w.tree())
	assert.Empty(t, other.GetSpans(), "which did not end its own")
}

const (
	taintLive    = `pk_live_Ta1nt<&"\'of+the/live~key`
	taintSandbox = `pk_test_Ta1nt<&"\'of+the/paper~key`
	taintMark    = "Ta1nt" // what must be nowhere
)

// echo is something in front of the service that repeats the key.
type echo struct {
	status int
	body   func(key string) string
}

func (e echo) RoundTrip(req *http.Request) (*http.Response, error) {
	key := req.Header.Get("X-API-Key")
	if e.status == 0 {
		return nil, errors.New(e.body(key))
	}
	return &http.Response{
		StatusCode: e.status,
		Header:     http.Header{"Content-Type": {"application/json"}, "X-Echo": {key}, "Location": {"https://elsewhere.test/" + key}},
		Body:       io.NopCloser(strings.NewReader(e.body(key))),
	}, nil
}

// Whatever comes back, and whatever the caller writes into a tag, neither a key nor
// anything of a body or of an error's text is in a span or a metric, and every attribute is of the list.
func TestTrap_T88_NoKeyIsInATrace(t *testing.T) {
	quoted := func(key string) string {
		text, _ := json.Marshal(key)
		return string(text)
	}
	listed := []attribute.Key{
		attrOperation, attrEnvironment, attrAccount, attrSymbol, attrPriority, attrOutcome,
		attrAttempts, attrReason, attrSeconds, semconv.ErrorTypeKey, semconv.HTTPResponseStatusCodeKey,
		semconv.HTTPRequestMethodKey, semconv.URLTemplateKey, semconv.HTTPRequestResendCountKey,
	}
	for name, e := range map[string]echo{
		"message":   {400, func(key string) string { return `{"error":"bad_size","message":` + quoted(key) + `}` }},
		"code":      {400, func(key string) string { return `{"error":` + quoted(key) + `,"message":"no"}` }},
		"new code":  {400, func(string) string { return `{"error":"Ta1nt_code","message":"no"}` }},
		"page":      {502, func(key string) string { return "<html>" + key }},
		"escaped":   {502, func(key string) string { return strings.ReplaceAll(key, "<", "%3C") }},
		"redirect":  {307, func(key string) string { return key }},
		"error":     {0, func(key string) string { return "proxy says: " + key }},
		"in a body": {200, func(key string) string { return `{"success":true,"echo":` + quoted(key) + `}` }},
	} {
		t.Run(name, func(t *testing.T) {
			w := watch(t, Config{Account: true}, "https://api.test/v1",
				trading.WithSandboxKey(taintSandbox), trading.WithLiveKey(taintLive), trading.WithTransport(e),
				trading.WithHealthGate(trading.HealthGate{Off: true}), trading.WithRetry(trading.Retry{Attempts: 1}),
				trading.WithTag("bot of "+taintLive), trading.WithResolveTimeout(0), trading.WithRecovery(trading.Recovery{WithoutBackground: true}))
			ctx, account := t.Context(), w.Live.Account("acc_1")
			_, _ = account.PlaceOrder(ctx, buy())
			_, _ = account.Positions(ctx)
			_, _ = w.Sandbox.PlaceOrder(ctx, buy())
			_, _ = w.Sandbox.Price(ctx, "BTC")
			spans := w.spans.GetSpans()
			require.NotEmpty(t, spans)
			text, err := json.Marshal(spans.Snapshots())
			require.NoError(t, err)
			assert.NotContains(t, string(text), taintMark)
			assert.NotContains(t, fmt.Sprintf("%+v", spans), taintMark)
			assert.NotContains(t, w.series(t), taintMark)
			for _, span := range spans {
				assert.Empty(t, span.Status.Description)
				for _, a := range span.Attributes {
					assert.Contains(t, listed, a.Key)
				}
			}
			assert.True(t, slices.ContainsFunc(spans, func(s tracetest.SpanStub) bool { return s.Status.Code == codes.Error }) || e.status == 200)
		})
	}
}
