package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// settings are what to run.
type settings struct {
	seeds, length, workers int
	every                  int
	unaware                bool
	out                    string
	shard, shards          int // of a worker; no shards otherwise
}

func main() {
	var s settings
	flag.IntVar(&s.seeds, "seeds", 1, "how many seeds")
	flag.IntVar(&s.length, "length", 3600, "how many virtual seconds a run lasts")
	flag.IntVar(&s.workers, "workers", 1, "how many processes work side by side")
	flag.IntVar(&s.every, "every", 1, "make one of so many of the scenarios, a sample with each strategy, market, jump and fault")
	flag.BoolVar(&s.unaware, "unaware", false, "compare what protects bots that know of no protection: nothing, a loop beside them, a sidecar")
	flag.StringVar(&s.out, "out", "", "the folder for survival.csv, survival.txt and survival.svg; none writes the table alone")
	flag.IntVar(&s.shard, "shard", 0, "for workers: which part of the runs")
	flag.IntVar(&s.shards, "shards", 0, "for workers: how many parts there are")
	flag.Parse()
	s.every = max(1, s.every)
	if s.shards > 0 {
		work(s, os.Stdout)
		return
	}
	if err := conduct(s, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "survival:", err)
		os.Exit(1)
	}
}

// experiment is what the settings compare.
func (s settings) experiment() experiment {
	if s.unaware {
		return unaware
	}
	return parts
}

// scenarios are all runs, in order.
func (s settings) scenarios() (all []scenario) {
	for seed := 1; seed <= s.seeds; seed++ {
		for strategy := range s.experiment().strategies {
			for market := range kinds {
				for jump := range jumps {
					for fault := range faults {
						if (seed+strategy+market+jump+fault)%s.every != 0 {
							continue
						}
						for _, m := range s.experiment().modes {
							all = append(all, scenario{Strategy: strategy, Market: market, Jump: jump, Fault: fault, Seed: uint64(seed), Mode: m})
						}
					}
				}
			}
		}
	}
	return all
}

// work makes a part of the runs and writes each result as a line. A bubble of virtual time
// belongs to a test, so the program runs tests of its own, and then leaves.
func work(s settings, out io.Writer) {
	encoder := json.NewEncoder(out)
	tests := []testing.InternalTest{{Name: "survival", F: func(t *testing.T) {
		for i, one := range s.scenarios() {
			if i/len(s.experiment().modes)%s.shards != s.shard {
				continue
			}
			var r result
			synctest.Test(t, func(*testing.T) { r = one.run(s.length) })
			if err := encoder.Encode(r); err != nil {
				fmt.Fprintln(os.Stderr, "survival:", err)
				os.Exit(1)
			}
		}
		os.Exit(0) // before package testing says PASS
	}}}
	os.Args = os.Args[:1] // the rest was for this program
	testing.Main(func(string, string) (bool, error) { return true, nil }, tests, nil, nil)
}

// conduct starts the workers, gathers what they find, and writes it.
func conduct(s settings, out io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	var (
		mu   sync.Mutex
		all  []result
		errs []error
		wg   sync.WaitGroup
	)
	workers := max(s.workers, 1)
	for i := range workers {
		wg.Go(func() {
			found, err := worker(self, s, i, workers)
			mu.Lock()
			defer mu.Unlock()
			all, errs = append(all, found...), append(errs, err)
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	slices.SortFunc(all, compare)
	text := table(all, s)
	if s.out != "" {
		if err := write(s, all, text); err != nil {
			return err
		}
	}
	_, err = io.WriteString(out, text)
	return err
}

// worker runs one process over a part of the runs.
func worker(self string, s settings, shard, shards int) (found []result, err error) {
	command := exec.CommandContext(context.Background(), self, "-shard", fmt.Sprint(shard), "-shards", fmt.Sprint(shards),
		"-seeds", fmt.Sprint(s.seeds), "-length", fmt.Sprint(s.length), "-every", fmt.Sprint(s.every), "-unaware="+fmt.Sprint(s.unaware))
	command.Env = append(os.Environ(), "GOMAXPROCS=1")
	command.Stderr = os.Stderr
	pipe, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		var r result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("a worker wrote %q: %w", lines.Text(), err)
		}
		found = append(found, r)
	}
	return found, errors.Join(lines.Err(), command.Wait())
}

func write(s settings, all []result, text string) error {
	if err := os.MkdirAll(s.out, 0o755); err != nil {
		return err
	}
	for name, content := range map[string]string{"survival.csv": csvOf(all), "survival.txt": text, "survival.svg": picture(all, s.experiment())} {
		if err := os.WriteFile(filepath.Join(s.out, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}
