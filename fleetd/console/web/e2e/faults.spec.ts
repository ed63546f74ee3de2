import { type Page } from '@playwright/test';

import { expect, live, test } from './world';

const ids = ['r1', 'r2', 'r3'];
const row = (page: Page, id: string) => page.locator(`[data-robot="${id}"]`);

/** ms between two heartbeats of a robot. */
const heartbeat = 2000;
/** ms for the page of a machine that does other things as well. */
const slack = 2000;

test('a broker that is away for 30 s: a banner in 5 s, states unknown, and everything heals by itself', async ({
  page,
  world,
}) => {
  test.setTimeout(240_000);
  await page.goto('/robots');
  await live(page);
  for (const id of ids) await expect(row(page, id)).toContainText('online');
  await world.control('broker/kill');
  const killed = Date.now();
  await expect(page.getByTestId('broker-lost')).toBeVisible({ timeout: 5000 });
  await expect(page.getByTestId('connection')).toContainText('No broker since');
  // The rows stay, with their last values, as unknown.
  for (const id of ids) {
    await expect(row(page, id)).toContainText('unknown');
    await expect(row(page, id)).toContainText('Museum welcome');
  }
  await page.waitForTimeout(Math.max(0, 30_000 - (Date.now() - killed)));
  await world.control('broker/start');
  await expect(page.getByTestId('broker-lost')).toBeHidden({ timeout: 60_000 });
  // Robots try again after at most 20 s.
  for (const id of ids) await expect(row(page, id)).toContainText('online', { timeout: 60_000 });
  for (const id of ids) await expect(row(page, id)).toHaveCount(1);
});

test('when fleetd has its broker again, the states of robots are known within a heartbeat', async ({ page, world }) => {
  await page.goto('/robots');
  await live(page);
  await world.control('broker/cut');
  await expect(page.getByTestId('broker-lost')).toBeVisible();
  for (const id of ids) await expect(row(page, id)).toContainText('unknown');
  await world.control('broker/join');
  await expect(page.getByTestId('broker-lost')).toBeHidden({ timeout: 60_000 });
  for (const id of ids) await expect(row(page, id)).toContainText('online', { timeout: heartbeat + slack });
});

test('a fleetd that is killed: two tabs reconnect, no row is lost or double, and what changed meanwhile is there', async ({
  page,
  context,
  world,
}) => {
  test.setTimeout(240_000);
  const tabs = [page, await context.newPage()];
  for (const tab of tabs) {
    await tab.goto('/robots');
    await live(tab);
    await expect(row(tab, 'r3')).toContainText('online');
  }
  await world.control('fleetd/kill');
  for (const tab of tabs) {
    await expect(tab.getByTestId('connection')).toContainText('Reconnecting');
    // What was there is still there, and said to be old.
    await expect(tab.locator('[data-robot]')).toHaveCount(3);
  }
  await world.control('robot/cut?robot=r3');
  await world.control('fleetd/start');
  for (const tab of tabs) {
    await live(tab);
    for (const id of ids) await expect(row(tab, id)).toHaveCount(1);
    await expect(row(tab, 'r3')).toContainText('not connected', { timeout: 60_000 });
    await expect(row(tab, 'r1')).toContainText('online', { timeout: 60_000 });
  }
  await world.control('robot/join?robot=r3');
  for (const tab of tabs) await expect(row(tab, 'r3')).toContainText('online', { timeout: 60_000 });
});
