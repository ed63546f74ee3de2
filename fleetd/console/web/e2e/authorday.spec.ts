import type { APIRequestContext, Page } from '@playwright/test';

import { type Hand, keyboard, touch, withoutPointer } from './hands';
import { expect, fresh, inShard, live, test } from './world';

interface Robot {
  desired: { story?: { id: string } };
}

/** Writes a story of three acts, tries it on a robot, assigns it to two, and takes it back. */
async function day(page: Page, request: APIRequestContext, hand: Hand, story: string): Promise<void> {
  const assigned = async () => {
    const got: (string | undefined)[] = [];
    for (const robot of ['r1', 'r2']) {
      const detail = (await (await request.get(`/api/v1/robots/${robot}`)).json()) as Robot;
      got.push(detail.desired.story?.id);
    }
    return got;
  };
  for (const robot of ['r1', 'r2'])
    await request.put(`/api/v1/robots/${robot}/labels`, { data: { labels: { hall: 'day' } } });
  const before = await assigned();
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' });
  await page.goto('/');
  await live(page);

  // Write.
  await hand.open('Stories');
  await hand.press(button('New story'));
  await hand.write(page.getByLabel('Name that people see'), story);
  await hand.press(button('Create'));
  await expect(page).toHaveURL(new RegExp(`/stories/${story}$`));
  for (const [id, name] of [
    ['welcome', 'Welcome'],
    ['take-a-bow', 'Take a bow'],
    ['hello-there', 'Hello there'],
  ]) {
    const search = page.getByRole('searchbox', { name: 'Search' });
    await expect(search.or(button('Add')).first()).toBeVisible();
    if (await button('Add').isVisible()) await hand.press(button('Add')); // on a narrow screen
    await hand.write(search, id!);
    await hand.press(button(`Add ${name} ${id}`));
    await expect(page.getByRole('dialog')).toBeHidden();
  }
  const rows = page.locator('[data-item]');
  await expect(rows).toHaveText(['Welcomewelcome', 'Take a bowtake-a-bow', 'Hello therehello-there']);
  await hand.moveUp(rows.nth(2), button('Move Hello there up'));
  await expect(rows).toHaveText(['Welcomewelcome', 'Hello therehello-there', 'Take a bowtake-a-bow']);
  await expect(page.getByText('No problems')).toBeVisible();
  await expect(page.getByTestId('save-state')).toContainText('Draft saved');

  // Try: the robot performs by itself; the dialog leads to manual mode and back.
  await hand.press(button('Try on a robot…'));
  const dialog = page.getByRole('dialog');
  await hand.choose(dialog.getByRole('combobox', { name: 'Robot that performs it' }), 'r3');
  await hand.press(dialog.getByRole('button', { name: 'Set it to manual mode' }));
  const enable = dialog.getByRole('button', { name: 'Let it move' });
  const perform = dialog.getByRole('button', { name: 'Perform' });
  await expect(enable.or(perform.and(page.locator(':enabled')))).toBeVisible();
  if (await enable.isVisible()) await hand.press(enable);
  await expect(perform).toBeEnabled();
  await expect(dialog.getByTestId('what-it-does')).toContainText(`r3 moves. It performs “${story}” once`);
  await hand.press(perform);
  await expect(dialog.getByText('The robot performs it. Closing')).toBeVisible();
  await expect(dialog.getByText('The robot says that it has performed it. Control is given back.')).toBeVisible({
    timeout: 60_000,
  });
  await hand.press(dialog.getByRole('button', { name: 'Back to automatic' }));
  await hand.press(dialog.getByRole('button', { name: 'Close' }).last());
  await expect(dialog).toBeHidden();

  // Publish.
  await hand.press(button('Publish…'));
  await hand.write(page.getByLabel('What changed (note)'), 'first version');
  await hand.press(button('Publish'));
  await expect(page.getByText(`${story} is published as revision 1`)).toBeVisible();

  // Assign to two robots.
  await hand.press(button('Assign to robots…'));
  await hand.choose(page.getByRole('combobox', { name: 'Or a group of robots' }), 'hall=day (2 robots)');
  await expect(page.getByTestId('dry-run')).toContainText('2 of 2');
  await hand.write(page.getByLabel('Reason, for the audit'), 'tried on r3');
  await hand.press(button('Assign to 2 robots'));
  await expect(page.getByTestId('progress')).toContainText(/2\s*has it/, { timeout: 60_000 });
  expect(await assigned()).toEqual([story, story]);

  // And back.
  await hand.press(page.getByRole('region', { name: 'Progress' }).getByRole('button', { name: 'Revert…' }));
  await expect(page.getByTestId('back')).toContainText(/revert to .*r1.*r2/s); // each to its own story
  await hand.press(button('Revert on 2 robots'));
  await expect.poll(assigned).toEqual(before);
}

test.describe('an author', () => {
  test.setTimeout(240_000);

  const hands = inShard('keyboard', 'tablet', 'phone');
  if (hands.includes('keyboard'))
    test('does the whole day by keyboard alone', async ({ page, request }) => {
      const neverPointed = await withoutPointer(page);
      await day(page, request, keyboard(page), fresh('by-keyboard'));
      await neverPointed();
    });

  test.describe('at a tablet', () => {
    test.use({ hasTouch: true, isMobile: true, viewport: { width: 820, height: 1180 } });
    if (hands.includes('tablet'))
      test('does the whole day by touch alone, without a drag', async ({ page, request }) => {
        await day(page, request, touch(page), fresh('by-touch'));
      });
  });

  test.describe('at a phone', () => {
    test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } });
    if (hands.includes('phone'))
      test('does the same by touch alone', async ({ page, request }) => {
        await day(page, request, touch(page), fresh('by-phone'));
      });
  });
});
