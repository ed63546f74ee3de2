import { accessible, expect, fresh, live, test } from './world';

type Page = import('@playwright/test').Page;

/** Writes the labels that robots have to have. */
async function label(page: Page, text: string) {
  await page.getByRole('combobox', { name: 'Labels, all of which a robot has' }).fill(text);
  await page.keyboard.press('Enter');
}

test('a policy is looked at before it is saved, a robot explains it, and a pin wins over it', async ({
  page,
  world,
}) => {
  const id = fresh('stage');
  await page.goto('/policies/new');
  await live(page);
  await page.getByRole('textbox', { name: 'Name' }).fill(id);
  await label(page, 'site=stage');
  await page.getByRole('combobox', { name: 'Story', exact: true }).click();
  await page.getByRole('option', { name: /quiet-hour/ }).click();
  await expect(page.getByTestId('policy-dry-run')).toContainText('1 robot gets something else');
  await expect(page.getByTestId('policy-dry-run').getByRole('link', { name: 'r3' })).toBeVisible();
  await page.getByRole('combobox', { name: 'How the change reaches robots' }).selectOption('at once');
  await page.getByRole('button', { name: 'Save, 1 robot changes' }).click();
  const row = page.getByTestId('policy').filter({ hasText: id });
  await expect(row).toContainText('site=stage');
  await expect(row).toContainText('1 decided');

  await page.goto('/robots/r3/setup');
  await live(page);
  const why = page.getByTestId('why-story');
  await expect(why).toContainText(`policy ${id} decides`);
  await why.getByRole('button', { name: 'Pin… Story' }).click();
  await page.getByRole('dialog').getByLabel('Reason, for the audit').fill('a show for children');
  await page.getByRole('dialog').getByRole('button', { name: 'Pin', exact: true }).click();
  await expect(why).toContainText(/pinned by a person.*a show for children/);
  await expect(why).toContainText(`${id} does not decide`);
  await accessible(page);
  await why.getByRole('button', { name: 'Unpin… Story' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Unpin', exact: true }).click();
  await why.getByRole('link', { name: `policy ${id} decides` }).click();

  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the policy' }).click();
  await expect(page).toHaveURL(/\/policies$/);
  await expect(row).toHaveCount(0);
  expect(await world.cli('policy', 'list')).not.toContain(id);
});

test('opening hours write schedules, and a schedule shows its times while it is written', async ({ page, world }) => {
  await page.goto('/schedules?tab=calendar&site=museum');
  await live(page);
  const zone = (name: string) => async () => {
    await page.getByRole('combobox', { name: 'Time zone' }).fill(name);
    await page.getByRole('option', { name, exact: true }).click();
  };
  await zone('Europe/Berlin')();
  await page.getByLabel('Opening hours: Mon').fill('9:00-18:00');
  await page.getByRole('button', { name: 'Monday to Friday like Monday' }).click();
  // Hours alone let the robots go on after closing time.
  await expect(page.getByTestId('hours-alone')).toContainText('nothing happens yet when the site opens or closes');
  const closing = page.getByRole('region', { name: 'When it closes' }).getByLabel('nothing happens');
  await closing.uncheck();
  await expect(page.getByTestId('hours-alone')).toHaveCount(0);
  await expect(page.getByText('nothing starts it when the site opens')).toBeVisible();
  await closing.check();
  await page.getByRole('region', { name: 'When it opens' }).getByLabel('nothing happens').uncheck();
  await page.getByRole('button', { name: 'Save the calendar' }).click();
  await expect(page.getByTestId('week')).toContainText('09:00–18:00 open');
  await expect(page.getByText('Times are those of Europe/Berlin')).toBeVisible();
  await page.getByRole('button', { name: 'Week after' }).click();
  await expect(page.getByTestId('week').getByRole('link', { name: '09:00 start the story' })).toHaveCount(5);
  await accessible(page);
  await page.getByRole('tab', { name: 'Schedules' }).click();
  await expect(page.getByTestId('schedule').filter({ hasText: 'museum-open' })).toContainText(
    'of the calendar of museum',
  );

  // The page says what a change of clocks does to a time.
  const id = fresh('night');
  await page.getByRole('link', { name: 'New schedule' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill(id);
  await page.getByRole('combobox', { name: 'When' }).selectOption('cron expression');
  await page.getByRole('textbox', { name: 'Cron expression' }).fill('30 2 25-31 3 *');
  await zone('Europe/Berlin')();
  await expect(page.getByTestId('next-ten').getByRole('listitem')).toHaveCount(10);
  await expect(page.getByTestId('next-ten')).toContainText(/clock/);
  await page.getByRole('textbox', { name: 'Cron expression' }).fill('30 2 25-31 13 *');
  await expect(page.getByRole('alert').filter({ hasText: /month/ })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Save', exact: true })).toBeDisabled();
  await page.getByRole('textbox', { name: 'Cron expression' }).fill('30 2 31 3 *');
  await label(page, 'site=museum');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const row = page.getByTestId('schedule').filter({ hasText: id });
  await expect(row).toContainText('30 2 31 3 * Europe/Berlin');
  await row.getByRole('link', { name: id }).click();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete the schedule' }).click();
  await expect(row).toHaveCount(0);
  await world.cli('site', 'delete', 'museum');
});
