import { accessible, colors, expect, live, test } from './world';

test('each number is a link to the robots that it counts', async ({ page }) => {
  await page.goto('/');
  await live(page);
  await expect(page.getByTestId('tone-good')).toContainText('3');
  await page.getByTestId('tone-good').click();
  await expect(page).toHaveURL(/\/robots\?tone=good/);
  await expect(page.getByTestId('count')).toHaveText('3');
  await page.goto('/');
  await page.getByRole('link', { name: 'automatic (ato)' }).click();
  await expect(page).toHaveURL(/mode=ato/);
  await expect(page.getByTestId('count')).toHaveText('3');
  await page.goto('/');
  await page.getByRole('link', { name: 'refused their story' }).click();
  await expect(page.getByText('No robot matches the filters')).toBeVisible();
});

test('who drives a robot, what happened, and fleetd itself are shown', async ({ page, world }) => {
  await world.cli('mode', 'set', 'mnl', 'r3', '--wait');
  await page.goto('/');
  await live(page);
  await expect(page.getByTestId('tone-waiting')).toContainText('1');
  const driving = page.getByRole('region', { name: 'Who drives what' });
  await expect(driving).toContainText('Nobody drives a robot');
  await world.cli('control', 'acquire', 'r3', '--by', 'nina', '--wait');
  await expect(driving).toContainText('nina');
  await expect(page.getByRole('region', { name: 'Last events' }).getByRole('row')).not.toHaveCount(0);
  await expect(page.getByRole('region', { name: 'fleetd and its messages' })).toContainText('per second');
  await expect(page.getByRole('region', { name: 'fleetd and its messages' })).toContainText('leader');
});

test('a wall screen has nothing to press', async ({ page }) => {
  await page.goto('/?wall');
  await expect(page.getByTestId('tone-good')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Stop (software)' })).toBeHidden();
  await expect(page.getByRole('navigation')).toBeHidden();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: 'Stop (software)' })).toBeVisible();
});

for (const scheme of ['light', 'dark'] as const) {
  test(`the overview is accessible in ${scheme} colours`, async ({ page }) => {
    await colors(page, scheme);
    await page.goto('/');
    await live(page);
    await expect(page.getByTestId('tone-good')).toBeVisible();
    await accessible(page);
  });
}
