import { Stack, Text } from '@mantine/core';

import type { Robot } from '../../api/client';
import { lineOf } from '../../api/lines';
import { withOwn } from '../../live/withOwn';
import { askRelease } from '../../shell/askRelease';
import { stopRequest } from '../../shell/stopping';
import { useShellTexts } from '../../shell/text';
import { inButtons } from '../../text/buttons';
import { texts } from '../../text/language';
import { reasonText, saidText, useReasonTexts } from '../../text/reasons';
import { sourceText } from '../../text/source';
import { inWords, useTermWords } from '../../text/terms';
import { dateTime } from '../../text/time';
import { wayOut } from './wayOut';
import { stopperText, useWayOutTexts } from './wayOutText';
import { ActionButton, useWhyNot } from './ActionButton';
import { Facts, Panel } from './Panel';
import { usePage, useStopper } from './page';
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
    safeguards: 'Active safeguards',
    notSaved: 'The robot could not save this: a restart would lose it.',
    states: {
      ENABLED: 'yes',
      DISABLED: 'no: it is kept stopped until somebody lets it move',
      SOFT_STOP: 'it performs its shutdown act, then stops',
      STOP: 'it brakes',
      HALT: 'all units halt',
      E_STOP: 'no: stopped until it is reset',
      RESET: 'no: its units are being cleared',
    },
    release: 'Release…',
    latched: (who: string, at: string, why: string) =>
      `Stopped by ${who} until it is released, ${at}${why ? `: ${why}` : ''}`,
  },
  {
    title: 'Sicherheit',
    state: 'Darf er sich bewegen',
    cause: 'Ursache',
    by: 'Gestoppt von',
    input: 'Stopp-Eingang',
    pressed: 'gedrückt',
    free: 'nicht gedrückt',
    safeguards: 'Aktive Schutzfunktionen',
    notSaved: 'Der Roboter konnte dies nicht speichern: ein Neustart verlöre es.',
    states: {
      ENABLED: 'ja',
      DISABLED: 'nein: die Bewegung ist gesperrt',
      SOFT_STOP: 'er führt seinen Schlussakt auf und hält dann an',
      STOP: 'er bremst',
      HALT: 'alle Einheiten halten an',
      E_STOP: 'nein: gestoppt, bis er zurückgesetzt wird',
      RESET: 'nein: Fehler werden gelöscht',
    },
    release: 'Stopp aufheben…',
    latched: (who: string, at: string, why: string) =>
      `Gestoppt von ${who}, bis der Stopp aufgehoben wird, ${at}${why ? `: ${why}` : ''}`,
  },
  {
    title: 'Sécurité',
    state: 'Peut-il bouger',
    cause: 'Cause',
    by: 'Arrêté par',
    input: 'Entrée d’arrêt',
    pressed: 'enfoncée',
    free: 'pas enfoncée',
    safeguards: 'Protections actives',
    notSaved: 'Le robot n’a pas pu l’enregistrer : un redémarrage le perdrait.',
    states: {
      ENABLED: 'oui',
      DISABLED: 'non : il est maintenu à l’arrêt jusqu’à ce que quelqu’un autorise le mouvement',
      SOFT_STOP: 'il joue son acte de fin, puis s’arrête',
      STOP: 'il freine',
      HALT: 'toutes les unités s’arrêtent net',
      E_STOP: 'non : arrêté jusqu’à une réinitialisation',
      RESET: 'non : les erreurs de ses unités sont en train d’être effacées',
    },
    release: 'Lever…',
    latched: (who, at, why) => `Arrêté par ${who} jusqu’à ce que l’arrêt soit levé, ${at}${why ? ` : ${why}` : ''}`,
  },
);

/** Whether the robot may move and why not. The way out is at the top of the page. */
export function Safety() {
  const t = useTexts();
  const common = useRobotTexts();
  const shell = useShellTexts();
  const reasons = useReasonTexts();
  const terms = useTermWords();
  const way = useWayOutTexts();
  const stopper = useStopper();
  const { robot, detail } = usePage();
  const offered = wayOut(robot, detail).some((s) => s.key === 'release'); // with its button, at the top of the page
  const active = new Set(robot.alerts.filter((a) => a.type.startsWith('safeguard')).map((a) => a.source));
  const state = robot.safety ?? '';
  const sentence = inButtons(robot.cause_detail ?? '');
  const by = saidText(sourceText(robot.latched_by ?? ''), sentence);
  const own = by === sentence ? '' : sentence;
  return (
    <Panel title={t.title}>
      <Facts
        rows={[
          [t.state, t.states[state as keyof typeof t.states] ?? '?'],
          [
            t.cause,
            stopper ? stopperText(way, stopper, robot) : reasonText({ ...reasons, ...way.causes }, robot.cause),
          ],
          [t.by, !stopper && withOwn(by, own)],
          [t.input, robot.estop_input ? t.pressed : t.free],
          [t.safeguards, [...active].map((name) => inWords(terms.Safeguard, name)).join(', ')],
        ]}
      />
      {detail?.state?.safety.not_persisted && (
        <Text size="sm" c="red">
          {t.notSaved}
        </Text>
      )}
      {robot.latches.map((l) => (
        <Latch key={l.id} latch={l} said={stopper && l === robot.latches[0]} offered={offered} />
      ))}
      <span hidden data-line={lineOf('stop', stopRequest({ robot: robot.id }))} data-what={shell.stop} />
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

/** A latched stop: what is not said of it yet, and its release if the top of the page does not offer it. */
function Latch({ latch, said, offered }: { latch: Robot['latches'][number]; said?: boolean; offered: boolean }) {
  const t = useTexts();
  const { id } = usePage();
  const whyNot = useWhyNot('release_stops', true);
  const way = useWayOutTexts();
  const onReleased = (why: string) => noteRelease(id, latch.id, t.release.replace('…', ''), why);
  return (
    <Stack gap={4} align="flex-start">
      {!said && (
        <Text size="sm" dir="auto">
          {t.latched(latch.by || latch.client || way.somebody, dateTime(latch.since), latch.why ?? '')}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {latch.id} ({latch.level})
      </Text>
      {!offered && (
        <ActionButton explain whyNot={whyNot} onClick={() => askRelease({ robot: id, stop: latch, onReleased })}>
          {t.release}
        </ActionButton>
      )}
    </Stack>
  );
}
