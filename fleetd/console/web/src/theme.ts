import { createTheme, type CSSVariablesResolver, DEFAULT_THEME, localStorageColorSchemeManager } from '@mantine/core';

import { texts } from './text/language';

const useThemeTexts = texts({ close: 'Close' }, { close: 'Schließen' }, { close: 'Fermer' });

export const theme = createTheme({
  primaryColor: 'indigo',
  // Links and buttons have a contrast of at least 4.5:1 in both schemes.
  primaryShade: { light: 7, dark: 8 },
  // One accent: what is under way or only said has the color of what can be pressed.
  colors: { blue: DEFAULT_THEME.colors.indigo, violet: DEFAULT_THEME.colors.indigo },
  // Text is 400, what names or is pressed 500; only headings are 600.
  fontWeights: { regular: '400', medium: '500', bold: '500' },
  headings: { fontWeight: '600' },
  defaultRadius: 'md',
  autoContrast: true,
  respectReducedMotion: true,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  components: {
    Tooltip: {
      defaultProps: { withArrow: true, multiline: true, maw: 320, events: { hover: true, focus: true, touch: true } },
    },
    Button: { defaultProps: { size: 'sm' } },
    // Before it has its place a list is at the top of the document, where a tablet would scroll to it.
    Popover: { defaultProps: { floatingStrategy: 'fixed' } },
    Notification: {
      classNames: (_: unknown, { color }: { color?: unknown }) => ({ root: color === 'red' ? 'toast-error' : '' }),
      defaultProps: () => ({ closeButtonProps: { 'aria-label': useThemeTexts.now().close } }),
    },
  },
});

export const colorSchemes = localStorageColorSchemeManager({ key: 'troupe.colors' });

const colors = [
  'red',
  'pink',
  'grape',
  'violet',
  'indigo',
  'blue',
  'cyan',
  'teal',
  'green',
  'lime',
  'yellow',
  'orange',
  'gray',
];

/** Text in the light variant of each color, dimmed text, that of what is not possible now, placeholders, which name the fields of filters, and links, with a contrast of at least 4.5:1 in both schemes; and marks, such as the frame of what has the focus, with one of at least 3:1. */
export const contrast: CSSVariablesResolver = () => {
  const light: Record<string, string> = {
    '--mantine-color-dimmed': 'var(--mantine-color-gray-8)',
    '--mantine-color-placeholder': 'var(--mantine-color-gray-7)',
    '--mantine-color-anchor': 'var(--mantine-color-indigo-8)',
    '--mantine-color-disabled-color': '#5c636a',
    '--mark': 'var(--mantine-color-indigo-7)',
  };
  const dark: Record<string, string> = {
    '--mantine-color-dimmed': 'var(--mantine-color-dark-0)',
    '--mantine-color-placeholder': 'var(--mantine-color-dark-1)',
    '--mantine-color-anchor': 'var(--mantine-color-indigo-3)',
    '--mantine-color-disabled-color': '#a0a0a0',
    '--mark': 'var(--mantine-color-indigo-4)',
    '--mantine-color-gray-light': 'var(--mantine-color-dark-5)',
  };
  for (const c of colors) {
    light[`--mantine-color-${c}-light-color`] = `color-mix(in srgb, var(--mantine-color-${c}-9) 65%, black)`;
    dark[`--mantine-color-${c}-light-color`] = `var(--mantine-color-${c}-2)`;
  }
  return { variables: {}, light, dark };
};
