package mcp

import (
	"os"
	"strings"
	"syscall"
	"time"
)

// bootClock names the start of this machine, and says how long ago that was.
func bootClock() (boot string, up time.Duration) {
	var info syscall.Sysinfo_t
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || syscall.Sysinfo(&info) != nil {
		return processClock()
	}
	return strings.TrimSpace(string(id)), time.Duration(info.Uptime) * time.Second
}
