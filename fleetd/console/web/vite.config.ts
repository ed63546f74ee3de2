import type { ClientRequest, IncomingMessage } from 'node:http';

import react from '@vitejs/plugin-react';
import type { ProxyOptions } from 'vite';
import { defineConfig } from 'vitest/config';

// fleetd that `npm run dev` and its proxy show.
const fleetd = process.env.FLEETD ?? 'http://127.0.0.1:8080';

// fleetd takes no change and no manual drive from a page of another origin. What the page of the dev
// server sends itself is its own; what another page sends through the proxy stays another's.
const asOfFleetd = (out: ClientRequest, { headers }: IncomingMessage) => {
  if (headers.origin === `http://${headers.host}`) out.setHeader('origin', new URL(fleetd).origin);
};
const proxied: ProxyOptions = {
  target: fleetd,
  changeOrigin: true,
  ws: true,
  configure: (proxy) => {
    proxy.on('proxyReq', asOfFleetd);
    proxy.on('proxyReqWs', asOfFleetd);
  },
};

export default defineConfig({
  // Files of the build find each other wherever it is; fleetd writes into the page where that is.
  base: './',
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
  server: { proxy: { '/api': proxied } },
  test: { include: ['src/**/*.test.ts'] },
});
