import { expect, live, test } from './world';

test.describe('by touch, on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test('a person with a phone finds the robot that does not perform, sees why, and gets it performing again', async ({
    page,
    world,
  }) => {
    await world.cli('stop', 'r2', '--why', 'a child on the stage', '--by', 'nora');
    await page.goto('/robots');
    await live(page);
    // It stands out in the list, and its name leads to its page.
    await expect(page.getByText('stopped: waiting for release').first()).toBeVisible();
    await page.locator('a[href="/robots/r2"]').first().tap();

    const way = page.getByTestId('way-out');
    await expect(way).toContainText('a child on the stage');
    await expect(way).toContainText('nora');
    await way.getByRole('button', { name: 'Release…' }).tap();
    await page.getByLabel('Why may it move again?').fill('the child is with its parents');
    await page.getByRole('button', { name: 'Release', exact: true }).tap();

    await expect(way).toContainText('It may not move');
    await way.getByRole('button', { name: 'Enable' }).tap();
    await expect(way).toContainText('It performs.');
    await expect(page.getByTestId('way-out').getByRole('button')).toHaveCount(0);
    expect(await world.cli('robot', 'get', 'r2')).toContain('ENABLED');
  });
});

test('by keyboard alone, a robot that was sent to manual and paused performs again', async ({ page, world }) => {
  await world.cli('auto', 'pause', 'r3', '--wait', '--by', 'otto', '--why', 'a speech');
  await world.cli('mode', 'set', 'mnl', 'r3', '--wait');
  await page.goto('/');
  await live(page);
  await page.keyboard.press('Control+k');
  await expect(page.getByPlaceholder('Robot, page or command')).toBeFocused();
  await page.keyboard.type('r3');
  await expect(page.getByRole('dialog').getByText('in manual control')).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/robots\/r3$/);
  const way = page.getByTestId('way-out');
  await expect(way).toContainText('It is in');
  const press = async (name: string) => {
    const button = way.getByRole('button', { name });
    await expect(button).toBeVisible();
    for (let i = 0; i < 60 && !(await button.evaluate((b) => b === document.activeElement)); i++)
      await page.keyboard.press('Tab');
    await expect(button).toBeFocused();
    await page.keyboard.press('Enter');
  };
  await press('Switch to automatic');
  await expect(way).toContainText('otto');
  await press('Continue');
  await expect(way).toContainText('It performs.');
});
