package files_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// accident is what befalls a file in a folder.
type accident struct {
	befalls func(t *testing.T, dir, path string)
	root    bool // it takes root
	disk    bool // the folder is a disk of its own
}

func copyOf(t *testing.T, path, to string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, text, 0o600))
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

var accidents = map[string]accident{
	"taken away": {befalls: func(t *testing.T, _, path string) { require.NoError(t, os.Rename(path, path+"-away")) }},
	"replaced": {befalls: func(t *testing.T, _, path string) {
		copyOf(t, path, path+"-copy")
		require.NoError(t, os.Rename(path+"-copy", path))
	}},
	"restored from an older copy": {befalls: func(t *testing.T, _, path string) {
		require.NoError(t, os.Rename(path+"-old", path))
	}},
	"another user's": {root: true, befalls: func(t *testing.T, _, path string) { require.NoError(t, os.Chown(path, 1001, 1001)) }},
	"a symbolic link": {befalls: func(t *testing.T, _, path string) {
		require.NoError(t, errors.Join(os.Rename(path, path+"-real"), os.Symlink(path+"-real", path)))
	}},
	"a hard link":           {befalls: func(t *testing.T, _, path string) { require.NoError(t, os.Link(path, path+"-too")) }},
	"in a folder of 0777":   {befalls: func(t *testing.T, _, path string) { require.NoError(t, os.Chmod(filepath.Dir(path), 0o777)) }},
	"its folder taken away": {befalls: func(t *testing.T, dir, _ string) { require.NoError(t, os.Rename(dir, dir+"-away")) }},
	"on a full disk": {root: true, disk: true, befalls: func(t *testing.T, dir, _ string) {
		f, err := os.Create(filepath.Join(dir, "filler"))
		require.NoError(t, err)
		for _, err = f.Write(make([]byte, 4096)); err == nil; _, err = f.Write(make([]byte, 4096)) {
		}
		require.NoError(t, f.Close())
	}},
	"on a read-only disk": {root: true, disk: true, befalls: func(t *testing.T, dir, _ string) {
		run(t, "mount", "--bind", dir, dir)
		t.Cleanup(func() { assert.NoError(t, exec.Command("umount", dir).Run()) })
		run(t, "mount", "-o", "remount,bind,ro", dir)
	}},
	"below another mount": {root: true, disk: true, befalls: func(t *testing.T, dir, _ string) {
		run(t, "mount", "-t", "tmpfs", "tmpfs", dir, "-o", "mode=700")
		t.Cleanup(func() { assert.NoError(t, exec.Command("umount", dir).Run()) })
	}},
}

// place is a folder for an accident.
func (a accident) place(t *testing.T) string {
	t.Helper()
	dir := folder(t)
	if a.root {
		asRoot(t)
	}
	if a.disk {
		if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=8m,mode=700", "tmpfs", dir).CombinedOutput(); err != nil {
			t.Skipf("NOT TESTED: a disk cannot be mounted here: %s", out)
		}
		t.Cleanup(func() { assert.NoError(t, exec.Command("umount", dir).Run()) })
	}
	return dir
}

// What a process says: a part of its error, or why it goes on.
const (
	moved     = "the file was taken away while it was open"
	foreign   = "belongs to user 1001"
	link      = "is a symbolic link"
	linked    = "has 2 names"
	anybodys  = "everybody can put files into the folder"
	shared    = "others can use the folder"
	full      = "no space left on device"
	readOnly  = "read-only file system"
	none      = "no such file or directory"
	noKey     = "invalid_api_key"
	keysWrong = "503 unavailable"

	// Nothing is left that could say that there was a file. Who can remove it is the user himself.
	forgotten = "was forgotten"

	goesOn       = "goes on: "
	opened       = goesOn + "what is open is the file that was this user's alone; the next process refuses it"
	stillThere   = goesOn + "what is open can be written, and is still the file at its path"
	hasRoom      = goesOn + "the file has room that it took before, and one that is empty takes none"
	notWritten   = goesOn + "it is only read"
	inMemory     = goesOn + "the process knows it, and never reads it again; the next change writes it whole"
	lockedItself = goesOn + "what the lock is for is locked itself"
	nobodyHasIt  = goesOn + "nobody has the lock"
	believed     = goesOn + "a whole file of this user's cannot be told from the last one"
	begins       = goesOn + "a new one begins, as at the very first: an empty one, which its user can ask for"
	input        = goesOn + "it is what the program was given, as its other settings"
)

// cell is what the process says that has the file open, and the one that is started after.
type cell struct{ while, next string }

// anotherOne is when a whole file of this user's is at the path, a new one or an old.
var anotherOne = map[string]cell{
	"journal":            {moved, believed},
	"journal's lock":     {lockedItself, nobodyHasIt},
	"journal's gap":      {believed, believed},
	"audit":              {moved, believed},
	"audit's lock":       {lockedItself, nobodyHasIt},
	"protection's state": {inMemory, believed},
	"protection's lock":  {lockedItself, nobodyHasIt},
	"sidecar's answers":  {moved, believed},
	"sidecar's keys":     {believed, believed},
	"sidecar's halt":     {inMemory, believed},
	"sidecar's account":  {moved, nobodyHasIt},
	"key file":           {believed, believed},
	"note of a visit":    {believed, believed},
	"profile":            {input, input},
}

var table = map[string]map[string]cell{
	"taken away": {
		"journal":            {moved, begins},
		"journal's lock":     {lockedItself, nobodyHasIt},
		"journal's gap":      {forgotten, forgotten},
		"audit":              {moved, begins},
		"audit's lock":       {lockedItself, nobodyHasIt},
		"protection's state": {inMemory, forgotten},
		"protection's lock":  {lockedItself, nobodyHasIt},
		"sidecar's answers":  {moved, begins},
		"sidecar's keys":     {noKey, noKey},
		"sidecar's halt":     {inMemory, forgotten},
		"sidecar's account":  {moved, nobodyHasIt},
		"key file":           {none, none},
		"note of a visit":    {none, none},
		"profile":            {none, none},
	},
	"replaced":                    anotherOne,
	"restored from an older copy": anotherOne,
	"its folder taken away": {
		"journal":            {moved, none},
		"journal's lock":     {moved, none},
		"journal's gap":      {forgotten, none},
		"audit":              {moved, none},
		"audit's lock":       {moved, none},
		"protection's state": {moved, forgotten},
		"protection's lock":  {moved, forgotten},
		"sidecar's answers":  {noKey, none},
		"sidecar's keys":     {noKey, none},
		"sidecar's halt":     {noKey, none},
		"sidecar's account":  {noKey, none},
		"key file":           {none, none},
		"note of a visit":    {none, none},
		"profile":            {none, none},
	},
	"below another mount": {
		"journal":            {moved, begins},
		"journal's lock":     {moved, begins},
		"journal's gap":      {forgotten, forgotten},
		"audit":              {moved, begins},
		"audit's lock":       {moved, begins},
		"protection's state": {moved, forgotten},
		"protection's lock":  {moved, forgotten},
		"sidecar's answers":  {noKey, noKey},
		"sidecar's keys":     {noKey, noKey},
		"sidecar's halt":     {noKey, noKey},
		"sidecar's account":  {noKey, noKey},
		"key file":           {none, none},
		"note of a visit":    {none, none},
		"profile":            {none, none},
	},
	"another user's": {
		"journal":            {opened, foreign},
		"journal's lock":     {opened, foreign},
		"journal's gap":      {foreign, foreign},
		"audit":              {opened, foreign},
		"audit's lock":       {opened, foreign},
		"protection's state": {inMemory, foreign},
		"protection's lock":  {opened, foreign},
		"sidecar's answers":  {opened, foreign},
		"sidecar's keys":     {opened, foreign},
		"sidecar's halt":     {inMemory, foreign},
		"sidecar's account":  {opened, foreign},
		"key file":           {foreign, foreign},
		"note of a visit":    {foreign, foreign},
		"profile":            {input, input},
	},
	"a symbolic link": {
		"journal":            {moved, link},
		"journal's lock":     {opened, link},
		"journal's gap":      {link, link},
		"audit":              {moved, link},
		"audit's lock":       {opened, link},
		"protection's state": {inMemory, link},
		"protection's lock":  {opened, link},
		"sidecar's answers":  {moved, link},
		"sidecar's keys":     {keysWrong, link},
		"sidecar's halt":     {inMemory, link},
		"sidecar's account":  {moved, link},
		"key file":           {link, link},
		"note of a visit":    {link, link},
		"profile":            {input, input},
	},
	"a hard link": {
		"journal":            {opened, linked},
		"journal's lock":     {opened, linked},
		"journal's gap":      {linked, linked},
		"audit":              {opened, linked},
		"audit's lock":       {opened, linked},
		"protection's state": {inMemory, linked},
		"protection's lock":  {opened, linked},
		"sidecar's answers":  {opened, linked},
		"sidecar's keys":     {opened, linked},
		"sidecar's halt":     {inMemory, linked},
		"sidecar's account":  {opened, linked},
		"key file":           {linked, linked},
		"note of a visit":    {linked, linked},
		"profile":            {input, input},
	},
	"in a folder of 0777": {
		"journal":            {opened, anybodys},
		"journal's lock":     {opened, anybodys},
		"journal's gap":      {anybodys, anybodys},
		"audit":              {opened, anybodys},
		"audit's lock":       {opened, anybodys},
		"protection's state": {anybodys, shared},
		"protection's lock":  {anybodys, shared},
		"sidecar's answers":  {opened, shared},
		"sidecar's keys":     {opened, shared},
		"sidecar's halt":     {inMemory, shared},
		"sidecar's account":  {opened, shared},
		"key file":           {anybodys, anybodys},
		"note of a visit":    {anybodys, anybodys},
		"profile":            {input, input},
	},
	"on a full disk": {
		"journal":            {full, full},
		"journal's lock":     {full, full},
		"journal's gap":      {hasRoom, hasRoom},
		"audit":              {full, full},
		"audit's lock":       {full, full},
		"protection's state": {full, full},
		"protection's lock":  {full, full},
		"sidecar's answers":  {hasRoom, hasRoom},
		"sidecar's keys":     {notWritten, notWritten},
		"sidecar's halt":     {notWritten, notWritten},
		"sidecar's account":  {hasRoom, hasRoom},
		"key file":           {notWritten, notWritten},
		"note of a visit":    {notWritten, notWritten},
		"profile":            {input, input},
	},
	"on a read-only disk": {
		"journal":            {stillThere, readOnly},
		"journal's lock":     {stillThere, readOnly},
		"journal's gap":      {readOnly, readOnly},
		"audit":              {stillThere, readOnly},
		"audit's lock":       {stillThere, readOnly},
		"protection's state": {readOnly, readOnly},
		"protection's lock":  {readOnly, readOnly},
		"sidecar's answers":  {stillThere, readOnly},
		"sidecar's keys":     {stillThere, readOnly},
		"sidecar's halt":     {stillThere, readOnly},
		"sidecar's account":  {stillThere, readOnly},
		"key file":           {notWritten, notWritten},
		"note of a visit":    {notWritten, notWritten},
		"profile":            {input, input},
	},
}

// Each file that is kept open or trusted, in each accident, has a behaviour that is stated.
func TestEachFileInEachAccident(t *testing.T) {
	require.Len(t, table, len(accidents))
	for what, a := range accidents {
		require.Len(t, table[what], len(users), what)
		for file, u := range users {
			want, stated := table[what][file]
			require.True(t, stated, "%s %s", file, what)
			t.Run(file+" "+what, func(t *testing.T) {
				says(t, want.while, a.while(t, u), "while it is open")
				says(t, want.next, a.next(t, u), "after a start")
			})
		}
	}
}

func says(t *testing.T, want string, err error, when string) {
	t.Helper()
	if strings.HasPrefix(want, goesOn) {
		assert.NoError(t, err, when)
	} else {
		assert.ErrorContains(t, err, want, when)
	}
}

// begun is a process that has used its file, and where that is. An older copy is beside it.
func (a accident) begun(t *testing.T, u user) (p process, dir, path string) {
	dir = a.place(t)
	p, err := u.start(t, dir, true)
	require.NoError(t, err)
	require.NoError(t, p.use())
	found, err := filepath.Glob(filepath.Join(dir, u.file))
	require.NoError(t, err)
	require.Len(t, found, 1)
	copyOf(t, found[0], found[0]+"-old")
	require.NoError(t, p.use())
	return p, dir, found[0]
}

// while is what a process says whose file has an accident while it is open.
func (a accident) while(t *testing.T, u user) error {
	p, dir, path := a.begun(t, u)
	a.befalls(t, dir, path)
	err := p.use()
	_ = p.stop() // which says the same
	return err
}

// next is what a process says that is started after the accident.
func (a accident) next(t *testing.T, u user) error {
	p, dir, path := a.begun(t, u)
	require.NoError(t, p.stop())
	a.befalls(t, dir, path)
	p, err := u.start(t, dir, false)
	if err != nil {
		return err
	}
	return errors.Join(p.use(), p.stop())
}
