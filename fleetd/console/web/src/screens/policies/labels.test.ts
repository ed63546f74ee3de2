import { describe, expect, it } from 'vitest';

import { areLabels, labelsOf, labelTexts, onlyLabels, selectorOf } from './labels';

describe('the robots of a policy', () => {
  it('are labels as people write them, and back', () => {
    const s = selectorOf(false, ['site=lobby', ' floor=2=b ']);
    expect(s).toEqual({
      labels: [
        { key: 'site', value: 'lobby' },
        { key: 'floor', value: '2=b' },
      ],
    });
    expect(labelTexts(s)).toEqual(['site=lobby', 'floor=2=b']);
    expect(selectorOf(true, ['site=lobby'])).toEqual({ all: true });
  });
  it('are not what names no label', () => {
    expect(areLabels(['site=lobby'])).toBe(true);
    for (const wrong of ['lobby', '=lobby', 'site=', 'a b=c']) expect(areLabels([wrong])).toBe(false);
  });
  it('are not only labels if something else narrows them', () => {
    const labels = [{ key: 'site', value: 'lobby' }];
    expect(onlyLabels({ all: true })).toBe(true);
    expect(onlyLabels({ labels, modes: [] })).toBe(true);
    expect(onlyLabels({ labels, modes: ['ato'] })).toBe(false);
    expect(onlyLabels({ ids: ['r1'] })).toBe(false);
    expect(onlyLabels({ labels, text: 'a' })).toBe(false);
  });
  it('are offered from the labels of the fleet', () => {
    expect(
      labelsOf([{ labels: { site: 'b' } }, { labels: { site: 'a', floor: '1' } }, { labels: { site: 'b' } }]),
    ).toEqual(['floor=1', 'site=a', 'site=b']);
  });
});
