import { expect, it, vi } from 'vitest';

import { documentText } from './documentText';

vi.mock('../../text/language', () => ({ texts: (en: object) => ({ now: () => en }) }));

it('documents that come back are written as text', () => {
  expect(documentText('mode', { mode: 'mnl', apply: 'boot' })).toBe('mnl');
  expect(documentText('config', { low_battery: 0.3, boot_mode: null })).toBe('low_battery = 0.3, boot_mode not set');
  expect(documentText('config', { intents: [{ a: 1 }], low_battery: 0.3 }, 'changed')).toBe(
    'intents changed, low_battery = 0.3',
  );
  expect(documentText('places', { places: { id: 'hall', sha256: 'ab' } })).toBe('hall');
  expect([documentText('places', { places: null }), documentText('mode', undefined)]).toEqual(['–', '–']);
});
