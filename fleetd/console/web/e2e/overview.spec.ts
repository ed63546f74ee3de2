import type { Route } from '@playwright/test';

import { accessible, colors, expect, inShard, live, matrix, test } from './world';

test('each number is a link to the robots that it counts, and there are no zeros', async ({ page, world }) => {
  await page.goto('/');
  await live(page);
  const all = page.getByTestId('tone-good').first(); // of the whole fleet; those of the sites follow
  await expect(all).toContainText('3');
  await all.click();
  await expect(page).toHaveURL(/\/robots\?tone=good/);
  await expect(page.getByTestId('count')).toHaveText('3');
  await page.goto('/');
  await live(page);
  await expect(all).toHaveText('All 3 robots perform.');
  await expect(page.getByRole('region', { name: 'Not as usual' })).toHaveCount(0);
  await world.cli('auto', 'pause', 'r2', '--wait');
  await page.getByRole('region', { name: 'Not as usual' }).getByRole('link', { name: 'paused' }).click();
  await expect(page).toHaveURL(/doing=paused/);
  await expect(page.getByTestId('count')).toHaveText('1 of 3');
  await world.cli('auto', 'continue', 'r2', '--wait');
});

test('each robot that performs has a picture with its sentence, its name, its act and what follows', async ({
  page,
  world,
}) => {
  await world.cli('robot', 'label', 'r1', 'name=Lina', 'colour=teal');
  await page.goto('/');
  await live(page);
  const card = page.getByTestId('card').filter({ hasText: 'Lina' });
  await expect(card).toContainText('r1');
  await expect(card).toContainText(/act \d of \d/);
  await expect(card).toContainText('then ');
  await expect(card.getByRole('img')).toHaveAccessibleName(/^Lina/);
  await world.cli('mode', 'set', 'mnl', 'r1', '--wait');
  const first = page.getByRole('region', { name: 'What needs a look first' });
  await expect(first.getByRole('img')).toHaveAccessibleName(/^Lina \(r1\): needs attention/);
  await expect(first).toContainText('Next step: Switch it back to automatic');
  await expect(card).toHaveCount(0);
  await accessible(page);
  await world.cli('mode', 'set', 'ato', 'r1', '--wait');
  await world.cli('robot', 'label', 'r1', 'name-', 'colour-');
});

test('the face of a robot keeps its colour while something of the picture moves', async ({ page }) => {
  await page.goto('/');
  await live(page);
  const moving = page.locator('[data-testid="drawn-robot"][style*="--shine"]');
  await expect(moving.locator('[class*="eye"]').first()).toHaveCSS('fill', 'rgb(185, 243, 255)', { timeout: 30_000 });
});

for (const scheme of inShard('light' as const, 'dark' as const))
  test(`the floor plan has the robots where they are, and is accessible in ${scheme} colours`, async ({ page }) => {
    await colors(page, scheme);
    await page.goto('/');
    await live(page);
    for (const plan of await page.getByRole('button', { name: 'Floor plan' }).all()) await plan.click();
    await expect(page.getByTestId('floor-plan').first()).toHaveAccessibleName(/at -?\d+\.\d, -?\d+\.\d m/);
    await accessible(page);
  });

/** A map of 16 x 12 pixels as ROS saves it. */
const rosFiles = [
  {
    name: 'map.yaml',
    mimeType: 'text/yaml',
    buffer: Buffer.from('image: map.pgm\nresolution: 0.5\norigin: [-4, -3, 0]\nnegate: 0\n'),
  },
  { name: 'map.pgm', mimeType: 'image/x-portable-graymap', buffer: Buffer.from('P5 16 12 255\n' + '0'.repeat(192)) },
];

test('a site has a map behind its robots: set in Places from the files of ROS, drawn at its scale, removed', async ({
  page,
  world,
}) => {
  await world.cli('robot', 'label', 'r1', 'site=hall-e2e');
  await page.goto('/places?robot=r1');
  await live(page);
  const choose = () => page.locator('input[type=file]').setInputFiles(rosFiles);
  await expect(page.getByTestId('site-map')).toHaveText('This site has no map.');
  await choose();
  await expect(page.getByLabel('Left edge x, metres')).toHaveValue('-4');
  await page.getByRole('button', { name: 'Set the map' }).click();
  await expect(page.getByTestId('site-map')).toHaveText('8.0 × 6.0 m');
  await accessible(page);

  await page.goto('/');
  await live(page);
  const site = page.getByTestId('site').filter({ hasText: 'hall-e2e' });
  await site.getByRole('button', { name: 'Floor plan' }).click();
  const map = site.getByTestId('floor-map');
  await expect(map).toHaveAttribute('width', '8');
  await expect(map).toHaveAttribute('transform', /^translate\(-4 3\)/);
  const read = await map.evaluate(async (e) => {
    const image = new Image();
    image.src = e.getAttribute('href')!;
    await image.decode();
    return [image.naturalWidth, image.naturalHeight];
  });
  expect(read).toEqual([16, 12]);
  await accessible(page);

  await page.goto('/places?robot=r1');
  await page.getByRole('button', { name: 'Remove the map' }).click();
  const asked = page.getByRole('dialog', { name: 'Remove the map of' });
  await asked.getByLabel('Reason, for the audit').fill('the hall was rebuilt');
  await asked.getByRole('button', { name: 'Remove the map' }).click();
  await expect(page.getByTestId('site-map')).toHaveText('This site has no map.');
  await world.cli('robot', 'label', 'r1', 'site-');
});

test('robots without a site have a map, too, and the command line prints where it lies', async ({ page, world }) => {
  await world.cli('robot', 'label', 'r1', 'site-');
  await page.goto('/places?robot=r1');
  await live(page);
  await expect(page.getByTestId('site-map')).toHaveText('They have no map.');
  await page.locator('input[type=file]').setInputFiles(rosFiles);
  await page.getByRole('button', { name: 'Set the map' }).click();
  await expect(page.getByTestId('site-map')).toHaveText('8.0 × 6.0 m');
  const printed = await world.cli('site', 'map', 'get', '-');
  expect(printed).toContain('map of site -: 16 x 12 pixels, 8.00 x 6.00 m, 0.5 m a pixel');
  expect(printed).toContain('lower left corner at -4, -3 m, turned by 0 rad');

  await page.goto('/');
  await live(page);
  const without = page.getByTestId('site').filter({ hasText: 'Without a site' });
  await without.getByRole('button', { name: 'Floor plan' }).click();
  await expect(without.getByTestId('floor-map')).toHaveAttribute('width', '8');
  await world.cli('site', 'map', 'delete', '-');
});

test('a card says what comes to its robot: the rollout that it waits for and the next schedule', async ({
  page,
  world,
}) => {
  await world.cli('rollout', 'create', '--set', 'low_battery=0.31', '--at', '2036-01-01T20:00:00Z', '--start', 'r2');
  await page.goto('/');
  await live(page);
  const card = page.getByTestId('card').filter({ has: page.getByRole('link', { name: /r2/ }) });
  await expect(card.getByTestId('queue')).toContainText(/^waits for .*, from /, { timeout: 15_000 });
  await expect(page.getByTestId('queue')).toHaveCount(1);
});

test('who drives a robot, what happened, and fleetd itself are shown', async ({ page, world }) => {
  await world.cli('mode', 'set', 'mnl', 'r3', '--wait');
  await page.goto('/');
  await live(page);
  await expect(page.getByTestId('tone-attention')).toContainText('1');
  const first = page.getByRole('region', { name: 'What needs a look first' });
  await expect(first).toContainText('nobody drives it');
  await expect(first.getByRole('button', { name: 'Back to automatic' })).toBeVisible();
  const driving = page.getByRole('region', { name: 'Who drives what' });
  await expect(driving).toHaveCount(0);
  await world.cli('control', 'acquire', 'r3', '--by', 'nina', '--wait');
  await expect(driving).toContainText('nina');
  await expect(page.getByTestId('tone-waiting')).toContainText('1');
  await expect(first).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'Last events' }).getByRole('row')).not.toHaveCount(0);
  await expect(page.getByRole('region', { name: 'fleetd and its messages' })).toContainText('per second');
  await expect(page.getByRole('region', { name: 'fleetd and its messages' })).toContainText('leader');
});

test('a wall screen shows every robot, what is wrong first, and has nothing to press', async ({ page, world }) => {
  await page.setViewportSize({ width: 1920, height: 1080 });
  await world.cli('auto', 'pause', 'r2', '--wait');
  await page.goto('/?wall');
  await expect(page.getByTestId('tone-good')).toBeVisible();
  await expect(page.getByTestId('tile')).toHaveCount(3);
  await world.control('robot/cut?robot=r3');
  await expect(page.getByTestId('tile').first()).toContainText('r3', { timeout: 30_000 });
  await expect(page.getByTestId('tile').first()).toContainText('not connected');
  await expect(page.getByRole('button')).toHaveCount(0);
  await expect(page.getByRole('navigation')).toBeHidden();
  await world.control('robot/join?robot=r3');
  await world.cli('auto', 'continue', 'r2', '--wait');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Stop (software)' })).toBeVisible();
});

test('a wall screen says what follows, and is left on a phone, which has no Esc', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/?wall');
  await expect(page.getByTestId('tile').filter({ hasText: /then / }).first()).toBeVisible();
  await page.getByRole('link', { name: 'Leave the wall screen' }).click();
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Stop (software)' })).toBeVisible();
});

test('robots whose stop was released wait to move: the cause agrees with the step, and one link leads to all', async ({
  page,
  request,
}) => {
  await page.goto('/');
  await live(page);
  const body = { selector: { ids: ['r1', 'r2'] }, why: 'the spec' };
  const stop = await (await request.post('/api/v1/stops', { data: body })).json();
  const first = page.getByRole('region', { name: 'What needs a look first' });
  await expect(first).toContainText('Make sure that it is safe, then release the stop');
  await request.post('/api/v1/stops/release', { data: { ids: [stop.latch], why: 'clear' } });
  await expect(first.getByText('Make sure that nobody is in its way, then let it move')).toHaveCount(2);
  await expect(first).not.toContainText('release it first');
  await first.getByTestId('let-several-move').click();
  await expect(page.getByTestId('count')).toHaveText('2 of 3');
  for (const id of ['r1', 'r2'])
    await request.post('/api/v1/commands', { data: { verb: 'safety/enable', selector: { ids: [id] } } });
  await expect(page.getByTestId('count')).toHaveText('0 of 3');
});

test('on a wall screen as wide as a laptop each tile has room for what it says', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto('/?wall');
  await expect(page.getByTestId('tile')).toHaveCount(3);
  const cut = await page
    .getByTestId('tile')
    .locator('.mantine-Badge-label, [data-truncate]')
    .evaluateAll((all) => all.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.textContent));
  expect(cut).toEqual([]);
});

test('what needs a look first is named with its reason', async ({ page, world }) => {
  await page.goto('/');
  await live(page);
  const first = page.getByRole('region', { name: 'What needs a look first' });
  await world.control('robot/cut?robot=r2');
  await expect(first).toContainText('r2', { timeout: 30_000 });
  await expect(first).toContainText('not connected');
  await world.control('robot/join?robot=r2');
  await expect(first).toHaveCount(0, { timeout: 30_000 });
});

test('a robot outside the fleet that is connected is added to it; what others left is removed after a question', async ({
  page,
}) => {
  const of = (robot: string, presence_status: string) => ({
    robot,
    presence_status,
    topics: [`troupe/v1/robot/${robot}/presence`],
    seen: '2026-01-02T03:04:05Z',
  });
  let orphans = [of('r8', 'online'), of('r9', 'offline')];
  await page.route('**/api/v1/orphans', (route) => route.fulfill({ json: { orphans } }));
  const sent: string[] = [];
  const leaves = (robot: string, json: object) => (route: Route) => {
    sent.push(`${route.request().method()} ${robot}`);
    orphans = orphans.filter((o) => o.robot !== robot);
    return route.fulfill({ json });
  };
  await page.route('**/api/v1/robots/r8/adopt', leaves('r8', { id: 'b1', commands: [], total: 1 }));
  await page.route('**/api/v1/orphans/r9*', leaves('r9', of('r9', 'offline')));
  await page.goto('/');
  await live(page);
  const [connected, left] = ['r8', 'r9'].map((id) => page.getByRole('listitem').filter({ hasText: id }));
  await expect(connected!.getByRole('button')).toHaveText(['Add to the fleet', 'Remove its documents…']);
  await expect(connected!.getByRole('button').last()).toHaveAttribute('aria-disabled', 'true');
  await expect(left!.getByRole('button')).toHaveText(['Remove its documents…']);
  await left!.getByRole('button').click();
  const ask = page.getByRole('dialog');
  await expect(ask).toContainText('troupe/v1/robot/r9/presence');
  await accessible(page);
  await ask.getByRole('button', { name: 'Keep them' }).click();
  expect(sent).toEqual([]);
  await connected!.getByRole('button', { name: 'Add to the fleet' }).click();
  await expect(page.getByText('r8 is added to the fleet')).toBeVisible();
  await left!.getByRole('button').click();
  await ask.getByRole('button', { name: 'Remove its documents' }).click();
  await expect(ask).toHaveCount(0);
  await expect(left!).toHaveCount(0);
  expect(sent).toEqual(['POST r8', 'DELETE r9']);
});

const evil = `<img src=x onerror="document.title='owned'">`;
const alerts = (acknowledged?: object) => ({
  alerts: [
    {
      robot: 'r1',
      id: 'a1',
      level: 'error',
      type: 'unit_error',
      source: 'head',
      detail: `unit head: ${evil}`,
      first_ts: '2026-01-02T03:04:05Z',
      acknowledged,
    },
  ],
});

test('an alert is acknowledged with a note, and texts of robots and people stay texts', async ({ page }) => {
  let acknowledged: object | undefined;
  await page.route('**/api/v1/alerts', (route) => route.fulfill({ json: alerts(acknowledged) }));
  await page.route('**/api/v1/robots/r1/alerts/a1/ack', async (route) => {
    acknowledged = { by: evil, at: '2026-01-02T03:05:00Z', note: route.request().postDataJSON().note };
    await route.fulfill({ json: acknowledged });
  });
  await page.goto('/');
  await live(page);
  const panel = page.getByRole('region', { name: 'Alerts' });
  await expect(panel).toContainText('1 that nobody has acknowledged');
  await expect(panel).toContainText(`unit head: ${evil}`);
  await panel.getByRole('button', { name: 'Acknowledge: a unit that moves reports an error, r1' }).click();
  await page.getByLabel('What is being done about it').fill(`looking, ${evil}`);
  await page.getByRole('button', { name: 'Acknowledge', exact: true }).click();
  await expect(panel.getByTestId('acknowledged')).toContainText(`looking, ${evil}`);
  await expect(panel).toContainText('all acknowledged');
  await accessible(page);
  await expect(page).not.toHaveTitle('owned');
});

test('empty, loading, failed, forbidden and lost states are drawn', async ({ page }) => {
  const me = { id: 'vera', name: 'Vera', kind: 'person', roles: ['viewer'], rights: ['view'], sites: [], dev: false };
  await page.route('**/api/v1/me', (route) => route.fulfill({ json: me }));
  await page.route('**/api/v1/alerts', (route) => route.fulfill({ json: alerts() }));
  const problem = { status: 503, json: { title: 'no database', detail: 'the database is away' } };
  await page.route('**/api/v1/events?**', (route) => route.fulfill(problem));
  await page.goto('/');
  await live(page);
  const panel = page.getByRole('region', { name: 'Alerts' });
  await expect(panel.getByRole('button', { name: /^Acknowledge/ })).toHaveAttribute('aria-disabled', 'true');
  await panel.getByRole('button', { name: /^Acknowledge/ }).hover();
  await expect(page.getByText('You do not have the right to acknowledge alerts.')).toBeVisible();
  await expect(page.getByRole('region', { name: 'Last events' })).toContainText('the database is away');
  await page.unroute('**/api/v1/alerts');
  await page.route('**/api/v1/alerts', (route) => route.fulfill(problem));
  await page.route('**/api/v1/stream', (route) => route.abort());
  await page.goto('/');
  await expect(panel).toContainText('the database is away');
  await expect(page.getByText('Waiting for the robots…')).toBeVisible();
  await accessible(page);
});

if (matrix)
  for (const scheme of ['light', 'dark'] as const) {
    test(`the overview is accessible in ${scheme} colours`, async ({ page }) => {
      await colors(page, scheme);
      await page.goto('/');
      await live(page);
      await expect(page.getByTestId('tone-good')).toBeVisible();
      await accessible(page);
    });
  }
