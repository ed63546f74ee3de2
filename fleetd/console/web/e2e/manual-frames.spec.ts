import type { Browser, Page } from '@playwright/test';

import { Teleop } from './teleop';
import { expect, test } from './world';

const zero = { vx: 0, wz: 0 };
const still = (frames: { vx: number; wz: number }[]) => frames.every((f) => f.vx === 0 && f.wz === 0);
const moving = (frames: { vx: number; wz: number }[]) => frames.length > 0 && frames.every((f) => f.vx !== 0);

async function middle(page: Page, what: string): Promise<{ x: number; y: number }> {
  const it = page.getByTestId(what).or(page.getByRole('button', { name: what, exact: true }));
  await it.scrollIntoViewIfNeeded();
  const box = (await it.boundingBox())!;
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** What a person drives with: how it is deflected, and how it is released. */
const sources: Record<string, { push: (page: Page) => Promise<void>; release: (page: Page) => Promise<void> }> = {
  key: { push: (page) => page.keyboard.down('w'), release: (page) => page.keyboard.up('w') },
  stick: {
    push: async (page) => {
      const at = await middle(page, 'stick');
      await page.mouse.move(at.x, at.y);
      await page.mouse.down();
      await page.mouse.move(at.x, at.y - 70, { steps: 4 });
    },
    release: (page) => page.mouse.up(),
  },
  button: {
    push: async (page) => {
      const at = await middle(page, 'Forwards');
      await page.mouse.move(at.x, at.y);
      await page.mouse.down();
    },
    release: (page) => page.mouse.up(),
  },
  'button, by key': {
    push: async (page) => {
      await page.getByRole('button', { name: 'Forwards', exact: true }).focus();
      await page.keyboard.down('Space');
    },
    release: (page) => page.keyboard.up('Space'),
  },
  gamepad: {
    push: async (page) => {
      await page.evaluate(() => (window.fake.axes = [0, -1]));
    },
    release: async (page) => {
      await page.evaluate(() => (window.fake.axes = [0, 0]));
    },
  },
};

/** Connects a gamepad and chooses it. */
async function chooseGamepad(page: Page, axes = [0, 0]): Promise<void> {
  await page.evaluate((a) => {
    window.fake.axes = a;
    window.dispatchEvent(new Event('gamepadconnected'));
  }, axes);
  await page.getByRole('combobox', { name: 'Gamepad' }).click();
  await page.clock.runFor(500); // the list opens
  await page.getByRole('option', { name: 'A gamepad' }).click();
  await page.clock.runFor(100); // the page sees whether it is at rest
}

test('a frame leaves every 50 ms from taking control to giving it back, with nothing deflected too', async ({
  page,
}) => {
  const t = await Teleop.of(page);
  await t.takeControl();
  const frames = await t.pass(2000);
  expect(frames.length).toBe(40);
  expect(still(frames)).toBe(true);
  expect(new Set(frames.map((f) => f.lease)).size).toBe(1);
  expect(frames.every((f, i) => i === 0 || f.seq > frames[i - 1]!.seq)).toBe(true);
  await page.getByRole('button', { name: 'Give back' }).click();
  await expect(page.getByTestId('lease')).toBeHidden();
  expect(await t.pass(1000)).toEqual([]);
  expect(await page.evaluate(() => window.fake.open)).toBe(0);
  expect(t.commands).toEqual(['control/acquire', 'control/release']);
});

/**
 * The page of the specs of a table: each leaves it in control with nothing deflected, and to open it takes longer than
 * any of them. What a spec that failed leaves behind goes with its process.
 */
function onePage(): (browser: Browser) => Promise<Teleop> {
  let t: Teleop | undefined;
  test.afterAll(() => t?.page.close());
  return async (browser) => {
    if (!t) {
      t = await Teleop.of(await browser.newPage());
      await t.takeControl();
    }
    return t;
  };
}

test.describe(() => {
  const inControl = onePage();
  for (const [name, source] of Object.entries(sources)) {
    test(`${name}: frames have a velocity while it is held, and none after it is let go`, async ({ browser }) => {
      const t = await inControl(browser);
      if (name === 'gamepad') await chooseGamepad(t.page);
      await source.push(t.page);
      expect(moving(await t.pass(500))).toBe(true);
      await source.release(t.page);
      const after = await t.pass(1000);
      expect(after.length).toBe(20);
      expect(still(after)).toBe(true);
    });
  }
});

test('W A S D drive while a slider has the focus, whose own keys are the arrows; text takes them all', async ({
  page,
}) => {
  const t = await Teleop.of(page);
  await t.takeControl();
  const held = async (key: string) => {
    await page.keyboard.down(key);
    const frames = await t.pass(200);
    await page.keyboard.up(key);
    await t.pass(100);
    return frames;
  };
  await page.getByRole('slider', { name: 'Greatest speed, m/s' }).focus();
  expect(moving(await held('w'))).toBe(true);
  expect(still(await held('ArrowUp'))).toBe(true);
  await page.getByLabel('What to say').focus();
  expect(still(await held('w'))).toBe(true);
});

test('a key that drives is no shortcut: the focus stays where it is', async ({ page }) => {
  const t = await Teleop.of(page);
  await t.takeControl();
  const back = page.getByRole('button', { name: 'Give back' });
  await back.focus();
  for (const key of ['s', 'g', 'a']) await page.keyboard.press(key);
  await expect(back).toBeFocused();
  await expect(page).toHaveURL(/\/manual$/);
  await expect(page.getByRole('dialog')).toBeHidden();
});

test('a robot with weak brakes is driven only as fast as fleetd allows, and the page says why', async ({ page }) => {
  const t = await Teleop.of(page);
  await t.takeControl();
  await t.say({ type: 'limits', mps: 0.12, radps: 1.5 });
  await expect(page.getByText('its brakes stop it from there within 400 ms')).toBeVisible();
  await page.keyboard.down('w');
  const frames = await t.pass(200);
  await page.keyboard.up('w');
  expect(frames.length).toBe(4);
  expect(frames.every((f) => f.vx === 0.12)).toBe(true);
});

/** What takes a person's hand off the robot, and what the screen says. */
const causes: {
  what: string;
  happens: (page: Page) => Promise<unknown>;
  says: string;
  /** Frames go on, with velocity zero; else nothing is sent at all. */
  frames: boolean;
  /** What is held meanwhile. */
  by?: string;
  /** The page notices by itself, at its next frame or later. */
  later?: number;
  /** Puts the page in order again. */
  then?: (page: Page) => Promise<unknown>;
}[] = [
  {
    what: 'the window loses the focus',
    happens: (page) => page.evaluate(() => void window.dispatchEvent(new Event('blur'))),
    says: 'this window lost the focus',
    frames: true,
  },
  {
    what: 'the tab is hidden',
    happens: (page) => page.evaluate(hide),
    says: 'this page was hidden',
    frames: false,
  },
  ...['Meta', 'Control', 'Alt', 'AltGraph'].map((key) => ({
    what: `${key} is pressed`,
    happens: async (page: Page) => {
      await page.keyboard.down(key);
      await page.keyboard.up(key);
    },
    says: 'Ctrl, Alt, Cmd or the Windows key was pressed',
    frames: true,
  })),
  {
    what: 'a modifier is pressed while the stick drives',
    by: 'stick',
    happens: (page) => page.keyboard.press('Control'),
    says: 'Ctrl, Alt, Cmd or the Windows key was pressed',
    frames: true,
  },
  {
    what: 'a context menu opens',
    happens: (page) =>
      page.evaluate(() => void document.body.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true }))),
    says: 'a menu was opened',
    frames: true,
  },
  {
    what: 'something is dragged',
    happens: (page) =>
      page.evaluate(() => void document.body.dispatchEvent(new DragEvent('dragstart', { bubbles: true }))),
    says: 'something was dragged',
    frames: true,
  },
  {
    what: 'a dialog opens',
    happens: (page) => page.keyboard.press('?'), // the shortcuts
    says: 'a dialog was opened',
    frames: true,
    later: 100,
    then: (page) => page.keyboard.press('Escape'),
  },
  {
    what: 'the keyboard composes text',
    happens: (page) =>
      page.evaluate(
        () => void document.body.dispatchEvent(new CompositionEvent('compositionstart', { bubbles: true })),
      ),
    says: 'the keyboard began to compose text',
    frames: true,
  },
  {
    what: 'a window of the browser keeps the page from running',
    by: 'stick',
    happens: (page) => page.clock.fastForward(1000),
    says: 'nothing came from this page for a moment',
    frames: true,
  },
  {
    what: 'the pointer is lost',
    by: 'stick',
    happens: (page) =>
      page
        .getByTestId('stick')
        .evaluate((e) => void e.dispatchEvent(new PointerEvent('pointercancel', { bubbles: true }))),
    says: 'the pointer was lost',
    frames: true,
  },
  {
    what: 'the connection breaks',
    happens: (page) => page.evaluate(() => window.fake.drop()),
    says: 'the connection to fleetd broke',
    frames: true,
  },
  {
    what: 'nothing comes back for 800 ms',
    happens: (page) => page.evaluate(() => void (window.fake.echoes = false)),
    says: 'too slow to drive',
    frames: true,
    later: 900,
  },
  {
    what: 'fleetd stops the robot',
    happens: (page) => page.evaluate(() => window.fake.say({ type: 'stopped', cause: 'no-broker', detail: 'x' })),
    says: 'fleetd has lost its broker',
    frames: true,
  },
  {
    what: 'the gamepad is gone',
    by: 'gamepad',
    happens: (page) => page.evaluate(() => void (window.fake.axes = null)),
    says: 'the gamepad is gone',
    frames: true,
    later: 50,
  },
];

/** Hides the page, or shows it again. It runs in the page. */
function hide(): void {
  Object.defineProperty(document, 'hidden', { value: !document.hidden, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}

test.describe(() => {
  const inControl = onePage();
  for (const c of causes) {
    test(`${c.what}: not one more frame has a velocity until everything was let go`, async ({ browser }) => {
      const t = await inControl(browser);
      const { page } = t;
      const source = sources[c.by ?? 'key']!;
      if (c.by === 'gamepad') await chooseGamepad(page);
      await source.push(page);
      expect(moving(await t.pass(500))).toBe(true);
      const held = await t.during(() => c.happens(page));
      if (c.later) await t.pass(c.later);
      expect(still(held)).toBe(true);
      await expect(page.getByTestId('interrupted')).toContainText(c.says);
      const after = await t.pass(1500); // still held
      expect(still(after)).toBe(true);
      if (!c.frames) expect(after).toEqual([]);
      else expect(after.length).toBeGreaterThan(15);

      await page.evaluate(() => void (window.fake.echoes = true));
      if (c.by === 'gamepad') await source.push(page); // it is back, and still deflected
      if (!c.frames) await page.evaluate(hide);
      await c.then?.(page);
      expect(still(await t.pass(500))).toBe(true);
      await source.release(page);
      await t.pass(100);
      await source.push(page);
      expect(moving(await t.pass(200))).toBe(true);
      await expect(page.getByTestId('interrupted')).toHaveCount(0);
      await source.release(page);
      await t.pass(100); // it is at rest for the next one
    });
  }
});

test('macOS reports no release while Cmd is held: the robot does not drive on', async ({ page }) => {
  const t = await Teleop.of(page);
  await t.takeControl();
  await page.keyboard.down('w');
  expect(moving(await t.pass(500))).toBe(true);
  const now = await t.during(() => page.keyboard.down('Meta'));
  expect(now).toMatchObject([zero]);
  await t.pass(300); // W is released
  await page.keyboard.up('Meta');
  expect(still(await t.pass(30_000))).toBe(true);
  await expect(page.getByTestId('interrupted')).toHaveAttribute('data-cause', 'modifier');

  await page.keyboard.up('w');
  await page.keyboard.down('Meta');
  await page.keyboard.down('w');
  expect(still(await t.pass(500))).toBe(true); // a shortcut
  await page.keyboard.up('Meta');
  expect(still(await t.repeat('w', 2000))).toBe(true); // still the same press
  await page.keyboard.up('w');
  await page.keyboard.down('w');
  expect(moving(await t.pass(500))).toBe(true);
  await page.keyboard.up('w');
});

for (const [what, key, prepare] of [
  ['a key', 'w', async () => undefined],
  ['an arrow button by key', 'Space', (page: Page) => page.getByRole('button', { name: 'Forwards' }).focus()],
] as const)
  test(`${what} drives while the keyboard repeats it, and 2 s without that`, async ({ page }) => {
    const t = await Teleop.of(page);
    await t.takeControl();
    await prepare(page);
    await page.keyboard.down(key);
    expect(moving(await t.repeat(key, 5000))).toBe(true);
    expect(moving(await t.pass(700))).toBe(true);
    await t.pass(100);
    expect(still(await t.pass(10_000))).toBe(true); // nothing said that it was released
    await expect(page.getByTestId('interrupted')).toContainText('press it again every 2 s');
    expect(still(await t.repeat(key, 1000))).toBe(true);
    await page.keyboard.up(key);

    await page.keyboard.down(key);
    expect(moving(await t.pass(1900))).toBe(true);
    await t.pass(150);
    expect(still(await t.pass(10_000))).toBe(true);
    await page.keyboard.up(key);
  });

test('a key that steers for a moment leaves the one that drives', async ({ page }) => {
  const t = await Teleop.of(page);
  await t.takeControl();
  await page.keyboard.down('w');
  await t.repeat('w', 1000);
  for (let n = 0; n < 3; n++) {
    await page.keyboard.down('a');
    expect(moving(await t.repeat('a', 3000))).toBe(true);
    await page.keyboard.up('a');
    expect(moving(await t.pass(1500))).toBe(true);
  }
  await page.keyboard.up('w');
  expect(still(await t.pass(500))).toBe(true);
});

test('a gamepad whose axes are deflected before the first touch drives nothing until they were at rest', async ({
  page,
}) => {
  const t = await Teleop.of(page);
  await t.takeControl();
  await chooseGamepad(page, [0.99, -0.99, 0.99, 0.99]);
  expect(still(await t.pass(5000))).toBe(true);
  const rest = page.getByTestId('gamepad-rest');
  await expect(rest).toHaveText('Let the stick of the gamepad go to its middle.');
  await sources.gamepad!.release(page);
  await t.pass(100);
  await expect(rest).toHaveCount(0);
  await sources.gamepad!.push(page);
  expect(moving(await t.pass(500))).toBe(true);

  // held while control is taken again, and while the connection comes back
  await page.getByRole('button', { name: 'Give back' }).press('Enter');
  await t.takeControlAgain();
  expect(still(await t.pass(500))).toBe(true);
  await expect(rest).toBeVisible();
  await sources.gamepad!.release(page);
  await t.pass(100);
  await page.evaluate(() => window.fake.drop());
  await sources.gamepad!.push(page);
  expect(still(await t.pass(1500))).toBe(true);
  await expect(rest).toBeVisible();
  await sources.gamepad!.release(page);
  await t.pass(100);
  await sources.gamepad!.push(page);
  expect(moving(await t.pass(500))).toBe(true);
});

test('a gamepad that says the same for 10 s drives no longer, and shows no person', async ({ page }) => {
  const t = await Teleop.of(page);
  await t.takeControl();
  await chooseGamepad(page);
  await sources.gamepad!.push(page);
  expect(moving(await t.pass(9900))).toBe(true);
  await t.pass(200);
  expect(still(await t.pass(1000))).toBe(true);
  await expect(page.getByTestId('interrupted')).toHaveAttribute('data-cause', 'unmoved');
  await expect(page.getByTestId('gamepad-rest')).toBeVisible();
  for (let n = 0; n < 30; n++) {
    await page.evaluate((y) => (window.fake.axes = [0, y]), -1 + (n % 2) * 0.01); // it trembles
    await t.pass(5000);
  }
  expect(t.commands.filter((c) => c === 'control/renew').length).toBeLessThanOrEqual(10);
});

test('a gamepad drives only a window with focus, and only after it was let go', async ({ page }) => {
  const t = await Teleop.of(page);
  await t.takeControl();
  await chooseGamepad(page);
  const focus = (has: boolean) => page.evaluate((h) => void (document.hasFocus = () => h), has);
  await focus(false);
  await sources.gamepad!.push(page);
  expect(still(await t.pass(500))).toBe(true);
  await focus(true);
  expect(still(await t.pass(500))).toBe(true); // still deflected
  await sources.gamepad!.release(page);
  await t.pass(100);
  await sources.gamepad!.push(page);
  expect(moving(await t.pass(200))).toBe(true);
  await focus(false);
  expect(still((await t.pass(500)).slice(1))).toBe(true);
  await expect(page.getByTestId('interrupted')).toBeVisible();
});

test('a velocity is zero at the very moment the focus, the tab or the pointer is lost', async ({ page }) => {
  const t = await Teleop.of(page);
  await t.takeControl();
  for (const c of causes.slice(0, 3)) {
    const source = sources[c.by ?? 'key']!;
    await source.push(page);
    expect(moving(await t.pass(200))).toBe(true);
    const now = await t.during(() => c.happens(page)); // the page's clock stands
    expect(now).toMatchObject([zero]);
    if (!c.frames) await page.evaluate(hide);
    await source.release(page);
    await t.pass(100);
  }
});

test('a connection that stays away ends control: nothing is sent any more, and nothing connects', async ({ page }) => {
  const t = await Teleop.of(page);
  await t.takeControl();
  await page.keyboard.down('w');
  await t.pass(200);
  await page.evaluate(() => {
    window.fake.answers = false;
    window.fake.drop();
  });
  expect(await t.pass(3000)).toEqual([]);
  await expect(page.getByTestId('lease')).toBeHidden();
  await expect(page.getByTestId('interrupted')).toHaveAttribute('data-cause', 'socket');
  await page.evaluate(() => void (window.fake.answers = true));
  const opened = await page.evaluate(() => window.fake.opened);
  expect(await t.pass(3000)).toEqual([]);
  expect(await page.evaluate(() => window.fake.opened)).toBe(opened);
  await page.keyboard.up('w');
});

test('control that fleetd ends is over: nothing is sent any more, and the page says who has it', async ({ page }) => {
  const t = await Teleop.of(page);
  await t.takeControl();
  await page.keyboard.down('w');
  expect(moving(await t.pass(200))).toBe(true);
  await t.say({ type: 'ended', cause: 'lease-over', detail: 'the lease is over: ben has taken control' });
  expect(await t.pass(3000)).toEqual([]);
  await expect(page.getByTestId('interrupted')).toContainText('ben has taken control');
  await expect(page.getByTestId('lease')).toBeHidden();
  await page.keyboard.up('w');
});

test('leaving the page sends zero first, then gives control back', async ({ page }) => {
  const t = await Teleop.of(page);
  await t.takeControl();
  await page.keyboard.down('w');
  expect(moving(await t.pass(200))).toBe(true);
  const now = await t.during(() => page.evaluate(() => void window.dispatchEvent(new Event('pagehide'))));
  expect(now).toMatchObject([zero]);
  await expect.poll(() => t.commands).toEqual(['control/acquire', 'control/release']);
  expect(await t.pass(1000)).toEqual([]);
  await page.keyboard.up('w');
});

test('control is renewed every 10 s while a person is there, and not after they went', async ({ page }) => {
  const t = await Teleop.of(page);
  await t.takeControl();
  const renewals = () => t.commands.filter((c) => c === 'control/renew').length;
  await t.pass(80_000);
  await expect.poll(renewals).toBeGreaterThanOrEqual(7);
  await t.pass(60_000);
  expect(renewals()).toBeLessThanOrEqual(9); // nobody touched the page for 90 s
});

test('the drawn stick follows the arrow keys and returns to its middle', async ({ page }) => {
  const t = await Teleop.of(page);
  await t.takeControl();
  const knob = async () => {
    const { x, y } = (await page.getByTestId('stick').locator('.front').boundingBox())!;
    return { x: Math.round(x), y: Math.round(y) };
  };
  const rest = await knob();
  await page.keyboard.down('ArrowUp');
  await t.pass(100);
  expect(await knob()).toMatchObject({ x: rest.x });
  expect((await knob()).y).toBeLessThan(rest.y - 30);
  await page.keyboard.down('ArrowLeft');
  await t.pass(100);
  expect((await knob()).x).toBeLessThan(rest.x - 20);
  await page.keyboard.up('ArrowUp');
  await page.keyboard.up('ArrowLeft');
  await t.pass(100);
  expect(await knob()).toEqual(rest);
});
