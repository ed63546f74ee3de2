import type { Page } from '@playwright/test';

import {
  accessible,
  colors,
  expect,
  fresh,
  givePassword,
  inShard,
  live,
  signIn,
  signInAsAdmin,
  tabTo,
  test,
} from './world';

const words = 'a boat of blue paper';

const form = (page: Page) => page.getByRole('heading', { name: 'Sign in' });

test('the printed password opens the page that was asked for', async ({ page, world }) => {
  await signInAsAdmin(page, world, '/robots?text=r2');
  await expect(page).toHaveURL(/\/robots\?text=r2$/);
  await live(page);
  await expect(page.getByRole('link', { name: 'r2', exact: true })).toBeVisible();
  await expect(page.getByTestId('dev')).toHaveCount(0);
});

test('nothing is shown without a sign-in, and nothing happens', async ({ page, request }) => {
  for (const path of ['/', '/robots/r1', '/admin', '/audit']) {
    await page.goto(path);
    await expect(form(page)).toBeVisible();
    await expect(page).toHaveURL(`/sign-in?next=${encodeURIComponent(path)}`);
  }
  const stop = await request.post('/api/v1/stops', { data: { selector: { all: true } } });
  expect(stop.status()).toBe(401);
});

test('a wrong password is refused with the way out', async ({ page }) => {
  await page.goto('/sign-in');
  await signIn(page, 'admin', 'not the password');
  await expect(page.getByRole('alert')).toContainText('an administrator can give you another password');
  await expect(page.getByRole('textbox', { name: 'Password', exact: true })).toBeEmpty();
  await expect(page).toHaveURL(/\/sign-in/);
});

test('signing in and out by keyboard alone', async ({ page, world }) => {
  await page.goto('/events');
  await expect(page.getByRole('textbox', { name: 'User' })).toBeFocused();
  await page.keyboard.type('admin');
  await tabTo(page, page.getByRole('textbox', { name: 'Password', exact: true }));
  await page.keyboard.type(await world.control('password'));
  await page.keyboard.press('Enter');
  await live(page);
  await tabTo(page, page.getByRole('button', { name: 'User and settings' }));
  await page.keyboard.press('Enter');
  const out = page.getByRole('menuitem', { name: 'Sign out' });
  await expect(out).toBeVisible();
  await expect(async () => {
    await page.keyboard.press('ArrowDown');
    await expect(out).toBeFocused({ timeout: 200 });
  }).toPass();
  await page.keyboard.press('Enter');
  await expect(form(page)).toBeVisible();
  await page.goto('/');
  await expect(form(page)).toBeVisible();
});

test('a session that ends leads to the sign-in, and back to the same page', async ({ page, world }) => {
  const anna = fresh('anna');
  await world.cli('user', 'add', anna, '--role', 'operator', '--no-password');
  await givePassword(world, anna, words);
  await page.goto('/robots/r1/events');
  await signIn(page, anna, words);
  await live(page);
  const other = `${words} again`;
  await givePassword(world, anna, other);
  await expect(form(page)).toBeVisible();
  await signIn(page, anna, other);
  await expect(page).toHaveURL(/\/robots\/r1\/events$/);
  await live(page);
});

test('a disabled user is out at once, and cannot come back', async ({ page, world }) => {
  const ben = fresh('ben');
  await world.cli('user', 'add', ben, '--role', 'viewer', '--no-password');
  await givePassword(world, ben, words);
  await page.goto('/robots');
  await signIn(page, ben, words);
  await live(page);
  await world.cli('user', 'disable', ben);
  await expect(form(page)).toBeVisible();
  await signIn(page, ben, words);
  await expect(page.getByRole('alert')).toBeVisible();
  await expect(page).toHaveURL(/\/sign-in/);
});

test('a person changes their own password, and their other session ends', async ({ page, browser, world }) => {
  const carla = fresh('carla');
  await world.cli('user', 'add', carla, '--role', 'viewer', '--no-password');
  await givePassword(world, carla, words);
  const elsewhere = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage();
  for (const each of [page, elsewhere]) {
    await each.goto('/robots');
    await signIn(each, carla, words);
    await live(each);
  }
  await page.getByRole('button', { name: 'User and settings' }).click();
  await page.getByRole('menuitem', { name: 'Change password' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Present password' }).fill('not mine at all');
  await dialog.getByRole('textbox', { name: 'New password', exact: true }).fill('a ship of red paper');
  await dialog.getByRole('textbox', { name: 'New password, once more' }).fill('a ship of red pepper');
  await expect(dialog.getByText('This differs from the new password.')).toBeVisible();
  await expect(dialog.getByRole('button', { name: 'Change password' })).toBeDisabled();
  await dialog.getByRole('textbox', { name: 'New password, once more' }).fill('a ship of red paper');
  await dialog.getByRole('button', { name: 'Change password' }).click();
  await expect(dialog.getByRole('alert')).toContainText('this is not your password');
  await accessible(page);
  await dialog.getByRole('textbox', { name: 'Present password' }).fill(words);
  await dialog.getByRole('button', { name: 'Change password' }).click();
  await expect(dialog).toBeHidden();
  await expect(form(elsewhere)).toBeVisible();
  await expect(page.getByTestId('connection')).toHaveText('Live');
  await signIn(elsewhere, carla, 'a ship of red paper');
  await live(elsewhere);
  await elsewhere.context().close();
});

test('a stolen session does nothing for a page of another origin', async ({ page, world, baseURL }) => {
  await signInAsAdmin(page, world, '/robots');
  await live(page);
  await page.context().route('https://evil.example/**', (r) => r.fulfill({ contentType: 'text/html', body: '<p>' }));
  const evil = await page.context().newPage();
  await evil.goto('https://evil.example/');
  await evil.evaluate(
    (at) =>
      fetch(`${at}/api/v1/stops`, {
        method: 'POST',
        mode: 'no-cors',
        credentials: 'include',
        body: '{"selector":{"all":true}}',
      }).catch(() => {}),
    baseURL!,
  );
  // Even with the cookie itself fleetd refuses a request that another origin makes.
  const cookie = (await page.context().cookies()).map((c) => `${c.name}=${c.value}`).join('; ');
  const sent = await page.request.post('/api/v1/stops', {
    headers: { cookie, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    data: { selector: { all: true } },
  });
  expect(sent.status()).toBe(403);
  expect(JSON.parse(await world.cli('stop', 'list', '-o', 'json')).stops).toEqual([]);
});

for (const scheme of inShard('light' as const, 'dark' as const)) {
  test(`the sign-in is accessible in ${scheme}`, async ({ page }) => {
    await colors(page, scheme);
    await page.goto('/sign-in');
    await expect(form(page)).toBeVisible();
    await accessible(page);
    await signIn(page, '<img src=x onerror="window.xss=1">', 'not the password');
    await expect(page.getByRole('alert')).toBeVisible();
    await accessible(page);
    expect(await page.evaluate(() => (window as unknown as { xss?: number }).xss)).toBeUndefined();
  });
}

// The last one: this address has to wait afterwards.
test('after many wrong passwords an address has to wait', async ({ page, request }) => {
  await page.goto('/sign-in');
  // fleetd forgets a wrong password every ten seconds: a slow machine needs more of them until one is
  // refused unread, and may have to press once more.
  await expect(async () => {
    const wrong = () => request.post('/api/v1/session', { data: { user: 'admin', password: 'not the password' } });
    for (let n = 0; n < 30 && (await wrong()).status() !== 429; n++);
    await signIn(page, 'admin', 'not the password');
    await expect(page.getByRole('alert')).toContainText('wait a minute', { timeout: 5000 });
  }).toPass({ timeout: 80_000 });
});
