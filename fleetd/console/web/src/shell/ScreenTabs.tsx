import { Tabs } from '@mantine/core';
import type { ComponentType } from 'react';
import { useSearchParams } from 'react-router';

interface ScreenTabsProps<Name extends string> {
  label: string;
  /** What is shown below each tab; the first one is open if the address names none. */
  parts: Record<Name, ComponentType>;
  titles: Record<Name, string>;
}

/** The parts of a screen, of which one is open: the address names it. */
export function ScreenTabs<Name extends string>({ label, parts, titles }: ScreenTabsProps<Name>) {
  const [query, setQuery] = useSearchParams();
  const names = Object.keys(parts) as Name[];
  const open = names.find((n) => n === query.get('tab')) ?? names[0]!;
  return (
    <Tabs value={open} onChange={(v) => setQuery({ tab: v ?? '' }, { replace: true })} keepMounted={false}>
      <Tabs.List aria-label={label}>
        {names.map((n) => (
          <Tabs.Tab key={n} value={n} mih={44}>
            {titles[n]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {names.map((n) => {
        const Part: ComponentType = parts[n];
        return (
          <Tabs.Panel key={n} value={n} pt="md">
            <Part />
          </Tabs.Panel>
        );
      })}
    </Tabs>
  );
}
