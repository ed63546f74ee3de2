import { accessible, expect, live, test } from './world';

type Page = import('@playwright/test').Page;

/** The screen Assign with a story for all robots, in waves. */
const inWaves = `/assign?story=quiet-hour&apply=now&how=waves&selector=${encodeURIComponent('{"all":true}')}`;

const state = (page: Page) => page.getByTestId('rollout-state');
const part = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

/** Starts a rollout whose canary is one robot, watched for so many minutes, and returns that robot. */
async function startWithCanary(page: Page, minutes: number): Promise<string> {
  await page.goto(inWaves);
  await live(page);
  await page.getByLabel('Other waves than the default').check();
  await page.getByLabel('Watched, min').first().fill(`${minutes}`);
  await expect(page.getByTestId('plan')).toContainText(/3 robots in \d waves/);
  await expect(page.getByTestId('plan')).toContainText(`stops at the first failure; then watched for ${minutes} min`);
  await expect(page.getByTestId('plan')).toContainText(/Done about .*, if nothing fails/);
  await accessible(page);
  await page.getByRole('button', { name: 'Start: 1 robot first' }).click();
  await expect(page).toHaveURL(/\/rollouts\/[^?]+$/);
  await expect(state(page)).toHaveText('Running');
  const canary = page.getByTestId('rollout-robot').filter({ hasText: 'has it, being watched' });
  await expect(canary).toHaveCount(1, { timeout: 30_000 });
  return canary.getByRole('link').innerText();
}

test('a rollout is seen to fail at its canary, and gives the robot back what it had', async ({ page, world }) => {
  test.setTimeout(180_000); // 130 s of it for the robots
  const robot = await startWithCanary(page, 2);
  expect(await world.cli('robot', 'get', robot)).toContain('quiet-hour');
  await world.control(`robot/cut?robot=${robot}`);
  await expect(state(page)).toHaveText('Paused', { timeout: 40_000 });
  await expect(part(page, 'Failures')).toContainText('fell silent after applying it');
  await expect(part(page, 'Failures').getByRole('link', { name: robot })).toBeVisible();
  await expect(part(page, 'Waves').getByTestId('wave').first()).toHaveAttribute('data-state', /FAILED|INCONCLUSIVE/);
  await accessible(page);
  await world.control('mend');
  await page.getByRole('button', { name: 'Roll back…' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('1 robot gets back what each had before');
  await dialog.getByLabel('Reason, for the audit').fill('it fell silent');
  await dialog.getByRole('button', { name: 'Command line' }).click();
  await expect(page.getByTestId('command-line')).toContainText(/fleetd rollout rollback \S+ --expect=1/);
  await page.keyboard.press('Escape');
  await dialog.getByRole('button', { name: 'Roll back 1 robot' }).click();
  await expect(state(page)).toHaveText('Rolled back', { timeout: 60_000 });
  await expect(page.getByTestId('decisions')).toContainText('it fell silent');
  await expect(page.getByRole('main')).not.toContainText(/\bsoak\b|\bgate\b|CONFIRMED|waits for its turn/);
  for (const name of ['Pause…', 'Abort…', 'Roll back…'])
    await expect(page.getByRole('button', { name })).toHaveAttribute('aria-disabled', 'true');
  await expect(async () => expect(await world.cli('robot', 'get', robot)).toContain('museum-welcome')).toPass();
  // The list has it, with the assignments.
  await page.getByRole('link', { name: 'All rollouts' }).click();
  await expect(page.getByTestId('rollout').first()).toContainText('Quiet hour, rev. 1');
  await expect(page.getByTestId('rollout').first()).toContainText('Rolled back');
  await expect(page.getByTestId('rollout').first().getByTestId('rollout-whom')).toHaveText('all robots');
  await expect(page.getByTestId('rollout').filter({ hasText: 'assignment' }).first()).toContainText('all at once');
});

test('a person pauses a rollout, resumes and aborts it, and the other robots keep what they have', async ({
  page,
  world,
}) => {
  test.setTimeout(120_000); // 90 s of it for the robots
  // Longer than the test: the wave does not pass before the decisions.
  await startWithCanary(page, 10);
  const decide = async (open: string, does: RegExp) => {
    await page.getByRole('button', { name: open }).click();
    await page.getByRole('dialog').getByRole('button', { name: does }).click();
    await expect(page.getByRole('dialog')).toBeHidden();
  };
  await decide('Pause…', /^Pause, 2 robots wait$/);
  await expect(state(page)).toHaveText('Paused');
  // The button is in the place of Pause.
  await decide('Resume…', /^Resume for 2 robots$/);
  await expect(state(page)).toHaveText('Running');
  await decide('Abort…', /^Abort, 2 robots do not get it$/);
  await expect(state(page)).toHaveText('Aborted');
  // A state of the legend narrows the table.
  await page.getByRole('button', { name: 'not offered any more: 2' }).click();
  await expect(page.getByTestId('rollout-robot')).toHaveCount(2);
  const other = await page.getByTestId('rollout-robot').first().getByRole('link').innerText();
  expect(await world.cli('robot', 'get', other)).toContain('museum-welcome');
  await decide('Roll back…', /^Roll back 1 robot$/);
  await expect(state(page)).toHaveText('Rolled back', { timeout: 60_000 });
});
