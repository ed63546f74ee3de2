import type { Page } from '@playwright/test';

import { expect, live, middleOf, test, touchOnce } from './world';

// What robots report may arrive between the moment in which a person sees a thing and that in which they press it.

test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

const card = (page: Page, id: string) => page.locator(`[data-robot="${id}"]`).getByRole('button');

/** Puts a finger on a card, and returns what lifts it. */
async function finger(page: Page, on: string): Promise<() => Promise<unknown>> {
  const devtools = await page.context().newCDPSession(page);
  const touchPoints = [await middleOf(card(page, on))];
  await devtools.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints });
  return () => devtools.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
}

test('no card moves under a finger, and the order is put right afterwards', async ({ page, world }) => {
  await page.clock.install();
  await page.goto('/robots?sort=presence');
  await live(page);
  const first = page.getByRole('listitem').first();
  await expect(page.getByText('online')).toHaveCount(3);
  await expect(first).toHaveAttribute('data-robot', 'r1');
  const lift = await finger(page, 'r1');
  await world.control('robot/cut?robot=r3');
  await expect(card(page, 'r3')).toContainText('not connected');
  await page.clock.runFor(1000); // the list is put in order twice a second
  await expect(first).toHaveAttribute('data-robot', 'r1');
  await lift();
  await expect(page.getByRole('dialog', { name: 'Robot r1' })).toBeVisible();
  await page.keyboard.press('Escape');
  await page.clock.runFor(5000);
  await expect(first).toHaveAttribute('data-robot', 'r3');
  await world.control('robot/join?robot=r3');
});

test('a card that has just moved takes no tap, which was meant for the one before it', async ({ page, world }) => {
  await page.goto('/robots?sort=presence');
  await live(page);
  await expect(page.getByText('online')).toHaveCount(3);
  // What a finger meets in the moment in which the order changes.
  await page.evaluate(() => {
    const list = document.querySelector('[data-testid=robots]')!;
    new MutationObserver(() => {
      const [first] = list.querySelectorAll('[data-robot]');
      if (first?.getAttribute('data-robot') !== 'r2' || document.body.dataset.met) return;
      document.body.dataset.met = getComputedStyle(first.querySelector('button')!).pointerEvents;
    }).observe(list, { childList: true, subtree: true, attributes: true });
  });
  await world.control('robot/cut?robot=r2');
  await expect(page.locator('body')).toHaveAttribute('data-met', 'none');
  await touchOnce(card(page, 'r2'));
  await expect(page.getByRole('dialog', { name: 'Robot r2' })).toBeVisible();
  await world.control('robot/join?robot=r2');
});

test('a click counts for the card on which the press began', async ({ page }) => {
  await page.goto('/robots');
  await live(page);
  await expect(card(page, 'r2')).toBeVisible();
  /** Reports whether the click arrives where the press ended. */
  const press = (began: string, ended: string) =>
    page.evaluate(
      ([began, ended]) => {
        const at = (id: string) => document.querySelector(`[data-robot="${id}"] button`)!;
        let arrived = false;
        at(ended!).addEventListener('click', () => (arrived = true), { once: true });
        at(began!).dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, pointerType: 'touch' }));
        window.dispatchEvent(new PointerEvent('pointerup', { pointerType: 'touch' }));
        at(ended!).dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, detail: 1 }));
        return arrived;
      },
      [began, ended],
    );
  expect(await press('r1', 'r2')).toBe(false);
  expect(await press('r3', 'r3')).toBe(true);
  await expect(page.getByRole('dialog')).toHaveAccessibleName('Robot r3');
});

test('the dialog of a release stays while the robot comes and goes, and the next step takes no second tap', async ({
  page,
  world,
}) => {
  await world.cli('stop', 'r2', '--why', 'a child on the stage', '--by', 'nora');
  await page.goto('/robots/r2');
  await live(page);
  const way = page.getByTestId('way-out');
  await touchOnce(way.getByRole('button', { name: 'Release…' }));
  const why = page.getByLabel('Why may it move again?');
  await why.fill('the child is with its parents');
  await world.control('robot/cut?robot=r2');
  await expect(page.getByTestId('away')).toBeAttached();
  await world.control('robot/join?robot=r2');
  await expect(page.getByTestId('away')).toHaveCount(0);
  await expect(why).toHaveValue('the child is with its parents');
  await page.evaluate(() => {
    new MutationObserver(() => {
      const next = document.querySelector(
        '[data-testid=way-out] button[data-line*="safety enable"]:not([aria-disabled])',
      );
      if (!next || document.body.dataset.met) return;
      document.body.dataset.met = getComputedStyle(next).pointerEvents;
    }).observe(document.getElementById('main')!, { childList: true, subtree: true, attributes: true });
  });
  await touchOnce(page.getByRole('button', { name: 'Release', exact: true }));
  await expect(page.locator('body')).toHaveAttribute('data-met', 'none');
  await touchOnce(way.getByRole('button', { name: 'Let it move' }));
  await expect.poll(() => world.cli('robot', 'get', 'r2')).toContain('ENABLED');
});
