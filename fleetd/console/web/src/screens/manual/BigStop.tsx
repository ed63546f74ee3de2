import { Button, Tooltip } from '@mantine/core';
import { IconHandStop } from '@tabler/icons-react';
import { useRef } from 'react';

import { useMayStop } from '../../api/me';
import { sendStop } from '../../shell/sendStop';
import { stopRequest } from '../../shell/stopping';
import { usePage } from '../robot/page';
import { useManualTexts } from './text';

/**
 * The software stop of the robot, as big as a hand: pressing it needs no aim. Its place is that of the window: it stays
 * whatever comes, goes or is scrolled on the page.
 */
export function BigStop() {
  const t = useManualTexts();
  const { id } = usePage();
  const may = useMayStop();
  const press = () => may && void sendStop(stopRequest({ robot: id }).body, [id]);
  // The click that ends a press of the pointer or of a key sends nothing more. Programs and screen readers click
  // without a press.
  const keyed = useRef(false);
  return (
    <Tooltip label={t.stopHelp}>
      <Button
        color="red.9"
        className="big-stop"
        fw={600}
        size="xl"
        aria-disabled={!may}
        data-disabled={!may || undefined}
        leftSection={<IconHandStop size={40} aria-hidden />}
        onPointerDown={press}
        onKeyDown={(e) => {
          if (e.repeat || (e.key !== ' ' && e.key !== 'Enter')) return;
          keyed.current = true;
          press();
        }}
        onBlur={() => (keyed.current = false)}
        onClick={(e) => {
          if (e.detail === 0 && !keyed.current) press();
          keyed.current = false;
        }}
        data-testid="big-stop"
      >
        {t.stop}
      </Button>
    </Tooltip>
  );
}
