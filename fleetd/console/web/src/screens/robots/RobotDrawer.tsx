import { Button, Drawer, Group, Stack, Table, Text } from '@mantine/core';
import { Fragment, type ReactNode, useRef } from 'react';
import { Link } from 'react-router';

import type { Robot } from '../../api/client';
import { useNamesIn } from '../../live/entries';
import { useAlertName } from '../../live/AlertText';
import { useNameOf } from '../library/api';
import { performing } from '../../live/performing';
import { useAbout } from '../../live/PerformingBadge';
import { OwnSentence } from '../../live/OwnSentence';
import { fullName } from '../../live/RobotName';
import { useRobot } from '../../live/robots';
import { withOwn } from '../../live/withOwn';
import { useStopMeans } from '../../shell/scope';
import { alertSays, ownBeside, useAlertWords } from '../../text/alerts';
import { inButtons } from '../../text/buttons';
import { whoText } from '../../text/triggers';
import { usePauseWords } from '../../text/pauses';
import { ownReason, reasonText, useReasonTexts, whyText } from '../../text/reasons';
import { sourceText } from '../../text/source';
import { inWords, useTermWords } from '../../text/terms';
import { clock } from '../../text/time';
import { joined } from '../robot/joined';
import { PageContext, useDetail, useStale } from '../robot/page';
import { WayOut } from '../robot/WayOut';
import { blocker, wayOut } from '../robot/wayOut';
import { stepName, useWayOutTexts } from '../robot/wayOutText';
import { BulkButtons } from './BulkButtons';
import { Doing, Mode, Presence, Story } from './cells';
import { useRobotsTexts } from './text';

/** What matters of one robot, beside the list. */
export function RobotDrawer({ id: open, onClose }: { id: string | undefined; onClose: () => void }) {
  const t = useRobotsTexts();
  // While it closes, it shows what it did.
  const shown = useRef(open);
  shown.current = open ?? shown.current;
  const id = shown.current;
  const r = useRobot(id ?? '');
  useStopMeans(open);
  return (
    <Drawer
      opened={open !== undefined}
      onClose={onClose}
      position="right"
      size={440}
      title={id && t.drawer(r ? fullName(r) : id)}
      overlayProps={{ backgroundOpacity: 0.15 }}
      closeButtonProps={{ 'aria-label': t.close }}
    >
      {r ? (
        <Stack>
          <Group justify="space-between">
            <Doing r={r} />
            <Button component={Link} to={`/robots/${encodeURIComponent(r.id)}`} variant="light">
              {t.open}
            </Button>
          </Group>
          <Next key={r.id} row={r} />
          <Facts r={r} />
        </Stack>
      ) : (
        <Text>{t.removed}</Text>
      )}
    </Drawer>
  );
}

/** What the robot needs next, as on its page, and what else can be done to it. */
function Next({ row }: { row: Robot }) {
  const t = useWayOutTexts();
  const detail = useDetail(row.id).data;
  const stale = useStale(row.id);
  const robot = joined(row, detail)!;
  const steps = wayOut(robot, detail);
  const away = steps[0]?.key === 'connect' ? t.first(stepName(t, steps[0])) : undefined;
  const first = (key: 'enable' | 'continue') => {
    if (away) return away;
    const by = blocker(
      steps,
      steps.findIndex((s) => s.key === key),
    );
    return by && t.first(stepName(t, by));
  };
  return (
    <PageContext value={{ id: row.id, robot, detail, stale }}>
      {steps.length > 0 ? <WayOut /> : <About r={robot} />}
      <BulkButtons
        selector={{ ids: [row.id] }}
        name={row.id}
        first={{
          enable: !away && robot.safety === 'ENABLED' ? t.enabled : first('enable'),
          continue: away ?? (steps.some((s) => s.key === 'continue') ? first('continue') : t.notPaused),
          pause: away ?? (robot.pause_holders.some((p) => p.token.startsWith('operator')) ? t.isPaused : undefined),
        }}
      />
    </PageContext>
  );
}

function About({ r }: { r: Robot }) {
  const of = useAbout()(performing(r).of);
  return of ? (
    <Text size="sm" dir="auto">
      {of}
    </Text>
  ) : null;
}

function Facts({ r }: { r: Robot }) {
  const t = useRobotsTexts();
  const reasons: Record<string, string> = useReasonTexts();
  const terms = useTermWords();
  const pauses: Record<string, string> = usePauseWords();
  const name = useAlertName();
  const alerts = useAlertWords();
  const named = useNamesIn();
  const act = useNameOf('act');
  const list = (items: ReactNode[]) =>
    items.length === 0
      ? undefined
      : items.map((text, i) => (
          <div key={i} dir="auto">
            {text}
          </div>
        ));
  const rows: [string, ReactNode][] = [
    [t.facts.presence, <Presence key="p" r={r} />],
    [t.facts.mode, <Mode key="m" r={r} />],
    [
      t.facts.safety,
      withOwn(
        [
          inWords(terms.SafetyState, r.safety),
          reasonText(reasons, r.cause),
          r.latches.length === 0 && sourceText(r.latched_by ?? ''),
        ]
          .filter(Boolean)
          .join(', '),
        inButtons(r.cause_detail ?? ''),
      ),
    ],
    [t.facts.story, <Story key="s" r={r} />],
    [t.facts.act, r.story && r.act && act(r.act)],
    [
      t.facts.assigned,
      !r.desired.converged &&
        r.desired.reason &&
        withOwn(
          reasonText(reasons, r.desired.reason, r.desired.detail),
          ownReason(reasons, r.desired.reason, r.desired.detail),
        ),
    ],
    [
      t.facts.stops,
      list(r.latches.map((l) => `${clock(l.since)} ${l.by ?? l.client ?? ''}${l.why ? `: ${l.why}` : ''}`)),
    ],
    [
      t.facts.pauses,
      list(
        r.pause_holders.map(
          (p) => `${p.by || pauses[p.token.split(':')[0]!] || p.token}${p.why ? `: ${whyText(reasons, p.why)}` : ''}`,
        ),
      ),
    ],
    [t.facts.interrupts, list(r.interrupts.map((i) => `${i.handler} (${whoText(i.interrupter)}), ${clock(i.since)}`))],
    [
      t.facts.alerts,
      list(
        r.alerts.map((a) => (
          <Fragment key={a.id}>
            {name(a)} – {alertSays(alerts, named(a))}
            <OwnSentence>{ownBeside(alerts, a)}</OwnSentence>
          </Fragment>
        )),
      ),
    ],
    [t.facts.control, r.control && (r.control.by || r.control.holder)],
    [t.facts.life, r.life && [inWords(terms.LifeState, r.life.state), r.life.focused].filter(Boolean).join(': ')],
    [t.facts.versionSkew, r.version_skew],
    [t.facts.labels, list(Object.entries(r.labels).map(([k, v]) => `${k}=${v}`))],
  ];
  return (
    <Table layout="fixed">
      <Table.Tbody>
        {rows
          .filter(([, value]) => value)
          .map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th w={130} scope="row">
                {name}
              </Table.Th>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
            </Table.Tr>
          ))}
      </Table.Tbody>
    </Table>
  );
}
