import { Stack, Text } from '@mantine/core';

import { problemOf } from '../../api/problem';
import { texts } from '../../text/language';
import { reasonText, useReasonTexts } from '../../text/reasons';
import { inWords, useTermWords } from '../../text/terms';
import { useNameOf } from '../library/api';
import { Why } from '../policies/Why';
import { useActing } from './acting';
import { duration } from '../../text/time';
import { Facts, Nothing, Panel } from './Panel';
import { usePage } from './page';
import { StoryAssign } from './StoryAssign';
import { StoryButtons } from './StoryButtons';
import { StoryDiff } from './StoryDiff';
import { StoryTimeline } from './StoryTimeline';
import { useRobotTexts } from './text';

const useTexts = texts(
  {
    title: 'The running story',
    none: 'The robot performs no story.',
    story: 'Story',
    length: 'Length of a round',
    about: (at: string) => `about ${at}`,
    status: 'Status',
    noTimeline: 'Its timeline cannot be drawn',
    pruned: 'Left out by this body',
  },
  {
    title: 'Die laufende Geschichte',
    none: 'Der Roboter führt keine Geschichte auf.',
    story: 'Geschichte',
    length: 'Dauer einer Runde',
    about: (at: string) => `etwa ${at}`,
    status: 'Zustand',
    noTimeline: 'Ihr Ablauf lässt sich nicht zeichnen',
    pruned: 'Von diesem Körper ausgelassen',
  },
  {
    title: 'L’histoire en cours',
    none: 'Le robot ne joue pas d’histoire.',
    story: 'Histoire',
    length: 'Durée d’un tour',
    about: (at) => `environ ${at}`,
    status: 'État',
    noTimeline: 'Sa chronologie ne peut pas être dessinée',
    pruned: 'Omis par ce corps',
  },
);

/** The story as it runs, the commands for it, and which story the robot shall have. */
export default function StoryTab() {
  const t = useTexts();
  const common = useRobotTexts();
  const reasons = useReasonTexts();
  const terms = useTermWords();
  const { robot } = usePage();
  const { timeline, span, spans, ms } = useActing();
  const story = robot.story;
  const name = useNameOf('story');
  return (
    <Stack>
      <Panel title={t.title}>
        {!story && <Nothing>{t.none}</Nothing>}
        {story && (
          <Facts
            rows={[
              [t.story, common.revision(name(story.id), story.id, story.rev)],
              [
                t.status,
                [inWords(terms.AutoStatus, robot.auto), reasonText(reasons, robot.auto_reason)]
                  .filter(Boolean)
                  .join(': '),
              ],
              [t.length, timeline.data && t.about(duration(timeline.data.length_ms))],
              [t.pruned, robot.desired.pruned?.join(', ') ?? ''],
            ]}
          />
        )}
        <StoryButtons />
        {story && timeline.isPending && <Nothing>{common.loading}</Nothing>}
        {story && timeline.isError && (
          <Text size="sm" dir="auto">
            {t.noTimeline}: {problemOf(timeline.error).message}
          </Text>
        )}
        {timeline.data && (
          <StoryTimeline
            timeline={timeline.data}
            paused={robot.auto === 'paused'}
            current={robot.mode === 'ato' && robot.auto !== 'stopped' ? spans.indexOf(span!) : -1}
            at={span && ms !== undefined ? span.start_ms + Math.min(ms, span.end_ms - span.start_ms) : undefined}
          />
        )}
      </Panel>
      <StoryAssign />
      <Why only="story" />
      <StoryDiff />
    </Stack>
  );
}
