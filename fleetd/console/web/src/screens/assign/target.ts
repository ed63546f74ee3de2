import type { Robot } from '../../api/client';
import { type Selector } from '../robots/filter';

/** A group of robots as the list of groups has it. */
export interface Group {
  /** What the list returns: all, label:KEY=VALUE or given. */
  value: string;
  kind: 'all' | 'site' | 'label' | 'given';
  name: string;
  robots: number;
}

const labelOf = (s: Selector) => (s.labels?.length === 1 ? s.labels[0]! : undefined);

/** Whether a selector says anything besides these fields. */
const only = (s: Selector, ...fields: (keyof Selector)[]) =>
  Object.entries(s).every(([k, v]) => v === undefined || fields.includes(k as keyof Selector));

/** Which entry of the list of groups a selector is; empty for robots by name, or none. */
export function groupOf(s: Selector | undefined): string {
  if (!s || (s.ids?.length && only(s, 'ids'))) return '';
  if (s.all && only(s, 'all')) return 'all';
  const label = labelOf(s);
  if (label && only(s, 'labels')) return `label:${label.key}=${label.value}`;
  return 'given';
}

/** The robots that a group stands for; given is the selection of another screen. */
export function selectorOfGroup(value: string, given: Selector | undefined): Selector | undefined {
  if (value === 'all') return { all: true };
  if (value === 'given') return given;
  const text = value.replace(/^label:/, '');
  const at = text.indexOf('=');
  return at > 0 ? { labels: [{ key: text.slice(0, at), value: text.slice(at + 1) }] } : undefined;
}

/** The groups of a fleet: all robots, its sites, its other labels. */
export function groupsOf(fleet: readonly Robot[]): Group[] {
  const counts = new Map<string, number>();
  for (const r of fleet) {
    for (const [k, v] of Object.entries(r.labels)) counts.set(`${k}=${v}`, (counts.get(`${k}=${v}`) ?? 0) + 1);
  }
  const labels = [...counts].sort(([a], [b]) => a.localeCompare(b));
  const group = ([text, robots]: [string, number]): Group => {
    const site = text.startsWith('site=');
    const name = site ? text.slice(5) : text;
    return {
      value: `label:${text}`,
      kind: site ? 'site' : 'label',
      name: site ? name.charAt(0).toUpperCase() + name.slice(1) : name,
      robots,
    };
  };
  const all: Group = { value: 'all', kind: 'all', name: '', robots: fleet.length };
  const groups = labels.map(group);
  return [all, ...groups.filter((g) => g.kind === 'site'), ...groups.filter((g) => g.kind === 'label')];
}
