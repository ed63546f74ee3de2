import { Group, Select, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

import { api, data } from '../../api/client';
import { lineOf } from '../../api/lines';
import { problemOf } from '../../api/problem';
import { obeysAnother } from '../../live/report';
import { withOwn } from '../../live/withOwn';
import { texts } from '../../text/language';
import { LastStory } from '../assign/Last';
import { useNameOf } from '../library/api';
import { ownReason, reasonText, useReasonTexts } from '../../text/reasons';
import { useTermWords } from '../../text/terms';
import { ActionButton, useWhyNot } from './ActionButton';
import { duration } from '../../text/time';
import { Facts, Panel } from './Panel';
import { usePage } from './page';
import { change } from './sending';
import { useRobotTexts } from './text';

const useTexts = texts(
  {
    title: 'Default story',
    progressOf: 'How far it is',
    noStory: 'no story',
    notYet: 'has not reported about it yet',
    later: 'The robot is not connected: it gets the story when it is back.',
    choose: 'Another story',
    one: (name: string, rev: number, length: string) => `${name}, rev. ${rev}, ${length}`,
    unpublished: 'not published',
    when: 'When it changes over',
    applies: { next_act: 'after the act', now: 'at once', next_start: 'at the next start of the story' },
    assign: 'Make it the default story',
    label: (story: string) => `default story ${story}`,
    same: 'it is the desired story already',
    first: 'choose a story first',
    accepted: 'fleetd keeps it for the robot',
    progress: (n: number) => `${n} %`,
  },
  {
    title: 'Standardgeschichte',
    progressOf: 'Wie weit er ist',
    noStory: 'keine Geschichte',
    notYet: 'hat noch nichts dazu gemeldet',
    later: 'Der Roboter ist nicht verbunden: er bekommt die Geschichte, wenn er zurück ist.',
    choose: 'Andere Geschichte',
    one: (name: string, rev: number, length: string) => `${name}, Revision ${rev}, ${length}`,
    unpublished: 'nicht veröffentlicht',
    when: 'Wann sie wechselt',
    applies: { next_act: 'nach dem Akt', now: 'sofort', next_start: 'beim nächsten Start der Geschichte' },
    assign: 'Zur Standardgeschichte machen',
    label: (story: string) => `Standardgeschichte ${story}`,
    same: 'sie ist schon verlangt',
    first: 'wählen Sie zuerst eine Geschichte',
    accepted: 'fleetd bewahrt sie für den Roboter auf',
    progress: (n: number) => `${n} %`,
  },
  {
    title: 'Histoire par défaut',
    progressOf: 'Où il en est',
    noStory: 'pas d’histoire',
    notYet: 'n’en a encore rien signalé',
    later: 'Le robot n’est pas connecté : il reçoit l’histoire à son retour.',
    choose: 'Une autre histoire',
    one: (name, rev, length) => `${name}, rév. ${rev}, ${length}`,
    unpublished: 'pas publiée',
    when: 'Quand il change',
    applies: { next_act: 'après l’acte', now: 'aussitôt', next_start: 'au prochain départ de l’histoire' },
    assign: 'En faire l’histoire par défaut',
    label: (story) => `histoire par défaut ${story}`,
    same: 'c’est déjà l’histoire voulue',
    first: 'choisissez d’abord une histoire',
    accepted: 'fleetd la garde pour le robot',
    progress: (n) => `${n} %`,
  },
);

type Apply = 'next_act' | 'now' | 'next_start';

/** Which story the robot shall have beside the one that it has, and the choice of another. */
export function StoryAssign() {
  const t = useTexts();
  const common = useRobotTexts();
  const reasons = useReasonTexts();
  const phases: Record<string, string> = useTermWords().DeployPhase;
  const { id, robot, stale } = usePage();
  const whyNot = useWhyNot('assign', true);
  const queries = useQueryClient();
  const [story, setStory] = useState<string | null>(null);
  const [apply, setApply] = useState<Apply>('next_act');
  const stories = useQuery({ queryKey: ['stories'], queryFn: () => data(api.GET('/api/v1/stories')) });
  const d = robot.desired;
  const name = useNameOf('story');
  const ref = (r?: { id: string; rev: number }) => (r ? common.revision(name(r.id), r.id, r.rev) : t.noStory);
  const chosen = stories.data?.entries.find((e) => e.id === story);
  const same = chosen && d.story?.id === chosen.id && d.story.rev === chosen.rev;
  const body = { story: story!, apply, selector: { ids: [id] } };
  const assign = () =>
    change(
      id,
      t.label(name(story!)),
      async () => {
        await api.POST('/api/v1/assignments', { body });
        await queries.invalidateQueries({ queryKey: ['robot', id] });
        return t.accepted;
      },
      lineOf('assign', { body }),
    );
  const phase = d.phase ? (phases[d.phase] ?? d.phase) : '';
  return (
    <Panel title={t.title}>
      <Facts
        rows={[
          [common.requested, ref(d.story)],
          [common.reported, ref(d.active)],
          [
            t.progressOf,
            obeysAnother(d)
              ? reasonText(reasons, d.reason)
              : d.desired_rev && d.reported_rev !== d.desired_rev
                ? stale === 'robot'
                  ? t.later
                  : t.notYet
                : withOwn(
                    [
                      phase,
                      typeof d.progress === 'number' && t.progress(d.progress),
                      reasonText(reasons, d.reason, d.detail),
                      d.reason === 'story_pruned' && d.pruned?.join(', '),
                    ]
                      .filter(Boolean)
                      .join(', '),
                    ownReason(reasons, d.reason, d.detail),
                  ),
          ],
        ]}
      />
      <LastStory robot={id} revisions={d.desired_rev ?? 0} />
      {stories.isError && <Text size="sm">{problemOf(stories.error).message}</Text>}
      <Group align="flex-end">
        <Select
          label={t.choose}
          searchable
          value={story}
          onChange={setStory}
          miw={220}
          flex={1}
          data={(stories.data?.entries ?? []).map((e) => ({
            value: e.id,
            disabled: e.rev === 0,
            label: e.rev ? t.one(name(e.id), e.rev, duration(e.length_ms ?? 0)) : `${name(e.id)}, ${t.unpublished}`,
          }))}
        />
        <Select
          label={t.when}
          value={apply}
          allowDeselect={false}
          onChange={(v) => setApply(v as Apply)}
          data={(['next_act', 'now', 'next_start'] as const).map((v) => ({ value: v, label: t.applies[v] }))}
        />
        <ActionButton
          whyNot={whyNot || (!chosen ? t.first : same ? t.same : '')}
          line={chosen && lineOf('assign', { body })}
          onClick={assign}
        >
          {t.assign}
        </ActionButton>
      </Group>
    </Panel>
  );
}
