import type { Page } from '@playwright/test';

import { accessible, colors, expect, live, test, type World } from './world';

/** What the page's sockets carried, with times of the page's clock, and the events that it is told of. */
interface Log {
  frames: { at: number; vx: number; wz: number }[];
  speeds: { at: number; vx: number }[];
  sockets: WebSocket[];
  events: { at: number; what: string }[];
}
declare global {
  interface Window {
    log: Log;
  }
}

/** Notes what the page sends and receives, before the page's own code runs. */
async function observe(page: Page): Promise<void> {
  await page.addInitScript(() => {
    window.log = { frames: [], speeds: [], sockets: [], events: [] };
    const Real = window.WebSocket;
    window.WebSocket = class extends Real {
      constructor(url: string | URL) {
        super(url);
        window.log.sockets.push(this);
        this.addEventListener('message', (e) => {
          const m = JSON.parse(e.data as string) as { type: string; figures?: { vx_mps: number } };
          if (m.type === 'robot') window.log.speeds.push({ at: performance.now(), vx: m.figures!.vx_mps });
        });
      }
      override send(data: string): void {
        super.send(data);
        const f = JSON.parse(data) as { vx: number; wz: number };
        window.log.frames.push({ at: performance.now(), vx: f.vx, wz: f.wz });
      }
    };
  });
}

/** Opens the page of r1 and takes control of it. */
async function takeControl(page: Page, world: World): Promise<void> {
  await world.cli('mode', 'set', 'mnl', 'r1', '--wait');
  await world.cli('safety', 'enable', 'r1', '--wait'); // a lost link disables it
  await observe(page);
  await page.goto('/robots/r1/manual');
  await live(page);
  await page.getByRole('button', { name: 'Take control' }).click();
  await expect(page.getByTestId('lease')).toBeVisible();
  await expect(page.getByTestId('latency')).toContainText('ms');
}

/**
 * Holds the key W until the robot drives. On a machine under load the page may be too slow for a moment, and fleetd
 * stops the robot; then the key is pressed anew.
 */
async function driveByKey(page: Page): Promise<void> {
  await expect(async () => {
    await page.keyboard.up('w');
    await page.waitForTimeout(400); // fleetd has to see the key released after it has stopped the robot
    await page.keyboard.down('w');
    await page.waitForFunction(() => window.log.speeds.at(-1)!.vx > 0.1, undefined, { timeout: 4000 });
  }).toPass();
}

/** Waits until the robot reports speed zero, as its newest report. */
const stands = (page: Page) => page.waitForFunction(() => window.log.speeds.at(-1)?.vx === 0);

/**
 * ms from an event to the first frame with velocity zero after it; every later frame must have it too. A page that sends
 * nothing after it drives nothing either: fleetd takes 250 ms of silence for zero.
 */
const untilZero = (page: Page, what: string) =>
  page.evaluate((name) => {
    const from = window.log.events.find((e) => e.what === name)!.at;
    const after = window.log.frames.filter((f) => f.at >= from);
    if (after.some((f, i) => i > 0 && (f.vx !== 0 || f.wz !== 0))) return Infinity;
    const first = after[0];
    if (!first) return 0;
    return first.vx === 0 ? first.at - from : Infinity;
  }, what);

/** Lets something happen to the page, and notes when. */
const happens = (page: Page, what: 'blur' | 'hidden') =>
  page.evaluate((name) => {
    window.log.events.push({ at: performance.now(), what: name });
    if (name === 'blur') window.dispatchEvent(new Event('blur'));
    else {
      Object.defineProperty(document, 'hidden', { value: true, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }
  }, what);

test.afterEach(async ({ page }) => {
  await page.keyboard.up('w');
  await page.close({ runBeforeUnload: false });
});

test('a key held while the window loses the focus: velocity zero within 100 ms, and the key must be pressed anew', async ({
  page,
  world,
}) => {
  await takeControl(page, world);
  await driveByKey(page);
  await happens(page, 'blur');
  await expect(page.getByTestId('interrupted')).toHaveAttribute('data-cause', 'blur');
  await stands(page);
  expect(await untilZero(page, 'blur')).toBeLessThan(100);
  await page.keyboard.up('w');
  await driveByKey(page);
  await page.keyboard.up('w');
  await stands(page);
});

test('a hidden page stops the robot and loses control', async ({ page, world }) => {
  await takeControl(page, world);
  await driveByKey(page);
  await happens(page, 'hidden');
  await stands(page);
  expect(await untilZero(page, 'hidden')).toBeLessThan(100);
  await expect(page.getByTestId('interrupted')).toHaveAttribute('data-cause', 'silent');
  await expect(page.getByTestId('holder')).toHaveText('Nobody has control.');
});

test('a socket that breaks stops the robot, and the page goes on with the same control', async ({ page, world }) => {
  await takeControl(page, world);
  await driveByKey(page);
  await page.evaluate(() => window.log.sockets.at(-1)!.close());
  await expect(page.getByTestId('interrupted')).toHaveAttribute('data-cause', 'socket');
  await page.waitForFunction(() => window.log.sockets.length > 1 && window.log.sockets.at(-1)!.readyState === 1);
  await stands(page);
  await page.keyboard.up('w');
  await driveByKey(page);
  await page.keyboard.up('w');
  await stands(page);
});

test('fleetd that is killed while a person drives: the page says so, and the robot is free and stands', async ({
  page,
  world,
}) => {
  await takeControl(page, world);
  await driveByKey(page);
  await world.control('fleetd/kill');
  await expect(page.getByTestId('interrupted')).toHaveAttribute('data-cause', 'socket');
  await world.control('fleetd/start');
  await live(page);
  await expect(page.getByTestId('holder')).toHaveText('Nobody has control.');
});

test('fleetd that loses its broker stops the robot and says so', async ({ page, world }) => {
  await takeControl(page, world);
  await driveByKey(page);
  await world.control('broker/cut');
  await expect(page.getByTestId('interrupted')).toBeVisible();
  await expect(page.getByTestId('broker-lost')).toBeVisible();
  await world.control('broker/join');
  await live(page);
});

test('another page takes over after a question, and the first one is told', async ({ page, world, browser }) => {
  await takeControl(page, world);
  const other = await browser.newPage();
  await other.goto('/robots/r1/manual');
  await live(other);
  await expect(other.getByTestId('holder')).toContainText('has control');
  await expect(other.getByRole('button', { name: 'Take control' })).toHaveCount(0);
  await expect(other.getByRole('button', { name: 'Stand still' })).toHaveAttribute('aria-disabled', 'true');
  await other.getByRole('button', { name: 'Take over…' }).click();
  await other.getByRole('dialog').getByRole('button', { name: 'Take over' }).click();
  await expect(other.getByTestId('lease')).toBeVisible();
  await expect(page.getByTestId('interrupted')).toHaveAttribute('data-cause', 'lease-over');
  expect(await world.cli('command', 'batches', '--limit', '5')).toContain('control takeover');
  await other.close();
});

test('leaving stops the robot, gives control back and returns it to automatic if asked', async ({ page, world }) => {
  await takeControl(page, world);
  await driveByKey(page);
  await page.keyboard.up('w');
  await page.getByRole('link', { name: 'Back to the robot' }).click();
  await page.getByRole('button', { name: 'Return to automatic (ato)' }).click();
  await expect(page).toHaveURL(/\/robots\/r1$/);
  await expect(page.getByText('performing', { exact: true }).first()).toBeVisible();
});

test('stick, buttons and commands by touch', async ({ page, world }) => {
  await takeControl(page, world);
  const stick = (await page.getByTestId('stick').boundingBox())!;
  const middle = { x: stick.x + stick.width / 2, y: stick.y + stick.height / 2 };
  await expect(async () => {
    await page.mouse.up();
    await page.mouse.move(middle.x, middle.y);
    await page.mouse.down();
    await page.mouse.move(middle.x, middle.y - 70, { steps: 4 });
    await page.waitForFunction(() => window.log.speeds.at(-1)!.vx > 0.1, undefined, { timeout: 4000 });
  }).toPass();
  await page.mouse.up();
  await stands(page);
  const button = page.getByRole('button', { name: 'Backwards' });
  await button.scrollIntoViewIfNeeded();
  const backwards = (await button.boundingBox())!;
  await page.mouse.move(backwards.x + 20, backwards.y + 20);
  await expect(async () => {
    await page.mouse.up();
    await page.mouse.down();
    await page.waitForFunction(() => window.log.speeds.at(-1)!.vx < -0.1, undefined, { timeout: 4000 });
  }).toPass();
  await page.mouse.up();
  await stands(page);
  await page.getByRole('button', { name: 'smile' }).click();
  await expect(page.getByText('face smile: done')).toBeVisible();
  await page.getByLabel('Name of the point').fill('by-the-door');
  await page.getByRole('button', { name: 'Save this place' }).click();
  await expect(page.getByRole('button', { name: 'by-the-door', exact: true })).toBeVisible();
  await page.getByLabel('Name of the act').fill('my-nod');
  await page.getByRole('button', { name: 'Start recording' }).click();
  await expect(page.getByText('what you do now becomes this act')).toBeVisible();
  await page.getByRole('button', { name: 'nod', exact: true }).click();
  await expect(page.getByText('motion nod: done')).toBeVisible();
  await page.getByRole('button', { name: 'Stop and keep it' }).click();
  await expect(page.getByText('what you do now becomes this act')).toBeHidden();
  await page.getByRole('combobox', { name: 'Act', exact: true }).fill('my-nod');
  await page.getByRole('button', { name: 'Perform' }).click();
  await expect(page.getByText('act my-nod: done')).toBeVisible();
});

test('what a person drives with is at least 48 px', async ({ page, world }) => {
  await takeControl(page, world);
  const small = await page.evaluate(() =>
    [...document.querySelectorAll('main button')]
      .filter(
        (b) => !b.closest('[class*=InputWrapper], [class*=Input-], [role=alert]') && b.getClientRects().length > 0,
      )
      .filter((b) => Math.min(b.getBoundingClientRect().height, b.getBoundingClientRect().width) < 48)
      .map((b) => b.textContent || b.getAttribute('aria-label')),
  );
  expect(small).toEqual([]);
});

for (const scheme of ['light', 'dark'] as const) {
  test(`manual control is accessible in ${scheme} colours, with and without control`, async ({ page, world }) => {
    await colors(page, scheme);
    await page.goto('/robots/r2/manual');
    await live(page);
    await accessible(page);
    await takeControl(page, world);
    await accessible(page);
  });
}
