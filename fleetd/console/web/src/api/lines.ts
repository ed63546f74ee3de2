import { line, robotsOf, verbLine, whyAndExpect } from './commandline';
import { commands } from '../contract';
import type { Schemas } from './client';
import type { operations } from './schema';

type Selector = Schemas['SelectorSelector'];

type Parameters<O extends keyof operations> = operations[O]['parameters'];
type Body<O extends keyof operations> = operations[O] extends {
  requestBody: { content: { 'application/json': infer B } };
}
  ? { body: B }
  : object;

/** A request of an operation, as the client of the API takes it. A file is named, not sent. */
export type Request<O extends keyof operations> = Body<O> &
  (Parameters<O> extends { path: infer P } ? { path: P } : object) &
  (Parameters<O> extends { query?: infer Q } ? { query?: Q } : object) & {
    file?: string;
    /** The entry whose draft is sent, which the command line reads by itself. */
    of?: string;
    /** The draft revision over which a file is saved. */
    over?: number;
  };

type Words = (string | false | undefined)[];
type Table = { [O in keyof operations]?: (r: Request<O>) => Words };

/** A value as the command line takes it: JSON, or a text that is none. */
function valueText(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value);
  try {
    JSON.parse(value);
    return JSON.stringify(value);
  } catch {
    return value;
  }
}

const why = (text?: string) => whyAndExpect(text ?? '');
const flag = (name: string, value?: string | number) => value !== undefined && value !== '' && `--${name}=${value}`;

/** What robots get, in the flags of rollouts and policies. */
function contentWords(c: Schemas['ContentContent']): Words {
  if (c.story)
    return [
      c.story.id ? `--story=${c.story.id}` : '--no-story',
      flag('rev', c.story.rev || undefined),
      flag('apply', c.story.apply),
    ];
  if (c.activities) {
    const pins = c.activities.pins.map((p) => (p.rev ? `${p.id}@${p.rev}` : p.id));
    return [pins.length > 0 ? `--activities=${pins.join(',')}` : '--no-activities'];
  }
  if (c.config) {
    const set = Object.entries(c.config.set ?? {}).map(([k, v]) => `--set=${k}=${valueText(v)}`);
    return [...set, ...(c.config.unset ?? []).map((k) => `--unset=${k}`)];
  }
  if (c.mode) return [`--mode=${c.mode.mode}`, flag('apply', c.mode.apply)];
  return c.places ? [`--places=${c.places.id}.json`, flag('id', c.places.id)] : [];
}

function desired({ body: b }: Request<'desired'>): Words {
  const rest = [...robotsOf(b.selector), ...whyAndExpect(b.why ?? '', b.expected_count)];
  if (b.mode) return ['mode', b.mode.mode, flag('apply', b.mode.apply), ...rest];
  if (b.config) {
    const set = Object.entries(b.config.set ?? {}).map(([k, v]) => `${k}=${valueText(v)}`);
    return ['config', ...set, ...(b.config.unset ?? []).map((k) => `--unset=${k}`), ...rest];
  }
  if (b.points) {
    const at = Object.entries(b.points.points).map(([name, p]) => {
      const place = [p.x_m, p.y_m, p.theta_rad].filter((v) => v !== undefined);
      return `--add=${name}=${place.join(',')}`;
    });
    return ['places', ...at, flag('on-map', b.points.map_sha256), b.points.replace && '--replace', ...rest];
  }
  if (b.previous) return ['revert', b.previous, ...rest];
  const p = b.places!;
  const from = p.sha256 ? [`--digest=${p.sha256}`] : p.body !== undefined ? ['-f', `${p.id}.json`] : ['--none'];
  return ['places', ...from, flag('id', p.id), ...rest];
}

/** The flags of a content, and of the waves in which robots get it. */
const rollout = ({ content, spec, name, selector }: Schemas['RolloutRequest']): Words => [
  flag('name', name),
  ...contentWords(content),
  ...waves(spec),
  ...robotsOf(selector),
];

/** The flags of waves; a plan for which there are none is read from a file. */
function waves(spec: Schemas['RolloutSpec'] = {}): Words {
  const { waves: all = [], all_at_once, offers_per_min, offline, ...rest } = spec;
  const [first, ...others] = all;
  const plain =
    Object.keys(rest).length === 0 &&
    (!first || (first.name === 'canary' && Object.keys(first).sort().join() === 'count,name')) &&
    others.every((w) => Object.keys(w).join() === 'percent');
  if (!plain || (first && others.length === 0)) return ['--plan=plan.json'];
  return [
    first && `--canary=${first.count}`,
    first && `--waves=${others.map((w) => `${w.percent}%`).join(',')}`,
    flag('per-minute', offers_per_min || undefined),
    flag('offline', offline),
    all_at_once && '--all-at-once',
  ];
}

/** The operations on acts, stories and activities, which differ by their first word only. */
function library<K extends 'act' | 'story' | 'activity'>(kind: K) {
  return {
    [`publish-${kind}`]: (r: Request<'publish-act'>) => [
      kind,
      'publish',
      r.path.id,
      ...(r.body.acts ?? []).map((a) => `--with-act=${a}`),
      ...why(r.body.why),
    ],

    [`save-${kind}`]: (r: Request<'save-act'>) => [kind, 'save', '-f', r.file, flag('over', r.over || undefined)],
  } as Table;
}

interface Asked {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: Record<string, unknown>;
}

/** The words of a command that is made from its operation. Robots, their number and the reason come last. */
function made(c: (typeof commands)[string], asked: Asked): Words {
  const at = (place: string): unknown => {
    const [where, name] = place.split('.') as [keyof Asked, string];
    return asked[where]?.[name];
  };
  const flags = Object.entries(c.flags).map(([name, place]) => {
    const value = at(place);
    if (!value || (Array.isArray(value) && value.length === 0)) return;
    return value === true ? `--${name}` : `--${name}=${String(value).trim()}`;
  });
  const all = { ...asked.query, ...asked.body } as { selector?: Selector; expected_count?: number; why?: string };
  return [
    ...c.words.split(' '),
    ...c.args.flatMap((place) => [at(place)].flat().map(String)),
    ...flags,
    ...(all.selector ? robotsOf(all.selector) : []),
    ...whyAndExpect(all.why ?? '', all.expected_count),
  ];
}

/**
 * The words of lines that their rows do not give: the command is not made from a row, is another one for some requests,
 * or has a flag that is no parameter, or a duration. They come before the rows.
 */
const table: Table = {
  'set-labels': ({ path, body: b }) => [
    'robot',
    'label',
    path.id,
    ...Object.entries(b.labels ?? {}).map(([k, v]) => `${k}=${v}`),
    ...why(b.why),
  ],
  'label-robots': ({ body: b }) => [
    'robot',
    'label',
    ...robotsOf(b.selector),
    ...Object.entries(b.set ?? {}).map(([k, v]) => `${k}=${v}`),
    ...(b.unset ?? []).map((k) => `${k}-`),
    ...whyAndExpect(b.why ?? '', b.expected_count),
  ],

  'ask-record': ({ path, body: b }) => [
    'robot',
    'record',
    path.id,
    flag('last', b.last_ms && `${b.last_ms / 60_000}m`),
    ...why(b.why),
  ],

  'delete-orphan': ({ path, query }) => ['robot', 'orphans', path.id, '--delete', ...why(query?.why)],

  desired: (r) => ['desired', ...desired(r)],
  assign: ({ body: b }) => [
    'story',
    ...(b.story ? ['assign', b.story, flag('rev', b.rev || undefined)] : ['withdraw']),
    flag('apply', b.apply),
    ...robotsOf(b.selector),
    ...whyAndExpect(b.why ?? '', b.expected_count),
  ],

  'put-policy': ({ path, body: b }) => [
    'policy',
    'put',
    path.id,
    ...contentWords(b.content),
    flag('place', b.place),
    b.enabled === false && '--disabled',
    b.now && '--now',
    ...waves(b.spec),
    flag('supersede', b.supersede),
    ...robotsOf(b.selector),
    ...whyAndExpect(b.why ?? '', b.expected_count),
  ],

  'put-site': ({ path }) => ['site', 'set', `${path.id}.json`],
  'delete-site': ({ path, query }) => ['site', 'delete', path.id, ...why(query?.why)],
  'put-site-map': ({ path, query: q, file }) => [
    'site',
    'map',
    'set',
    path.id,
    file,
    `--resolution=${q!.resolution_m}`,
    `--origin=${[q!.x_m ?? 0, q!.y_m ?? 0, q!.theta_rad ?? 0].join(',')}`,
    q!.negate && '--negate',
    flag('on-map', q!.map_sha256),
    ...why(q!.why),
  ],
  'delete-site-map': ({ path, query }) => ['site', 'map', 'delete', path.id, ...why(query?.why)],
  'put-schedule': ({ path }) => ['schedule', 'put', `${path.id}.json`],
  'delete-schedule': ({ path, query }) => ['schedule', 'delete', path.id, ...why(query?.why)],

  'put-receiver': ({ path }) => ['receiver', 'put', `${path.id}.json`],
  'put-route': ({ path }) => ['route', 'put', `${path.id}.json`],

  'assign-activities': ({ body: b }) => [
    'activity',
    ...(b.activities?.length ? ['assign', b.activities.join(',')] : ['withdraw']),
    ...robotsOf(b.selector),
    ...whyAndExpect(b.why ?? '', b.expected_count),
  ],

  'plan-rollout': ({ body: b }) => ['rollout', 'plan', ...rollout(b)],
  'create-rollout': ({ body: b }) => [
    'rollout',
    'create',
    ...rollout(b),
    flag('digest', b.digest),
    flag('supersede', b.supersede),
    flag('at', b.not_before),
    b.start && '--start',
    ...whyAndExpect(b.why ?? '', b.expected_count),
  ],
  'start-rollout': ({ path, body: b }) => [
    'rollout',
    'start',
    path.id,
    flag('at', b.not_before),
    ...whyAndExpect(b.why ?? '', b.expected_count),
  ],

  ...library('act'),
  ...library('story'),
  ...library('activity'),
  'export-library': ({ query: q, file }) => [
    q!.kind,
    'export',
    ...(q!.id ?? []),
    `--format=${q!.format ?? 'yaml'}`,
    flag('out', file),
  ],
  'import-library': ({ file, query }) => [
    'import',
    '-f',
    file,
    ...(query?.map ?? []).map((m) => `--map=${m}`),
    query?.skip_wrong && '--skip-wrong',
    ...why(query?.why),
  ],
  'try-text': ({ path, body: b, file, of }) => [
    b.kind,
    'try',
    ...(file ? ['-f', file] : [of]),
    `--robot=${path.id}`,
    flag('lang', b.lang),
    b.only?.length ? `--only=${b.only.map((p) => Number(p.split('/').at(-1)) + 1).join(',')}` : undefined,
    ...why(b.why),
  ],
  'put-asset': ({ path, query, file }) => ['asset', 'put', file, `--name=${path.name}`, ...why(query?.why)],

  // Passwords are asked for, or read from a file.
  'add-user': ({ body: b }) => [
    'user',
    'add',
    b.name,
    flag('display', b.display),
    `--role=${(b.roles ?? []).join(',')}`,
    b.sites?.length ? `--site=${b.sites.join(',')}` : undefined,
    !b.password && '--no-password',
    ...why(b.why),
  ],
  'change-user': ({ path, body: b }) =>
    b.disabled
      ? ['user', 'disable', path.name, ...why(b.why)]
      : [
          'user',
          'set',
          path.name,
          b.display !== undefined && `--display=${b.display}`,
          b.roles && `--role=${b.roles.join(',')}`,
          b.sites && (b.sites.length > 0 ? `--site=${b.sites.join(',')}` : '--all-sites'),
          b.disabled === false && '--enable',
          ...why(b.why),
        ],
  'set-password': ({ path, body }) => ['user', 'password', path.name, ...why(body.why)],

  'end-sessions': ({ query }) => ['session', 'end', '--all', flag('user', query?.user), ...why(query?.why)],
};

/** The line of the command line that does the same as a request. */
export function lineOf<O extends keyof operations>(operation: O, request: Request<O>): string {
  if (operation === 'command') return commandLine((request as Request<'command'>).body);
  const words = table[operation] as ((r: Request<O>) => Words) | undefined;
  if (words) return line(...words(request));
  const command = commands[operation];
  if (!command) throw new Error(`no command does ${operation}`);
  return line(...made(command, request as Asked));
}

function commandLine(b: Request<'command'>['body']): string {
  const robots = [...robotsOf(b.selector), ...whyAndExpect('', b.expected_count)];
  return verbLine(b.verb, (b.args ?? {}) as Record<string, unknown>, robots, b.why);
}
