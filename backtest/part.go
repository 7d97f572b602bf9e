package backtest

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// Part is what one of several machines made of a sweep: [Runner.SweepPart] makes it, [Part.WriteFile]
// and [ReadPart] carry it, and [Merge] makes the result of all of them.
type Part struct {
	// Shard is which part it is, of Shards, from 1.
	Shard, Shards int
	// Program is a digest of the program's file, Data of the prices and Config of everything else
	// that the sweep was asked for. Parts that differ in one are of different sweeps.
	Program, Data, Config string

	name        string // the file that it was read from
	variants    int    // of the whole sweep
	train, test []tried
	rows        []partRow
}

// partRow is a variant of a part. The best of a part has its runs on the test prices: the best of
// all parts is the best of its own.
type partRow struct {
	Variant int // which of the sweep's, from 0
	Name    string
	Score   Figure
	Runs    []*Result
	Err     string    `json:",omitempty"`
	Test    []*Result `json:",omitempty"`
	TestErr string    `json:",omitempty"`
}

// partFormat is the version of the file.
const partFormat = 1

// partFile is a part as it is written. Its sum is that of Part as it stands there.
type partFile struct {
	Format int
	SHA256 string
	Part   json.RawMessage
}

type partText struct {
	Shard, Shards         int
	Program, Data, Config string
	Variants              int
	Train, Test           []tried
	Rows                  []partRow
}

// String is such as "part-3.json", or "part 3 of 50".
func (p *Part) String() string {
	if p.name != "" {
		return p.name
	}
	return fmt.Sprintf("part %d of %d", p.Shard, p.Shards)
}

// WriteFile writes the part. The file appears under its name once it is whole.
func (p *Part) WriteFile(name string) error {
	text, err := json.Marshal(partText{p.Shard, p.Shards, p.Program, p.Data, p.Config, p.variants, p.train, p.test, p.rows})
	if err != nil {
		return fmt.Errorf("backtest: part: %w", err)
	}
	sum := sha256.Sum256(text)
	whole, err := json.Marshal(partFile{partFormat, hex.EncodeToString(sum[:]), text})
	if err != nil {
		return fmt.Errorf("backtest: part: %w", err)
	}
	return writeWhole(name, append(whole, '\n'))
}

// writeWhole leaves no half of a file where it is cut short.
func writeWhole(name string, text []byte) error {
	half := name + ".half"
	err := os.WriteFile(half, text, 0o644)
	if err == nil {
		err = os.Rename(half, name)
	}
	if err != nil {
		_ = os.Remove(half)
		return fmt.Errorf("backtest: %w", err)
	}
	return nil
}

// ReadPartFile reads what [Part.WriteFile] wrote.
func ReadPartFile(name string) (*Part, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("backtest: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	p, err := ReadPart(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p.name = name
	return p, nil
}

// ReadPart reads what [Part.WriteFile] wrote. A part that was cut short or changed is refused.
func ReadPart(r io.Reader) (*Part, error) {
	var file partFile
	if err := json.NewDecoder(r).Decode(&file); err != nil {
		return nil, fmt.Errorf("backtest: this is no part of a sweep: %w", err)
	}
	if file.Format != partFormat {
		return nil, fmt.Errorf("backtest: the part has format %d, and this version reads %d", file.Format, partFormat)
	}
	if sum := sha256.Sum256(file.Part); hex.EncodeToString(sum[:]) != file.SHA256 {
		return nil, errors.New("backtest: the part is not as it was written")
	}
	return parsePart(file.Part)
}

func parsePart(text []byte) (*Part, error) {
	var t partText
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, fmt.Errorf("backtest: this is no part of a sweep: %w", err)
	}
	p := &Part{Shard: t.Shard, Shards: t.Shards, Program: t.Program, Data: t.Data, Config: t.Config, variants: t.Variants, train: t.Train, test: t.Test, rows: t.Rows}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("backtest: the part cannot be meant: %w", err)
	}
	return p, nil
}

// check refuses what no run has made.
func (p *Part) check() error {
	if err := checkShard(p.Shard, p.Shards); err != nil {
		return err
	}
	if p.variants < 1 || p.variants > p.Shards*(len(p.rows)+1) || len(p.train) == 0 || len(p.test) == 0 {
		return fmt.Errorf("%d variants of %d, on %d train runs and %d test runs", len(p.rows), p.variants, len(p.train), len(p.test))
	}
	want := variantsOf(p.Shard, p.Shards, p.variants)
	if len(p.rows) != len(want) {
		return fmt.Errorf("%d variants of %d, and the shard has %d", len(p.rows), p.variants, len(want))
	}
	for i, row := range p.rows {
		_, scored := row.Score.Value()
		switch {
		case row.Variant != want[i]:
			return fmt.Errorf("variant %d is of another shard", row.Variant)
		case row.Err == "" && len(row.Runs) != len(p.train), scored && row.Err != "", len(row.Runs) > len(p.train):
			return fmt.Errorf("variant %q has %d runs of %d", row.Name, len(row.Runs), len(p.train))
		}
		for _, r := range slices.Concat(row.Runs, row.Test) {
			if err := r.whole(); err != nil {
				return fmt.Errorf("variant %q: %w", row.Name, err)
			}
		}
	}
	if best := p.best(); best != nil && best.TestErr == "" && len(best.Test) != len(p.test) {
		return fmt.Errorf("the best variant %q has %d test runs of %d", best.Name, len(best.Test), len(p.test))
	}
	return nil
}

// whole refuses a result without a path.
func (r *Result) whole() error {
	if r == nil || len(r.Paths) == 0 {
		return errors.New("a run without a path")
	}
	for _, one := range r.Others {
		if err := one.whole(); err != nil {
			return err
		}
	}
	return nil
}

// best is the first of the variants with a score; nil without one.
func (p *Part) best() *partRow {
	var best *partRow
	for i := range p.rows {
		if row := &p.rows[i]; best == nil || compareScores(row.Score, best.Score) < 0 {
			best = row
		}
	}
	if best == nil {
		return nil
	}
	if _, ok := best.Score.Value(); !ok {
		return nil
	}
	return best
}

func checkShard(shard, shards int) error {
	if shards < 1 || shards > maxShards || shard < 1 || shard > shards {
		return fmt.Errorf("shard %d of %d: want 1 of 1 to %d of %d", shard, shards, maxShards, maxShards)
	}
	return nil
}

const maxShards = 100_000

// variantsOf are the variants of a shard. Neighbours, which often take as long as each other, are
// of different shards.
func variantsOf(shard, shards, variants int) (list []int) {
	for i := shard - 1; i < variants; i += shards {
		list = append(list, i)
	}
	return list
}

// programDigest is that of the program's file.
func programDigest() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("backtest: %w", err)
	}
	file, err := os.Open(self)
	if err != nil {
		return "", fmt.Errorf("backtest: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", fmt.Errorf("backtest: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// digests are those of the prices, and of the rest that a sweep was asked for. Functions of a
// config have none: they are of the program.
func (s Sweep) digests() (data, config string, err error) {
	d, c := sha256.New(), sha256.New()
	seen := map[*Data]bool{}
	for _, v := range s.Variants {
		fmt.Fprintf(c, "%q\n", v.Name)
	}
	for i, one := range slices.Concat(s.Train, s.Test) {
		p, err := one.plan()
		if err != nil {
			return "", "", err
		}
		fmt.Fprintf(c, "%t %q\n", i < len(s.Train), one.Name)
		p.describe(c)
		if !seen[p.Data] {
			seen[p.Data] = true
			p.Data.describe(d)
		}
	}
	return hex.EncodeToString(d.Sum(nil)), hex.EncodeToString(c.Sum(nil)), nil
}

// describe writes the prices as they are used: a file can be read in more than one way.
func (d *Data) describe(w io.Writer) {
	fmt.Fprintf(w, "%s %q\n", d.hash, d.notes)
	for _, s := range d.series {
		first, last := s.span()
		fmt.Fprintf(w, "%q %d %s %s %s %s %d\n", s.symbol, s.places, s.interval, s.maxAge, first, last, len(s.rows))
		var text []byte
		for _, r := range s.rows {
			text = text[:0]
			for _, n := range [...]int64{r.at, r.open, r.high, r.low, r.close} {
				text = binary.LittleEndian.AppendUint64(text, uint64(n))
			}
			_, _ = w.Write(text) // a hash takes everything
		}
	}
}
