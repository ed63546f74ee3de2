import type { Schemas } from './client';

type Selector = Schemas['SelectorSelector'];

/** A word as a shell reads it. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The line of fleetd's command line with these words; empty ones are left out by the caller. */
export function line(...words: (string | false | undefined)[]): string {
  return ['fleetd', ...words.filter((w): w is string => typeof w === 'string').map(quoted)].join(' ');
}

/** The words that select these robots. */
export function robotsOf(s: Selector): string[] {
  const flag = (name: string, values?: readonly string[] | null) =>
    values?.length ? [`--${name}=${values.join(',')}`] : [];
  return [
    ...(s.ids ?? []),
    ...(s.labels ?? []).flatMap((l) => ['-l', `${l.key}=${l.value}`]),
    ...(s.all ? ['--all'] : []),
    ...(s.text ? [`--matching=${s.text}`] : []),
    ...flag('doing', s.doing),
    ...flag('in-mode', s.modes),
    ...flag('presence', s.presence),
    ...(s.story ? [`--has-story=${s.story}`] : []),
    ...flag('story-state', s.story_state),
  ];
}

/** The flags --expect and --why. */
export function whyAndExpect(why: string, expected?: number): string[] {
  return [...(expected === undefined ? [] : [`--expect=${expected}`]), ...(why.trim() ? [`--why=${why.trim()}`] : [])];
}

/** The line that sends a command to these robots. Its arguments are flags of the same names. */
export function verbLine(verb: string, args: Record<string, unknown>, robots: string[], why = ''): string {
  const [group, name] = verb.split('/');
  const named = verb === 'mode/set' ? ['mode'] : [];
  const flags = Object.entries(args).flatMap(([key, value]): string[] => {
    if (value === undefined || named.includes(key)) return [];
    const flag = `--${key.replaceAll('_', '-')}`;
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && verb !== 'mode/param')
      return Object.entries(value).map(([k, v]) => `${flag}=${k}=${String(v)}`);
    return [`${flag}=${typeof value === 'string' ? value : JSON.stringify(value)}`];
  });
  return line(group, name, ...named.map((k) => String(args[k])), ...robots, ...flags, ...whyAndExpect(why));
}
