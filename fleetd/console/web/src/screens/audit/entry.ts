import type { Schemas } from '../../api/client';

export type Entry = Schemas['AuditEntry'];

/** What an entry says besides who, when and where. */
export interface Said {
  /** The reason that a person gave. */
  why: string;
  /** How it ended, besides the outcome. */
  ended: string;
  /** What changed, or with which arguments a command was sent. */
  changed: string;
}

/** The outcome says it already. */
const tellsNothing = 'the robot reports success';
const outcomes = ['SUCCEEDED', 'REJECTED', 'FAILED'];

/** What somebody did, in one row: the entry of the request, and how it ended, if that is listed. */
export interface Press {
  entry: Entry;
  /** The worst end, and of those that are alike the newest: no refusal hides behind a success. */
  end?: Entry;
  /** How many ends there are, such as one for each robot, and how many of them are done. */
  ends: number;
  done: number;
}

/** Outcomes from the best to the worst. */
const worse: readonly Entry['outcome'][] = ['done', 'accepted', 'partly', 'refused', 'failed'];

/** Joins the entry that says how a request ended to that of the request. The newest entries come first. */
export function presses(entries: readonly Entry[]): Press[] {
  const requests = new Set(entries.map((e) => e.id));
  const ends = new Map<string, Entry[]>();
  for (const e of entries) if (e.of && requests.has(e.of)) ends.set(e.of, [...(ends.get(e.of) ?? []), e]);
  const rank = (e: Entry) => worse.indexOf(e.outcome);
  return entries
    .filter((e) => !e.of || !requests.has(e.of))
    .map((e) => {
      const all = ends.get(e.id) ?? [];
      const end = all.reduce<Entry | undefined>((a, b) => (a && rank(a) >= rank(b) ? a : b), undefined);
      return { entry: e, end, ends: all.length, done: all.filter((x) => x.outcome === 'done').length };
    });
}

/** Separates what fleetd writes into the same fields: a refusal has its cause where others have a person's reason. */
export function saidBy(e: Entry, states: Record<string, string>): Said {
  const detail = e.detail ?? '';
  const why = e.why ?? '';
  if (e.of) return { why, ended: endOf(detail, states), changed: '' };
  const refused = /^answered \d+(?:; the reason given was: (.*))?$/s.exec(detail);
  if (refused) return { why: refused[1] ?? '', ended: why, changed: '' };
  if (e.outcome === 'refused') return { why: '', ended: why, changed: detail };
  if (!verbOf(e)) return { why, ended: '', changed: detail };
  const args = argsOf(e);
  const rest = Object.entries(args ?? {}).filter(([key]) => !['why', 'latch', 'mode'].includes(key));
  const text = rest.map(([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return { why, ended: '', changed: args || modeOf(e) ? text.join(', ') : detail };
}

/** How a command ended, with the states of commands in words. */
function endOf(detail: string, states: Record<string, string>): string {
  const [, state = '', because = ''] = /^([A-Z]+)(?:[: ]+(.*))?$/s.exec(detail) ?? [];
  if (outcomes.includes(state)) return because === tellsNothing ? '' : because;
  const short = detail.replaceAll(`: ${tellsNothing}`, '');
  return short.replace(/(^|; )(\d+ )?([A-Z]+)(?=[: ;]|$)/g, (all, before: string, count = '', code: string) =>
    states[code] ? `${before}${count}${states[code]}` : all,
  );
}

/** The verb of an entry about a command. */
export function verbOf(e: Pick<Entry, 'what'>): string {
  const [kind, verb] = e.what.split(' ', 2);
  return (kind === 'command' && verb) || '';
}

/** With what a command was sent, through fleetd or by an MQTT client; undefined if that is no JSON object. */
function argsOf(e: Entry): Record<string, unknown> | undefined {
  const sent = e.after || (e.via === 'mqtt' ? e.detail : '{}') || '{}';
  try {
    const value = JSON.parse(sent) as unknown;
    if (!value || typeof value !== 'object' || Array.isArray(value)) return undefined;
    const { args } = value as { args?: unknown };
    return (e.via === 'mqtt' && args && typeof args === 'object' ? args : value) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** The mode that a command switches to. An MQTT client may send its name alone. */
export function modeOf(e: Entry): string {
  if (verbOf(e) !== 'mode/set') return '';
  const args = argsOf(e);
  const mode = args ? args['mode'] : e.via === 'mqtt' && /^"?(\w+)"?$/.exec((e.detail ?? '').trim())?.[1];
  return typeof mode === 'string' ? mode : '';
}
