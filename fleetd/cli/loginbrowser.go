package cli

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"runtime"
	"strconv"
	"time"

	"troupe/fleetd/accounts"
	"troupe/fleetd/api"
)

// loginTimeout is how long login waits for a person at the page.
const loginTimeout = 5 * time.Minute

var errNotAllowed = errors.New("the sign-in was not allowed on the page")

// loginInBrowser lets a person allow at fleetd's page that this machine gets a token. The page
// sends the browser to a port that only this machine reaches, with a code that is valid once and
// only with the verifier, which never leaves this process before that.
func (sh *shell) loginInBrowser(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	sh.token, sh.cookie = "", nil
	base, err := url.Parse(sh.server)
	if err != nil || base.Host == "" {
		return usage("--server %s: write http://host:port", sh.server)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the browser: %w", err)
	}
	page, state, verifier := base.JoinPath(api.AllowPage), rand.Text(), rand.Text()+rand.Text()
	page.RawQuery = url.Values{
		"port": {strconv.Itoa(l.Addr().(*net.TCPAddr).Port)}, "state": {state}, "challenge": {accounts.Challenge(verifier)},
		"machine": {machineName()},
	}.Encode()
	done := make(chan error, 1)
	server := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if r.URL.Path != "/" || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1 {
			http.Error(w, "this is not the answer to the sign-in that waits here", http.StatusBadRequest)
			return
		}
		result, err := "done", sh.finishLogin(ctx, name, q.Get("code"), verifier)
		if err != nil {
			result = "failed"
		}
		over := base.JoinPath(api.AllowPage)
		over.RawQuery = url.Values{"result": {result}}.Encode()
		http.Redirect(w, r, over.String(), http.StatusSeeOther)
		select {
		case done <- err:
		default: // the browser asks again
		}
	})}
	go func() { _ = server.Serve(l) }() // ends with Shutdown
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(ctx) // the browser may keep its connection
	}()
	fmt.Fprintf(sh.Err, "Open this address in a browser on this machine, and allow it there if the page shows %s %s:\n%s\n", state[:4],
		state[4:8], page)
	if isTerminal(sh.Err) {
		openBrowser(page.String())
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return &failure{code: exitTimeout, err: fmt.Errorf("nobody allowed the sign-in within %v; without a browser on this machine, make a "+
			"token at My account in the console, and set TROUPE_TOKEN and TROUPE_SERVER", loginTimeout)}
	}
}

// finishLogin exchanges the code for a token, and keeps it.
func (sh *shell) finishLogin(ctx context.Context, name, code, verifier string) error {
	if code == "" {
		return errNotAllowed
	}
	var made api.AccessToken
	if err := sh.do(ctx, "finish-login", given{"code": code, "verifier": verifier}, &made); err != nil {
		return err
	}
	return sh.keepToken(name, made)
}

// openBrowser opens an address in the person's browser. The address was printed too, so a machine
// without one is no error.
func openBrowser(address string) {
	program := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		program = []string{"open"}
	case "windows":
		program = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	c := exec.Command(program[0], append(program[1:], address)...)
	if c.Start() == nil {
		go func() { _ = c.Wait() }()
	}
}
