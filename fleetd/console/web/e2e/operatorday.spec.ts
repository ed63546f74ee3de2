import type { Page } from '@playwright/test';

import { type Hand, keyboard, touch, withoutPointer } from './hands';
import { expect, fresh, givePassword, inShard, live, test, type World } from './world';

const words = 'a boat of blue paper';

/**
 * What the day begins with, whatever the day before left: an account, a robot that was stopped in the night, and one
 * without a voice.
 */
async function night(world: World, user: string): Promise<void> {
  await world.cli('user', 'add', user, '--role', 'operator,releaser', '--no-password');
  await givePassword(world, user, words);
  for (const id of (await world.cli('stop', 'list', '-o', 'name')).split(/\s+/).filter(Boolean))
    await world.cli('stop', 'release', id, '--why', 'a new day');
  await world.cli('story', 'assign', 'museum-welcome', 'r1', 'r2', '--apply', 'now', '--wait');
  for (const id of ['r1', 'r2'])
    for (const verb of [
      ['safety', 'reset'],
      ['safety', 'enable'],
      ['mode', 'set', 'ato'],
      ['auto', 'continue'],
    ])
      await world.cli(...verb, id, '--wait').catch(() => {}); // it refuses what it does not need
  await world.cli('stop', 'r2', '--why', 'a child on the stage');
  await world.control('robot/sim?robot=r3&name=break', '{"unit":"speaker","what":"no sound"}');
}

/** Signs in and looks what needs a person: r2 does not perform, and why. Gets it performing again. */
async function morning(page: Page, hand: Hand, user: string): Promise<void> {
  await page.goto('/');
  await hand.write(page.getByRole('textbox', { name: 'User' }), user);
  await hand.write(page.getByRole('textbox', { name: 'Password', exact: true }), words);
  await hand.press(page.getByRole('button', { name: 'Sign in', exact: true }));
  await live(page);

  const first = page.getByRole('region', { name: 'What needs a look first' });
  await expect(first).toContainText('stopped: waiting for release');
  await hand.press(first.getByRole('link', { name: 'r2', exact: true }));
  const way = page.getByTestId('way-out');
  await expect(way).toContainText('admin stopped it');
  await expect(way).toContainText('a child on the stage');
  await hand.press(way.getByRole('button', { name: 'Release…' }));
  await hand.write(page.getByLabel('Why may it move again?'), 'the child is with its parents');
  await hand.press(page.getByRole('button', { name: 'Release', exact: true }));
  // Until the robot reports it, the button opens the dialog again, which stays.
  await expect(way.getByRole('button', { name: 'Release…' })).toHaveCount(0);
  await followWayOut(page, hand);
}

/** Does what the page of a robot says comes next, until the robot performs. */
async function followWayOut(page: Page, hand: Hand): Promise<void> {
  const way = page.getByTestId('way-out');
  const performs = way.getByText('It performs.');
  await expect(async () => {
    const next = way.getByRole('button', { name: /^(?!Command lines)/ }).first();
    await expect(performs.or(next)).toBeVisible();
    if (await performs.isVisible()) return;
    await hand.press(next);
    await expect(performs).toBeVisible({ timeout: 5000 });
  }).toPass({ timeout: 60_000 });
}

/** The robots of the museum: another mode and back, another story, a stop of all of them and its release. */
async function selection(page: Page, hand: Hand): Promise<void> {
  const all = page.getByRole('button', { name: 'Select all 2 matching' });
  const bulk = page.getByTestId('bulk');
  const select = async () => {
    await hand.open('Robots');
    await hand.write(page.getByRole('textbox', { name: 'Name or label' }), 'museum');
    await expect(page.getByTestId('count')).toHaveText('2 of 3');
    await hand.press(all);
  };
  const both = async (does: string) => {
    for (const id of ['r1', 'r2']) await expect(page.locator(`[data-robot="${id}"]`)).toContainText(does);
  };
  const send = async (why: string) => {
    await expect(page.getByTestId('dry-run')).toContainText('reaches 2 robots');
    await hand.write(page.getByLabel('Reason'), why);
    await hand.press(page.getByRole('button', { name: 'Send to 2 robots' }));
    await expect(page.getByRole('dialog')).toBeHidden();
  };
  await select();
  for (const [mode, does] of [
    ['manual', 'in manual mode'],
    ['automatic', 'performing'],
  ] as const) {
    await hand.press(bulk.getByRole('button', { name: 'Set mode' }));
    await hand.pick(page.getByRole('menuitem', { name: mode }));
    await send('a visit');
    await both(does);
  }

  await hand.press(bulk.getByRole('button', { name: 'Assign…' }));
  await hand.choose(page.getByRole('combobox', { name: 'Story', exact: true }), 'Hospital guide (hospital-guide)');
  await hand.choose(page.getByRole('combobox', { name: 'When' }), 'at once');
  await expect(page.getByTestId('dry-run')).toContainText('2 of 2');
  await hand.write(page.getByLabel('Reason, for the audit'), 'the last guests');
  await hand.press(page.getByRole('button', { name: 'Assign to 2 robots' }));
  await expect(page.getByTestId('progress')).toContainText(/2\s*has it/, { timeout: 60_000 });

  await select();
  const latched = page.getByTestId('latched');
  await hand.hold(bulk.getByRole('button', { name: 'Stop (software), hold 1 s' }), () =>
    expect(latched).toContainText('r1, r2'),
  );
  await both('stopped: waiting for release');
  await hand.press(latched.getByRole('button', { name: 'Release…' }));
  await hand.write(page.getByLabel('Why may the robots move again?'), 'the hall is empty');
  await hand.press(page.getByRole('button', { name: 'Release', exact: true }));
  await expect(latched).toBeHidden();
  await both('kept stopped');
  await hand.press(bulk.getByRole('button', { name: 'Let move' }));
  await send('the hall is empty');
  await both('performing');
}

/** Says what is done about the alert. */
async function alert(page: Page, hand: Hand): Promise<void> {
  await hand.open('Events');
  await hand.press(page.getByRole('button', { name: 'Acknowledge: a unit is out of use, r3' }));
  await hand.write(page.getByLabel('What is being done about it'), 'another loudspeaker is ordered');
  await hand.press(page.getByRole('button', { name: 'Acknowledge', exact: true }));
  await expect(page.getByTestId('acknowledged')).toContainText('another loudspeaker is ordered');
}

/** Drives r1, sends each manual command that it takes, and releases control. */
async function manual(page: Page, hand: Hand, user: string): Promise<void> {
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const done = (what: string, timeout = 20_000) =>
    expect(page.getByText(`${what}: done`).first()).toBeVisible({ timeout });
  const lease = page.getByTestId('lease');
  const take = async () => {
    if (await lease.isVisible()) return;
    await hand.press(button('Take control'));
    await expect(lease).toBeVisible();
  };
  /** On a machine that is slow for a moment fleetd gives control back: then a person takes it again. */
  const held = async (act: () => Promise<unknown>) =>
    expect(async () => {
      await take();
      await act();
    }).toPass({ timeout: 80_000 });

  await hand.open('Robots');
  await hand.press(
    page
      .locator('[data-robot="r1"]')
      .getByRole('link', { name: 'r1' })
      .or(page.locator('[data-robot="r1"]').getByRole('button')),
  );
  const link = page.getByRole('dialog').getByRole('link', { name: 'Open its page' });
  const control = page.getByRole('link', { name: 'Manual control' });
  await expect(link.or(control)).toBeVisible();
  if (await link.isVisible()) await hand.press(link); // on a phone a card opens a drawer
  await hand.press(control);
  await hand.press(button('Switch to manual'));
  await expect(button('Switch to manual')).toBeHidden();

  await held(() => hand.forwards(() => expect(page.getByTestId('speed')).toHaveText(/^0\.(0[5-9]|[1-9]\d) m\/s/)));
  await expect(page.getByTestId('speed')).toHaveText('0.00 m/s');

  await held(async () => {
    await hand.write(page.getByLabel('x (m)'), '0.3');
    await hand.write(page.getByLabel('y (m)'), '0.2');
    await hand.press(button('Go to 0.30, 0.20'));
    await done('go to 0.30, 0.20');
  });
  const place = `door-of-${user}`;
  await held(async () => {
    await hand.write(page.getByLabel('Name of a new place'), place);
    await hand.press(button('Save where it is now'));
    await done(`save place ${place}`);
  });
  await held(async () => {
    await hand.press(button(place));
    await done(`go to ${place}`);
  });

  const act = `bow-of-${user}`;
  const recorded = page.getByText('what you do now becomes this act');
  await held(async () => {
    await hand.write(page.getByLabel('Name of the act'), act);
    await hand.press(button('Start recording'));
    await expect(recorded).toBeVisible();
  });
  await held(async () => {
    await hand.press(button('smile'));
    await done('face smile');
  });
  await held(async () => {
    await hand.press(button('nod'));
    await done('motion nod');
  });
  await held(async () => {
    await hand.press(button('Stop and keep it'));
    await expect(recorded).toBeHidden();
  });
  await held(async () => {
    await hand.slide(page.getByRole('slider', { name: 'Left and right' }));
    await done('turn the head');
  });
  await held(async () => {
    await hand.write(page.getByLabel('What to say'), 'Welcome');
    await hand.press(button('Say'));
    await done('say');
  });
  await held(async () => {
    await hand.choose(page.getByRole('combobox', { name: 'Sound' }), 'applause');
    await hand.press(button('Play'));
    await done('sound applause');
  });
  await held(async () => {
    await hand.choose(page.getByRole('combobox', { name: 'Pattern' }), 'breathing');
    await hand.press(button('green'));
    await hand.press(button('Show'));
    await done('lights #2f9e44, breathing');
  });
  await held(async () => {
    await hand.choose(page.getByRole('combobox', { name: 'Act', exact: true }), act);
    await hand.press(button('Perform'));
    await done(`act ${act}`, 60_000); // it lasts as long as it was recorded
  });

  await take();
  await hand.press(button('Give back'));
  await expect(lease).toBeHidden();
  await hand.press(page.getByRole('link', { name: 'Back to the robot' }));
  await followWayOut(page, hand);
}

/** Reads what was commanded, and what is kept about it. */
async function evening(page: Page, hand: Hand, user: string): Promise<void> {
  const row = (what: RegExp) => page.getByRole('row', { name: what }).first();
  await hand.open('Commands');
  await expect(row(new RegExp(`switch the mode.*${user}`))).toContainText('done');
  await hand.write(page.getByLabel('Robot', { exact: true }), 'r2');
  await expect(row(/switch the mode.*a visit/)).toContainText('done');
}

async function day(page: Page, world: World, hand: Hand): Promise<void> {
  const user = fresh('anna');
  await night(world, user);
  await test.step('morning', () => morning(page, hand, user));
  await test.step('selection', () => selection(page, hand));
  await test.step('alert', () => alert(page, hand));
  await test.step('manual', () => manual(page, hand, user));
  await test.step('evening', () => evening(page, hand, user));
}

test.describe('an operator', () => {
  test.setTimeout(600_000); // on a slow machine a day takes longer

  test.afterEach(({ world }) => world.control('robot/sim?robot=r3&name=repair', '{"unit":"speaker"}'));

  const hands = inShard('keyboard', 'tablet', 'phone');
  if (hands.includes('keyboard'))
    test('does the whole day by keyboard alone', async ({ page, world }) => {
      const neverPointed = await withoutPointer(page);
      await day(page, world, keyboard(page));
      await neverPointed();
    });

  test.describe('at a tablet', () => {
    test.use({ hasTouch: true, isMobile: true, viewport: { width: 820, height: 1180 } });
    if (hands.includes('tablet'))
      test('does the whole day by touch alone', async ({ page, world }) => {
        await day(page, world, touch(page));
      });
  });

  test.describe('at a phone', () => {
    test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } });
    if (hands.includes('phone'))
      test('does the same by touch alone', async ({ page, world }) => {
        await day(page, world, touch(page));
      });
  });
});
