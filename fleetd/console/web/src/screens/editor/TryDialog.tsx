import { Alert, Anchor, Button, Group, Modal, Select, SegmentedControl, Stack, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'react-router';

import { api, data } from '../../api/client';
import { useMay } from '../../api/me';
import { PerformingBadge } from '../../live/PerformingBadge';
import { useRobot, useRobots } from '../../live/robots';
import { texts } from '../../text/language';
import { Refused } from '../../shell/Refused';
import { send as follow } from '../robot/sending';
import { flat, write } from './model';
import { useAuthorsRobot } from './names';
import { useEditorTexts } from './text';
import type { Editor } from './useEditor';

const useTryTexts = texts(
  {
    tryTitle: (id: string) => `Try ${id} on a robot`,
    tryHelp:
      'Takes control of the robot, performs the draft once, and gives control back. The robot has to be in manual mode (mnl) and enabled, and will move: look at it.',
    tryAll: 'The whole draft',
    tryChosen: (n: number) => (n === 1 ? 'Only what is chosen (1)' : `Only what is chosen (${n})`),
    tryWhich: 'What',
    tryStart: 'Perform',
    tryStop: 'Stop performing',
    tryNoRobot: 'Choose a robot first.',
    tryNotManual: (mode: string) =>
      mode === 'ato'
        ? 'The robot performs by itself now (mode ato). To try the draft it has to be in manual mode (mnl); its story ends.'
        : `The robot is in mode ${mode}. To try the draft it has to be in manual mode (mnl).`,
    tryManual: 'Set it to manual mode (mnl)',
    tryStopped: (state: string) => `The robot is stopped (${state}). Its page says why, and what to do next.`,
    tryNotEnabled: (state: string) => `The robot may not move yet (${state}). Look at it, then enable it.`,
    tryEnable: 'Enable it: it may move',
    tryBack: 'Set it back to automatic mode (ato)',
    tryHeld: (who: string) => `${who} has control of it.`,
    tryForbidden: 'You do not have the right to try drafts on robots. The roles author, operator and admin have it.',
    tryRobotPage: 'Open its page',
    tryAccepted: 'Accepted: the robot begins.',
    tryRunning: 'The robot performs it.',
    tryDone: 'The robot says that it has performed it.',
    tryEnded: (state: string, why: string) => `It ended: ${state}${why ? `, ${why}` : ''}`,
  },
  {
    tryTitle: (id) => `${id} auf einem Roboter ausprobieren`,
    tryHelp:
      'Übernimmt die Steuerung des Roboters, führt den Entwurf einmal auf und gibt die Steuerung zurück. Der Roboter muss im manuellen Modus (mnl) und freigegeben sein und wird sich bewegen: sehen Sie hin.',
    tryAll: 'Den ganzen Entwurf',
    tryChosen: (n) => `Nur das Ausgewählte (${n})`,
    tryWhich: 'Was',
    tryStart: 'Aufführen',
    tryStop: 'Aufführung beenden',
    tryNoRobot: 'Wählen Sie erst einen Roboter.',
    tryNotManual: (mode) =>
      mode === 'ato'
        ? 'Der Roboter führt jetzt von selbst auf (Modus ato). Zum Ausprobieren muss er im manuellen Modus (mnl) sein; seine Geschichte endet.'
        : `Der Roboter ist im Modus ${mode}. Zum Ausprobieren muss er im manuellen Modus (mnl) sein.`,
    tryManual: 'In den manuellen Modus setzen (mnl)',
    tryStopped: (state) =>
      `Der Roboter ist angehalten (${state}). Seine Seite sagt, warum, und was als Nächstes zu tun ist.`,
    tryNotEnabled: (state) =>
      `Der Roboter darf sich noch nicht bewegen (${state}). Sehen Sie ihn an, dann geben Sie ihn frei.`,
    tryEnable: 'Freigeben: er darf sich bewegen',
    tryBack: 'Zurück in den automatischen Modus (ato)',
    tryHeld: (who) => `${who} hat die Steuerung.`,
    tryForbidden:
      'Sie haben kein Recht, Entwürfe auf Robotern auszuprobieren. Die Rollen author, operator und admin haben es.',
    tryRobotPage: 'Seine Seite öffnen',
    tryAccepted: 'Angenommen: der Roboter beginnt.',
    tryRunning: 'Der Roboter führt es auf.',
    tryDone: 'Der Roboter meldet, dass er es aufgeführt hat.',
    tryEnded: (state, why) => `Es endete: ${state}${why ? `, ${why}` : ''}`,
  },
);

const send = (robot: string, verb: string) =>
  data(
    api.POST('/api/v1/commands', {
      params: { header: { Prefer: 'wait=5' } },
      body: { verb, args: {}, selector: { ids: [robot] } },
    }),
  );

type State = { phase: 'idle' | 'asking' | 'running' } | { phase: 'ended'; ok: boolean; state: string; why: string };

/** Performs the draft once on the chosen robot: takes control, shows how it goes, gives control back. */
export function TryDialog({ editor, onClose }: { editor: Editor; onClose: () => void }) {
  const t = useEditorTexts();
  const own = useTryTexts();
  const { robot: id, choose } = useAuthorsRobot();
  const robot = useRobot(id);
  const may = useMay('try');
  const mayCommand = useMay('command');
  const ids = useRobots()
    .map((r) => r.id)
    .sort();
  const { kind, doc, selected } = editor;
  const [part, setPart] = useState(selected.length > 0 ? 'chosen' : 'all');
  const [state, setState] = useState<State>({ phase: 'idle' });
  const [error, setError] = useState<unknown>();
  const running = useRef('');
  const [tookFrom, setTookFrom] = useState<string>(); // the robot that was set to manual here

  const giveBack = () => {
    if (!running.current) return;
    const on = running.current;
    running.current = '';
    void send(on, 'control/release').catch(() => undefined); // the lease ends by itself
  };
  useEffect(() => giveBack, []);

  const start = async () => {
    setError(undefined);
    setState({ phase: 'asking' });
    try {
      const only =
        part === 'chosen'
          ? flat(kind, doc)
              .filter((r) => selected.includes(r.item.key))
              .map((r) => r.pointer)
          : [];
      const { perform } = await data(
        api.POST('/api/v1/robots/{id}/try', {
          params: { path: { id } },
          body: { kind, text: JSON.stringify(write(kind, doc)), only, lang: editor.lang },
        }),
      );
      running.current = id;
      setState({ phase: 'running' });
      await watch(perform.id!);
    } catch (thrown) {
      setError(thrown);
      setState({ phase: 'idle' });
    }
    giveBack();
  };
  const watch = async (batch: string) => {
    for (let renewed = Date.now(); running.current;) {
      await new Promise((r) => setTimeout(r, 1000));
      if (Date.now() - renewed > 20_000) {
        renewed = Date.now();
        await send(id, 'control/renew');
      }
      const { commands } = await data(api.GET('/api/v1/batches/{id}', { params: { path: { id: batch } } }));
      const c = commands?.[0];
      if (c?.ended) {
        setState({
          phase: 'ended',
          ok: c.state === 'SUCCEEDED',
          state: c.state ?? '',
          why: c.answer?.detail || c.answer?.reason || c.because || '',
        });
        return;
      }
    }
  };
  const busy = state.phase === 'asking' || state.phase === 'running';
  const holder = robot?.control?.by || robot?.control?.holder;
  const why = !may
    ? own.tryForbidden
    : !robot
      ? own.tryNoRobot
      : robot.latches.length > 0 || !['ENABLED', 'DISABLED', 'RESET'].includes(robot.safety ?? '')
        ? own.tryStopped(robot.safety || '?')
        : robot.mode !== 'mnl'
          ? own.tryNotManual(robot.mode || '?')
          : robot.safety !== 'ENABLED'
            ? own.tryNotEnabled(robot.safety || '?')
            : holder && !busy
              ? own.tryHeld(holder)
              : '';
  // What a person may do about it here, one step after the other.
  const manual = async () => {
    const was = robot?.mode;
    const done = await follow(id, 'mode/set', { mode: 'mnl' }, own.tryManual);
    if (done.state === 'SUCCEEDED' && was === 'ato') setTookFrom(id);
  };
  const prepare =
    !may || !mayCommand || !robot || why === own.tryStopped(robot.safety || '?')
      ? undefined
      : robot.mode !== 'mnl'
        ? { label: own.tryManual, go: manual }
        : robot.safety !== 'ENABLED'
          ? { label: own.tryEnable, go: () => follow(id, 'safety/enable', {}, own.tryEnable) }
          : undefined;
  return (
    <Modal opened onClose={onClose} title={own.tryTitle(editor.id)} closeButtonProps={{ 'aria-label': t.close }}>
      <Stack>
        <Text size="sm">{own.tryHelp}</Text>
        <Select
          label={t.robot}
          searchable
          data={ids}
          value={ids.includes(id) ? id : null}
          disabled={busy}
          onChange={(v) => choose(v ?? '')}
          data-autofocus
        />
        {robot && (
          <Group>
            <PerformingBadge robot={robot} terms />
            <Anchor component={Link} to={`/robots/${id}`} size="sm">
              {own.tryRobotPage}
            </Anchor>
          </Group>
        )}
        {selected.length > 0 && (
          <SegmentedControl
            aria-label={own.tryWhich}
            value={part}
            onChange={setPart}
            disabled={busy}
            data={[
              { value: 'all', label: own.tryAll },
              { value: 'chosen', label: own.tryChosen(selected.length) },
            ]}
          />
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
        {tookFrom === id && robot?.mode === 'mnl' && !busy && (
          <Button
            variant="light"
            onClick={() => {
              setTookFrom(undefined);
              void follow(id, 'mode/set', { mode: 'ato' }, own.tryBack);
            }}
          >
            {own.tryBack}
          </Button>
        )}
        {error !== undefined && <Refused error={error} />}
        <Text size="sm" role="status" fw={600}>
          {state.phase === 'asking' && own.tryAccepted}
          {state.phase === 'running' && own.tryRunning}
          {state.phase === 'ended' && (state.ok ? own.tryDone : own.tryEnded(state.state, state.why))}
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t.close}
          </Button>
          {busy ? (
            <Button color="red.9" h={48} onClick={() => void send(id, 'manual/stop').finally(giveBack)}>
              {own.tryStop}
            </Button>
          ) : (
            <Button disabled={why !== ''} onClick={() => void start()}>
              {own.tryStart}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}
