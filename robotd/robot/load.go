package robot

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/pflag"

	"troupe/schema"
	"troupe/schema/score"
)

// Load reads the settings from, in increasing priority, defaults, file, environment (NAME=VALUE each) and
// flags. It also returns the log level.
func Load(f *pflag.FlagSet, environ []string) (Config, slog.Level, error) {
	k := koanf.New(".")
	defaults := map[string]any{}
	for _, s := range settings {
		defaults[s.key] = s.def
	}
	if err := k.Load(confmap.Provider(defaults, "."), nil); err != nil {
		return Config{}, 0, fmt.Errorf("defaults: %w", err)
	}
	path, err := f.GetString("config")
	if err != nil {
		return Config{}, 0, err
	}
	if path == "" {
		for _, pair := range environ {
			if value, is := strings.CutPrefix(pair, envPrefix+"CONFIG="); is {
				path = value
			}
		}
	}
	if path != "" {
		if err := loadFile(k, path); err != nil {
			return Config{}, 0, err
		}
	}
	fromHere, err := environment(environ)
	if err == nil {
		err = k.Merge(fromHere)
	}
	if err != nil {
		return Config{}, 0, err
	}
	given := map[string]any{}
	local := fromHere.Keys()
	for _, s := range settings {
		if flag := f.Lookup(s.flag()); flag.Changed {
			if given[s.key] = any(flag.Value.String()); flag.Value.Type() == "stringSlice" {
				given[s.key], _ = f.GetStringSlice(s.flag())
			}
		}
	}
	if err := k.Load(confmap.Provider(given, "."), nil); err != nil {
		return Config{}, 0, fmt.Errorf("flags: %w", err)
	}
	c, level, err := configOf(k)
	c.LocalOnly = ofFleet(append(local, slices.Collect(maps.Keys(given))...))
	return c, level, err
}

// ofFleet returns the keys of a desired configuration that the fleet cannot change, because these
// settings are given on the robot itself.
func ofFleet(settings []string) []string {
	var out []string
	for _, key := range settings {
		if key == "probation" {
			key = "probation_ms"
		}
		if _, ok := schema.ConfigKeyOf(key); ok {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func loadFile(k *koanf.Koanf, path string) error {
	fromFile := koanf.New(".")
	if err := fromFile.Load(file.Provider(path), score.SettingsParser{}); err != nil {
		return fmt.Errorf("configuration %s: %w", path, err)
	}
	given := map[string]any{}
	var faults []error
	for _, key := range fromFile.Keys() {
		s, ok := find(key)
		if !ok {
			faults = append(faults, fmt.Errorf("configuration %s: there is no setting %s", path, key))
			continue
		}
		v := fromFile.Get(key)
		if v == nil { // a key without a value leaves the default
			continue
		}
		var err error
		if given[key], err = s.parse(v); err != nil {
			faults = append(faults, fmt.Errorf("configuration %s: %s: %w", path, key, err))
		}
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	return k.Load(confmap.Provider(given, "."), nil)
}

// parse returns a value of the file or the environment in the type of the setting. Without it koanf
// would read a value of another type as false, 0 or an empty list, and say nothing.
func (s setting) parse(v any) (any, error) {
	text := fmt.Sprint(v)
	switch s.def.(type) {
	case bool:
		if b, err := strconv.ParseBool(text); err == nil {
			return b, nil
		}
		return nil, fmt.Errorf("%q is neither true nor false", text)
	case int:
		n, err := schema.ReadWhole(text)
		if refused := (*schema.NumberRefused)(nil); errors.As(err, &refused) {
			return nil, err
		} else if err != nil {
			return nil, fmt.Errorf("%q is not a whole number", text)
		}
		return int(n), nil
	case float64:
		f, err := schema.ReadFloat(text)
		if refused := (*schema.NumberRefused)(nil); errors.As(err, &refused) {
			return nil, err
		} else if err != nil {
			return nil, fmt.Errorf("%q is not a number", text)
		}
		return f, nil
	case time.Duration:
		if d, err := time.ParseDuration(text); err == nil {
			return d, nil
		}
		return nil, fmt.Errorf("%q is not a duration such as %v", text, s.def)
	case []string:
		if _, list := v.([]any); !list && text != "" { // one element need not be a list
			return []string{text}, nil
		}
	}
	return v, nil
}

func environment(environ []string) (*koanf.Koanf, error) {
	var faults []error
	k := koanf.New(".")
	err := k.Load(env.Provider(".", env.Opt{Prefix: envPrefix, EnvironFunc: func() []string { return environ },
		TransformFunc: func(name, value string) (string, any) {
			if name == envPrefix+"CONFIG" {
				return "", nil
			}
			for _, s := range settings {
				if s.variable() != name {
					continue
				}
				switch s.def.(type) {
				case string:
					return s.key, value
				case []string:
					if value != "" {
						return s.key, strings.Split(value, ",")
					}
				}
				if value == "" { // as in the file, the default stays
					return "", nil
				}
				v, err := s.parse(value)
				if err != nil {
					faults = append(faults, fmt.Errorf("environment: %s: %w", name, err))
					return "", nil
				}
				return s.key, v
			}
			faults = append(faults, fmt.Errorf("environment: there is no setting %s", name))
			return "", nil
		}}), nil)
	return k, errors.Join(append(faults, err)...)
}
