import { accessible, expect, test } from './world';

// The language of the browser chooses that of the console.
test.use({ locale: 'fr-CH' });

test('in a French browser Overview, a robot and its manual control are French', async ({ page, world }) => {
  await page.goto('/');
  await expect(page.getByTestId('connection')).toHaveText('En direct');
  await expect(page.locator('html')).toHaveAttribute('lang', 'fr');
  await expect(page.getByRole('heading', { name: 'Vue d’ensemble' })).toBeVisible();
  await expect(page.getByTestId('tone-good').first()).toHaveText('Les 3 robots jouent.');
  await expect(page.getByRole('button', { name: 'Arrêt (logiciel)' })).toBeVisible();
  await accessible(page);

  await world.cli('auto', 'pause', 'r1', '--wait');
  await page.goto('/robots/r1');
  await expect(page.getByText('Il ne joue pas')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Continuer' }).first()).toBeVisible();
  await expect(page.getByRole('tab', { name: 'Maintenant' })).toBeVisible();
  await world.cli('auto', 'continue', 'r1', '--wait');
  await expect(page.getByText('Il joue.')).toBeVisible();

  await page.goto('/robots/r1/manual');
  await expect(page.getByRole('heading', { name: 'Conduite manuelle de r1' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Passer en manuel' })).toBeVisible();
  await expect(page.getByText('Prendre le contrôle').first()).toBeVisible();
});

test('the menu of the person offers Français, and the browser keeps it', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByTestId('connection')).toHaveText('En direct');
  await page.getByRole('button', { name: 'Utilisateur et réglages' }).click();
  await page.getByText('Deutsch').click();
  await expect(page.locator('html')).toHaveAttribute('lang', 'de');
  await page.getByText('Français').click();
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Vue d’ensemble' })).toBeVisible();
});
