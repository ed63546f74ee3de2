import { defineConfig } from '@playwright/test';

// A test of Go starts the world that the specs run in (deploy/e2e, make specs). Against a
// demo they run with TROUPE_URL=http://127.0.0.1:8080, but for those that break the world.
export default defineConfig({
  testDir: 'e2e',
  workers: 1, // specs change the robots of their world
  timeout: 90_000,
  expect: { timeout: 20_000 },
  forbidOnly: true,
  use: {
    ignoreHTTPSErrors: true, // a world with certificates has its own authority
    baseURL: process.env.TROUPE_URL ?? 'http://127.0.0.1:8080',
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu'],
    },
  },
});
