import type { Page } from '@playwright/test';

import { expect, live, test } from './world';

async function open(page: Page, path: string): Promise<void> {
  await page.goto(path);
  await live(page);
}

const part = (page: Page, name: string | RegExp) => page.getByRole('region', { name });

test('a mode that is not possible says why', async ({ page, world }) => {
  await world.cli('mode', 'set', 'mnl', 'r3', '--wait');
  await open(page, '/robots/r3');
  const modes = page.getByRole('group', { name: 'Mode', exact: true });
  const automatic = modes.getByRole('button', { name: 'Switch to Automatic' });
  await expect(automatic).not.toHaveAttribute('aria-disabled', 'true');
  await world.cli('story', 'withdraw', 'r3', '--wait');
  await expect(automatic).toHaveAttribute('aria-disabled', 'true');
  await expect(modes).toContainText('no valid default story is on the robot');
  await world.cli('story', 'assign', 'museum-welcome', 'r3', '--wait');
  await expect(automatic).not.toHaveAttribute('aria-disabled', 'true');
  await automatic.click();
  await expect(modes.getByRole('button', { name: 'Automatic: in charge' })).toBeVisible();
});

test('every pause names who holds it, and each is continued by itself', async ({ page, world }) => {
  await world.cli('auto', 'pause', 'r1', '--wait', '--by', 'otto', '--why', 'a speech');
  await open(page, '/robots/r1');
  const performance = part(page, 'Performance');
  await expect(performance).toContainText('Pauses (1)');
  await expect(performance).toContainText(/a person: otto, since .*: a speech/);
  await expect(performance.getByTitle(/^operator:/)).toContainText('otto'); // its name in the contract is the tooltip
  await performance.getByRole('button', { name: 'Continue this one' }).click();
  await expect(performance).toContainText('Nobody has paused it.');
});

test('interrupts: what runs and its end, what was refused and why, who may interrupt', async ({ page, world }) => {
  await open(page, '/robots/r2');
  const interrupts = part(page, 'Interrupts');
  await expect(interrupts).toContainText('Nothing interrupts the story.');
  await interrupts.getByRole('combobox', { name: 'Reaction' }).click();
  await page.getByRole('option', { name: 'service', exact: true }).click();
  await interrupts.getByRole('button', { name: 'Raise', exact: true }).click();
  await expect(interrupts).toContainText('Running (1)');
  await expect(interrupts).toContainText('service for a person, since');
  await expect(part(page, 'Performance')).toContainText('an interrupt');
  await interrupts.getByRole('button', { name: 'End it' }).click();
  await expect(interrupts).toContainText('Running (0)');

  // The robot reports its own requests that it refused.
  const data = { handler: 'power', interrupter: 'power', reason: 'ignored_duplicate', count: 3 };
  const at = '2026-01-02T03:04:05Z';
  const refused = { robot: 'r2', boot: 'b1', seq: 1, ts: at, received: at, type: 'interrupt_refused', data };
  await page.route(/\/api\/v1\/events\?.*interrupt_refused/, (route) => route.fulfill({ json: { events: [refused] } }));
  await expect(interrupts).toContainText('power, battery: this reaction already runs, 3 times');
  await world.control('robot/sim?robot=r2&name=battery', '{"level":0.12}');
  const body = part(page, 'Body and link');
  await expect(body).toContainText('Battery: 12 %');
  await world.control('robot/sim?robot=r2&name=battery', '{"level":0.9}');
  await expect(body).toContainText('Battery: 90 %');
  await expect(interrupts).toContainText('Running (0)');
  // A trigger is forbidden and allowed.
  const touch = interrupts.getByRole('switch', { name: /^touch/ });
  await touch.click({ force: true });
  await expect(touch).not.toBeChecked();
  await touch.click({ force: true });
  await expect(touch).toBeChecked();
  // In another mode the robot does not report which are off, so both orders are offered.
  for (const [order, verb] of [
    ['Forbid in automatic', 'stop'],
    ['Allow in automatic', 'run'],
  ] as const) {
    await world.cli('mode', 'set', 'mnl', 'r2', '--wait');
    await interrupts.getByRole('button', { name: `${order}: touch` }).click();
    await expect
      .poll(() => world.cli('command', 'list', '--robot', 'r2', '--limit', '1'))
      .toContain(`interrupter ${verb}`);
    await world.cli('mode', 'set', 'ato', 'r2', '--wait');
    await expect(touch).toBeChecked({ checked: verb === 'run' });
  }
});

test('life: what has the focus, what would come next, and why each activity does not start', async ({
  page,
  world,
}) => {
  await world.cli('activity', 'assign', 'greet-visitor,invite-to-tour,answer-touch', 'r1', '--wait');
  await open(page, '/robots/r1');
  const life = part(page, 'Autonomous life');
  await expect(life).toContainText('on its own, without people');
  await expect(life.getByRole('row', { name: /^In focus/ })).toContainText('none');
  await expect(life).toContainText('Activities, and why each does not start now');
  await expect(life).toContainText(/greet-visitor.*people/);
  // It is refused while an act of the story moves the robot.
  await expect(async () => {
    await life.getByRole('button', { name: 'Start: invite-to-tour' }).click({ timeout: 3000 });
    const focus = life.getByRole('row', { name: /^In focus/ });
    await expect(focus).toContainText('invite-to-tour', { timeout: 3000 });
  }).toPass({ timeout: 60_000 });
  await expect(life).toContainText('with people');
  await expect(page.getByText('performing an activity').first()).toBeVisible();
  // Another one comes first, and leaves the focus to the one before.
  await world.cli('life', 'focus', 'r1', '--activity', 'answer-touch', '--flags', 'stop_and_stack_current');
  await expect(life.getByRole('row', { name: /^In focus/ })).toContainText('answer-touch');
  await expect(life.getByRole('row', { name: /^Starts again afterwards/ })).toContainText('invite-to-tour');
  await life.getByRole('button', { name: 'End all activities' }).click();
  await expect(life.getByRole('row', { name: /^In focus/ })).toContainText('none');
  await life.getByRole('textbox', { name: 'Ask the robot whether a condition is true now' }).fill('people > 7');
  await life.getByRole('button', { name: 'Ask', exact: true }).click();
  await expect(life.getByRole('status')).toContainText('people');
});

test('an alert says what to do, and is gone when the part is repaired', async ({ page, world }) => {
  await open(page, '/robots/r3');
  await expect(part(page, 'Alerts')).toContainText('It reports no problem');
  await world.control('robot/sim?robot=r3&name=break', '{"unit":"speaker","what":"no sound"}');
  const alerts = part(page, /^Alerts/);
  await expect(alerts).toContainText('no sound');
  await expect(alerts).toContainText('What to do:');
  const speaker = part(page, 'Body and link').getByRole('row', { name: /^speaker/ });
  await expect(speaker).toContainText('no sound');
  await world.control('robot/sim?robot=r3&name=repair', '{"unit":"speaker"}');
  await expect(speaker).toContainText('no fault');
  await expect(alerts).toContainText('It reports no problem');
});

test('measurements are drawn, and said in words', async ({ page }) => {
  await open(page, '/robots/r1/telemetry?span=live');
  const battery = part(page, 'Battery');
  await expect(battery.locator('canvas')).toBeVisible();
  await expect(battery.getByRole('img')).toHaveAccessibleName(/^Battery: \d+ % now, \d+ % to \d+ %$/);
  await expect(part(page, 'Round trip of a message').locator('canvas')).toBeVisible();
  // The line is drawn: the plot has more than one colour.
  const drawn = await battery.locator('canvas').evaluate((canvas: HTMLCanvasElement) => {
    const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });
  expect(drawn).toBeGreaterThan(2);
});

test('kept measurements of a day are drawn, said in words, and read with arrow keys', async ({ page }) => {
  const start = Date.UTC(2026, 2, 14, 12);
  const point = (minutes: number, mean: number) => ({
    at: new Date(start + minutes * 60_000).toISOString(),
    min: mean - 1,
    mean,
    max: mean + 1,
    values: 6,
  });
  await page.route('**/api/v1/robots/r1/measurements?*', (route) =>
    route.fulfill({
      json: {
        robot: 'r1',
        since: new Date(start).toISOString(),
        until: new Date(start + 86_400_000).toISOString(),
        step_s: 300,
        series: [
          {
            name: 'battery',
            unit: '%',
            text: '',
            points: [point(0, 90), point(5, 88), point(125, 70), point(130, 69)],
          },
        ],
      },
    }),
  );
  await open(page, '/robots/r1/telemetry');
  const battery = part(page, 'Battery');
  const plot = battery.getByRole('img');
  await expect(plot).toHaveAccessibleName(
    /^Battery: 69 % at the end, 68 % to 91 %, 79.3 % on average; nothing was measured for up to 115 minutes/,
  );
  await plot.focus();
  await page.keyboard.press('ArrowLeft');
  await expect(battery.getByRole('status')).toContainText(': 69 % (68 % to 70 %)');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await expect(battery.getByRole('status')).toContainText(': 88 % (87 % to 89 %)');
  await expect(part(page, 'Hottest unit')).toContainText('only while it is warm');
  await page.getByRole('radiogroup', { name: 'Time that is shown' }).getByText('Week').click();
  await expect(page).toHaveURL(/span=week/);
  await expect(battery.locator('canvas')).toBeVisible();
});

test('what the robot published and what fleetd publishes for it is shown as it is', async ({ page }) => {
  await open(page, '/robots/r1/raw');
  const published = part(page, 'Retained documents that the robot published');
  await published.getByRole('button', { name: /robots\/r1\/state|^state/ }).click();
  await expect(published.locator('pre').filter({ visible: true })).toContainText('"state_seq"');
  const desired = part(page, 'Documents that fleetd publishes for it');
  await desired.getByRole('button').first().click();
  await expect(desired.locator('pre').filter({ visible: true }).first()).toContainText('"rev"');
});
