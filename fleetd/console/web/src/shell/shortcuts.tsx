import { Code, Kbd, Modal, SimpleGrid, Table, Text } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { useNavigate } from 'react-router';

import { lineOf } from '../api/lines';
import { useMe } from '../api/me';
import { useWhomToStop } from './scope';
import { useKeysOfScreen } from './screenKeys';
import type { ScreensProps } from './screens';
import { stopRequest } from './stopping';
import { useShellTexts } from './text';

/** ms within which the second key of "g r" follows. */
const sequence = 1500;

const typing = (e: KeyboardEvent) =>
  e.target instanceof HTMLElement && (e.target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName));

/** Keys of the whole console: "g" and a letter opens a page, "s" goes to the stop, "n" to the button that skips an act, "?" lists them. */
export function Shortcuts({ screens }: ScreensProps) {
  const t = useShellTexts();
  const navigate = useNavigate();
  const me = useMe();
  const whom = useWhomToStop();
  const [open, setOpen] = useState(false);
  const ofScreen = useKeysOfScreen((s) => s.of);
  useEffect(() => {
    let goUntil = 0;
    /** A button focused by its shortcut letter. Only Enter presses it: any other character that is typed takes the focus away again. */
    let focusedByKey: HTMLElement | undefined;
    const focusByKey = (id: string) => {
      focusedByKey = document.getElementById(id) ?? undefined;
      focusedByKey?.focus();
    };
    const blurOnOtherKey = (e: KeyboardEvent) => {
      if (!focusedByKey || /^(Shift|Control|Alt|Meta)$/.test(e.key)) return;
      if (e.key.length === 1 && document.activeElement === focusedByKey) {
        focusedByKey.blur();
        if (e.key === ' ') {
          e.preventDefault();
          e.stopPropagation();
        }
      }
      focusedByKey = undefined;
    };
    const onKey = (e: KeyboardEvent) => {
      // In a field, too: letters are written there.
      if ((e.ctrlKey || e.metaKey) && e.key === '.') {
        e.preventDefault();
        document.getElementById('software-stop')?.focus();
      }
      if (e.defaultPrevented || typing(e) || e.ctrlKey || e.metaKey || e.altKey) return;
      if (e.timeStamp < goUntil) {
        goUntil = 0;
        const screen = screens.find((s) => s.shortcut === e.key);
        if (screen) {
          e.preventDefault();
          void navigate(screen.path);
        }
      } else if (e.key === 'g') goUntil = e.timeStamp + sequence;
      else if (e.key === 's') focusByKey('software-stop');
      else if (e.key === 'n') focusByKey('skip-act');
      else if (e.key === '?') setOpen(true);
      else if (e.key === '/') {
        const filter = document.querySelector<HTMLInputElement>('[data-filter]');
        if (filter) {
          e.preventDefault();
          filter.focus();
        }
      }
    };
    window.addEventListener('keydown', blurOnOtherKey, true);
    window.addEventListener('keydown', onKey);
    return () => {
      window.removeEventListener('keydown', blurOnOtherKey, true);
      window.removeEventListener('keydown', onKey);
    };
  }, [navigate]);
  return (
    <Modal
      opened={open}
      onClose={() => setOpen(false)}
      title={t.shortcuts}
      size="xl"
      closeButtonProps={{ 'aria-label': t.close }}
    >
      <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xl" verticalSpacing={0} style={{ alignItems: 'start' }}>
        <Keys>
          <Row keys={['Ctrl', 'K']} text={t.search} />
          <Row keys={['s']} text={t.shortcutStop} />
          <Row keys={['Ctrl', '.']} text={t.shortcutStopField} />
          <Row keys={['n']} text={t.shortcutSkip} />
          <Row keys={['/']} text={t.shortcutFilter} />
          <Row keys={['?']} text={t.shortcuts} />
        </Keys>
        <Keys>
          {screens
            .filter((s) => s.shortcut && s.nav && me?.rights.includes(s.right))
            .map((s) => (
              <Row key={s.path} keys={['g', s.shortcut!]} text={`${t.shortcutGo} ${t.nav[s.nav!]}`} />
            ))}
        </Keys>
      </SimpleGrid>
      {ofScreen && (
        <>
          <Text fw={500} mt="md" mb={4}>
            {ofScreen.title}
          </Text>
          <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="xl" verticalSpacing={0}>
            {[0, 1].map((half) => (
              <Keys key={half}>
                {ofScreen.keys
                  .filter((_, n) => n < ofScreen.keys.length / 2 === (half === 0))
                  .map(([keys, what]) => (
                    <Row key={keys} keys={[keys!]} text={what!} />
                  ))}
              </Keys>
            ))}
          </SimpleGrid>
        </>
      )}
      <Text size="sm" mt="md" mb={4}>
        {t.stopLine}
      </Text>
      <Code block dir="ltr">
        {lineOf('stop', stopRequest(whom))}
      </Code>
    </Modal>
  );
}

function Keys({ children }: { children: ReactNode }) {
  return (
    <Table verticalSpacing={5}>
      <Table.Tbody>{children}</Table.Tbody>
    </Table>
  );
}

function Row({ keys, text }: { keys: string[]; text: string }) {
  return (
    <Table.Tr>
      <Table.Td>
        {keys.map((k) => (
          <Kbd key={k} mr={4}>
            {k}
          </Kbd>
        ))}
      </Table.Td>
      <Table.Td>
        <Text size="sm">{text}</Text>
      </Table.Td>
    </Table.Tr>
  );
}
