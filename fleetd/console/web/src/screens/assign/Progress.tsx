import { Alert, Badge, Card, Group, List, Progress as Bar, Stack, Text, Title } from '@mantine/core';

import { useEffect, useRef } from 'react';

import { inWords, useTermWords } from '../../text/terms';
import { clock } from '../../text/time';
import { useFieldWord } from '../editor/fields/words';
import { RevertButton } from './RevertButton';
import { Each } from './Each';
import { grouped, type Outcome, type Step, steps, stepText, type What } from './model';
import { refusalText } from './refusal';
import { names } from './Summary';
import { useAssignTexts } from './text';
import { useNamed } from './useNamed';
import { useReports } from './useReports';

const colors: Record<Step, string> = {
  has: 'green',
  accepted: 'gray',
  refused: 'red',
  waiting: 'blue',
  away: 'gray',
  replaced: 'yellow',
};

/** What became of an assignment, as robots report it, and the way back. */
export function Progress({
  what,
  outcome,
  back,
  at,
  onBack,
}: {
  what: What;
  outcome: Outcome;
  /** The assignment was reverted. */
  back?: boolean;
  at: number;
  onBack: (w: What, o: Outcome) => void;
}) {
  const t = useAssignTexts();
  const phases: Record<string, string> = useTermWords().DeployPhase;
  const word = useFieldWord();
  const named = useNamed(what);
  const { all, failed } = useReports(what, outcome);
  const groups = steps.map((step) => ({ step, ids: all.filter((r) => r.step === step).map((r) => r.robot) }));
  // The button that reverts may be far below.
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.scrollIntoView({ block: 'nearest' }), []);
  const document = what.kind === 'back' ? !!what.of : what.kind !== 'story' && what.kind !== 'activities';
  return (
    <Card withBorder component="section" aria-label={t.progress} ref={place} style={{ scrollMarginTop: 80 }}>
      <Stack gap="sm">
        <Title order={2} size="h4">
          {back ? t.reverted(clock(new Date(at).toISOString())) : t.progress}
        </Title>
        <Text role="status">{t.accepted(all.length)}</Text>
        {failed && (
          <Alert color="yellow" title={t.progressFailed}>
            {failed.message}
          </Alert>
        )}
        {all.length > 0 && (
          <>
            <Bar.Root size="lg" aria-hidden>
              {groups.map((g) => (
                <Bar.Section key={g.step} value={(100 * g.ids.length) / all.length} color={colors[g.step]} />
              ))}
            </Bar.Root>
            <List size="sm" data-testid="progress" listStyleType="none">
              {groups
                .filter((g) => g.ids.length > 0)
                .map((g) => (
                  <List.Item key={g.step}>
                    <Group gap="xs">
                      <Badge color={colors[g.step]} variant="light" circle={g.ids.length < 10}>
                        {g.ids.length}
                      </Badge>
                      <b>{stepText(t, g.step, what)}</b>
                      <span>{names(g.ids, 20)}</span>
                    </Group>
                  </List.Item>
                ))}
            </List>
            {grouped(
              all
                .filter((r) => r.step === 'refused')
                .map((r) => [refusalText(r.report?.detail || r.report?.phase, word, t.actionNumber), r.robot]),
            ).map(([why, ids]) => (
              <Alert key={why} color="red" title={t.refusedBy(ids.length, names(ids, 20))}>
                <span dir="auto">{why}</span>
              </Alert>
            ))}
            <Each
              open={all.length <= 20}
              head={[t.requested, t.reported, t.state, t.note]}
              rows={[...all]
                .sort((a, b) => steps.indexOf(a.step) - steps.indexOf(b.step))
                .map((r) => {
                  const reported = inWords(phases, r.report?.phase) || t.nothing;
                  const state = stepText(t, r.step, what);
                  return [
                    r.robot,
                    r.report ? (document ? t.documentRevision(r.report.requested) : named(r.report.requested)) : '',
                    reported,
                    r.report && r.step === 'has' ? '' : state, // the phase says the same
                    r.step === 'refused' ? '' : r.report?.detail, // a refusal stands above, by reason
                  ];
                })}
            />
            <RevertButton
              what={what}
              outcome={outcome}
              replaced={groups.find((g) => g.step === 'replaced')!.ids}
              onBack={onBack}
            />
          </>
        )}
      </Stack>
    </Card>
  );
}
