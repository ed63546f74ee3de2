import { describe, expect, it } from 'vitest';

import { contentOf } from './content';
import { defaults, fromAddress, inAddress, readable, sized, specOf } from './spec';

const wave = { name: '', by: 'percent', size: '', failures: '', watched: '' } as const;

describe('how a rollout goes', () => {
  it('sends only what differs from the defaults', () => {
    expect(specOf(defaults)).toEqual({});
    expect(
      specOf({
        ...defaults,
        own: true,
        waves: [
          { ...wave, name: ' lab ', by: 'label', size: 'site=lab', failures: '0' },
          { ...wave, by: 'count', size: '3', watched: '1,5' },
          { ...wave, size: '12.5' },
        ],
        offersPerMin: '30',
        offline: 'skip',
        onlyIdle: true,
        retries: '0',
        watchHealth: false,
        offerRefused: true,
      }),
    ).toEqual({
      waves: [
        { name: 'lab', selector: { labels: [{ key: 'site', value: 'lab' }] }, max_failure_percent: 0, min_decided: 1 },
        { count: 3, soak_s: 90 },
        { percent: 12.5 },
      ],
      offers_per_min: 30,
      offline: 'skip',
      only_idle: true,
      retries: 0,
      watch_health: false,
      refused: 'offer',
    });
  });
  it('knows when a wave does not say how many robots it has', () => {
    const own = (w: object) => sized({ ...defaults, own: true, waves: [{ ...wave, ...w }] });
    expect(sized(defaults)).toBe(true);
    expect(own({ size: '5' })).toBe(true);
    expect(own({ size: '' })).toBe(false);
    expect(own({ size: 'many' })).toBe(false);
    expect(own({ by: 'label', size: 'site' })).toBe(false);
    expect(own({ by: 'label', size: 'site=lab' })).toBe(true);
  });
  it('knows which numbers it cannot read', () => {
    expect(readable(defaults)).toBe(true);
    expect(readable({ ...defaults, offersPerMin: ' 0,5 ', retries: '3' })).toBe(true);
    for (const wrong of ['many', '1,5,0', '1.000,5', 'Infinity'])
      for (const form of [{ retries: wrong }, { own: true, waves: [{ ...wave, failures: wrong }] }])
        expect(readable({ ...defaults, ...form })).toBe(false);
    expect(readable({ ...defaults, waves: [{ ...wave, watched: 'long' }] })).toBe(true);
  });
  it('is in the address, unless it is as usual', () => {
    expect(inAddress(defaults)).toBeUndefined();
    const f = { ...defaults, own: true, retries: '5' };
    expect(fromAddress(inAddress(f)!)).toEqual(f);
    for (const text of [null, '', '{', 'null']) expect(fromAddress(text)).toEqual(defaults);
    expect(fromAddress('{"waves": 3}').waves).toEqual(defaults.waves);
  });
});

describe('the content of a rollout', () => {
  it('is what Assign would give', () => {
    expect(contentOf({ kind: 'story', story: 'tour', rev: 3, apply: 'now' })).toEqual({
      story: { id: 'tour', rev: 3, apply: 'now' },
    });
    expect(contentOf({ kind: 'activities', ids: ['hum'] })).toEqual({ activities: { pins: [{ id: 'hum', rev: 0 }] } });
    expect(contentOf({ kind: 'mode', mode: 'ato', now: true })).toEqual({ mode: { mode: 'ato', apply: 'now' } });
    expect(contentOf({ kind: 'settings', key: 'low_battery', value: '0.3' })).toEqual({
      config: { set: { low_battery: 0.3 } },
    });
    expect(contentOf({ kind: 'back' })).toBeUndefined();
  });
});
