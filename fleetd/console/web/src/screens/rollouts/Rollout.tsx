import { Alert, Anchor, Card, Group, Loader, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useRef, useState } from 'react';
import { Link, useParams } from 'react-router';

import { line } from '../../api/commandline';
import { problemOf } from '../../api/problem';
import { CommandLine } from '../../shell/CommandLine';
import { Refused } from '../../shell/Refused';
import { dateTime } from '../../text/time';
import { useRollout } from './api';
import type { Detail, RobotState } from './types';
import { useContentText } from './contentText';
import { DecideButton, DecideDialog, type Deciding } from './Decide';
import { Decisions } from './Decisions';
import { Facts } from './Facts';
import { Failures } from './Failures';
import { Health } from './Health';
import { Legend, RobotBar, StateBadge } from './RobotBar';
import { wavesText } from './states';
import classes from './rollouts.module.css';
import { RobotTable } from './RobotTable';
import { useRolloutsTexts } from './text';
import { Waves } from './Waves';
import { useWhyText } from './whyText';

/** One rollout, as it goes. */
export default function Rollout() {
  const { id = '' } = useParams();
  return <Page key={id} id={id} />;
}

function Page({ id }: { id: string }) {
  const t = useRolloutsTexts();
  const because = useWhyText();
  const said = useContentText();
  const asked = useRollout(id);
  const [deciding, decide] = useState<Deciding>();
  const [state, choose] = useState<RobotState>();
  const table = useRef<HTMLDivElement>(null);
  const d = asked.data;
  if (!d) {
    if (asked.isPending) return <Loader aria-label={t.loading} />;
    const p = problemOf(asked.error);
    return (
      <Stack align="flex-start">
        <Title order={1} size="h2" dir="auto">
          {p.status === 404 ? t.unknown(id) : t.title}
        </Title>
        <Refused error={asked.error} onRetry={() => void asked.refetch()} />
        <Anchor component={Link} to="/rollouts">
          {t.toAll}
        </Anchor>
      </Stack>
    );
  }
  const named = d.name && d.name !== d.content;
  const show = (s: RobotState | undefined) => {
    choose(s);
    table.current?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <Stack>
      <Stack gap={4}>
        <Anchor component={Link} to="/rollouts" size="sm">
          {t.toAll}
        </Anchor>
        <Group gap="sm" align="center">
          <Title order={1} size="h2" dir="auto" className="any-text">
            {named ? d.name : said(d.content)}
          </Title>
          <StateBadge of={d.state} />
        </Group>
        <Text size="sm" c="dimmed" dir="auto" className="any-text" role="status">
          {[named && said(d.content), t.robotsN(d.total), wavesText(d, t), because(d.waits || d.why)]
            .filter(Boolean)
            .join('; ')}
        </Text>
      </Stack>
      <Group className={classes.decisions} gap="xs" role="group" aria-label={t.nextStep}>
        {/* What stops or takes back is always there, in the same place. */}
        <DecideButton of={d} what={d.can.includes('resume') ? 'resume' : 'pause'} onDecide={decide} />
        <DecideButton of={d} what="abort" onDecide={decide} />
        <DecideButton of={d} what="rollback" onDecide={decide} />
        <CommandLine compact lines={[line('rollout', 'watch', d.id)]} />
      </Group>
      {asked.isError && <Refused error={asked.error} onRetry={() => void asked.refetch()} />}
      <NextStep of={d} onDecide={decide} />
      <Card withBorder component="section" aria-label={t.legend}>
        <Stack gap="sm">
          <RobotBar counts={d.counts} total={d.total} />
          <Legend counts={d.counts} chosen={state} onChoose={show} />
        </Stack>
      </Card>
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Waves of={d} />
        <Stack>
          <Failures of={d} onShow={show} />
          <Health of={d} />
        </Stack>
      </SimpleGrid>
      <div ref={table} style={{ scrollMarginTop: 130 }}>
        <RobotTable of={d} state={state} onState={choose} />
      </div>
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Decisions of={d} />
        <Facts of={d} />
      </SimpleGrid>
      {deciding && <DecideDialog of={d} what={deciding} onClose={() => decide(undefined)} />}
    </Stack>
  );
}

/** States in which something went wrong. */
const wrong: readonly Detail['state'][] = ['PAUSED', 'COMPLETED_WITH_FAILURES', 'ROLLBACK_INCOMPLETE'];

/** What a person has to do now, if anything. */
function NextStep({ of: d, onDecide }: { of: Detail; onDecide: (what: Deciding) => void }) {
  const t = useRolloutsTexts();
  const because = useWhyText();
  const at = d.not_before && d.state === 'SCHEDULED' ? `${t.startsAt}: ${dateTime(d.not_before)}` : '';
  const says: Partial<Record<Detail['state'], string>> = {
    WAITING_FOR_APPROVAL: t.needsApproval,
    READY: t.needsStart,
    SCHEDULED: at,
    PAUSED: t.pausedSince,
    COMPLETED_WITH_FAILURES: t.someFailed,
    ROLLBACK_INCOMPLETE: t.incomplete,
  };
  const text = says[d.state];
  if (!text) return null;
  const offered = (['approve', 'start', 'retry'] as const).filter((w) => d.can.includes(w));
  return (
    <Alert color={wrong.includes(d.state) ? 'yellow' : 'blue'} title={because(d.why) || t.nextStep}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{text}</Text>
        <Group gap="xs">
          {offered.map((w) => (
            <DecideButton key={w} of={d} what={w} onDecide={onDecide} primary={w === 'approve' || w === 'start'} />
          ))}
        </Group>
      </Stack>
    </Alert>
  );
}
