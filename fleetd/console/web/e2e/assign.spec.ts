import { accessible, colors, expect, live, test } from './world';

test('a story goes to a selection, is seen to arrive, and is taken back by one button', async ({ page }) => {
  await page.goto('/assign?story=quiet-hour');
  await live(page);
  await expect(page.getByTestId('dry-run')).toContainText('selected robots would change');
  await page.getByLabel('Reason, for the audit').fill('a quiet evening');
  await page.getByRole('button', { name: /^Assign to \d+ robots?$/ }).click();
  await expect(page.getByText(/^Accepted for \d+ robots?$/)).toBeVisible();
  await expect(page.getByTestId('progress')).toContainText('have it');
  await page.getByRole('button', { name: 'Back to the previous story' }).click();
  await expect(page.getByText('The robots go back to the story that they had before.')).toBeVisible();
});

for (const scheme of ['light', 'dark'] as const) {
  test(`nothing on the screen is inaccessible in ${scheme}`, async ({ page }) => {
    await colors(page, scheme);
    await page.goto('/assign?story=quiet-hour');
    await expect(page.getByTestId('dry-run')).toBeVisible();
    await accessible(page);
  });
}
