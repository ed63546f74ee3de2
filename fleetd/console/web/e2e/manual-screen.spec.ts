import type { Page } from '@playwright/test';

import { accessible, colors, expect, live, test, type World } from './world';

/** Opens the page of r1 and takes control of it. */
async function takeControl(page: Page, world: World): Promise<void> {
  await world.cli('mode', 'set', 'mnl', 'r1', '--wait');
  await world.cli('safety', 'enable', 'r1', '--wait');
  await page.goto('/robots/r1/manual');
  await live(page);
  await page.getByRole('button', { name: 'Take control' }).click();
  await expect(page.getByTestId('lease')).toBeVisible();
  await expect(page.getByTestId('latency')).toContainText('ms');
}

test.afterEach(({ page }) => page.close({ runBeforeUnload: false }));

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
  await page.getByRole('link', { name: 'Back to the robot' }).click();
  await page.getByRole('button', { name: 'Return to automatic (ato)' }).click();
  await expect(page).toHaveURL(/\/robots\/r1$/);
  await expect(page.getByText('performing', { exact: true }).first()).toBeVisible();
});

test('points, faces, motions and acts: the robot answers each', async ({ page, world }) => {
  await takeControl(page, world);
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
