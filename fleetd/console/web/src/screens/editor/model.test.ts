import { describe, expect, it } from 'vitest';

import { begin, commit, redo, undo } from './history';
import {
  actsOf,
  beginOf,
  copied,
  duplicate,
  flat,
  group,
  insert,
  insertAt,
  itemOf,
  lengthOf,
  locate,
  move,
  moveBy,
  read,
  remove,
  setField,
  setHead,
  shift,
  stretch,
  ungroup,
  write,
  type Doc,
  type Fields,
} from './model';

const act: Fields = {
  act: 'greet',
  name: { en: 'Greet' },
  actions: [
    { type: 'face', start_ms: 0, end_ms: 1000, face: 'smile' },
    { type: 'say', start_ms: 500, timeout_ms: 8000, text: { en: 'Hello' } },
    {
      type: 'group',
      start_ms: 2000,
      actions: [
        { type: 'wait', start_ms: 0, end_ms: 300 },
        { type: 'head', start_ms: 100, timeout_ms: 900, yaw_rad: 0.4 },
      ],
    },
  ],
};
const story: Fields = {
  story: 's',
  name: { en: 'S' },
  repeat: 'loop',
  acts: [{ act: 'a' }, { act: 'b' }, { act: 'c' }],
};

const keys = (d: Doc) => d.items.map((i) => i.key);
const acts = (d: Doc) => d.items.map((i) => i.fields.act).join('');
const starts = (d: Doc) => d.items.map((i) => i.fields.start_ms);

describe('a draft', () => {
  it('is written as it was read', () => {
    expect(write('act', read('act', act))).toEqual(act);
    expect(write('story', read('story', story))).toEqual(story);
  });

  it('names acts: those of its steps, of its groups, and the one of a soft stop', () => {
    expect(actsOf('story', read('story', { ...story, acts: [{ act: 'b' }, { act: 'a' }, { act: 'b' }] }))).toEqual([
      'b',
      'a',
    ]);
    expect(actsOf('story', read('story', { ...story, shutdown: 'bow', acts: [] }))).toEqual(['bow']);
    const nested = { act: 'x', actions: [{ type: 'group', actions: [{ type: 'act', act: 'nod' }] }, { type: 'act' }] };
    expect(actsOf('act', read('act', nested))).toEqual(['nod']);
  });

  it('lists actions by their times', () => {
    const d = read('act', {
      act: 'x',
      actions: [
        { type: 'wait', start_ms: 900, end_ms: 1000 },
        { type: 'face', start_ms: 0, face: 'calm' },
      ],
    });
    expect(starts(d)).toEqual([0, 900]);
  });
});

describe('the list of a story', () => {
  it('is changed by moving, copying and removing', () => {
    const d = read('story', story);
    const [a, b, c] = keys(d) as [string, string, string];
    expect(acts(moveBy('story', d, [c], -1))).toBe('acb');
    expect(acts(moveBy('story', d, [a], -1))).toBe('abc');
    expect(acts(moveBy('story', d, [a, b], 1))).toBe('cab');
    expect(acts(moveBy('story', d, [b, c], 1))).toBe('abc');
    expect(acts(move('story', d, [a, c], { index: 0 }))).toBe('acb');
    expect(acts(duplicate('story', d, [a, b]).doc)).toBe('ababc');
    expect(acts(remove(d, [a, c]))).toBe('b');
    expect(acts(insert('story', d, { index: 1 }, [itemOf({ act: 'x' })]))).toBe('axbc');
  });
});

describe('the list of an act', () => {
  it('keeps the times in their places when actions change places', () => {
    const d = read('act', act);
    const [face, say] = keys(d) as [string, string];
    const moved = moveBy('act', d, [face], 1);
    expect(keys(moved).slice(0, 2)).toEqual([say, face]);
    expect(starts(moved)).toEqual([0, 500, 2000]);
    expect(moved.items[1]!.fields.end_ms).toBe(1500);
  });

  it('begins a new action when its unit is free, not in the middle of what it does', () => {
    const said = {
      type: 'say',
      start_ms: 0,
      timeout_ms: 8000,
      text: { en: 'Good morning! How nice that you are here.' },
    };
    const d = read('act', { act: 'a', actions: [said, { type: 'led', start_ms: 0, end_ms: 1000, colour: '#20c0ff' }] });
    const next = insert('act', d, { index: 2 }, [
      itemOf({ type: 'say', start_ms: 0, timeout_ms: 8000, text: { en: '' } }),
    ]);
    expect(starts(next)).toEqual([0, 0, lengthOf(d.items[0]!)]);
    const light = insert('act', d, { index: 2 }, [itemOf({ type: 'face', start_ms: 0, end_ms: 500, face: 'smile' })]);
    expect(starts(light)).toEqual([0, 0, 1000]);
  });

  it('starts a new action when the one before it is expected to end', () => {
    const d = read('act', act);
    expect(lengthOf(d.items[1]!)).toBe(357);
    expect(lengthOf({ ...d.items[1]!, fields: { ...d.items[1]!.fields, rate: 0.5 } })).toBe(714);
    const more = insert('act', d, { index: 3 }, [itemOf({ type: 'wait', start_ms: 0, end_ms: 2000 })]);
    expect(more.items[3]!.fields).toEqual({ type: 'wait', start_ms: 3000, end_ms: 5000 });
  });

  it('moves an action into a group and out of it', () => {
    const d = read('act', act);
    const [face, , g] = keys(d) as [string, string, string];
    const inside = move('act', d, [face], { parent: g, index: 0 });
    expect(flat('act', inside).map((r) => `${r.depth}${String(r.item.fields.type)}`)).toEqual([
      '0say',
      '0group',
      '1face',
      '1wait',
      '1head',
    ]);
    expect(move('act', d, [g], { parent: g, index: 0 })).toBe(d);
  });

  it('is grouped and ungrouped without a change of times', () => {
    const d = read('act', act);
    const [face, say] = keys(d) as [string, string];
    const { doc, key } = group(d, [face, say]);
    expect(doc.items.map((i) => i.fields.type)).toEqual(['group', 'group']);
    expect(write('act', ungroup(doc, key!))).toEqual(act);
  });

  it('sorts an action whose start changes, which keeps its duration and its key', () => {
    const d = read('act', act);
    const [face] = keys(d) as [string];
    const later = setField('act', d, face, 'start_ms', 700);
    expect(keys(later)[1]).toBe(face);
    expect(later.items[1]!.fields).toMatchObject({ start_ms: 700, end_ms: 1700 });
    expect(setField('act', d, face, 'end_ms', undefined).items[0]!.fields).not.toHaveProperty('end_ms');
  });

  it('gives copies no ids', () => {
    const d = read('act', { act: 'x', actions: [{ type: 'wait', id: 'w', start_ms: 0, end_ms: 100 }] });
    const { doc } = duplicate('act', d, keys(d));
    expect(doc.items.map((i) => [i.fields.id, i.fields.start_ms])).toEqual([
      ['w', 0],
      [undefined, 100],
    ]);
  });
});

describe('the place of a problem', () => {
  const d = read('act', act);
  it.each([
    ['/actions/1/text/en', 1, 'text'],
    ['/actions/0', 0, ''],
    ['/actions/10', undefined, 'actions'],
    ['/name/en', undefined, 'name'],
    ['', undefined, ''],
  ])('%s', (pointer, index, field) => {
    expect(locate('act', d, pointer)).toEqual(index === undefined ? { field } : { key: d.items[index]!.key, field });
  });

  it('is found in a group', () => {
    expect(locate('act', d, '/actions/2/actions/1/yaw_rad')).toEqual({
      key: d.items[2]!.children![1]!.key,
      field: 'yaw_rad',
    });
  });
});

describe('undo', () => {
  it('goes back and forth, and takes typing in one field as one change', () => {
    const d = read('story', story);
    let h = begin(d);
    h = commit(h, setHead(d, 'shutdown', 'a'), 1000, 'head/shutdown');
    h = commit(h, setHead(d, 'shutdown', 'ab'), 1200, 'head/shutdown');
    h = commit(h, remove(h.present, [keys(d)[0]!]), 1300);
    expect(undo(h).present.head.shutdown).toBe('ab');
    expect(undo(undo(h)).present).toBe(d);
    expect(undo(undo(undo(h))).present).toBe(d);
    expect(redo(undo(h)).present).toBe(h.present);
    expect(commit(undo(h), d, 9000).future).toEqual([]);
  });
});

describe('on the timeline', () => {
  const d = read('act', act);
  const [face, say, g] = keys(d) as [string, string, string];
  const wait = d.items[2]!.children![0]!.key;

  it('actions begin later or earlier together, and none before its group', () => {
    expect(starts(shift(d, [face, say], 300))).toEqual([300, 800, 2000]);
    expect(shift(d, [face], 300).items[0]!.fields.end_ms).toBe(1300);
    expect(shift(d, [face, say], -400)).toBe(d); // the first one is at the start
    expect(starts(shift(d, [say], -9000))).toEqual([0, 0, 2000]);
    expect(starts(shift(d, [say], 1600))).toEqual([0, 2000, 2100]);
    const later = shift(d, [g, wait], 100);
    expect([beginOf(later, g), beginOf(later, wait)]).toEqual([2100, 2100]); // once, with its group
  });

  it('an action that is stretched keeps its start and never becomes nothing', () => {
    const ends = (by: number) =>
      stretch(d, [face, say, g], by).items.map((i) => i.fields.end_ms ?? i.fields.timeout_ms);
    expect(ends(500)).toEqual([1500, 8500, undefined]);
    expect(ends(-5000)).toEqual([100, 3000, undefined]);
  });

  it('what is copied is pasted at a time, as far from each other as it was', () => {
    const values = copied('act', d, [say, wait]);
    expect(values.map((v) => [v.type, v.start_ms, v.end_ms])).toEqual([
      ['say', 500, undefined],
      ['wait', 2000, 2300],
    ]);
    const pasted = insertAt(d, 4000, values.map(itemOf));
    expect(pasted.items.slice(-2).map((i) => [i.fields.type, i.fields.start_ms, i.fields.end_ms])).toEqual([
      ['say', 4000, undefined],
      ['wait', 5500, 5800],
    ]);
  });
});
