import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

// fleetd that `npm run dev` and its proxy show.
const fleetd = process.env.FLEETD ?? 'http://127.0.0.1:8080';

export default defineConfig({
  plugins: [react()],
  // fleetd replaces the placeholder in index.html with a nonce of its own for each request.
  html: { cspNonce: 'CSP_NONCE' },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 700,
    modulePreload: { polyfill: false },
    license: { fileName: 'licences-npm.json' },
  },
  server: { proxy: { '/api': { target: fleetd, changeOrigin: true, ws: true } } },
  test: { include: ['src/**/*.test.ts'] },
});
