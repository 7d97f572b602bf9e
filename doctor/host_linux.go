package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// fileSystem is a kind of file system, by its magic number in statfs(2).
type fileSystem struct{ name, lasting string }

var fileSystems = map[uint32]fileSystem{
	0x01021994: {"tmpfs", inMemory}, 0x858458f6: {"ramfs", inMemory},
	0x6969: {"nfs", onNetwork}, 0xff534d42: {"cifs", onNetwork}, 0xfe534d42: {"smb", onNetwork}, 0x517b: {"smb", onNetwork},
	0x00c36400: {"ceph", onNetwork}, 0x01021997: {"9p", onNetwork}, 0x73757245: {"coda", onNetwork}, 0x5346414f: {"afs", onNetwork},
	0x794c7630: {"overlayfs", ownLayer},
	0xef53:     {"ext", ""}, 0x58465342: {"xfs", ""}, 0x9123683e: {"btrfs", ""}, 0x2fc12fc1: {"zfs", ""}, 0xf2f52010: {"f2fs", ""},
}

func placeOf(folder string) (place, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return place{}, err
	}
	magic := uint32(s.Type) // which has more bits on some platforms
	known, ok := fileSystems[magic]
	if !ok {
		known.name = fmt.Sprintf("a file system of type %#x", magic)
	}
	return place{kind: known.name, lasting: known.lasting, free: s.Bavail * uint64(s.Bsize)}, nil
}

// unsynchronised is STA_UNSYNC of adjtimex(2).
const unsynchronised = 0x40

func synchronised() (bool, error) {
	var t syscall.Timex
	if _, err := syscall.Adjtimex(&t); err != nil {
		return false, fmt.Errorf("the kernel does not say: %w", err)
	}
	return t.Status&unsynchronised == 0, nil
}

// lockedBy finds the process that has locked a file.
func lockedBy(path string) (pid int, known bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	file, ok := info.Sys().(*syscall.Stat_t)
	locks, err := os.ReadFile("/proc/locks")
	if !ok || err != nil {
		return 0, false
	}
	inode := ":" + strconv.FormatUint(file.Ino, 10)
	for line := range strings.Lines(string(locks)) {
		fields := strings.Fields(line) // 1: FLOCK ADVISORY WRITE 1234 00:2a:5678 0 EOF
		if len(fields) > 5 && strings.HasSuffix(fields[5], inode) {
			pid, err := strconv.Atoi(fields[4])
			return pid, err == nil && pid > 0
		}
	}
	return 0, false
}

func ownedByUs(info os.FileInfo) bool {
	file, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(file.Uid) == os.Geteuid()
}

// unitGrace asks systemd how long it waits for a unit to stop.
func unitGrace(p *Process) (grace time.Duration, from string) {
	if p.Unit == "" {
		return 0, ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "systemctl", "show", "--property=TimeoutStopUSec", "--value", "--", p.Unit).Output()
	if err != nil {
		return 0, ""
	}
	// Such as "1min 30s", of which Go wants "1m30s".
	text := strings.NewReplacer("min", "m", " ", "").Replace(strings.TrimSpace(string(out)))
	grace, err = time.ParseDuration(text)
	if err != nil {
		return 0, ""
	}
	return grace, "TimeoutStopSec of " + p.Unit
}
