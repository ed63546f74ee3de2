import { useQuery } from '@tanstack/react-query';
import { create } from 'zustand';

import { api, data, type Schemas } from '../../api/client';
import { usePoints } from '../../api/points';
import { useAmongRobots } from '../../live/robots';
import { useEntries } from '../library/api';
import type { Words } from './defaults';
import { useFieldWord } from './fields/words';
import { suggesting } from './suggesting';
import { useTurnTexts } from './turnText';

type Detail = Schemas['Detail'];

const key = 'troupe.editor.robot';

interface Choice {
  robot: string;
  choose: (robot: string) => void;
}

/** The robot that the author chose: its names are suggested, and it explains conditions. */
export const useAuthorsRobot = create<Choice>()((set) => ({
  robot: localStorage.getItem(key) ?? '',
  choose: (robot) => {
    localStorage.setItem(key, robot);
    set({ robot });
  },
}));

/** The author's robot; until one is chosen, the first connected one has the names that are suggested. */
export function useSuggestingRobot(): string {
  const chosen = useAuthorsRobot((s) => s.robot);
  return useAmongRobots((all) => suggesting(chosen, all));
}

/** Names that the fields of actions may have. */
export type Names = Record<string, string[]>;

const unique = (...lists: (readonly string[] | null | undefined)[]) =>
  [...new Set(lists.flatMap((l) => l ?? []))].sort();

/** What the library, the assets and the chosen robot have, by the field that names it. */
export function useNames(): Names {
  const robot = useSuggestingRobot();
  const acts = useEntries('act').data ?? [];
  const assets =
    useQuery({ queryKey: ['assets'], queryFn: async () => (await data(api.GET('/api/v1/assets'))).assets ?? [] })
      .data ?? [];
  const caps = useQuery({
    queryKey: ['robot', robot],
    enabled: robot !== '',
    queryFn: async () => (await data(api.GET('/api/v1/robots/{id}', { params: { path: { id: robot } } }))) as Detail,
    staleTime: 30_000,
  }).data?.caps;
  const points = usePoints(robot).data?.points;
  const units = caps?.units ?? [];
  const ofKind = (kind: string) => assets.filter((a) => a.kind === kind).map((a) => a.name);
  const ids = acts.map((a) => a.id);
  return {
    sound: unique(ofKind('sound'), ...units.map((u) => u.sounds)),
    face: unique(ofKind('face'), ...units.map((u) => u.faces)),
    image: unique(ofKind('face'), ...units.map((u) => u.images)),
    view: unique(...units.map((u) => u.views)),
    motion: unique(...units.map((u) => u.motions)),
    point: unique(points?.map((p) => p.name)),
    unit: unique(units.map((u) => u.id)),
    act: ids,
    shutdown: ids,
    languages: unique(caps?.languages, ['en', 'de']),
  };
}

/** The words of a line about an action. */
export const useSummaryWords = (): Words => ({ field: useFieldWord(), turns: useTurnTexts() });
