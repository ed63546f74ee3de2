import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import '@mantine/spotlight/styles.css';
import './main.css';

import { DirectionProvider, MantineProvider } from '@mantine/core';
import { ModalsProvider } from '@mantine/modals';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { setNonce } from 'get-nonce';
import { createRoot } from 'react-dom/client';
import { createBrowserRouter, RouterProvider } from 'react-router';

import { addressOf, base } from './base';
import { problemOf } from './api/problem';
import { startStream } from './live/stream';
import { bare, routes } from './screens/table';
import { chosenDensity, showDensity } from './shell/density';
import { chosenDirection } from './shell/direction';
import { keepPressOnTarget } from './shell/press';
import { Toasts } from './shell/Toasts';
import { colorSchemes, contrast, theme } from './theme';

// fleetd puts a nonce of its own into each page; the style elements that Mantine makes carry it.
const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce;
// ... as do those that keep the page from scrolling behind a dialog.
if (nonce) setNonce(nonce);

// fleetd encodes the robots while the page is still being made. On a bare page, such as the sign-in, it is not
// started; Shell starts it later.
if (!bare.some((s) => addressOf(s.path) === window.location.pathname)) startStream();

document.documentElement.dir = chosenDirection();
showDensity(chosenDensity());
keepPressOnTarget();

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A refusal stays a refusal; only a fleetd that does not answer is asked again.
      retry: (count, error) => problemOf(error).status === 0 && count < 3,
    },
  },
});

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <DirectionProvider initialDirection={chosenDirection()} detectDirection={false}>
      <MantineProvider
        theme={theme}
        defaultColorScheme="auto"
        colorSchemeManager={colorSchemes}
        getStyleNonce={() => nonce ?? ''}
        cssVariablesResolver={contrast}
      >
        <QueryClientProvider client={queries}>
          <ModalsProvider>
            <Toasts />
            <RouterProvider router={createBrowserRouter(routes, { basename: base || '/' })} />
          </ModalsProvider>
        </QueryClientProvider>
      </MantineProvider>
    </DirectionProvider>
  </StrictMode>,
);
