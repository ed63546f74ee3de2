import { describe, expect, it } from 'vitest';

import type { Robot } from '../../api/client';
import { addressOf, selectorIn, whatIn } from './address';
import type { What } from './model';
import { groupOf, groupsOf, selectorOfGroup } from './target';

const robot = (id: string, labels: Record<string, string>) => ({ id, labels }) as unknown as Robot;

describe('to whom', () => {
  it('lists all robots, sites and other labels with their numbers', () => {
    const fleet = [robot('r1', { site: 'hospital', hall: 'day' }), robot('r2', { site: 'museum' }), robot('r3', {})];
    expect(groupsOf(fleet).map((g) => [g.value, g.kind, g.name, g.robots])).toEqual([
      ['all', 'all', '', 3],
      ['label:site=hospital', 'site', 'Hospital', 1],
      ['label:site=museum', 'site', 'Museum', 1],
      ['label:hall=day', 'label', 'hall=day', 1],
    ]);
  });
  it('finds the entry of a selector, and the selector of an entry', () => {
    expect(groupOf(undefined)).toBe('');
    expect(groupOf({ ids: ['r1'] })).toBe('');
    for (const s of [{ all: true }, { labels: [{ key: 'a', value: 'b=c' }] }]) {
      expect(selectorOfGroup(groupOf(s), undefined)).toEqual(s);
    }
    const given = { text: 'r', labels: [{ key: 'site', value: 'museum' }] };
    expect(groupOf(given)).toBe('given');
    expect(selectorOfGroup('given', given)).toBe(given);
  });
});

describe('the address', () => {
  const whats: What[] = [
    { kind: 'story', story: 'my-tour', rev: 3, apply: 'now', none: undefined },
    { kind: 'story', story: '', rev: 0, apply: 'next_act', none: true },
    { kind: 'back', of: undefined },
    { kind: 'back', of: 'config' },
    { kind: 'activities', ids: ['hum', 'look'], none: undefined },
    { kind: 'activities', ids: [], none: true },
    { kind: 'mode', mode: 'mnl', now: true },
    { kind: 'settings', key: 'low_battery', value: '0.3', none: undefined },
    { kind: 'places', id: 'hall', text: '{"schema": 1}', none: undefined },
  ];
  it.each(whats)('keeps $kind, and the robots', (w) => {
    const q = new URLSearchParams(addressOf(w, { ids: ['r1', 'r3'] }).toString());
    expect(whatIn(q)).toEqual(w);
    expect(selectorIn(q)).toEqual({ ids: ['r1', 'r3'] });
  });
  it('chooses nobody without a selector, or with one that is none', () => {
    for (const q of ['', 'selector=', 'selector={}', 'selector=null', 'selector=[']) {
      expect(selectorIn(new URLSearchParams(q))).toBeUndefined();
    }
  });
});
