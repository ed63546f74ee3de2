import type { APIRequestContext, Locator, Page } from '@playwright/test';

import { expect, live, test } from './world';

/** How a person does a thing on the page: with the keyboard alone, or by touch alone. */
interface Hand {
  /** Goes to a button, a link or a field, and presses it. */
  press(what: Locator): Promise<void>;
  /** Goes to a field and replaces what is in it. */
  write(field: Locator, text: string): Promise<void>;
  /** Chooses an option of a list. */
  choose(list: Locator, option: string): Promise<void>;
  /** Picks an entry of an open menu. */
  pick(item: Locator): Promise<void>;
  /** Opens a page of the navigation. */
  open(page: 'Stories'): Promise<void>;
  /** Puts the last row of the list one place up. */
  moveUp(row: Locator, button: Locator): Promise<void>;
}

/** A name that no other run has used. */
const fresh = (what: string) => `${what}-${Date.now().toString(36)}`;

function keyboard(page: Page): Hand {
  const focused = (what: Locator) => what.evaluate((e) => e === document.activeElement).catch(() => false);
  /** Tabs until the element has the focus: nothing may be out of reach. */
  const reach = async (what: Locator) => {
    await expect(what).toBeVisible();
    for (let n = 0; n < 250; n++) {
      if (await focused(what)) return;
      await page.keyboard.press(n < 125 ? 'Tab' : 'Shift+Tab');
    }
    throw new Error(`the keyboard does not reach ${String(what)}`);
  };
  return {
    press: async (what) => {
      await reach(what);
      await page.keyboard.press('Enter');
    },
    write: async (field, text) => {
      await reach(field);
      await page.keyboard.press('Control+a');
      await page.keyboard.type(text);
    },
    choose: async (list, option) => {
      await reach(list);
      await page.keyboard.press('Control+a');
      await page.keyboard.type(option);
      await expect(page.getByRole('option', { name: option, exact: true })).toBeVisible();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
    },
    pick: async (item) => {
      await expect(item).toBeVisible();
      for (let n = 0; n < 20 && !(await focused(item)); n++) await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
    },
    open: async () => {
      await page.keyboard.press('g');
      await page.keyboard.press('t');
    },
    moveUp: async (row) => {
      await reach(row);
      await page.keyboard.press('Alt+ArrowUp');
    },
  };
}

function touch(page: Page): Hand {
  return {
    press: (what) => what.tap(),
    write: async (field, text) => {
      await field.tap();
      await field.fill(text); // what the keyboard on the screen types
    },
    choose: async (list, option) => {
      await list.tap();
      await page.getByRole('option', { name: option, exact: true }).tap();
    },
    pick: (item) => item.tap(),
    open: async (name) => {
      const menu = page.getByRole('button', { name: 'Menu' });
      if (await menu.isVisible()) await menu.tap();
      await page.getByRole('link', { name, exact: true }).tap();
    },
    moveUp: (_, button) => button.tap(),
  };
}

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
  await expect(rows).toHaveText(['welcome', 'take-a-bow', 'hello-there']);
  await hand.moveUp(rows.nth(2), button('Move hello-there up'));
  await expect(rows).toHaveText(['welcome', 'hello-there', 'take-a-bow']);
  await expect(page.getByText('No problems')).toBeVisible();
  await expect(page.getByTestId('save-state')).toContainText('Draft saved');

  // Try: the robot performs by itself; the dialog leads to manual mode and back.
  await hand.press(button('Try on a robot…'));
  const dialog = page.getByRole('dialog');
  await hand.choose(dialog.getByRole('combobox', { name: 'Robot' }), 'r3');
  await hand.press(dialog.getByRole('button', { name: 'Set it to manual mode (mnl)' }));
  const enable = dialog.getByRole('button', { name: 'Enable it: it may move' });
  const perform = dialog.getByRole('button', { name: 'Perform' });
  await expect(enable.or(perform.and(page.locator(':enabled')))).toBeVisible();
  if (await enable.isVisible()) await hand.press(enable);
  await expect(perform).toBeEnabled();
  await hand.press(perform);
  await expect(dialog.getByText('The robot performs it.')).toBeVisible();
  await expect(dialog.getByText('The robot says that it has performed it.')).toBeVisible({ timeout: 60_000 });
  await hand.press(dialog.getByRole('button', { name: 'Set it back to automatic mode (ato)' }));
  await hand.press(dialog.getByRole('button', { name: 'Close' }).last());
  await expect(dialog).toBeHidden();

  // Publish.
  await hand.press(button('Publish…'));
  await hand.write(page.getByLabel('What changed (note)'), 'first version');
  await hand.press(button('Publish'));
  await expect(page.getByText(`${story} is published as revision 1`)).toBeVisible();

  // Assign to two robots.
  await hand.press(button('More'));
  await hand.pick(page.getByRole('menuitem', { name: 'Assign to robots…' }));
  await hand.choose(page.getByRole('combobox', { name: 'To whom' }), 'hall=day');
  await expect(page.getByTestId('dry-run')).toContainText('2 of 2');
  await hand.write(page.getByLabel('Reason, for the audit'), 'tried on r3');
  await hand.press(button('Assign to 2 robots'));
  await expect(page.getByTestId('progress')).toContainText(/2\s*has it/, { timeout: 60_000 });
  expect(await assigned()).toEqual([story, story]);

  // And back.
  await hand.press(button('Back to what they had before'));
  await expect(page.getByTestId('back')).toContainText('2 go back to');
  await hand.press(button('Take 2 robots back'));
  await expect.poll(assigned).toEqual(before);
}

test.describe('an author', () => {
  test.setTimeout(240_000);

  test('does the whole day by keyboard alone', async ({ page, request }) => {
    await page.addInitScript(() => {
      // The pointer would be a way around.
      for (const kind of ['pointerdown', 'mousedown'])
        window.addEventListener(kind, () => Object.assign(window, { pointed: true }), true);
    });
    await day(page, request, keyboard(page), fresh('by-keyboard'));
    expect(await page.evaluate(() => 'pointed' in window)).toBe(false);
  });

  test.describe('at a tablet', () => {
    test.use({ hasTouch: true, isMobile: true, viewport: { width: 820, height: 1180 } });
    test('does the whole day by touch alone, without a drag', async ({ page, request }) => {
      await day(page, request, touch(page), fresh('by-touch'));
    });
  });

  test.describe('at a phone', () => {
    test.use({ hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } });
    test('does the same by touch alone', async ({ page, request }) => {
      await day(page, request, touch(page), fresh('by-phone'));
    });
  });
});
