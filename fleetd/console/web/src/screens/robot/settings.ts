import { useQuery } from '@tanstack/react-query';

import { api, data } from '../../api/client';
import { aboutOf } from '../../live/report';
import { usePage } from './page';

/** The JSON Schema of one setting, as far as a form needs it. */
export interface Setting {
  type?: string;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  description?: string;
  items?: { type?: string };
  'x-restart'?: boolean;
}

/** The desired configuration of a robot and its report, as in the contract. */
export interface Desired {
  fleet_id?: string;
  rev: number;
  by?: string;
  ts: string;
  values: Record<string, unknown>;
}
export interface Reported {
  fleet_id?: string;
  desired_rev: number;
  phase: string;
  reason?: string;
  detail?: string;
  applied: Record<string, unknown>;
  rejected: { key: string; reason: string; detail?: string }[];
  restart_needed: string[];
}

/** What a person changed and has not applied yet; undefined as a value unsets the key. */
export type Draft = Map<string, unknown>;

/** Settings that have a place of their own on the page. */
const elsewhere = new Set(['labels']);

/** The schema of each setting by key. */
export function useSettingSchemas() {
  return useQuery({
    queryKey: ['schema', 'desiredconfig'],
    staleTime: Infinity,
    queryFn: async () => {
      const body = await data(
        api.GET('/api/v1/schemas/{id}', { params: { path: { id: 'desiredconfig' } }, parseAs: 'json' }),
      );
      const text = body as unknown as { properties: { values: { properties: Record<string, Setting> } } };
      return Object.entries(text.properties.values.properties).filter(([key]) => !elsewhere.has(key));
    },
  });
}

/** The desired documents of the robot, with its reports. */
export function useDesired() {
  const { id, robot } = usePage();
  return useQuery({
    queryKey: ['robot', id, 'desired', robot.presence.status],
    queryFn: () => data(api.GET('/api/v1/robots/{id}/desired', { params: { path: { id } } })),
    refetchInterval: 2000,
  });
}

/** Where a setting stands between what the fleet wants and what the robot does. */
export type SettingState = 'own' | 'applied' | 'pending' | 'restart' | 'rejected' | 'otherFleet';

export function settingState(key: string, desired?: Desired, reported?: Reported): SettingState {
  if (!desired || !(key in desired.values)) return 'own';
  const about = aboutOf(desired, reported);
  if (about === 'otherFleet') return about;
  if (reported?.rejected?.some((r) => r.key === key)) return 'rejected';
  if (about !== 'this') return same(desired.values[key], reported?.applied?.[key]) ? 'applied' : 'pending';
  if (reported?.restart_needed?.includes(key)) return 'restart';
  return same(desired.values[key], reported?.applied?.[key]) ? 'applied' : 'pending';
}

/** A value as text; undefined has none. */
export function valueText(v: unknown): string {
  if (v === undefined) return '';
  return typeof v === 'string' ? v : JSON.stringify(v);
}

/** Whether two JSON values are the same, whatever the order of members. */
export function same(a: unknown, b: unknown): boolean {
  return sorted(a) === sorted(b);
}

function sorted(v: unknown): string {
  return (
    JSON.stringify(v, (_, x: unknown) =>
      x && typeof x === 'object' && !Array.isArray(x)
        ? Object.fromEntries(Object.entries(x).sort(([a], [b]) => (a < b ? -1 : 1)))
        : x,
    ) ?? ''
  );
}
