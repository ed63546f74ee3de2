import type { Selector } from '../robots/filter';
import { fromAddress, inAddress, type SpecForm } from '../rollouts/spec';
import type { What } from './model';

/** A longer set of places is not written into the address. */
const longest = 2000;

/** Reads a selector of an address; undefined if nobody is chosen. */
export function selectorIn(query: URLSearchParams): Selector | undefined {
  try {
    const s = JSON.parse(query.get('selector') ?? '') as Selector | null;
    return s && Object.keys(s).length > 0 ? s : undefined;
  } catch {
    return undefined;
  }
}

/** Reads what is assigned from an address, which another screen may have written. */
export function whatIn(query: URLSearchParams): What {
  const none = query.get('none') === '1' || undefined;
  const activities = query.getAll('activity');
  switch (query.get('kind') ?? (activities.length > 0 ? 'activities' : 'story')) {
    case 'back':
      return { kind: 'back', of: (query.get('of') as 'config' | 'mode' | 'places' | null) ?? undefined };
    case 'activities':
      return { kind: 'activities', ids: activities, none };
    case 'mode':
      return { kind: 'mode', mode: query.get('mode') ?? 'ato', now: query.get('now') === '1' };
    case 'settings':
      return { kind: 'settings', key: query.get('key') ?? '', value: query.get('value') ?? '', none };
    case 'places':
      return { kind: 'places', id: query.get('id') ?? 'places', text: query.get('text') ?? '', none };
  }
  const apply = query.get('apply');
  return {
    kind: 'story',
    story: query.get('story') ?? '',
    rev: Number(query.get('rev')) || 0,
    apply: apply === 'now' || apply === 'next_start' ? apply : 'next_act',
    none,
  };
}

/** Reads how a rollout in waves goes; undefined for an assignment all at once. */
export const wavesIn = (query: URLSearchParams): SpecForm | undefined =>
  query.get('how') === 'waves' ? fromAddress(query.get('spec')) : undefined;

/** The address of what is assigned, to whom and how: a reload and the way over Robots keep all of it. */
export function addressOf(w: What, selector: Selector | undefined, waves?: SpecForm): URLSearchParams {
  const q = new URLSearchParams();
  const set = (name: string, value: string | number | boolean | undefined) => {
    if (value) q.set(name, value === true ? '1' : `${value}`);
  };
  if (w.kind !== 'story' && !(w.kind === 'activities' && w.ids.length > 0)) q.set('kind', w.kind);
  switch (w.kind) {
    case 'story':
      set('story', w.story);
      set('rev', w.rev);
      if (w.apply !== 'next_act') q.set('apply', w.apply);
      break;
    case 'back':
      set('of', w.of);
      break;
    case 'activities':
      for (const id of w.ids) q.append('activity', id);
      break;
    case 'mode':
      set('mode', w.mode);
      set('now', w.now);
      break;
    case 'settings':
      set('key', w.key);
      set('value', w.value);
      break;
    case 'places':
      if (w.id !== 'places') set('id', w.id);
      if (w.text.length <= longest) set('text', w.text);
  }
  if ('none' in w) set('none', w.none);
  if (selector) q.set('selector', JSON.stringify(selector));
  if (waves) {
    q.set('how', 'waves');
    set('spec', inAddress(waves));
  }
  return q;
}
