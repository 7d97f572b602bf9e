package backtest

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/tradingapi/trading-go/internal/table"
)

// rows is what rows are read from.
type rows interface {
	Read() ([]string, error)
	// FieldPos is the place of a field of the last row.
	FieldPos(field int) (line, column int)
}

// magics are files that are no text, by how they begin, and what makes text of them.
var magics = []struct{ begin, is, want string }{
	{"ARROW1", "it is a feather file", "want CSV or JSON: freqtrade convert-data --format-from feather --format-to json"},
	{"FEA1", "it is a feather file", "want CSV or JSON: freqtrade convert-data --format-from feather --format-to json"},
	{"PAR1", "it is a parquet file", "want CSV or JSON: freqtrade convert-data --format-from parquet --format-to json"},
}

// open finds out what the file is: text, text in gzip or zip, or JSON.
func open(name string, from io.Reader) (rows, error) {
	buffered := bufio.NewReaderSize(from, table.MaxLine)
	if begin, _ := buffered.Peek(2); string(begin) == "\x1f\x8b" {
		unzipped, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errDamaged, err)
		}
		buffered = bufio.NewReaderSize(inflated{unzipped, errDamaged}, table.MaxLine)
	}
	if begin, _ := buffered.Peek(2); string(begin) == "PK" {
		file, err := unzip(name, buffered)
		if err != nil {
			return nil, err
		}
		buffered = bufio.NewReaderSize(file, table.MaxLine)
	}
	for _, m := range magics {
		if begin, _ := buffered.Peek(len(m.begin)); string(begin) == m.begin {
			return nil, &FeedError{File: name, Wrong: m.is, Want: m.want}
		}
	}
	if mark, _ := buffered.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = buffered.Discard(3) // a byte order mark
	}
	begin, err := buffered.Peek(table.MaxLine)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if text := bytes.TrimSpace(begin); len(text) > 0 && text[0] == '[' {
		return &jsonRows{r: buffered}, nil
	}
	t := csv.NewReader(table.Lines(buffered))
	t.ReuseRecord, t.FieldsPerRecord, t.Comment = true, -1, '#'
	t.Comma = separator(begin)
	return t, nil
}

// separator is what the columns of a table are separated by, from how it begins.
func separator(begin []byte) rune {
	for line := range bytes.Lines(begin) {
		switch {
		case len(bytes.TrimSpace(line)) == 0, line[0] == '#', isTitle(string(line)):
			continue
		case bytes.ContainsRune(line, ';'):
			return ';'
		case bytes.ContainsRune(line, '\t') && !bytes.ContainsRune(line, ','):
			return '\t'
		}
		break
	}
	return ','
}

// isTitle reports whether a line is the address that CryptoDataDownload begins a file with.
func isTitle(line string) bool { return strings.Contains(strings.ToLower(line), "cryptodatadownload") }

var (
	errDamaged    = errors.New("the gzip file is damaged")
	errDamagedZip = errors.New("the zip file is damaged")
)

// inflated says of an error that it is the compression's.
type inflated struct {
	io.Reader
	damaged error
}

func (f inflated) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: %w", f.damaged, err)
	}
	return n, err
}

// maxZip bounds a zip file, which is read as a whole: its table of contents is at its end.
const maxZip = 512 << 20

// unzip opens the one file of a zip.
func unzip(name string, from io.Reader) (io.Reader, error) {
	all, err := io.ReadAll(io.LimitReader(from, maxZip+1))
	if err != nil {
		return nil, err
	}
	if len(all) > maxZip {
		return nil, &FeedError{File: name, Wrong: fmt.Sprintf("it is a zip of more than %d MiB", maxZip>>20), Want: "want the file inside: unzip it first"}
	}
	z, err := zip.NewReader(bytes.NewReader(all), int64(len(all)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamagedZip, err)
	}
	var files []*zip.File
	var names []string
	for _, f := range z.File {
		if f.FileInfo().IsDir() || strings.HasPrefix(f.Name, "__MACOSX/") {
			continue
		}
		files = append(files, f)
		if len(names) < 3 {
			names = append(names, fmt.Sprintf("%.60s", path.Base(f.Name)))
		}
	}
	switch {
	case len(files) == 0:
		return nil, &FeedError{File: name, Wrong: "it is a zip of no file", Want: "want one of one file"}
	case len(files) > 1:
		return nil, &FeedError{File: name, Wrong: fmt.Sprintf("it is a zip of %d files, %s", len(files), strings.Join(names, " and ")), Want: "want one of one file: unzip it, and name each"}
	}
	file, err := files[0].Open()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamagedZip, err)
	}
	return inflated{file, errDamagedZip}, nil
}

// jsonRows reads an array of arrays of numbers, as freqtrade and others write candles. It is one
// long line, so a row is what is bounded.
type jsonRows struct {
	r          *bufio.Reader
	line, at   int // the place of the next byte, from 0
	begun      bool
	text       []byte
	fields     []string
	rowL, rowC int // the place of the row
}

var errJSON = errors.New("it is no array of arrays of numbers")

// next is the next byte that is no space.
func (j *jsonRows) next() (byte, error) {
	for {
		b, err := j.byte()
		if err != nil || !strings.ContainsRune(" \t\r\n", rune(b)) {
			return b, err
		}
	}
}

func (j *jsonRows) byte() (byte, error) {
	b, err := j.r.ReadByte()
	if j.at++; b == '\n' {
		j.line, j.at = j.line+1, 0
	}
	return b, err
}

// Read reads a row.
func (j *jsonRows) Read() ([]string, error) {
	first := !j.begun
	if first {
		j.begun = true
		if b, err := j.next(); err != nil || b != '[' {
			return nil, j.bad(err)
		}
	}
	b, err := j.next()
	if err == nil && b == ',' && !first {
		b, err = j.next()
	} else if err == nil && b != ']' && !first {
		return nil, errJSON
	}
	switch {
	case err != nil:
		return nil, j.bad(err)
	case b == ']':
		if _, err = j.next(); errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		return nil, j.bad(err)
	case b != '[':
		return nil, errJSON
	}
	return j.row()
}

// row reads from behind its bracket.
func (j *jsonRows) row() ([]string, error) {
	j.rowL, j.rowC = j.line+1, j.at
	j.text, j.fields = j.text[:0], j.fields[:0]
	for {
		b, err := j.byte()
		switch {
		case err != nil:
			return nil, j.bad(err)
		case len(j.text) > table.MaxLine:
			return nil, table.ErrLongLine
		case strings.IndexByte("[{\"", b) >= 0:
			return nil, errJSON
		case b == ']':
			for text := range strings.SplitSeq(string(j.text), ",") {
				j.fields = append(j.fields, strings.TrimSpace(text))
			}
			return j.fields, nil
		}
		j.text = append(j.text, b)
	}
}

func (j *jsonRows) bad(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return errJSON
	}
	return err
}

// FieldPos is the place of the row: all are on one line, mostly.
func (j *jsonRows) FieldPos(int) (line, column int) { return j.rowL, j.rowC }
