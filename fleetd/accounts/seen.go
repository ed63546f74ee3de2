package accounts

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"time"

	"troupe/fleetd/auth"
)

// seenFor is how long a browser is known in which a user has signed in.
const seenFor = 180 * 24 * time.Hour

// The cookie of a browser that was seen says that a user has signed in there. It gives no right: only the wrong
// passwords of that user in that browser then count for themselves, so that guesses from the same address do not keep
// the person out. Its key is the hash of the user's password, which every instance knows and nobody else, so that a new
// password makes every browser a new one.

// newSeenCookie makes the cookie of a browser in which a user has signed in.
func (k *Keeper) newSeenCookie(u auth.User) *http.Cookie {
	value := base64.RawURLEncoding.EncodeToString([]byte(u.Name)) + "." + rand.Text()
	return &http.Cookie{
		Name: k.SeenCookie(), Value: value + "." + seenMAC(u, value), Path: "/", MaxAge: int(seenFor.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: k.Secure,
	}
}

func seenMAC(u auth.User, value string) string {
	m := hmac.New(sha256.New, []byte("a browser was seen\x00"+u.Password))
	m.Write([]byte(value))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// wasSeen reports whether the user has signed in before in the browser with this cookie.
func wasSeen(u auth.User, cookie string) bool {
	parts := strings.Split(cookie, ".")
	if len(parts) != 3 || u.Password == "" {
		return false
	}
	of, err := base64.RawURLEncoding.DecodeString(parts[0])
	return err == nil && string(of) == u.Name && hmac.Equal([]byte(parts[2]), []byte(seenMAC(u, parts[0]+"."+parts[1])))
}
