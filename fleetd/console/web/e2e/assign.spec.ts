import { accessible, colors, expect, live, test, type World } from './world';

type Page = import('@playwright/test').Page;

const choose = async (page: Page, field: string, option: string | RegExp) => {
  await page.getByRole('combobox', { name: field, exact: true }).click();
  await page.getByRole('option', { name: option }).click();
};
const confirm = (page: Page) => page.getByRole('button', { name: /^Assign to \d+ robots?$/ });
const alert = (page: Page) => page.locator('form').getByRole('alert').first();
const progress = (page: Page) => page.getByTestId('progress');

/** Takes the assignment back, after a look at what that does. */
async function back(page: Page, says: string | RegExp) {
  await page.getByRole('button', { name: 'Back to what they had before' }).click();
  await expect(page.getByTestId('back')).toContainText(says);
  await page.getByRole('button', { name: /^Take \d+ robots? back$/ }).click();
  await expect(page.getByRole('dialog')).toBeHidden();
}

/** Runs a copied command line. */
async function type(world: World, text: string, ...more: string[]) {
  const words = [...text.matchAll(/'([^']*)'|(\S+)/g)].map((m) => m[1] ?? m[2]!);
  expect(words[0]).toBe('fleetd');
  return world.cli(...words.slice(1), ...more);
}

test('a story goes to a selection, is seen to arrive, and is taken back by one button', async ({ page, world }) => {
  await page.goto('/assign?story=quiet-hour');
  await live(page);
  await expect(page.getByTestId('dry-run')).toContainText('3 of 3 selected robots would change');
  await choose(page, 'When', 'at once');
  await page.getByRole('button', { name: 'Show each of 3 robots' }).click();
  await expect(page.getByTestId('each').getByRole('row', { name: /^r1/ })).toContainText('museum-welcome 1');
  await page.getByLabel('Reason, for the audit').fill('a quiet evening');
  await page.getByRole('button', { name: 'Command line' }).click();
  const line = await page.getByTestId('command-line').innerText();
  expect(line).toContain("--all --expect=3 '--why=a quiet evening'");
  expect(await type(world, line, '--dry-run')).toContain('3');
  await page.keyboard.press('Escape');
  await confirm(page).click();
  await expect(page.getByText('Accepted for 3 robots')).toBeVisible();
  await expect(progress(page)).toContainText(/3\s*has it/);
  await back(page, /3 go back to museum-welcome 1 \(r1, r2, r3\)/);
  await expect(progress(page)).toContainText(/3\s*has it/);
  expect(await world.cli('robot', 'get', 'r1')).toContain('museum-welcome');
  expect(await world.cli('audit', 'list')).toContain('taken back in the console');
});

test('what somebody else assigned meanwhile is left alone', async ({ page, world }) => {
  await page.goto('/assign?story=quiet-hour');
  await live(page);
  await choose(page, 'When', 'at once');
  await confirm(page).click();
  await expect(progress(page)).toContainText(/3\s*has it/);
  await world.cli('story', 'assign', 'museum-welcome', 'r3', '--apply=now', '--wait');
  await expect(progress(page)).toContainText(/1\s*has been assigned something else since/);
  await page.getByRole('button', { name: 'Back to what they had before' }).click();
  await expect(page.getByRole('dialog')).toContainText('left alone: r3');
  await page.getByRole('button', { name: 'Take 2 robots back' }).click();
  await expect(page.getByText('Accepted for 2 robots')).toBeVisible();
});

test.afterEach(async ({ world }) => {
  await world.control('robot/join?robot=r3');
  await world.cli('story', 'assign', 'museum-welcome', 'r1', 'r2', 'r3', '--apply=now', '--wait');
});

test('activities are assigned, and a robot that is away waits', async ({ page, world }) => {
  await world.control('robot/cut?robot=r3');
  await page.goto('/assign?activity=hum');
  await live(page);
  await expect(page.getByTestId('dry-run')).toContainText('1 is not connected and gets it when it is back (r3)', {
    timeout: 20_000,
  });
  await confirm(page).click();
  await expect(progress(page)).toContainText(/1\s*not connected: gets it when it is back\s*r3/);
  await expect(progress(page)).toContainText(/2\s*(has|refused) it/);
  await world.control('robot/join?robot=r3');
  await expect(progress(page)).toContainText(/3\s*(has|refused) it/, { timeout: 20_000 });
  await back(page, '3 go back to – (r1, r2, r3)');
  await expect(progress(page)).toContainText(/3\s*has it/);
});

test('a setting goes to robots with different values, and each gets its own back', async ({ page, world }) => {
  await world.cli('desired', 'config', 'low_battery=0.25', 'r1', '--wait');
  await page.goto('/assign');
  await live(page);
  await choose(page, 'What', 'Setting');
  await choose(page, 'Name of the setting', 'low_battery');
  await page.getByLabel('Value').fill('0.35');
  await page.getByRole('button', { name: 'Show each of 3 robots' }).click();
  await expect(page.getByTestId('each').getByRole('row', { name: /^r1/ })).toContainText('low_battery = 0.25');
  await confirm(page).click();
  await expect(progress(page)).toContainText(/3\s*has it/);
  await expect(page.getByRole('region', { name: 'Progress' }).getByRole('row', { name: /^r1/ })).toContainText(
    'active',
  );
  await back(page, '1 goes back to low_battery = 0.25 (r1)');
  await expect(progress(page)).toContainText(/3\s*has it/);
  expect(await world.cli('desired', 'get', 'r1')).toContain('low_battery=0.25');
  expect(await world.cli('desired', 'get', 'r2')).not.toContain('low_battery');
});

test('a mode and places go there and back', async ({ page, world }) => {
  await world.cli('desired', 'mode', 'mnl', 'r1', 'r2', 'r3');
  await page.goto('/assign');
  await live(page);
  await choose(page, 'What', 'Mode after start-up');
  await confirm(page).click();
  await expect(progress(page)).toContainText(/3\s*has it/);
  await back(page, '3 go back to mnl');
  await expect(progress(page)).toContainText(/3\s*has it/);
  await choose(page, 'What', 'Places');
  const text = page.getByLabel('Map and points (JSON)');
  await text.fill('{"schema": 1, "points": {"door": {"x_m": 1, "y_m": 2}}}');
  await confirm(page).click();
  await expect(progress(page)).toContainText(/3\s*has it/);
  await text.fill('{"schema": 1, "points": {"door": {"x_m": 3, "y_m": 2}}}');
  await confirm(page).click();
  await expect(page.getByRole('region', { name: 'Progress' })).toContainText('revision 2 of its document');
  await back(page, '3 go back to places');
  await expect(progress(page)).toContainText(/3\s*has it/);
  expect(await world.cli('robot', 'points', 'r1')).toMatch(/door +1 +2/);
  // fleetd knows the way back too, so that it outlives the page.
  await page.reload();
  await choose(page, 'What', 'What they had before');
  await choose(page, 'What comes back', 'Places');
  await confirm(page).click();
  await expect(progress(page)).toContainText(/3\s*has it/);
  expect(await world.cli('robot', 'points', 'r1')).toMatch(/door +3 +2/);
});

test('what fleetd refuses, and what would change nothing, is said', async ({ page }) => {
  await page.goto('/assign');
  await live(page);
  await expect(page.getByText('Choose what to assign first.')).toBeVisible();
  await expect(confirm(page)).toBeDisabled();
  await choose(page, 'What', 'Places');
  await page.getByLabel('Map and points (JSON)').fill('{"schema": 1, "points": {"DOOR <b>": {"x_m": 1}}}');
  await expect(alert(page)).toContainText('Refused');
  await page.goto('/assign?story=museum-welcome');
  await choose(page, 'When', 'at once');
  await expect(page.getByText('Nothing would change.')).toBeVisible();
  await page.goto(`/assign?story=quiet-hour&selector=${encodeURIComponent('{"ids":["nobody"]}')}`);
  await expect(alert(page)).toContainText('nobody');
});

test('without the right, without fleetd and without answers the screen says so', async ({ page }) => {
  const me = { id: 'vera', name: 'Vera', kind: 'person', roles: ['viewer'], rights: ['view'], sites: [], dev: false };
  await page.route('**/api/v1/me', (route) => route.fulfill({ json: me }));
  await page.goto('/assign?story=quiet-hour');
  await expect(page.getByText('Your role may not assign.', { exact: false }).first()).toBeVisible();
  await expect(confirm(page)).toBeDisabled();
  await page.unroute('**/api/v1/me');
  await page.route('**/api/v1/assignments', (route) => route.abort());
  await page.goto('/assign?story=quiet-hour');
  await expect(alert(page)).toContainText('fleetd does not answer');
  await page.unroute('**/api/v1/assignments');
  await page.route('**/api/v1/stream**', (route) => route.abort());
  await page.goto('/assign?story=quiet-hour');
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
  await page.goto('/assign');
  await live(page);
  await choose(page, 'What', 'Mode after start-up');
  await page.getByLabel('Change to it now, too').check();
  await confirm(page).click();
  await expect(page.getByText(evil).first()).toBeVisible();
  await expect(page).not.toHaveTitle('owned');
});

for (const scheme of ['light', 'dark'] as const) {
  test(`nothing on the screen is inaccessible in ${scheme}`, async ({ page }) => {
    await colors(page, scheme);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.goto('/assign?story=quiet-hour');
    await expect(page.getByTestId('dry-run')).toBeVisible();
    await page.getByRole('button', { name: 'Show each of 3 robots' }).click();
    await accessible(page);
    await page.getByRole('button', { name: 'Command line' }).click();
    await accessible(page);
    await page.keyboard.press('Escape');
    await choose(page, 'When', 'at once');
    await confirm(page).click();
    await expect(progress(page)).toContainText(/3\s*has it/);
    await accessible(page);
    await page.getByRole('button', { name: 'Back to what they had before' }).click();
    await expect(page.getByTestId('back')).toContainText('museum-welcome');
    await expect(page.getByRole('button', { name: 'Take 3 robots back' })).toBeEnabled();
    await accessible(page);
  });
}
