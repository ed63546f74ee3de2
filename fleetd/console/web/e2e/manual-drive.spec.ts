import type { Browser, Page } from '@playwright/test';

import { holdKey } from './hands';
import { expect, inShard, live, test, type World } from './world';

/** What the page sent and received, with times since 1970. */
interface Log {
  frames: { at: number; vx: number }[];
  vx: number;
  sockets: WebSocket[];
}
declare global {
  interface Window {
    log: Log;
  }
}

/** Notes what the page sends and receives, before the page's own code runs. */
async function observe(page: Page): Promise<void> {
  await page.addInitScript(() => {
    window.log = { frames: [], vx: 0, sockets: [] };
    const Real = window.WebSocket;
    window.WebSocket = class extends Real {
      constructor(url: string | URL) {
        super(url);
        window.log.sockets.push(this);
        this.addEventListener('message', (e) => {
          const m = JSON.parse(e.data as string) as { type: string; figures?: { vx_mps: number } };
          if (m.type === 'robot') window.log.vx = m.figures!.vx_mps;
        });
      }
      override send(data: string): void {
        super.send(data);
        window.log.frames.push({ at: Date.now(), vx: (JSON.parse(data) as { vx: number }).vx });
      }
    };
  });
}

/** Opens the page of r3, in manual mode and enabled. It drives far: other specs send r1 and r2 to places nearby. */
async function open(page: Page, world: World): Promise<void> {
  await world.cli('mode', 'set', 'mnl', 'r3', '--wait');
  await world.cli('safety', 'enable', 'r3', '--wait'); // a lost link disables it
  await observe(page);
  await page.goto('/robots/r3/manual');
  await live(page);
}

/**
 * Holds the key W until the robot drives that fast. On a machine that is slow for a moment fleetd hears nothing and
 * stops the robot, or gives control back: then everything starts again. One that stays slow never lets it become
 * fast; then it is enough that it moves, and the printed speed shows that.
 */
async function drives(page: Page, mps: number): Promise<void> {
  const patient = Date.now() + 30_000;
  await expect(async () => {
    await page.keyboard.up('w');
    if (!(await page.getByTestId('lease').isVisible()))
      await page.getByRole('button', { name: 'Take control' }).click({ timeout: 5000 });
    if (mps > 0.2) await page.getByRole('slider', { name: 'Greatest speed, m/s' }).press('End');
    const sent = await page.evaluate(() => window.log.frames.length);
    await page.waitForFunction((n) => window.log.frames.length > n + 5, sent, { timeout: 5000 }); // of a released key
    const enough = Date.now() < patient ? mps * 0.95 : 0.02;
    await holdKey(page, 'w', () => page.waitForFunction((v) => window.log.vx > v, enough, { timeout: 8000 }));
  }).toPass({ timeout: 120_000 });
}

interface Robots {
  robots: { id: string; control?: object }[];
}

/** What breaks between the person and the robot. Each returns when. */
const breaks: Record<string, (page: Page, world: World, browser: Browser) => Promise<number>> = {
  'the key is released': async (page) => {
    const at = await page.evaluate(() => Date.now());
    await page.keyboard.up('w');
    return at;
  },
  'the window loses the focus': (page) =>
    page.evaluate(() => {
      const at = Date.now();
      window.dispatchEvent(new Event('blur'));
      return at;
    }),
  'the tab is hidden': (page) =>
    page.evaluate(() => {
      const at = Date.now();
      Object.defineProperty(document, 'hidden', { value: true, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
      return at;
    }),
  'the socket closes': (page) =>
    page.evaluate(() => {
      const at = Date.now();
      window.log.sockets.at(-1)!.close();
      return at;
    }),
  'somebody else takes the lease': async (page) => {
    const at = Date.now();
    const data = { verb: 'control/takeover', selector: { ids: ['r3'] }, by: 'ben' };
    await page.request.post('/api/v1/commands', { data, headers: { Prefer: 'wait=5' } });
    return at;
  },
  'fleetd is killed': async (_, world) => Number(await world.control('fleetd/kill')),
  'fleetd loses its broker': async (_, world) => Number(await world.control('broker/cut')),
};

/** Puts the world together again. */
async function heal(world: World, what: string): Promise<void> {
  if (what === 'fleetd is killed') await world.control('fleetd/start');
  if (what === 'fleetd loses its broker') await world.control('broker/join');
  if (what === 'somebody else takes the lease') await world.cli('control', 'release', 'r3', '--by', 'ben', '--wait');
}

/** Speeds that r3 reported since a time, as they arrived at the broker. */
async function speeds(world: World, since: number): Promise<{ at: number; vx: number }[]> {
  return JSON.parse(await world.control(`robot/speeds?robot=r3&since=${since}`)) as { at: number; vx: number }[];
}

test.describe.configure({ timeout: 180_000 });

test.afterEach(async ({ page }) => {
  await page.keyboard.up('w');
  await page.close({ runBeforeUnload: false });
});

// How long the robot may take is asserted in deploy/stage, in fake time. Here it is measured and printed: the time from
// the last frame with a velocity, or from when the way was cut if that was earlier, to the robot's report that it stands,
// which it sends up to 100 ms later.
for (const mps of inShard(0.2, 0.6))
  for (const [what, cut] of Object.entries(breaks))
    test(`at ${mps} m/s ${what}: the robot stands, and the page says why`, async ({ page, world, browser }) => {
      await open(page, world);
      await drives(page, mps);
      const before = Date.now();
      const at = await cut(page, world, browser);
      const last = await page.evaluate(() => window.log.frames.findLast((f) => f.vx !== 0)!.at);
      await expect(async () => expect((await speeds(world, at)).at(-1)?.vx).toBe(0)).toPass();
      const reports = await speeds(world, before - 500);
      const stood = reports[reports.findLastIndex((s) => s.vx !== 0) + 1]!.at;
      const fast = reports.findLast((s) => s.at <= at)!.vx.toFixed(2);
      console.log(
        `${what} at ${fast} m/s: the robot reports zero ${stood - Math.min(at, last)} ms after the last frame`,
      );
      if (what !== 'the key is released') await expect(page.getByTestId('interrupted')).toBeVisible();
      if (what === 'fleetd loses its broker') await expect(page.getByTestId('broker-lost')).toBeVisible();
      await heal(world, what);
      if (what === 'the tab is hidden') {
        const control = async () => {
          const { robots } = (await (await page.request.get('/api/v1/robots')).json()) as Robots;
          return robots.find((r) => r.id === 'r3')!.control;
        };
        await expect.poll(control).toBeUndefined(); // a hidden tab drives no more, and shows nothing new
        await page.evaluate(() => {
          Object.defineProperty(document, 'hidden', { value: false, configurable: true });
          document.dispatchEvent(new Event('visibilitychange'));
        });
      }
      if (what === 'fleetd is killed' || what === 'the tab is hidden') {
        await live(page);
        await expect(page.getByTestId('holder')).toHaveText('Nobody has control.');
      }
    });
