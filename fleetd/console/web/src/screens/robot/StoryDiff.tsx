import { List, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';

import { api, data } from '../../api/client';
import { problemOf } from '../../api/problem';
import { texts } from '../../text/language';
import { Nothing, Panel } from './Panel';
import { usePage } from './page';
import { type Content, difference } from './storyDiff';
import { useRobotTexts } from './text';

const useTexts = texts(
  {
    title: 'What the robot has, and what the fleet has',
    none: 'The robot has no story to compare.',
    newest: (rev: number) => `The robot has revision ${rev}, the newest one that is published.`,
    older: (has: number, newest: number) =>
      `The robot has revision ${has}. Revision ${newest} is published; these are the differences:`,
    added: (acts: string) => `new acts: ${acts}`,
    removed: (acts: string) => `acts that are gone: ${acts}`,
    changed: (acts: string) => `acts that changed: ${acts}`,
    rearranged: 'another order, or other settings of the story',
    onlyNames: 'only names or labels',
  },
  {
    title: 'Was der Roboter hat, und was die Flotte hat',
    none: 'Der Roboter hat keine Geschichte zum Vergleichen.',
    newest: (rev: number) => `Der Roboter hat Revision ${rev}, die neueste veröffentlichte.`,
    older: (has: number, newest: number) =>
      `Der Roboter hat Revision ${has}. Veröffentlicht ist Revision ${newest}; das sind die Unterschiede:`,
    added: (acts: string) => `neue Akte: ${acts}`,
    removed: (acts: string) => `Akte, die es nicht mehr gibt: ${acts}`,
    changed: (acts: string) => `geänderte Akte: ${acts}`,
    rearranged: 'andere Reihenfolge oder Einstellungen der Geschichte',
    onlyNames: 'nur Namen oder Labels',
  },
  {
    title: 'Ce que le robot a, et ce que la flotte a',
    none: 'Le robot n’a pas d’histoire à comparer.',
    newest: (rev) => `Le robot a la révision ${rev}, la dernière qui est publiée.`,
    older: (has, newest) =>
      `Le robot a la révision ${has}. La révision ${newest} est publiée ; voici les différences :`,
    added: (acts) => `nouveaux actes : ${acts}`,
    removed: (acts) => `actes disparus : ${acts}`,
    changed: (acts) => `actes changés : ${acts}`,
    rearranged: 'un autre ordre, ou d’autres réglages de l’histoire',
    onlyNames: 'seulement des noms ou des étiquettes',
  },
);

/** The difference between the robot's revision of its story and the newest published one. */
export function StoryDiff() {
  const t = useTexts();
  const common = useRobotTexts();
  const has = usePage().robot.desired.active;
  const entry = useQuery({
    queryKey: ['story', has?.id],
    enabled: !!has,
    queryFn: () => data(api.GET('/api/v1/stories/{id}', { params: { path: { id: has!.id } } })),
  });
  const newest = entry.data?.rev ?? 0;
  const compare = useQuery({
    queryKey: ['story difference', has?.id, has?.rev, newest],
    enabled: !!has && newest > 0 && newest !== has.rev,
    staleTime: Infinity,
    queryFn: async () => {
      const one = (rev: number) =>
        data(api.GET('/api/v1/stories/{id}/revisions/{rev}', { params: { path: { id: has!.id, rev } } }));
      const [a, b] = await Promise.all([one(has!.rev), one(newest)]);
      return difference(a as unknown as Content, b as unknown as Content);
    },
  });
  const d = compare.data;
  const failed = entry.error ?? compare.error;
  return (
    <Panel title={t.title}>
      {!has && <Nothing>{t.none}</Nothing>}
      {has && entry.isPending && <Nothing>{common.loading}</Nothing>}
      {failed && <Text size="sm">{problemOf(failed).message}</Text>}
      {has && entry.data && newest === has.rev && <Text size="sm">{t.newest(newest)}</Text>}
      {has && d && (
        <>
          <Text size="sm">{t.older(has.rev, newest)}</Text>
          <List size="sm">
            {d.added.length > 0 && <List.Item>{t.added(d.added.join(', '))}</List.Item>}
            {d.removed.length > 0 && <List.Item>{t.removed(d.removed.join(', '))}</List.Item>}
            {d.changed.length > 0 && <List.Item>{t.changed(d.changed.join(', '))}</List.Item>}
            {d.rearranged && <List.Item>{t.rearranged}</List.Item>}
            {d.added.length + d.removed.length + d.changed.length === 0 && !d.rearranged && (
              <List.Item>{t.onlyNames}</List.Item>
            )}
          </List>
        </>
      )}
    </Panel>
  );
}
