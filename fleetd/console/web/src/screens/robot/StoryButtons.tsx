import { Group } from '@mantine/core';
import {
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerPlayFilled,
  IconPlayerStop,
  IconPlayerTrackNext,
} from '@tabler/icons-react';

import { texts } from '../../text/language';
import { useNameOf } from '../library/api';
import { ActionButton, useWhyNot } from './ActionButton';
import { usePage } from './page';
import { wayOut } from './wayOut';
import { useWayOutTexts, whyNotContinue } from './wayOutText';

const useTexts = texts(
  {
    start: 'Start',
    pause: 'Pause',
    resume: 'Continue',
    skip: 'Skip act',
    skipAct: (act: string) => `skip ${act}`,
    stop: 'End',
    story: (what: string) => `story: ${what}`,
    notInAto: 'the robot is not in automatic',
    running: 'it is performed already',
    noStory: 'it has no story',
    notRunning: 'it is not performed',
    notPaused: 'nobody has paused it',
    otherPause: 'it goes on by itself when the interrupt or the activity has ended',
    interrupted: 'an interrupt or an activity is performed now, not the story; end that first',
    cannotSkip: 'this robot has an earlier release, which cannot skip acts',
  },
  {
    start: 'Start',
    pause: 'Pause',
    resume: 'Weiter',
    skip: 'Akt überspringen',
    skipAct: (act: string) => `${act} überspringen`,
    stop: 'Beenden',
    story: (what: string) => `Geschichte: ${what}`,
    notInAto: 'der Roboter ist nicht in der Automatik',
    running: 'sie wird schon aufgeführt',
    noStory: 'er hat keine Geschichte',
    notRunning: 'sie wird nicht aufgeführt',
    notPaused: 'niemand hat sie pausiert',
    otherPause: 'sie geht von selbst weiter, wenn die Unterbrechung oder Aktivität endet',
    interrupted: 'jetzt läuft eine Unterbrechung oder eine Aktivität, nicht die Geschichte; beenden Sie die zuerst',
    cannotSkip: 'dieser Roboter hat eine frühere Version, die keine Akte überspringen kann',
  },
  {
    start: 'Démarrer',
    pause: 'Pause',
    resume: 'Continuer',
    skip: 'Passer l’acte',
    skipAct: (act) => `passer ${act}`,
    stop: 'Terminer',
    story: (what) => `histoire : ${what}`,
    notInAto: 'le robot n’est pas en automatique',
    running: 'elle est déjà jouée',
    noStory: 'il n’a pas d’histoire',
    notRunning: 'elle n’est pas jouée',
    notPaused: 'personne ne l’a mise en pause',
    otherPause: 'elle continue d’elle-même quand l’interruption ou l’activité est finie',
    interrupted: 'une interruption ou une activité est jouée maintenant, pas l’histoire ; terminez-la d’abord',
    cannotSkip: 'ce robot a une version antérieure, qui ne sait pas passer un acte',
  },
);

/** Start, pause, continue, skip of an act and end of the story, each with why it is not possible now. */
export function StoryButtons() {
  const t = useTexts();
  const act = useNameOf('act');
  const { robot, detail } = usePage();
  const common = useWhyNot();
  const ato = robot.mode === 'ato' ? '' : t.notInAto;
  const first = common || ato;
  const { auto } = robot;
  // The first pause that a person can end; those of interrupts and activities end with them.
  const token = robot.pause_holders.find((p) => !/^(interrupt|activity)(:|$)/.test(p.token))?.token;
  const notYet = whyNotContinue(useWayOutTexts(), wayOut(robot, detail), token);
  const plays = auto === 'idle' || auto === 'paused' ? '' : t.notRunning;
  const interrupted = robot.pause_holders.some((p) => /^(interrupt|activity)(:|$)/.test(p.token)) ? t.interrupted : '';
  const takesSkip = !detail?.caps || detail.caps.verbs.includes('auto/skip') ? '' : t.cannotSkip;
  return (
    <Group gap="xs" role="group" aria-label={t.story('')}>
      <ActionButton
        mih={44}
        leftSection={<IconPlayerPlay size={16} aria-hidden />}
        whyNot={first || (auto === 'stopped' ? (robot.story ? '' : t.noStory) : t.running)}
        sends={['auto/start', {}, t.story(t.start)]}
      >
        {t.start}
      </ActionButton>
      <ActionButton
        mih={44}
        leftSection={<IconPlayerPause size={16} aria-hidden />}
        whyNot={first || plays}
        sends={['auto/pause', {}, t.story(t.pause)]}
      >
        {t.pause}
      </ActionButton>
      <ActionButton
        mih={44}
        leftSection={<IconPlayerPlayFilled size={16} aria-hidden />}
        whyNot={first || (auto !== 'paused' ? t.notPaused : token ? notYet : t.otherPause)}
        sends={['auto/continue', { token }, t.story(t.resume)]}
      >
        {t.resume}
      </ActionButton>
      <ActionButton
        id="skip-act"
        mih={44}
        leftSection={<IconPlayerTrackNext size={16} aria-hidden />}
        whyNot={first || plays || interrupted || takesSkip}
        sends={['auto/skip', { act: robot.act }, t.story(t.skipAct(act(robot.act ?? '')))]}
      >
        {t.skip}
      </ActionButton>
      <ActionButton
        mih={44}
        leftSection={<IconPlayerStop size={16} aria-hidden />}
        whyNot={first || (auto === 'stopped' ? t.notRunning : '')}
        sends={['auto/stop', {}, t.story(t.stop)]}
      >
        {t.stop}
      </ActionButton>
    </Group>
  );
}
