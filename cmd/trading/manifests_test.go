package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/tradingapi/trading-go/cmd/trading/internal/cli"
)

// parses holds a command line of a manifest to the command's own flags, and returns them.
func parses(t *testing.T, line []string) (shard, out string) {
	t.Helper()
	require.Equal(t, []string{"trading", "backtest"}, line[:2])
	cmd, rest, err := newRoot(&cli.App{}).Find(line[1:])
	require.NoError(t, err)
	require.NoError(t, cmd.ParseFlags(rest))
	require.Equal(t, []string{"./bot"}, cmd.Flags().Args())
	require.NoError(t, cmd.ValidateArgs(cmd.Flags().Args()))
	sweep, err := cmd.Flags().GetBool("sweep")
	require.NoError(t, err)
	require.True(t, sweep)
	return cmd.Flag("shard").Value.String(), cmd.Flag("out").Value.String()
}

// fromYAML is a manifest as JSON has it.
func fromYAML(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var read any
	require.NoError(t, yaml.Unmarshal(text, &read))
	encoded, err := json.Marshal(read)
	require.NoError(t, err)
	var manifest map[string]any
	require.NoError(t, json.Unmarshal(encoded, &manifest))
	return manifest
}

// TestTheJobOfAFleet holds the manifest to the schema of Kubernetes, and to the flags of the command.
func TestTheJobOfAFleet(t *testing.T) {
	text, err := os.ReadFile("testdata/kubernetes-job.json")
	require.NoError(t, err)
	var schema jsonschema.Schema
	require.NoError(t, json.Unmarshal(text, &schema))
	resolved, err := schema.Resolve(nil)
	require.NoError(t, err)
	text, err = os.ReadFile("../../examples/fleet/job.yaml")
	require.NoError(t, err)
	require.NoError(t, resolved.Validate(fromYAML(t, text)))
	for _, change := range [][2]string{ // that the schema sees
		{"completionMode: Indexed", "completionMode: indexed"},
		{"completions: 50", `completions: "50"`},
		{"backoffLimit:", "backOffLimit:"},
		{"mountPath: /data,", ""},
		{"restartPolicy: Never", "restartPolicy: Sometimes"},
	} {
		wrong := strings.Replace(string(text), change[0], change[1], 1)
		require.NotEqual(t, string(text), wrong)
		require.Error(t, resolved.Validate(fromYAML(t, []byte(wrong))), change[1])
	}

	var job struct {
		Spec struct {
			CompletionMode string `yaml:"completionMode"`
			Completions    int
			Template       struct {
				Spec struct{ Containers []struct{ Command []string } }
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &job))
	shard, out := parses(t, job.Spec.Template.Spec.Containers[0].Command)
	assert.Equal(t, fmt.Sprintf("auto/%d", job.Spec.Completions), shard)
	assert.Contains(t, out, "$(JOB_COMPLETION_INDEX)")
}

// TestTheArrayOfAFleet runs the script as a task of Slurm, with a command in the place of trading
// that shows its arguments.
func TestTheArrayOfAFleet(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	text, err := os.ReadFile("../../examples/fleet/array.sh")
	require.NoError(t, err)
	bounds := regexp.MustCompile(`(?m)^#SBATCH --array=1-(\d+)$`).FindSubmatch(text)
	require.NotNil(t, bounds)
	last, err := strconv.Atoi(string(bounds[1]))
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "trading"), []byte("#!"+bash+"\nprintf '%s\\n' trading \"$@\"\n"), 0o700))
	cmd := exec.CommandContext(t.Context(), bash, "../../examples/fleet/array.sh")
	cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), "SLURM_ARRAY_TASK_ID=7")
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, string(said))
	shard, out := parses(t, strings.Split(strings.TrimSpace(string(said)), "\n"))
	assert.Equal(t, fmt.Sprintf("auto/%d", last), shard)
	assert.Equal(t, "part-7.json", out)
	for line := range strings.Lines(string(text)) {
		if directive, ok := strings.CutPrefix(line, "#SBATCH "); ok {
			assert.Regexp(t, `^--(job-name|array|cpus-per-task|mem|time|requeue)(=\S+)?\n$`, directive)
		}
	}
}
