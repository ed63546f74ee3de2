package page

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/renameio/v2"
)

// PasswordFile is the file in the robot's data directory with the password of the page.
// People may change it; the next person who signs in needs the new one.
const PasswordFile = "page.password"

// ensurePassword writes a new password if there is none.
func ensurePassword(data string) error {
	path := filepath.Join(data, PasswordFile)
	text, err := os.ReadFile(filepath.Clean(path))
	switch {
	case err == nil && strings.TrimSpace(string(text)) != "":
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("read the password of the page: %w", err)
	}
	r := strings.ToLower(rand.Text()) // 130 bits, of which 80 are enough and can be typed
	text = []byte(r[:4] + "-" + r[4:8] + "-" + r[8:12] + "-" + r[12:16] + "\n")
	if err := renameio.WriteFile(path, text, 0o600); err != nil {
		return fmt.Errorf("write the password of the page: %w", err)
	}
	return nil
}

// admits reports whether the password is the right one.
func admits(data, password string) (bool, error) {
	text, err := os.ReadFile(filepath.Join(data, PasswordFile))
	if err != nil {
		return false, fmt.Errorf("read the password of the page: %w", err)
	}
	want, got := sha256.Sum256([]byte(strings.TrimSpace(string(text)))), sha256.Sum256([]byte(strings.TrimSpace(password)))
	return strings.TrimSpace(string(text)) != "" && subtle.ConstantTimeCompare(want[:], got[:]) == 1, nil
}

// checkPassword reports whether the password of a request is the right one, or that there were too
// many attempts and it was not compared.
func (s *Server) checkPassword(r *http.Request, password string) (ok, tooMany bool, err error) {
	return s.attempts.check(s.Now(), r.RemoteAddr, func() (bool, error) { return admits(s.Data, password) })
}

const (
	sessionLife = 12 * time.Hour
	maxSessions = 32 // further ones replace the oldest
)

// session is one signed-in browser.
type session struct {
	ends   time.Time
	answer answer // to its newest command; each is shown until the next, or as long as it applies
}

// sessions are the signed-in browsers. A restart of robotd ends them.
type sessions struct {
	mu  sync.Mutex
	all map[string]*session
}

func (s *sessions) begin(now time.Time) (token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*session{}
	}
	oldest := ""
	for t, one := range s.all {
		if !now.Before(one.ends) {
			delete(s.all, t)
		} else if oldest == "" || one.ends.Before(s.all[oldest].ends) {
			oldest = t
		}
	}
	if len(s.all) >= maxSessions {
		delete(s.all, oldest)
	}
	token = rand.Text()
	s.all[token] = &session{ends: now.Add(sessionLife)}
	return token
}

// lastAnswer returns the newest answer of a session, or false if there is no such session.
func (s *sessions) lastAnswer(token string, now time.Time) (answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.all[token]
	if one == nil || !now.Before(one.ends) {
		return answer{}, false
	}
	return one.answer, true
}

func (s *sessions) answered(token string, a answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.all[token]; one != nil {
		one.answer = a
	}
}

// currentAnswer returns the newest answer of a session, and deletes it when the robot's situation has
// changed.
func (s *sessions) currentAnswer(token string, now time.Time, situation string) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.all[token]
	if one == nil {
		return answer{}
	}
	if !one.answer.applies(now, situation) {
		one.answer = answer{}
	}
	return one.answer
}

func (s *sessions) end(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, token)
}

// cookie is the name of the session's cookie. Browsers send cookies to every port of a host,
// so the names of robots on one computer differ.
func (s *Server) cookie() string { return "troupe-page-" + s.ID }

func (s *Server) token(r *http.Request) string {
	c, err := r.Cookie(s.cookie())
	if err != nil {
		return ""
	}
	return c.Value
}

func (s *Server) setCookie(w http.ResponseWriter, token string, seconds int) {
	http.SetCookie(w, &http.Cookie{Name: s.cookie(), Value: token, Path: "/", MaxAge: seconds, HttpOnly: true,
		SameSite: http.SameSiteStrictMode})
}

// signedIn serves people who are signed in, and leads all others to sign in. They learn there that
// their command was not sent: a page may be open longer than its session.
func (s *Server) signedIn(next func(w http.ResponseWriter, r *http.Request, token string, last answer)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		token := s.token(r)
		last, ok := s.sessions.lastAnswer(token, s.Now())
		if !ok {
			to := "/sign-in"
			if action := r.PathValue("action"); slices.Contains(actions, action) {
				to += "?not-sent=" + action
			}
			http.Redirect(w, r, to, http.StatusSeeOther)
			return
		}
		next(w, r, token, last)
	}
}

func (s *Server) showSignIn(w http.ResponseWriter, r *http.Request) {
	if _, ok := s.sessions.lastAnswer(s.token(r), s.Now()); ok {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	s.renderSignIn(w, r, http.StatusOK, "")
}

func (s *Server) renderSignIn(w http.ResponseWriter, r *http.Request, status int, wrong string) {
	page := s.screen(r)
	page.Wrong = wrong
	if action := r.FormValue("not-sent"); slices.Contains(actions, action) {
		page.NotSent = action
	}
	s.render(w, status, "sign-in", page)
}

func (s *Server) signIn(w http.ResponseWriter, r *http.Request) {
	wrong, status := "", http.StatusOK
	ok, tooMany, err := s.checkPassword(r, r.PostFormValue("password"))
	switch {
	case tooMany:
		wrong, status = "too-many", http.StatusTooManyRequests
	case err != nil:
		s.Logger.Error("page: nobody can sign in", "error", err)
		wrong, status = "no-password", http.StatusInternalServerError
	case !ok:
		s.Logger.Warn("page: wrong password", "from", r.RemoteAddr)
		wrong, status = "wrong-password", http.StatusForbidden
	}
	if wrong != "" {
		s.renderSignIn(w, r, status, wrong)
		return
	}
	s.Logger.Info("page: signed in", "from", r.RemoteAddr)
	s.setCookie(w, s.sessions.begin(s.Now()), int(sessionLife.Seconds()))
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (s *Server) signOut(w http.ResponseWriter, r *http.Request) {
	s.sessions.end(s.token(r))
	s.setCookie(w, "", -1)
	http.Redirect(w, r, "/sign-in", http.StatusSeeOther)
}

// IsServedAt reports whether the page of this robot is at an address.
func IsServedAt(ctx context.Context, address, robot string) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/sign-in", nil)
	if err != nil {
		return false
	}
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxBody))
	return err == nil && strings.Contains(string(text), "<title>"+robot+"</title>")
}
