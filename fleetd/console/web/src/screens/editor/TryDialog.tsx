import { Alert, Anchor, Button, Group, Modal, SegmentedControl, Stack, Text } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link } from 'react-router';

import { api, data } from '../../api/client';
import { lineOf } from '../../api/lines';
import { useMay } from '../../api/me';
import { PerformingBadge, usePerformingTexts } from '../../live/PerformingBadge';
import { useRobot, useRobots } from '../../live/robots';
import { CommandLine } from '../../shell/CommandLine';
import { useIgnorePressesAfterChange } from '../../shell/press';
import { useStopMeans } from '../../shell/scope';
import { Refused } from '../../shell/Refused';
import { send as follow } from '../robot/sending';
import { useModeName } from '../../text/modes';
import { aboutAnswer } from '../../text/answers';
import { reasonText, useReasonTexts } from '../../text/reasons';
import { useTermWords } from '../../text/terms';
import { flat, write } from './model';
import { useAuthorsRobot } from './names';
import { useEditorTexts } from './text';
import { TryRobotSelect } from './TryRobotSelect';
import { TryProgress } from './TryProgress';
import { type Trial, trialOf } from './tryProgress';
import { fitness, onlyReady } from './tryRobots';
import { useTryTexts } from './tryText';
import { isDraftAct } from './unfinished';
import type { Editor } from './useEditor';
import { watchTry, whileAway } from './watchTry';

const send = (robot: string, verb: string) =>
  data(
    api.POST('/api/v1/commands', {
      params: { header: { Prefer: 'wait=5' } },
      body: { verb, args: {}, selector: { ids: [robot] } },
    }),
  );

type State =
  | { phase: 'idle' | 'asking' }
  | { phase: 'running'; began?: number; trial?: Trial }
  | { phase: 'ended'; ok: boolean; state: string; why: string };

/** Performs the draft once on the chosen robot: takes control, shows how it goes, gives control back. */
export function TryDialog({ editor, name, onClose }: { editor: Editor; name: string; onClose: () => void }) {
  const t = useEditorTexts();
  const own = useTryTexts();
  const modeName = useModeName();
  const doing = usePerformingTexts();
  const robots = useRobots();
  const remember = useAuthorsRobot((s) => s.choose);
  const [id, setID] = useState(() => onlyReady(robots));
  const robot = useRobot(id);
  useStopMeans(id || undefined);
  const choose = (to: string) => {
    setID(to);
    if (to) remember(to); // names and conditions are of the same robot then
  };
  const words: Record<string, string> = useTermWords().Status;
  const may = useMay('try');
  const mayCommand = useMay('command');
  const { kind, doc, selected } = editor;
  const [part, setPart] = useState('all');
  const [state, setState] = useState<State>({ phase: 'idle' });
  const [error, setError] = useState<unknown>();
  const running = useRef('');
  const dialog = useRef<HTMLDivElement>(null);
  const [tookFrom, setTookFrom] = useState<string>(); // the robot that was set to manual here

  const closed = useRef(false);
  const [chosenAtFirst] = useState(id !== '');
  const [endedHere, setEndedHere] = useState(false);

  const giveBack = () => {
    if (!running.current) return;
    const on = running.current;
    running.current = '';
    void send(on, 'control/release').catch(() => undefined); // the lease ends by itself
  };
  /** The robot stops what it performs here, and control is given back once it has got the stop. */
  const end = async (on: string) => {
    try {
      await whileAway(() => send(on, 'manual/stop'));
    } catch (thrown) {
      setError(thrown);
    }
    giveBack();
  };
  // When the dialog is removed, the robot is told to end what it performs: nobody could end it here afterwards.
  useEffect(() => {
    closed.current = false;
    return () => {
      closed.current = true;
      if (running.current) void end(running.current);
    };
  }, []);

  const only =
    part === 'chosen'
      ? flat(kind, doc)
          .filter((r) => selected.includes(r.item.key))
          .map((r) => r.pointer)
      : [];
  const asked = { kind, only, lang: editor.lang };

  const start = async () => {
    setError(undefined);
    setEndedHere(false);
    setState({ phase: 'asking' });
    try {
      const { perform } = await data(
        api.POST('/api/v1/robots/{id}/try', {
          params: { path: { id } },
          body: { ...asked, text: JSON.stringify(write(kind, doc)) },
        }),
      );
      running.current = id;
      if (closed.current) return void end(id);
      const { timeline } = editor.check;
      await watch(perform.id!, timeline && trialOf(timeline, kind, only));
    } catch (thrown) {
      setError(thrown);
      if (running.current && !closed.current) await end(id);
      setState({ phase: 'idle' });
    }
    if (!closed.current) giveBack(); // else it is given back after the stop
  };
  /** The event comes at once; the state RUNNING comes with the first report of progress, after seconds. */
  const hasBegun = async (command: string) => {
    const { events } = await data(api.GET('/api/v1/events', { params: { query: { robot: id, limit: 10 } } }));
    return events?.some((e) => e.type === 'act_started' && e.req_id?.endsWith(`/${command}`)) ?? false;
  };
  const watch = async (batch: string, trial?: Trial) => {
    setState({ phase: 'running', trial });
    const c = await watchTry({
      poll: async () => {
        const { commands } = await data(api.GET('/api/v1/batches/{id}', { params: { path: { id: batch } } }));
        return commands?.[0];
      },
      renew: () => send(id, 'control/renew'),
      hasBegun: (command) => hasBegun(command.id!),
      onBegun: () => setState({ phase: 'running', trial, began: Date.now() }),
      closed: () => closed.current,
    });
    if (!c) return;
    setState({
      phase: 'ended',
      ok: c.state === 'SUCCEEDED',
      state: c.state ?? '',
      why: reasonText(useReasonTexts.now(), c.answer?.reason, c.answer?.detail || c.because, aboutAnswer(c.answer)),
    });
  };
  // What stands under the pointer after a try is another button than before it.
  useIgnorePressesAfterChange(dialog, state.phase);
  const busy = state.phase === 'asking' || state.phase === 'running';
  const holder = robot?.control?.by || robot?.control?.holder;
  const fit = robot && fitness(robot);
  const why = !may
    ? own.forbidden
    : editor.check.problems.some((p) => p.severity === 'error' && !isDraftAct(p))
      ? own.faulty
      : !robot
        ? own.noRobot
        : busy
          ? ''
          : fit === 'cannot'
            ? own.stopped(id, holder && robot.latches.length === 0 ? own.held(holder) : doing[robot.doing])
            : robot.mode !== 'mnl'
              ? own.notManual(id, robot.mode ?? '', modeName(robot.mode ?? '?'))
              : robot.safety !== 'ENABLED'
                ? own.notEnabled(id)
                : '';
  // What a person may do about it here, one step after the other.
  const manual = async () => {
    const was = robot?.mode;
    const done = await follow(id, 'mode/set', { mode: 'mnl' }, own.manual);
    if (done.state === 'SUCCEEDED' && was === 'ato') setTookFrom(id);
  };
  const prepare =
    !may || !mayCommand || !robot || fit !== 'step'
      ? undefined
      : robot.mode !== 'mnl'
        ? { label: own.manual, go: manual }
        : robot.safety !== 'ENABLED'
          ? { label: own.enable, go: () => follow(id, 'safety/enable', {}, own.enable) }
          : undefined;
  const lanes = new Set((editor.check.timeline?.lanes ?? []).map((l) => l.class as string));
  const deeds = Object.entries(own.does).flatMap(([lane, words]) => (lanes.has(lane) ? [words] : []));
  const does = [deeds.slice(0, -1).join(', '), deeds.at(-1)].filter(Boolean).join(` ${own.and} `);
  // The command line counts actions at the top only.
  const hasLine = robot && only.every((p) => p.split('/').length === 3);
  return (
    <Modal
      ref={dialog}
      opened
      onClose={onClose}
      closeOnClickOutside={!busy}
      size="lg"
      title={own.title(name)}
      closeButtonProps={{ 'aria-label': busy ? own.closeEnds : t.close }}
    >
      <Stack>
        <TryRobotSelect robots={robots} value={id} disabled={busy} onChange={choose} />
        {robot && (
          <Group>
            <PerformingBadge robot={robot} terms />
            <Anchor component={Link} to={`/robots/${id}`} size="sm">
              {own.page}
            </Anchor>
          </Group>
        )}
        {selected.length > 0 && (
          <SegmentedControl
            aria-label={own.which}
            value={part}
            onChange={setPart}
            disabled={busy}
            data={[
              { value: 'all', label: own.all },
              { value: 'chosen', label: own.chosen(selected.length) },
            ]}
          />
        )}
        {robot && !busy && (
          <Stack gap={6} data-testid="what-it-does">
            <Line title={own.moves(id)}>
              {part === 'chosen' ? own.movesChosen(selected.length) : own.movesAll(name, does)} {own.look}
            </Line>
            <Line title={own.takes}>{own.takesWhat(id)}</Line>
            <Line title={own.gives}>{own.givesWhat}</Line>
          </Stack>
        )}
        {why && !busy && (
          <Alert color="orange">
            <Stack gap="xs" align="flex-start">
              {why}
              {prepare && (
                <Button size="compact-md" variant="default" onClick={() => void prepare.go()}>
                  {prepare.label}
                </Button>
              )}
            </Stack>
          </Alert>
        )}
        {error !== undefined && <Refused error={error} />}
        <Text size="sm" role="status" fw={500}>
          {state.phase === 'asking' && own.accepted}
          {state.phase === 'running' && own.running}
          {state.phase === 'ended' &&
            (state.ok ? own.done : endedHere ? own.endedHere : own.ended(words[state.state] ?? state.state, state.why))}
        </Text>
        {mayCommand && (tookFrom === id || state.phase === 'ended') && robot?.mode === 'mnl' && !busy && (
          <Button
            variant="light"
            style={{ alignSelf: 'flex-start' }}
            onClick={() => {
              setTookFrom(undefined);
              void follow(id, 'mode/set', { mode: 'ato' }, own.back);
            }}
          >
            {own.back}
          </Button>
        )}
        {state.phase === 'running' && state.began && <TryProgress trial={state.trial} began={state.began} />}
        <Group justify="flex-end">
          {hasLine && (
            <CommandLine lines={[lineOf('try-text', { path: { id }, body: { ...asked, text: '' }, of: editor.id })]} />
          )}
          <Button variant="default" onClick={onClose} data-autofocus={chosenAtFirst || undefined}>
            {busy ? own.closeEnds : t.close}
          </Button>
          {busy ? (
            <Button color="red.9" h={48} onClick={() => (setEndedHere(true), void end(id))}>
              {own.stop}
            </Button>
          ) : (
            <Button disabled={why !== ''} onClick={() => void start()}>
              {own.start}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}

function Line({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Text size="sm">
      <b>{title}</b> {children}
    </Text>
  );
}
