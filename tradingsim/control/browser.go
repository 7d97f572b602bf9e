package control

import (
	"context"
	"os/exec"
	"runtime"
)

// openBrowser opens a page in the browser of whoever runs the program. Where there is no
// browser nothing happens: the address of the page is printed, too.
func openBrowser(ctx context.Context, page string) {
	name, args := "xdg-open", []string{page}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", page}
	}
	// A browser outlives the program that opened it.
	browser := exec.CommandContext(context.WithoutCancel(ctx), name, args...)
	if browser.Start() == nil {
		_ = browser.Process.Release()
	}
}
