import { type Hand, keyboard, touch } from './hands';
import { accessible, colors, expect, inShard, live, test, type World } from './world';

type Page = import('@playwright/test').Page;

const choose = async (page: Page, field: string, option: string | RegExp) => {
  await page.getByRole('combobox', { name: field, exact: true }).click();
  await page.getByRole('option', { name: option }).click();
};
const confirm = (page: Page) => page.getByRole('button', { name: /^Assign( to \d+ robots?)?$/ });
const alert = (page: Page) => page.locator('form').getByRole('alert').first();
const progress = (page: Page) => page.getByTestId('progress');

/** The address of Assign with all robots chosen. */
const toAll = (what = '') => `/assign?${what}&selector=${encodeURIComponent('{"all":true}')}`;

/** The button that takes back the assignment that was just made. */
const wayBack = (page: Page) => page.getByRole('region', { name: 'Progress' }).getByRole('button', { name: 'Revert…' });

/** Takes the assignment back, after a look at what that does. */
async function back(page: Page, says: string | RegExp) {
  await wayBack(page).click();
  await expect(page.getByTestId('back')).toContainText(says);
  await page.getByRole('button', { name: /^Revert on \d+ robots?$/ }).click();
  await expect(page.getByRole('dialog')).toBeHidden();
}

/** Assigns, and waits until the page follows this assignment instead of an earlier one: then it has emptied the reason. */
async function send(page: Page) {
  const reason = page.getByLabel('Reason, for the audit');
  await reason.fill('the spec asks for it');
  await confirm(page).click();
  await expect(reason).toHaveValue('');
}

/** Runs a copied command line. */
async function type(world: World, text: string, ...more: string[]) {
  const words = [...text.matchAll(/'([^']*)'|(\S+)/g)].map((m) => m[1] ?? m[2]!);
  expect(words[0]).toBe('fleetd');
  return world.cli(...words.slice(1), ...more);
}

test('a story goes to a selection, is seen to arrive, and is reverted by one button', async ({ page, world }) => {
  await page.goto(toAll('story=quiet-hour'));
  await live(page);
  await expect(page.getByTestId('dry-run')).toContainText('3 of 3 selected robots would change');
  await choose(page, 'When', 'at once');
  await expect(page.getByTestId('each').getByRole('row', { name: /^r1/ })).toContainText('Museum welcome 1');
  await page.getByLabel('Reason, for the audit').fill('a quiet evening');
  await page.locator('form').getByRole('button', { name: 'Command line' }).click();
  const line = await page.getByTestId('command-line').innerText();
  expect(line).toContain("--all --expect=3 '--why=a quiet evening'");
  expect(await type(world, line, '--dry-run')).toContain('3');
  await page.keyboard.press('Escape');
  await confirm(page).click();
  await expect(page.getByText('Accepted for 3 robots')).toBeVisible();
  await expect(progress(page)).toContainText(/3\s*has it/);
  await back(page, /3 revert to Museum welcome 1 \(r1, r2, r3\)/);
  await expect(progress(page)).toContainText(/3\s*has it/);
  expect(await world.cli('robot', 'get', 'r1')).toContain('museum-welcome');
  expect(await world.cli('audit', 'list')).toContain('reverted in the console');
});

test('nobody is chosen at first, single robots are, and the dry run follows what they have', async ({
  page,
  world,
}) => {
  await page.goto('/assign?story=quiet-hour');
  await live(page);
  await expect(page.getByRole('status').filter({ hasText: 'Choose to whom.' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Assign', exact: true })).toBeDisabled();
  await page.getByRole('combobox', { name: 'Or a group of robots' }).click();
  await expect(page.getByRole('option', { name: 'All robots (3 robots)' })).toBeVisible();
  await expect(page.getByRole('option', { name: 'Stage (1 robot)' })).toBeVisible();
  await page.keyboard.press('Escape');
  const robots = page.getByRole('combobox', { name: 'Robots by name' });
  await robots.fill('r1');
  await page.keyboard.press('Enter');
  await robots.fill('r3');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await expect(page.getByTestId('dry-run')).toContainText('2 of 2 selected robots would change');
  await choose(page, 'When', 'at once');
  await expect(page).toHaveURL(/apply=now/);
  await page.reload(); // the address has all of it
  await expect(page.getByTestId('dry-run')).toContainText('2 of 2 selected robots would change');
  await page.getByRole('button', { name: 'Assign to 2 robots' }).click();
  await expect(progress(page)).toContainText(/2\s*has it\s*r1, r3/);
  await expect(page.getByText(/^Assigned to 2 robots at/)).toBeVisible();
  await expect(page.getByText('Nothing would change.')).toBeVisible();
  // Somebody else changes what one of them has.
  await world.cli('story', 'assign', 'museum-welcome', 'r3', '--apply=now', '--wait');
  await expect(page.getByTestId('dry-run')).toContainText('1 of 2 selected robots would change');
  await expect(page.getByRole('button', { name: 'Assign to 1 robot' })).toBeEnabled();
  await back(page, '1 reverts to Museum welcome 1 (r1)');
  await expect(page.getByTestId('dry-run')).toContainText('2 of 2 selected robots would change');
});

test('the story stays chosen on the way over Robots, and so do the robots', async ({ page }) => {
  await page.goto('/assign?story=quiet-hour&apply=now');
  await live(page);
  await page.getByRole('link', { name: 'Select with filters in Robots' }).click();
  await expect(page.getByText('Select robots for Quiet hour')).toBeVisible();
  await page.getByLabel('Select r2').check();
  await page.getByTestId('bulk').getByRole('button', { name: 'Assign…' }).click();
  await expect(page.getByRole('combobox', { name: 'Story', exact: true })).toHaveValue(/quiet-hour/);
  await expect(page.getByRole('combobox', { name: 'When' })).toHaveValue('at once');
  await expect(page.getByTestId('dry-run')).toContainText('1 of 1 selected robots would change');
  await page.getByRole('link', { name: 'Select with filters in Robots' }).click();
  await expect(page.getByLabel('Select r2')).toBeChecked();
  await page.getByRole('link', { name: 'Back without a selection' }).click();
  await expect(page.getByTestId('dry-run')).toContainText('1 of 1 selected robots would change');
});

test('an assignment can be reverted after the page is gone, and stays listed with its reason', async ({
  page,
  world,
}) => {
  await world.cli('story', 'assign', 'quiet-hour', 'r1', 'r3', '--apply=now', '--wait', '--why=an evening');
  await page.goto('/robots/r3/story');
  await live(page);
  const last = page.getByTestId('last-story');
  await expect(last).toContainText('before: Museum welcome 1');
  await last.getByRole('link', { name: 'Show the assignment (2 robots)' }).click();
  const item = page.getByTestId('last').first();
  await expect(item).toContainText('Story: Quiet hour 1');
  await expect(item).toContainText('r1, r3');
  await expect(item).toContainText('2 of 2 have it');
  await expect(item).toContainText(/Assigned by .* – an evening/);
  await accessible(page);
  await page.goto('/audit?what=assign');
  // An assignment before this one that changed nothing may have its entry later.
  const entry = page.getByRole('row').filter({ hasText: 'an evening' }).first();
  await entry.getByRole('button', { name: /^Details of entry/ }).click();
  await expect(page.getByRole('dialog')).toContainText('museum-welcome revision 1: r1, r3');
  await page.getByRole('link', { name: 'Show it in Assign, where it can be reverted' }).click();
  await item.getByRole('button', { name: 'Revert…' }).click();
  await expect(page.getByTestId('back')).toContainText('2 revert to Museum welcome 1 (r1, r3)');
  await page.getByRole('button', { name: 'Revert on 2 robots' }).click();
  await expect(progress(page)).toContainText(/2\s*has it\s*r1, r3/, { timeout: 30_000 });
  await expect(item).toContainText('Story: Museum welcome 1 (again)');
  await expect(item).toContainText(/Reverted by .*: r1, r3 – reverted in the console/);
  await expect(item).toContainText(/before: Quiet hour 1, assigned by .* – an evening/);
  // One robot alone goes forth again, from its own page.
  await page.goto('/robots/r3/story');
  await last.getByRole('button', { name: 'Undo the revert…' }).click();
  await expect(page.getByTestId('back')).toContainText('1 reverts to Quiet hour 1 (r3)');
  await page.getByRole('button', { name: 'Revert on 1 robot' }).click();
  await expect(last).toContainText('before: Museum welcome 1');
  expect(await world.cli('desired', 'assignments', 'r3', '--limit=1')).toContain('quiet-hour@1');
});

test('what somebody else assigned meanwhile is left alone', async ({ page, world }) => {
  await page.goto(toAll('story=quiet-hour'));
  await live(page);
  await choose(page, 'When', 'at once');
  await confirm(page).click();
  await expect(progress(page)).toContainText(/3\s*has it/);
  await world.cli('story', 'assign', 'museum-welcome', 'r3', '--apply=now', '--wait');
  await expect(progress(page)).toContainText(/1\s*has been assigned something else since/);
  await wayBack(page).click();
  await expect(page.getByRole('dialog')).toContainText('left alone: r3');
  await page.getByRole('button', { name: 'Revert on 2 robots' }).click();
  await expect(page.getByText('Accepted for 2 robots')).toBeVisible();
});

test.afterEach(async ({ world }) => {
  await world.control('robot/join?robot=r3');
  await world.cli('story', 'assign', 'museum-welcome', 'r1', 'r2', 'r3', '--apply=now', '--wait');
});

test('activities are assigned, and a robot that is away waits', async ({ page, world }) => {
  await world.control('robot/cut?robot=r3');
  await page.goto(toAll('activity=hum'));
  await live(page);
  await expect(page.getByTestId('dry-run')).toContainText('1 is not connected and gets it when it is back (r3)', {
    timeout: 20_000,
  });
  await confirm(page).click();
  await expect(progress(page)).toContainText(/1\s*not connected: gets it when it is back\s*r3/);
  await expect(progress(page)).toContainText(/2\s*(has|refused) it/);
  await world.control('robot/join?robot=r3');
  await expect(progress(page)).toContainText(/3\s*(has|refused) it/, { timeout: 20_000 });
  await back(page, '3 revert to – (r1, r2, r3)');
  await expect(progress(page)).toContainText(/3\s*has it/);
});

test('a setting goes to robots with different values, and each gets its own back', async ({ page, world }) => {
  await world.cli('desired', 'config', 'low_battery=0.25', 'r1', '--wait');
  await page.goto(toAll());
  await live(page);
  await choose(page, 'What', 'Setting');
  await choose(page, 'Name of the setting', 'low_battery');
  await page.getByLabel('Value').fill('0.35');
  await expect(page.getByTestId('each').getByRole('row', { name: /^r1/ })).toContainText('low_battery = 0.25');
  await confirm(page).click();
  await expect(progress(page)).toContainText(/3\s*has it/);
  await expect(page.getByRole('region', { name: 'Progress' }).getByRole('row', { name: /^r1/ })).toContainText(
    'in use',
  );
  await back(page, '1 reverts to low_battery = 0.25 (r1)');
  await expect(progress(page)).toContainText(/3\s*has it/);
  expect(await world.cli('desired', 'get', 'r1')).toContain('low_battery=0.25');
  expect(await world.cli('desired', 'get', 'r2')).not.toContain('low_battery');
});

test('a mode is assigned and reverted', async ({ page, world }) => {
  await world.cli('desired', 'mode', 'mnl', 'r1', 'r2', 'r3');
  await page.goto(toAll());
  await live(page);
  await choose(page, 'What', 'Mode after start-up');
  await send(page);
  await expect(progress(page)).toContainText(/3\s*has it/);
  await back(page, '3 revert to mnl');
  await expect(progress(page)).toContainText(/3\s*has it/);
});

test('places are assigned and reverted, also when the page was left', async ({ page, world }) => {
  await page.goto(toAll());
  await live(page);
  await choose(page, 'What', 'Places');
  const text = page.getByLabel('Map and places (JSON)');
  await text.fill('{"schema": 1, "points": {"door": {"x_m": 1, "y_m": 2}}}');
  await send(page);
  await expect(progress(page)).toContainText(/3\s*has it/);
  const requested = page.getByRole('region', { name: 'Progress' });
  await expect(requested).toContainText(/revision \d+ of its document/);
  const [, first] = /revision (\d+) of its document/.exec(await requested.innerText())!;
  await text.fill('{"schema": 1, "points": {"door": {"x_m": 3, "y_m": 2}}}');
  await send(page);
  await expect(requested).toContainText(`revision ${Number(first) + 1} of its document`);
  await back(page, '3 revert to places');
  await expect(progress(page)).toContainText(/3\s*has it/);
  expect(await world.cli('robot', 'points', 'r1')).toMatch(/door +1 +2/);
  // fleetd knows the way back too, so that it outlives the page.
  await page.reload();
  await choose(page, 'What', 'What they had before');
  await choose(page, 'What comes back', 'Places');
  await send(page);
  await expect(progress(page)).toContainText(/3\s*has it/);
  expect(await world.cli('robot', 'points', 'r1')).toMatch(/door +3 +2/);
});

test('what fleetd refuses, and what would change nothing, is said', async ({ page }) => {
  await page.goto(toAll());
  await live(page);
  await expect(page.getByText('Choose what to assign.')).toBeVisible();
  await expect(confirm(page)).toBeDisabled();
  await choose(page, 'What', 'Places');
  await page.getByLabel('Map and places (JSON)').fill('{"schema": 1, "points": {"DOOR <b>": {"x_m": 1}}}');
  await expect(alert(page)).toContainText('Refused');
  await page.goto(toAll('story=museum-welcome'));
  await choose(page, 'When', 'at once');
  await expect(page.getByText('Nothing would change.')).toBeVisible();
  await page.goto(`/assign?story=quiet-hour&selector=${encodeURIComponent('{"ids":["nobody"]}')}`);
  await expect(alert(page)).toContainText('nobody');
});

test('without the right, without fleetd and without answers the screen says so', async ({ page }) => {
  const me = { id: 'vera', name: 'Vera', kind: 'person', roles: ['viewer'], rights: ['view'], sites: [], dev: false };
  await page.route('**/api/v1/me', (route) => route.fulfill({ json: me }));
  await page.goto(toAll('story=quiet-hour'));
  await expect(page.getByText('Your role may not assign.', { exact: false }).first()).toBeVisible();
  await expect(confirm(page)).toBeDisabled();
  await page.unroute('**/api/v1/me');
  await page.route('**/api/v1/assignments', (route) => route.abort());
  await page.goto(toAll('story=quiet-hour'));
  await expect(alert(page)).toContainText('fleetd does not answer');
  await page.unroute('**/api/v1/assignments');
  await page.route('**/api/v1/stream**', (route) => route.abort());
  await page.goto(toAll('story=quiet-hour'));
  await expect(page.getByText('The console is not connected to fleetd.')).toBeVisible();
});

test('what a robot sends as its reason is text', async ({ page }) => {
  const evil = `<img src=x onerror="document.title='owned'">`;
  await page.route('**/api/v1/desired?*', (route) =>
    route.fulfill({
      json: {
        topic: 'desired_mode',
        robots: ['r1', 'r2', 'r3'].map((robot) => ({
          robot,
          desired_rev: 9,
          reported_rev: 9,
          phase: 'rejected',
          outcome: 'refused',
          detail: evil,
        })),
      },
    }),
  );
  await page.goto(toAll());
  await live(page);
  await choose(page, 'What', 'Mode after start-up');
  await page.getByLabel('Change to it now, too').check();
  await confirm(page).click();
  await expect(page.getByText(evil).first()).toBeVisible();
  await expect(page).not.toHaveTitle('owned');
});

for (const scheme of inShard('light' as const, 'dark' as const)) {
  test(`nothing on the screen is inaccessible in ${scheme}`, async ({ page }) => {
    await colors(page, scheme);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.goto(toAll('story=quiet-hour'));
    await expect(page.getByTestId('dry-run')).toBeVisible();
    await accessible(page);
    await page.locator('form').getByRole('button', { name: 'Command line' }).click();
    await accessible(page);
    await page.keyboard.press('Escape');
    await choose(page, 'When', 'at once');
    await confirm(page).click();
    await expect(progress(page)).toContainText(/3\s*has it/);
    await accessible(page);
    await wayBack(page).click();
    await expect(page.getByTestId('back')).toContainText('Museum welcome');
    await expect(page.getByRole('button', { name: 'Revert on 3 robots' })).toBeEnabled();
    await accessible(page);
  });
}

/** Somebody new gives two robots a story, sees that they have it, and takes it back. */
async function task(page: Page, hand: Hand, world: World) {
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  await page.goto('/stories/quiet-hour');
  await live(page);
  await hand.press(button('Assign to robots…'));
  const robots = page.getByRole('combobox', { name: 'Robots by name' });
  await hand.choose(robots, 'r1');
  await hand.choose(robots, 'r3');
  await hand.choose(page.getByRole('combobox', { name: 'When' }), 'at once');
  await expect(page.getByTestId('dry-run')).toContainText('2 of 2 selected robots would change');
  await hand.press(button('Assign to 2 robots'));
  await expect(progress(page)).toContainText(/2\s*has it\s*r1, r3/, { timeout: 30_000 });
  // Later, after having been elsewhere.
  await hand.open('Stories');
  await expect(page.getByRole('heading', { name: 'Stories' })).toBeVisible();
  await page.goto('/assign');
  const last = page.getByTestId('last').first();
  await expect(last).toContainText('r1, r3');
  await hand.press(last.getByRole('button', { name: 'Revert…' }));
  await expect(page.getByTestId('back')).toContainText('2 revert to Museum welcome 1 (r1, r3)');
  await hand.press(button('Revert on 2 robots'));
  await expect(progress(page)).toContainText(/2\s*has it\s*r1, r3/, { timeout: 30_000 });
  await expect(progress(page)).toBeInViewport();
  expect(await world.cli('robot', 'get', 'r3')).toContain('museum-welcome');
}

const hands = inShard('keyboard', 'touch');

if (hands.includes('keyboard'))
  test('somebody new assigns and takes back by keyboard alone', async ({ page, world }) => {
    await task(page, keyboard(page), world);
  });

test.describe('at a phone', () => {
  test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } });
  if (hands.includes('touch'))
    test('somebody new assigns and takes back by touch alone', async ({ page, world }) => {
      await task(page, touch(page), world);
    });
});

test('points for another number of robots than was checked are not sent', async ({ page }) => {
  let total = 2;
  await page.route('**/api/v1/robots/r1/points', (route) => route.fulfill({ json: { points: [] } }));
  await page.route('**/api/v1/desired', async (route) => {
    const asked = route.request().postDataJSON() as { dry_run?: boolean; expected_count?: number };
    if (asked.dry_run || asked.expected_count === total)
      return route.fulfill({ json: { total, updated: ['r1', 'r2', 'r3'].slice(0, total) } });
    const detail = `${total} robots are selected, ${asked.expected_count} were expected`;
    return route.fulfill({
      status: 409,
      json: { type: '/problems/count-changed', detail, hint: 'check with a dry run' },
    });
  });
  await page.goto('/places?robot=r1');
  await live(page);
  await page.getByRole('button', { name: 'New place…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('door');
  await dialog.getByText('all robots').click();
  await dialog.getByRole('button', { name: 'Check' }).click();
  await expect(dialog).toContainText('2 of 2 robots would get them');
  total = 3;
  await dialog.getByRole('button', { name: 'Give' }).click();
  await expect(dialog.getByRole('alert')).toContainText('Nothing was sent: the number of robots changed meanwhile');
  await expect(dialog.getByRole('alert')).toContainText('It was 2 when you looked; now it is 3.');
  await expect(dialog).not.toContainText('dry run');
  await dialog.getByRole('button', { name: 'Give' }).click();
  await expect(page.getByText('Accepted: 3 robots get them')).toBeVisible();
});
