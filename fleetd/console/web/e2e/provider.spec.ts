import type { Page } from '@playwright/test';

import { accessible, colors, expect, fresh, inShard, live, signInAsAdmin, test, type World } from './world';

const is = (world: World, name: string, ...groups: string[]) =>
  world.control(`issuer/is?${new URLSearchParams([['name', name], ...groups.map((g) => ['group', g])])}`);

const button = (page: Page) => page.getByRole('link', { name: 'Sign in with Museum' });

async function signInWithMuseum(page: Page, path: string) {
  await page.goto(path);
  await button(page).click();
}

async function account(page: Page) {
  await page.getByRole('button', { name: 'User and settings' }).click();
  await page.getByRole('menuitem', { name: 'My account' }).click();
  await expect(page.getByRole('heading', { name: 'My account' })).toBeVisible();
}

test('the button of the provider signs a person in, with the rights that their groups give', async ({
  page,
  browser,
  world,
}) => {
  await is(world, 'anna', 'guides', 'choir');
  await signInWithMuseum(page, '/robots?text=r');
  await expect(page).toHaveURL(/\/robots\?text=r$/);
  await live(page);
  // An operator of the site museum: r3 stands elsewhere.
  await expect(page.getByRole('link', { name: 'r1', exact: true })).toBeVisible();
  await expect(page.getByRole('link', { name: 'r3', exact: true })).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'Administration' })).toHaveCount(0);
  await page.getByRole('button', { name: 'User and settings' }).click();
  await expect(page.getByRole('menuitem', { name: 'Change password' })).toHaveCount(0);
  await page.keyboard.press('Escape');
  await account(page);
  const me = page.getByRole('table', { name: 'My account' });
  await expect(me).toContainText('operator');
  await expect(me).toContainText('Museum');
  await expect(me).toContainText('You have no password here');

  // Another person of the same provider has other rights: stories, but no site.
  await is(world, 'ben', 'writers');
  const other = await (await browser.newContext()).newPage();
  await signInWithMuseum(other, '/robots/r3');
  await live(other);
  await expect(other.getByRole('heading', { name: 'r3' })).toBeVisible();
  await account(other);
  await expect(other.getByRole('table', { name: 'My account' })).toContainText('author');
  await other.context().close();
});

test('each refusal of the provider is a sentence with the way out, and nobody is signed in', async ({
  page,
  world,
}) => {
  const cases: [string, () => Promise<unknown>, RegExp][] = [
    ['no role', () => is(world, 'mia', 'choir'), /none of your groups has a role here\. Ask an administrator/],
    ['not allowed', () => is(world, 'eve', 'guides'), /may not use this console\. Ask an administrator/],
    ['denied', () => world.control('issuer/denies'), /cancelled or denied at your sign-in provider\. Try again/],
    [
      'away',
      async () => {
        await is(world, 'mia', 'guides');
        await world.control('issuer/away?away=true');
      },
      /sign-in provider does not answer\. Try again later/,
    ],
  ];
  for (const [what, prepare, sentence] of cases) {
    await prepare();
    await signInWithMuseum(page, '/sign-in?next=%2Fevents');
    await expect(page.getByRole('alert'), what).toContainText('You are not signed in');
    await expect(page.getByRole('alert'), what).toContainText(sentence);
    expect((await page.request.get('/api/v1/me')).status(), what).toBe(401);
  }
  await world.control('issuer/away?away=false');
  await is(world, 'mia', 'guides');
  await page.reload();
  await button(page).click();
  await expect(page).toHaveURL(/\/events$/);
});

test('a person without a password makes, uses and ends a token of their own', async ({
  page,
  playwright,
  baseURL,
  world,
}) => {
  await is(world, 'anna', 'guides');
  await signInWithMuseum(page, '/account');
  await page.getByLabel('What it is for').fill('a wall');
  await page.getByLabel('Valid for days').fill('3');
  await page.getByRole('combobox', { name: 'Roles of the token' }).click();
  await expect(page.getByRole('option')).toHaveText(['operator']);
  await page.getByRole('option', { name: 'operator' }).click();
  await page.getByRole('button', { name: 'Make a token' }).click();
  const secret = (await page
    .getByRole('status')
    .getByText(/^troupe_/)
    .textContent())!;
  const program = await playwright.request.newContext({
    baseURL,
    ignoreHTTPSErrors: true,
    extraHTTPHeaders: { Authorization: `Bearer ${secret}` },
  });
  expect(await (await program.get('/api/v1/me')).json()).toMatchObject({
    id: 'anna',
    roles: ['operator'],
    token: 'a wall',
  });
  expect((await program.get('/api/v1/users')).status()).toBe(403);
  // Only their own: the tokens of others are neither listed nor ended.
  const screen = fresh('screen');
  await world.cli('user', 'add', screen, '--role', 'viewer', '--no-password');
  await world.cli('token', 'create', 'foreign', '--user', screen);
  await page.reload();
  const mine = page.getByRole('table', { name: 'My tokens' });
  await expect(mine.getByRole('row')).toHaveCount(2);
  await expect(mine).not.toContainText('foreign');
  const foreign = JSON.parse(await world.cli('token', 'list', '--user', screen, '-o', 'json')).tokens[0].id;
  expect((await page.request.delete(`/api/v1/tokens/${foreign}`)).status()).toBe(403);
  await mine.getByRole('button', { name: 'End the token a wall' }).click();
  await expect(mine).toHaveCount(0);
  expect((await program.get('/api/v1/me')).status()).toBe(401);
});

test('the command line signs in through the browser, by keyboard alone', async ({ page, world }) => {
  await is(world, 'anna', 'guides');
  const address = await world.control('login/start');
  await page.goto(address); // nobody is signed in: the provider comes first
  await button(page).click();
  await expect(page.getByRole('heading', { name: 'Sign in the command line?' })).toBeVisible();
  const state = new URL(address).searchParams.get('state')!;
  await expect(page.getByTestId('letters')).toHaveText(`${state.slice(0, 4)} ${state.slice(4, 8)}`);
  await expect(page.getByText('what anna may do (operator) for 30 days')).toBeVisible();
  await accessible(page);
  await page.getByRole('button', { name: 'Allow', exact: true }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByText('The command line is signed in.')).toBeVisible();
  const printed = await world.control('login/end');
  expect(printed).toContain('exit 0');
  expect(printed).toMatch(/^anna at https/m);
  expect(printed).toContain('operator');
  await page.goto('/account');
  await expect(page.getByRole('table', { name: 'My tokens' })).toContainText('fleetd login on');

  // The same address a second time, and an answer that is not allowed.
  const again = await world.control('login/start');
  await page.goto(again);
  await page.getByRole('button', { name: 'Do not allow' }).click();
  await expect(page.getByText('The command line is not signed in.')).toBeVisible();
  expect(await world.control('login/end')).toContain('was not allowed on the page');
  await page.goto('/command-line?port=80&state=x');
  await expect(page.getByRole('alert')).toContainText('This address is not complete');
});

test('the command line signs in for a person with a password too', async ({ page, world }) => {
  const address = await world.control('login/start');
  await signInAsAdmin(page, world, address);
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await expect(page.getByText('The command line is signed in.')).toBeVisible();
  expect(await world.control('login/end')).toMatch(/^admin at https/m);
});

for (const scheme of inShard('light' as const, 'dark' as const))
  test(`the account is accessible in ${scheme}`, async ({ page, world }) => {
    await colors(page, scheme);
    await is(world, 'anna', 'guides');
    await page.goto('/account');
    await expect(button(page)).toBeVisible();
    await accessible(page);
    await button(page).click();
    await expect(page.getByRole('heading', { name: 'My tokens' })).toBeVisible();
    await accessible(page);
  });
