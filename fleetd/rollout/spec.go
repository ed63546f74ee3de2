package rollout

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"troupe/schema"
)

// Codes of problems.
const (
	CodeBadValue      = "bad_value"
	CodeConflict      = "conflict"
	CodeNoRobot       = "no_robot"
	CodeWrongState    = "wrong_state"
	CodeOwnRollout    = "own_rollout"
	CodeDigestChanged = "digest_changed"
	CodeNothingFailed = "nothing_failed"
	CodeMissing       = "missing"
)

// Defaults of Spec.
const (
	canaryName     = "canary"
	canaryPercent  = 1
	canaryMax      = 5
	offersPerMin   = 60
	maxOffersRatio = 16 // of OffersPerMin, after four waves that passed
	acceptS        = 2 * 60
	fetchS         = 10 * 60
	activateS      = 2 * 60
	confirmS       = 5 * 60
	offlineExpiryS = 30 * 24 * 60 * 60
	retries        = 3
)

// Limits of Spec.
const (
	maxWaves          = 20
	maxNameBytes      = 63
	maxRate           = 100_000
	maxTimeS          = 24 * 60 * 60
	maxSoakS          = 7 * 24 * 60 * 60
	maxOfflineExpiryS = 366 * 24 * 60 * 60
	maxRetries        = 20
	maxRobots         = 1_000_000
)

// gates are the defaults of the first wave, of the others, and of the only wave of a rollout to all at once.
var (
	canaryGate  = Gate{SuccessPercent: 100, MaxFailurePercent: 0, MinDecided: 1, SoakS: 10 * 60}
	laterGate   = Gate{SuccessPercent: 95, MaxFailurePercent: 5, MinDecided: 5, SoakS: 5 * 60}
	withoutGate = Gate{SuccessPercent: 0, MaxFailurePercent: 100}
)

// pointer is where a Spec stands in a request.
const pointer = "/spec"

// Complete returns the spec with its defaults, or everything that is wrong with it. A complete spec stays as it is.
func (s Spec) Complete() (Spec, []schema.Problem) {
	var found []schema.Problem
	add := func(at, code, detail, hint string) {
		found = append(found, schema.NewProblem(pointer+at, code, detail, hint))
	}
	number := func(at string, v *int64, standard, highest int64) {
		switch {
		case *v == 0:
			*v = standard
		case *v < 0 || *v > highest:
			add(at, CodeBadValue, fmt.Sprintf("%d is not in 1 to %d", *v, highest), fmt.Sprintf("leave it out for %d", standard))
		}
	}
	rate := func(at string, v *int, standard int) {
		wide := int64(*v)
		number(at, &wide, int64(standard), maxRate)
		*v = int(wide)
	}
	rate("/offers_per_min", &s.OffersPerMin, offersPerMin)
	given := s.MaxOffersPerMin != 0
	rate("/max_offers_per_min", &s.MaxOffersPerMin, min(max(s.OffersPerMin, 1)*maxOffersRatio, maxRate))
	if given && s.MaxOffersPerMin > 0 && s.OffersPerMin > s.MaxOffersPerMin {
		add("/max_offers_per_min", CodeConflict,
			fmt.Sprintf("%d is less than offers_per_min, which is %d", s.MaxOffersPerMin, s.OffersPerMin), "raise it, or leave it out")
	}
	number("/accept_s", &s.AcceptS, acceptS, maxTimeS)
	number("/fetch_s", &s.FetchS, fetchS, maxTimeS)
	number("/activate_s", &s.ActivateS, activateS, maxTimeS)
	number("/confirm_s", &s.ConfirmS, confirmS, maxTimeS)
	number("/offline_expiry_s", &s.OfflineExpiryS, offlineExpiryS, maxOfflineExpiryS)
	switch s.Offline {
	case "":
		s.Offline = OfflineWait
	case OfflineWait, OfflineSkip, OfflineFail:
	default:
		add("/offline", CodeBadValue, fmt.Sprintf("%q is not a policy for offline robots", s.Offline), "write wait, skip or fail")
	}
	switch s.Pinned {
	case "":
		s.Pinned = PinnedLeave
	case PinnedLeave, PinnedReplace:
	default:
		add("/pinned", CodeBadValue, fmt.Sprintf("%q is not a policy for pinned robots", s.Pinned), "write leave or replace")
	}
	switch s.Refused {
	case "":
		s.Refused = RefusedLeave
		if s.AllAtOnce {
			s.Refused = RefusedOffer
		}
	case RefusedLeave, RefusedOffer:
	default:
		add("/refused", CodeBadValue, fmt.Sprintf("%q is not a policy for robots that will refuse the content", s.Refused),
			"write leave or offer")
	}
	switch {
	case s.Retries == nil && s.AllAtOnce:
		s.Retries = new(int) // robots try by themselves
	case s.Retries == nil:
		n := retries
		s.Retries = &n
	case *s.Retries < 0 || *s.Retries > maxRetries:
		add("/retries", CodeBadValue, fmt.Sprintf("%d is not in 0 to %d", *s.Retries, maxRetries),
			fmt.Sprintf("leave it out for %d", retries))
	}
	if s.WatchHealth == nil {
		watch := !s.AllAtOnce
		s.WatchHealth = &watch
	}
	if s.AllAtOnce {
		for _, no := range []struct {
			at    string
			given bool
		}{
			{"/waves", len(s.Waves) > 0}, {"/in_windows", s.InWindows}, {"/only_idle", s.OnlyIdle}, {"/offline", s.Offline != OfflineWait},
		} {
			if no.given {
				add(no.at, CodeConflict, "all_at_once offers the content to every robot at once", "leave out one of the two")
			}
		}
		return s, found
	}
	waves, problems := completeWaves(s.Waves)
	s.Waves = waves
	return s, append(found, problems...)
}

// completeWaves fills in the gates, and appends a wave of the remaining robots unless the last one has them.
func completeWaves(given []WaveSpec) (waves []WaveSpec, found []schema.Problem) {
	if len(given) == 0 {
		given = []WaveSpec{{Percent: canaryPercent, Max: canaryMax}, {Percent: 10}, {Percent: 50}, {Percent: 100}}
	}
	waves = append(waves, given...)
	if last := waves[len(waves)-1]; last.Percent != 100 || last.Max != 0 {
		waves = append(waves, WaveSpec{Percent: 100})
	}
	if len(waves) > maxWaves {
		return waves, []schema.Problem{schema.NewProblem(pointer+"/waves", CodeBadValue,
			fmt.Sprintf("%d waves, with that of the remaining robots, are more than %d", len(waves), maxWaves), "join some of them")}
	}
	names := map[string]int{}
	percent := 0.0
	for i := range waves {
		w := &waves[i]
		at := fmt.Sprintf("%s/waves/%d", pointer, i)
		add := func(below, code, detail, hint string) {
			found = append(found, schema.NewProblem(at+below, code, detail, hint))
		}
		forms := 0
		for _, used := range []bool{w.Count != 0, w.Percent != 0, w.Robots != nil} {
			if used {
				forms++
			}
		}
		if forms != 1 {
			add("", "one_of", "a wave has exactly one of count, percent and selector", "write one of them, such as percent: 10")
		}
		if w.Count < 0 || w.Count > maxRobots {
			add("/count", CodeBadValue, fmt.Sprintf("%d is not in 1 to %d", w.Count, maxRobots), "write how many robots the wave has")
		}
		if w.Max < 0 || w.Max > maxRobots {
			add("/max", CodeBadValue, fmt.Sprintf("%d is not in 1 to %d", w.Max, maxRobots), "leave it out for no limit")
		} else if w.Max > 0 && w.Count > 0 {
			add("/max", CodeConflict, "max limits a percent or a selector", "leave it out: count is the number")
		}
		switch {
		case w.Percent == 0:
		case !(w.Percent > 0 && w.Percent <= 100): // NaN, too
			add("/percent", CodeBadValue, fmt.Sprintf("%v is not above 0 and at most 100", w.Percent),
				"write the part that this and all earlier waves have")
		case w.Percent <= percent:
			add("/percent", CodeConflict, fmt.Sprintf("%v %% is not more than the %v %% of an earlier wave", w.Percent, percent),
				"percent counts this and all earlier waves: write a higher one")
		default:
			percent = w.Percent
		}
		if w.Robots != nil {
			for _, p := range w.Robots.Problems() {
				add("/selector"+strings.TrimPrefix(p.Pointer, "/selector"), p.Code, p.Detail, p.Hint)
			}
		}
		gate := laterGate
		if i == 0 {
			gate = canaryGate
		}
		part := func(at string, v **float64, standard float64) {
			if *v == nil {
				*v = &standard
			} else if !(**v >= 0 && **v <= 100) {
				add(at, CodeBadValue, fmt.Sprintf("%v is not in 0 to 100", **v), fmt.Sprintf("leave it out for %v", standard))
			}
		}
		part("/success_percent", &w.SuccessPercent, gate.SuccessPercent)
		part("/max_failure_percent", &w.MaxFailurePercent, gate.MaxFailurePercent)
		if w.MinDecided == nil {
			w.MinDecided = &gate.MinDecided
		} else if *w.MinDecided < 0 || *w.MinDecided > maxRobots {
			add("/min_decided", CodeBadValue, fmt.Sprintf("%d is not in 0 to %d", *w.MinDecided, maxRobots),
				fmt.Sprintf("leave it out for %d", gate.MinDecided))
		}
		if w.SoakS == nil {
			w.SoakS = &gate.SoakS
		} else if *w.SoakS < 0 || *w.SoakS > maxSoakS {
			add("/soak_s", CodeBadValue, fmt.Sprintf("%d is not in 0 to %d", *w.SoakS, maxSoakS), fmt.Sprintf("leave it out for %d", gate.SoakS))
		}
		switch {
		case w.Name == "" && i == 0 && len(waves) > 1:
			w.Name = canaryName
		case w.Name == "":
			w.Name = fmt.Sprintf("wave %d", i+1)
		case len(w.Name) > maxNameBytes:
			add("/name", CodeBadValue, fmt.Sprintf("it is longer than %d bytes", maxNameBytes), "shorten it")
		case !utf8.ValidString(w.Name) || strings.ContainsFunc(w.Name, unicode.IsControl):
			add("/name", CodeBadValue, "it has characters that cannot be shown", "write letters and digits")
		}
		if earlier, again := names[w.Name]; again {
			add("/name", CodeConflict, fmt.Sprintf("wave %d is named %q, too", earlier+1, w.Name), "give each wave a name of its own")
		}
		names[w.Name] = i
	}
	return waves, found
}

// gate returns the gate of a complete wave.
func (w WaveSpec) gate() Gate {
	return Gate{SuccessPercent: *w.SuccessPercent, MaxFailurePercent: *w.MaxFailurePercent, MinDecided: *w.MinDecided, SoakS: *w.SoakS}
}
