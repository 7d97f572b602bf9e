package control

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// openBrowser opens a page in the browser of whoever runs the program. The error says why
// there is none to start. Every user of a machine sees the arguments of a program, and the page
// has the token in it: the browser is given a file that leads there, and that only its owner can
// read. closes removes it.
func openBrowser(ctx context.Context, page string) (closes func(), err error) {
	dir, err := os.MkdirTemp("", "tradingsim-") // with mode 0700
	if err != nil {
		return func() {}, err
	}
	closes = func() { _ = os.RemoveAll(dir) } // what is left is of no use once nothing is served
	file := filepath.Join(dir, "page.html")
	if err := os.WriteFile(file, leadsTo(page), 0o600); err != nil {
		return closes, err
	}
	name, args := "xdg-open", []string{file}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", file}
	}
	// A browser outlives the program that opened it.
	browser := exec.CommandContext(context.WithoutCancel(ctx), name, args...)
	if err := browser.Start(); err != nil {
		return closes, err
	}
	return closes, browser.Process.Release()
}

// leadsTo is a page that leads to another one at once.
func leadsTo(page string) []byte {
	text, _ := json.Marshal(page) // of a text it cannot fail, and nothing in it ends the script
	return fmt.Appendf(nil, "<!DOCTYPE html>\n<meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\n<script>location.replace(%s)</script>\n", text)
}
