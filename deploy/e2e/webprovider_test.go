//go:build webconsole

package e2e

import (
	"bufio"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"troupe/fleetd/provider/providertest"
)

// newProviderPage starts an OpenID Connect provider, and restarts fleetd as its client.
func newProviderPage(s *secured) *webPage {
	s.t.Helper()
	at := httptest.NewUnstartedServer(nil)
	issuer := providertest.New("http://" + at.Listener.Addr().String())
	at.Config.Handler = issuer
	at.Start()
	s.t.Cleanup(at.Close)
	secret := filepath.Join(s.folder, "oidc.secret")
	if err := os.WriteFile(secret, []byte(providertest.ClientSecret), 0o600); err != nil {
		s.t.Fatal(err)
	}
	var page *webPage
	start := func() {
		s.startFleetd("--public-url", page.server.URL, "--oidc-issuer", at.URL, "--oidc-client-id", providertest.ClientID,
			"--oidc-client-secret-file", secret,
			"--oidc-name", "Museum", "--oidc-role", "guides=operator@museum", "--oidc-role", "writers=author", "--oidc-allow", "anna,ben,mia")
	}
	page = newWebPage(s.world, start)
	page.issuer = issuer
	s.fleetd.kill()
	start()
	page.follow()
	return page
}

// onIssuer lets specs say whom the provider signs in, and run fleetd login --browser.
func (p *webPage) onIssuer(on func(what string, do func(r *http.Request) (string, error))) {
	on("issuer/is", func(r *http.Request) (string, error) {
		p.issuer.SignInAs(r.URL.Query().Get("name"), r.URL.Query()["group"]...)
		return "", nil
	})
	on("issuer/denies", func(*http.Request) (string, error) { p.issuer.Denies(); return "", nil })
	on("issuer/away", func(r *http.Request) (string, error) {
		p.issuer.Away(r.URL.Query().Get("away") == "true")
		return "", nil
	})
	var login *browserLogin
	on("login/start", func(*http.Request) (_ string, err error) {
		login, err = p.startLogin()
		if err != nil {
			return "", err
		}
		return login.page, nil
	})
	// Returns what login and, with its token, whoami print.
	on("login/end", func(*http.Request) (string, error) { return login.end() })
}

// browserLogin is fleetd login --browser on the machine of a person.
type browserLogin struct {
	page    string
	program string
	env     []string
	cmd     *exec.Cmd
	ended   chan struct{}
	out     strings.Builder
}

func (p *webPage) startLogin() (*browserLogin, error) {
	ca := filepath.Join(p.w.folder, "page.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw})
	if err := os.WriteFile(ca, text, 0o600); err != nil {
		return nil, err
	}
	l := &browserLogin{program: program(p.w.t, "fleetd"), ended: make(chan struct{})}
	l.env = append(processEnv(), "XDG_CONFIG_HOME="+p.w.t.TempDir())
	l.cmd = exec.Command(l.program, "login", "--browser", "--server", p.server.URL, "--server-ca", ca)
	l.cmd.SysProcAttr, l.cmd.Env, l.cmd.Stdout = killWithParent(), l.env, &l.out
	pipe, err := l.cmd.StderrPipe()
	if err == nil {
		err = onStarterThread(l.cmd.Start)
	}
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(pipe)
	for lines.Scan() && l.page == "" {
		if strings.HasPrefix(lines.Text(), "https://") {
			l.page = lines.Text()
			break
		}
	}
	go func() {
		defer close(l.ended)
		rest, _ := io.ReadAll(pipe)
		_ = l.cmd.Wait()
		l.out.Write(rest)
	}()
	if l.page == "" {
		return nil, errors.New("login printed no address")
	}
	return l, nil
}

func (l *browserLogin) end() (string, error) {
	select {
	case <-l.ended:
	case <-time.After(20 * time.Second):
		_ = l.cmd.Process.Kill()
		return "", errors.New("login does not end")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	who := exec.CommandContext(ctx, l.program, "whoami")
	who.SysProcAttr, who.Env = killWithParent(), l.env
	var out strings.Builder
	who.Stdout, who.Stderr = &out, &out
	_ = onStarterThread(who.Start) // its output says what is wrong
	_ = who.Wait()
	return fmt.Sprintf("exit %d\n%s%s", l.cmd.ProcessState.ExitCode(), l.out.String(), out.String()), nil
}
