//go:build linux && (386 || amd64 || arm || arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x)

package disk

import (
	"io/fs"
	"runtime"
	"syscall"
	"unsafe"
)

// stillAt reports whether a file is surely the one at a path. It does not ask for the times of the
// file: since Linux 6.13 a file whose times were asked for has them written with its next change, and
// a journal whose every sync was followed by os.Lstat took half as long again.
func stillAt(path string, info fs.FileInfo) bool {
	file, ok := info.Sys().(*syscall.Stat_t)
	name, err := syscall.BytePtrFromString(path)
	if !ok || err != nil {
		return false
	}
	const (
		currentFolder = -100
		noFollow      = 0x100
		inode         = 0x100 // all that is asked for
	)
	flags, at := uintptr(noFollow), currentFolder
	if info.IsDir() {
		flags = 0
	}
	var now statx
	_, _, errno := syscall.Syscall6(statxTrap(), uintptr(at), uintptr(unsafe.Pointer(name)), flags, inode, uintptr(unsafe.Pointer(&now)), 0)
	dev := file.Dev
	return errno == 0 && now.ino == file.Ino &&
		uint64(now.major) == dev>>8&0xfff|dev>>32&^0xfff && uint64(now.minor) == (dev&0xff|dev>>12&^0xff)&(1<<32-1)
}

// statx is struct statx of the kernel.
type statx struct {
	_            [4]uint64
	ino          uint64
	_            [11]uint64
	_            [2]uint32
	major, minor uint32
	_            [14]uint64
}

// statxTrap is the number of statx(2), which package syscall does not have.
func statxTrap() uintptr {
	switch runtime.GOARCH {
	case "amd64":
		return 332
	case "arm64", "loong64", "riscv64":
		return 291
	case "386", "ppc64", "ppc64le":
		return 383
	case "arm":
		return 397
	default: // s390x
		return 379
	}
}
