import { texts } from '../../text/language';

export const useTurnTexts = texts(
  {
    left: (n: string) => `${n} left`,
    right: (n: string) => `${n} right`,
    up: (n: string) => `${n} up`,
    down: (n: string) => `${n} down`,
    back: (n: string) => `${n} back`,
    forward: (n: string) => `${n} forward`,
    side: (n: string) => `${n} to the side`,
    straight: 'straight ahead',
    upright: 'upright',
  },
  {
    left: (n) => `${n} nach links`,
    right: (n) => `${n} nach rechts`,
    up: (n) => `${n} nach oben`,
    down: (n) => `${n} nach unten`,
    back: (n) => `${n} zurück`,
    forward: (n) => `${n} vor`,
    side: (n) => `${n} zur Seite`,
    straight: 'geradeaus',
    upright: 'aufrecht',
  },
  {
    left: (n) => `${n} à gauche`,
    right: (n) => `${n} à droite`,
    up: (n) => `${n} en haut`,
    down: (n) => `${n} en bas`,
    back: (n) => `${n} en arrière`,
    forward: (n) => `${n} en avant`,
    side: (n) => `${n} sur le côté`,
    straight: 'droit devant',
    upright: 'droit',
  },
);

export type TurnTexts = ReturnType<typeof useTurnTexts>;
