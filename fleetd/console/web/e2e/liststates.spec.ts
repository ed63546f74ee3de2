import type { Page } from '@playwright/test';

import { expect, live, test } from './world';

/** Each screen with a list from the API: the path of the list there, an empty answer, and what the screen says then. */
const lists: [path: string, from: string, empty: object, says: RegExp][] = [
  ['/stories', 'stories', { entries: [] }, /There are no stories yet/],
  ['/acts', 'acts', { entries: [] }, /There are no acts yet/],
  ['/activities', 'activities', { entries: [] }, /There are no activities yet/],
  ['/assets', 'assets', { assets: [] }, /There are no sounds or pictures yet/],
  ['/commands', 'commands', { commands: [] }, /No command matches/],
  ['/events', 'events', { events: [] }, /No event matches/],
  ['/audit', 'audit', { entries: [] }, /No entry matches/],
];

const main = (page: Page) => page.getByRole('main');

for (const [path, from, empty, says] of lists)
  test(`${path}: loading, empty, refused and failed are drawn`, async ({ page }) => {
    const list = new RegExp(`/api/v1/${from}(\\?|$)`);
    let go = () => {};
    const wait = new Promise<void>((over) => (go = over));
    await page.route(list, async (route) => {
      await wait;
      await route.fulfill({ json: empty });
    });
    await page.goto(path);
    await live(page);
    await expect(main(page).getByLabel('Loading').first()).toBeVisible();
    go();
    await expect(main(page)).toContainText(says);
    await expect(main(page).getByLabel('Loading')).toHaveCount(0);

    await page.unroute(list);
    const refusal = {
      title: 'not allowed',
      detail: 'vera does not have the right to view',
      hint: 'this needs the role viewer',
    };
    await page.route(list, (route) => route.fulfill({ status: 403, json: refusal }));
    await page.goto(path);
    await expect(main(page)).toContainText(refusal.detail);
    await expect(main(page)).toContainText(refusal.hint);
    await expect(main(page).getByRole('button', { name: 'Try again' })).toHaveCount(0);

    await page.unroute(list);
    const away = { title: 'no database', detail: 'the database is away' };
    await page.route(list, (route) => route.fulfill({ status: 503, json: away }));
    await page.goto(path);
    await expect(main(page)).toContainText(away.detail);
    await page.unroute(list);
    await main(page).getByRole('button', { name: 'Try again' }).first().click();
    await expect(main(page)).not.toContainText(away.detail);
  });

test('a long name in an answer to a command does not make the page wider than a phone', async ({ page }) => {
  const because = `no point has the name foyer-${'0123456789'.repeat(6)}; say one of the map`;
  await page.route(/\/api\/v1\/commands(\?|$)/, (route) =>
    route.fulfill({
      json: { commands: [{ id: '1', robot: 'r1', verb: 'auto/pause', state: 'SUCCEEDED', by: 'dev', because }] },
    }),
  );
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/commands');
  await expect(page.getByRole('cell', { name: because })).toBeVisible();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
});

test('on a phone each sound can be played, and each event is read without a scroll to the side', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto('/assets');
  const player = page.getByLabel(/^Play /).first();
  await expect(player).toBeVisible();
  expect((await player.boundingBox())!.width).toBeGreaterThan(180);
  await page.goto('/robots/r1/events');
  const events = page.getByTestId('events');
  await expect(events.getByText('as JSON').first()).toBeVisible();
  expect((await events.boundingBox())!.width).toBeLessThanOrEqual(390);
});
