import {
  IconArrowsMove,
  IconBulb,
  IconClock,
  IconDeviceTablet,
  IconMasksTheater,
  IconMessage,
  IconMoodSmile,
  IconRoute,
  IconSteeringWheel,
  IconStretching,
  IconUserCircle,
  IconUsersGroup,
  IconVolume,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';

import { texts } from '../../text/language';
import type { ActionClass, ActionType } from '../../contract';

export const icons: Record<string, ComponentType<{ size?: number }>> = {
  say: IconMessage,
  sound: IconVolume,
  face: IconMoodSmile,
  led: IconBulb,
  screen: IconDeviceTablet,
  head: IconUserCircle,
  motion: IconStretching,
  pose: IconArrowsMove,
  goto: IconRoute,
  drive: IconSteeringWheel,
  wait: IconClock,
  act: IconMasksTheater,
  group: IconUsersGroup,
} satisfies Record<ActionType, ComponentType<{ size?: number }>>;

/** What actions of a type do, and what the lanes of a timeline are called. */
export const useActionTexts = texts(
  {
    does: {
      say: 'speaks a text',
      sound: 'plays a sound',
      face: 'shows a face',
      led: 'lights up in a color',
      screen: 'shows a text, a view or an image',
      head: 'turns the head',
      motion: 'plays a motion',
      pose: 'leans, or changes its height',
      goto: 'drives to a place',
      drive: 'drives with a velocity',
      wait: 'does nothing for a time',
      act: 'performs another act',
      group: 'several actions beside each other',
    } satisfies Record<ActionType, string>,
    lanes: {
      act: 'act',
      speech: 'speech',
      sound: 'sound',
      face: 'face',
      led: 'lights',
      screen: 'screen',
      head: 'head',
      body: 'body',
      group: 'group',
      wait: 'wait',
    } satisfies Record<ActionClass | 'act', string>,
  },
  {
    does: {
      say: 'spricht einen Text',
      sound: 'spielt einen Klang',
      face: 'zeigt ein Gesicht',
      led: 'leuchtet in einer Farbe',
      screen: 'zeigt einen Text, eine Ansicht oder ein Bild',
      head: 'dreht den Kopf',
      motion: 'spielt eine Bewegung',
      pose: 'neigt sich oder ändert seine Höhe',
      goto: 'fährt zu einem Ort',
      drive: 'fährt mit einer Geschwindigkeit',
      wait: 'tut eine Zeit lang nichts',
      act: 'führt einen anderen Akt auf',
      group: 'mehrere Aktionen nebeneinander',
    },
    lanes: {
      act: 'Akt',
      speech: 'Sprache',
      sound: 'Klang',
      face: 'Gesicht',
      led: 'Licht',
      screen: 'Bildschirm',
      head: 'Kopf',
      body: 'Körper',
      group: 'Gruppe',
      wait: 'Warten',
    },
  },
);
