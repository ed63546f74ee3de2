import { Alert, Anchor, Button, Group, Modal, Select, SegmentedControl, Stack, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'react-router';

import { api, data } from '../../api/client';
import { useMay } from '../../api/me';
import { PerformingBadge } from '../../live/PerformingBadge';
import { useRobot, useRobots } from '../../live/robots';
import { useLanguage } from '../../text/language';
import { Refused } from '../../shell/Refused';
import { send as follow } from '../robot/sending';
import { flat, write } from './model';
import { useAuthorsRobot } from './names';
import { useEditorTexts } from './text';
import type { Editor } from './useEditor';

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
  const language = useLanguage((s) => s.language);
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
          body: { kind, text: JSON.stringify(write(kind, doc)), only, lang: editor.lang || language },
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
    ? t.tryForbidden
    : !robot
      ? t.tryNoRobot
      : robot.latches.length > 0 || !['ENABLED', 'DISABLED', 'RESET'].includes(robot.safety ?? '')
        ? t.tryStopped(robot.safety || '?')
        : robot.mode !== 'mnl'
          ? t.tryNotManual(robot.mode || '?')
          : robot.safety !== 'ENABLED'
            ? t.tryNotEnabled(robot.safety || '?')
            : holder && !busy
              ? t.tryHeld(holder)
              : '';
  // What a person may do about it here, one step after the other.
  const manual = async () => {
    const was = robot?.mode;
    const done = await follow(id, 'mode/set', { mode: 'mnl' }, t.tryManual);
    if (done.state === 'SUCCEEDED' && was === 'ato') setTookFrom(id);
  };
  const prepare =
    !may || !mayCommand || !robot || why === t.tryStopped(robot.safety || '?')
      ? undefined
      : robot.mode !== 'mnl'
        ? { label: t.tryManual, go: manual }
        : robot.safety !== 'ENABLED'
          ? { label: t.tryEnable, go: () => follow(id, 'safety/enable', {}, t.tryEnable) }
          : undefined;
  return (
    <Modal opened onClose={onClose} title={t.tryTitle(editor.id)} closeButtonProps={{ 'aria-label': t.close }}>
      <Stack>
        <Text size="sm">{t.tryHelp}</Text>
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
              {t.tryRobotPage}
            </Anchor>
          </Group>
        )}
        {selected.length > 0 && (
          <SegmentedControl
            aria-label={t.tryWhich}
            value={part}
            onChange={setPart}
            disabled={busy}
            data={[
              { value: 'all', label: t.tryAll },
              { value: 'chosen', label: t.tryChosen(selected.length) },
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
              void follow(id, 'mode/set', { mode: 'ato' }, t.tryBack);
            }}
          >
            {t.tryBack}
          </Button>
        )}
        {error !== undefined && <Refused error={error} />}
        <Text size="sm" role="status" fw={600}>
          {state.phase === 'asking' && t.tryAccepted}
          {state.phase === 'running' && t.tryRunning}
          {state.phase === 'ended' && (state.ok ? t.tryDone : t.tryEnded(state.state, state.why))}
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t.close}
          </Button>
          {busy ? (
            <Button color="red.9" h={48} onClick={() => void send(id, 'manual/stop').finally(giveBack)}>
              {t.tryStop}
            </Button>
          ) : (
            <Button disabled={why !== ''} onClick={() => void start()}>
              {t.tryStart}
            </Button>
          )}
        </Group>
      </Stack>
    </Modal>
  );
}
