import type { Robot, Schemas } from '../../api/client';
import { type Doing, doingOf, type Tone } from '../../live/performing';

export type Selector = Schemas['SelectorSelector'];
export type StoryState = 'none' | 'current' | 'pending' | 'refused';

/** Which robots are listed. A robot must match every field; a list holds if one of its values does. */
export interface Filter {
  text: string;
  labels: { key: string; value: string }[];
  doing: Doing[];
  modes: string[];
  presence: string[];
  story: string;
  storyState: StoryState[];
}

export const everything: Filter = {
  text: '',
  labels: [],
  doing: [],
  modes: [],
  presence: [],
  story: '',
  storyState: [],
};

export const presences = ['online', 'degraded', 'lost', 'offline', 'sleeping', 'unknown'];
export const storyStates: StoryState[] = ['none', 'refused', 'pending', 'current'];

/** Reads the filter of an address. Its parameters are those of the API's lists, and tone. */
export function filterOf(query: URLSearchParams): Filter {
  const tone = query.get('tone') as Tone | null;
  return {
    text: query.get('text') ?? '',
    labels: query.getAll('label').flatMap((l) => {
      const at = l.indexOf('=');
      return at > 0 ? [{ key: l.slice(0, at), value: l.slice(at + 1) }] : [];
    }),
    doing: [...(query.getAll('doing') as Doing[]), ...(tone ? doingOf(tone) : [])],
    modes: query.getAll('mode'),
    presence: query.getAll('presence'),
    story: query.get('story') ?? '',
    storyState: query.getAll('story_state') as StoryState[],
  };
}

/** Writes the filter as parameters of the address and of the API. */
export function queryOf(f: Filter): URLSearchParams {
  const q = new URLSearchParams();
  if (f.text.trim()) q.set('text', f.text.trim());
  for (const l of f.labels) q.append('label', `${l.key}=${l.value}`);
  for (const d of f.doing) q.append('doing', d);
  for (const m of f.modes) q.append('mode', m);
  for (const p of f.presence) q.append('presence', p);
  if (f.story) q.set('story', f.story);
  for (const s of f.storyState) q.append('story_state', s);
  return q;
}

export function isEmpty(f: Filter): boolean {
  return queryOf(f).size === 0;
}

/** The robots of the filter as fleetd selects them for commands. */
export function selectorOf(f: Filter): Selector {
  if (isEmpty(f)) return { all: true };
  return {
    text: f.text.trim() || undefined,
    labels: f.labels.length ? f.labels : undefined,
    doing: f.doing.length ? f.doing : undefined,
    modes: f.modes.length ? f.modes : undefined,
    presence: f.presence.length ? (f.presence as Selector['presence']) : undefined,
    story: f.story || undefined,
    story_state: f.storyState.length ? f.storyState : undefined,
  };
}

/** How far a robot is with the story that is assigned to it. */
export function storyStateOf(r: Robot): StoryState {
  const d = r.desired;
  if (!d.story) return 'none';
  if (d.converged) return 'current';
  if (d.reason || d.phase === 'rejected' || d.phase === 'failed' || d.phase === 'rolled_back') return 'refused';
  return 'pending';
}

/**
 * A function that says whether a robot matches. fleetd decides the same for commands; one file of
 * cases tests both.
 */
export function matcher(f: Filter): (r: Robot) => boolean {
  const text = f.text.trim().toLowerCase();
  const doing = new Set<string>(f.doing);
  const modes = new Set(f.modes);
  const presence = new Set(f.presence);
  const storyState = new Set(f.storyState);
  return (r) =>
    f.labels.every((l) => r.labels[l.key] === l.value) &&
    (doing.size === 0 || doing.has(r.doing)) &&
    (modes.size === 0 || modes.has(r.mode ?? '')) &&
    (presence.size === 0 || presence.has(r.presence.status)) &&
    (!f.story || r.story?.id === f.story || r.desired.story?.id === f.story) &&
    (storyState.size === 0 || storyState.has(storyStateOf(r))) &&
    (!text || r.id.includes(text) || Object.values(r.labels).some((v) => v.toLowerCase().includes(text)));
}
