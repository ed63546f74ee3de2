import { expect, test } from 'vitest';

import { lastEventsQuery } from './lastEvents';

test('fleetd selects the events of a site, so that busier sites do not displace them', () => {
  expect(lastEventsQuery('museum', false, 20)).toEqual({ limit: 20, level: undefined, site: 'museum' });
  expect(lastEventsQuery('', true, 12)).toEqual({ limit: 12, level: ['warn', 'error', 'safety'], site: undefined });
});
