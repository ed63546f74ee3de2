import { Group, Stack, Text } from '@mantine/core';

import type { Robot } from '../../api/client';
import { lineOf } from '../../api/lines';
import { askRelease } from '../../shell/askRelease';
import { stopRequest } from '../../shell/stopping';
import { useShellTexts } from '../../shell/text';
import { texts } from '../../text/language';
import { reasonText, useReasonTexts } from '../../text/reasons';
import { dateTime } from '../../text/time';
import { useWayOutTexts } from './wayOutText';
import { Do, useWhyNot } from './Do';
import { Facts, Panel } from './Panel';
import { usePage } from './page';
import { noteRelease } from './sending';
import { useRobotTexts } from './text';

const useTexts = texts(
  {
    title: 'Safety',
    state: 'May it move',
    cause: 'Cause',
    by: 'Stopped by',
    input: 'Stop input',
    pressed: 'pressed',
    free: 'not pressed',
    safeguards: 'Safeguards',
    notSaved: 'The robot could not save this: a restart would lose it.',
    states: {
      ENABLED: 'yes',
      DISABLED: 'no: it waits to be enabled',
      SOFT_STOP: 'it performs its shutdown act, then stops',
      STOP: 'it brakes',
      HALT: 'all units halt',
      E_STOP: 'no: its units are switched off',
      RESET: 'no: its units are being cleared',
    },
    enable: 'Enable',
    reset: 'Reset',
    release: 'Release…',
    isEnabled: 'it may move already',
    firstRelease: 'release the stop first',
    firstReset: 'reset it first',
    firstInput: 'a stop input at the robot is pressed',
    moment: 'it is stopping: wait a moment',
    noReset: 'only a robot that was switched off (E_STOP) is reset',
    latched: (who: string, at: string, why: string) =>
      `Stopped by ${who} until it is released, ${at}${why ? `: ${why}` : ''}`,
    somebody: 'somebody',
    keeps: 'keeps it from moving',
  },
  {
    title: 'Sicherheit',
    state: 'Darf er sich bewegen',
    cause: 'Ursache',
    by: 'Gestoppt von',
    input: 'Stopp-Eingang',
    pressed: 'gedrückt',
    free: 'nicht gedrückt',
    safeguards: 'Schutzfunktionen',
    notSaved: 'Der Roboter konnte dies nicht speichern: ein Neustart verlöre es.',
    states: {
      ENABLED: 'ja',
      DISABLED: 'nein: die Bewegung ist gesperrt',
      SOFT_STOP: 'er führt seinen Schlussakt auf und hält dann an',
      STOP: 'er bremst',
      HALT: 'alle Einheiten halten an',
      E_STOP: 'nein: seine Einheiten sind abgeschaltet',
      RESET: 'nein: Fehler werden gelöscht',
    },
    enable: 'Bewegung freigeben',
    reset: 'Zurücksetzen',
    release: 'Freigeben…',
    isEnabled: 'er darf sich schon bewegen',
    firstRelease: 'geben Sie zuerst den Stopp frei',
    firstReset: 'setzen Sie ihn zuerst zurück',
    firstInput: 'ein Stopp-Eingang am Roboter ist gedrückt',
    moment: 'er hält an: warten Sie einen Augenblick',
    noReset: 'nur ein abgeschalteter Roboter (E_STOP) wird zurückgesetzt',
    latched: (who: string, at: string, why: string) =>
      `Gestoppt von ${who}, bis zur Freigabe, ${at}${why ? `: ${why}` : ''}`,
    somebody: 'jemand',
    keeps: 'hält ihn fest',
  },
);

/** Whether the robot may move and why not, with every way out and why one is not possible now. */
export function Safety() {
  const t = useTexts();
  const common = useRobotTexts();
  const shell = useShellTexts();
  const reasons = useReasonTexts();
  const { causes } = useWayOutTexts();
  const { robot, detail } = usePage();
  const command = useWhyNot();
  const active = new Set(robot.alerts.filter((a) => a.type.startsWith('safeguard')).map((a) => a.source));
  const state = robot.safety ?? '';
  let enable = '';
  if (state === 'ENABLED') enable = t.isEnabled;
  else if (robot.latches.length > 0) enable = t.firstRelease;
  else if (robot.estop_input) enable = t.firstInput;
  else if (state === 'E_STOP') enable = t.firstReset;
  else if (state !== 'DISABLED') enable = t.moment;
  let reset = '';
  if (state !== 'E_STOP') reset = t.noReset;
  else if (robot.estop_input) reset = t.firstInput;
  else if (robot.latches.length > 0) reset = t.firstRelease;
  return (
    <Panel title={t.title}>
      <Facts
        rows={[
          [t.state, `${t.states[state as keyof typeof t.states] ?? '?'} (${state || '?'})`],
          [t.cause, reasonText({ ...reasons, ...causes }, robot.cause)],
          [t.by, robot.cause_detail ?? robot.latched_by ?? ''],
          [t.input, robot.estop_input ? t.pressed : t.free],
          [
            t.safeguards,
            (detail?.state?.life?.safeguards ?? [])
              .map((g) => `${g.name.replaceAll('_', ' ')}${active.has(g.name) ? ` ${t.keeps}` : ''}`)
              .join(', '),
          ],
        ]}
      />
      {detail?.state?.safety.not_persisted && (
        <Text size="sm" c="red">
          {t.notSaved}
        </Text>
      )}
      {robot.latches.map((l) => (
        <Latch key={l.id} latch={l} />
      ))}
      <span hidden data-line={lineOf('stop', stopRequest({ robot: robot.id }))} data-what={shell.stop} />
      <Group align="flex-start">
        {state !== 'ENABLED' && (
          <Do explain mih={44} whyNot={command || enable} sends={['safety/enable', {}, t.enable]}>
            {t.enable}
          </Do>
        )}
        {state === 'E_STOP' && (
          <Do explain mih={44} whyNot={command || reset} sends={['safety/reset', {}, t.reset]}>
            {t.reset}
          </Do>
        )}
      </Group>
      {state === 'ENABLED' &&
        detail?.caps?.notes.map((n) => (
          <Text key={n} size="xs" c="dimmed" dir="auto">
            {n}
          </Text>
        ))}
      {!state && <Text size="sm">{common.none}</Text>}
    </Panel>
  );
}

function Latch({ latch }: { latch: Robot['latches'][number] }) {
  const t = useTexts();
  const { id } = usePage();
  const whyNot = useWhyNot('release_stops', true);
  const onReleased = (why: string) => noteRelease(id, latch.id, t.release.replace('…', ''), why);
  return (
    <Stack gap={4} align="flex-start">
      <Text size="sm" dir="auto">
        {t.latched(latch.by || latch.client || t.somebody, dateTime(latch.since), latch.why ?? '')}
      </Text>
      <Text size="xs" c="dimmed">
        {latch.id} ({latch.level})
      </Text>
      <Do explain whyNot={whyNot} onClick={() => askRelease({ robot: id, stop: latch, onReleased })}>
        {t.release}
      </Do>
    </Stack>
  );
}
