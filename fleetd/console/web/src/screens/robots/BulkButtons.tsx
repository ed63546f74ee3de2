import { Box, Button, Group, Menu, Tooltip } from '@mantine/core';
import {
  IconChevronDown,
  IconDownload,
  IconHandStop,
  IconPlayerPause,
  IconPlayerPlay,
  IconPower,
  IconShare3,
  IconTag,
} from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useNavigate } from 'react-router';

import { addressOf } from '../../base';
import { lineOf } from '../../api/lines';
import { useMay, useMayStop } from '../../api/me';
import { CommandLine } from '../../shell/CommandLine';
import { HoldNote, useHold } from '../../shell/holding';
import { sendStop } from '../../shell/sendStop';
import { useModeName } from '../../text/modes';
import type { BulkAction } from './bulkRequest';
import { BulkDialog } from './BulkDialog';
import { LabelDialog } from './LabelDialog';
import { useBulkTexts } from './bulkText';
import { type Filter, queryOf, type Selector } from './filter';

interface Props {
  selector: Selector;
  /** What the selection is called. */
  name: string;
  /** The filter, if that is the selection: the file of the list is of the same. */
  filter?: Filter;
  /** The address of an assignment that waits for its robots. */
  assignment?: string;
  /** Why this is not possible for the only robot, such as what has to happen before it. */
  first?: { enable?: string; continue?: string; pause?: string };
}

/** What can be done to the selection. What is not possible is disabled and says why. */
export function BulkButtons({ selector, name, filter, assignment, first = {} }: Props) {
  const t = useBulkTexts();
  const modeName = useModeName();
  const navigate = useNavigate();
  const mayCommand = useMay('command');
  const mayLabel = useMay('administer');
  const mayAssign = useMay('assign');
  const mayStop = useMayStop();
  const [action, setAction] = useState<BulkAction>();
  const [labelling, setLabelling] = useState(false);
  const csv = addressOf(
    `/api/v1/robots.csv?${filter ? queryOf(filter) : new URLSearchParams((selector.ids ?? []).map((id) => ['id', id]))}`,
  );
  return (
    <Group gap="xs">
      <Menu disabled={!mayCommand}>
        <Tooltip label={t.commandForbidden} disabled={mayCommand}>
          <Box component="span" display="inline-block">
            <Menu.Target>
              <Button
                variant="default"
                rightSection={<IconChevronDown size={14} aria-hidden />}
                data-disabled={!mayCommand || undefined}
                aria-disabled={!mayCommand || undefined}
              >
                {t.mode}
              </Button>
            </Menu.Target>
          </Box>
        </Tooltip>
        <Menu.Dropdown>
          {['ato', 'mnl', 'str'].map((mode) => (
            <Menu.Item key={mode} onClick={() => setAction({ kind: 'verb', name: 'mode', mode })}>
              {modeName(mode)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <BulkButton
        may={mayCommand && !first.pause}
        why={mayCommand ? (first.pause ?? '') : t.commandForbidden}
        icon={<IconPlayerPause size={16} aria-hidden />}
        onClick={() => setAction({ kind: 'verb', name: 'pause' })}
      >
        {t.pause}
      </BulkButton>
      <BulkButton
        may={mayCommand && !first.continue}
        why={mayCommand ? (first.continue ?? '') : t.commandForbidden}
        icon={<IconPlayerPlay size={16} aria-hidden />}
        onClick={() => setAction({ kind: 'verb', name: 'continue' })}
      >
        {t.continue}
      </BulkButton>
      <BulkButton
        may={mayCommand && !first.enable}
        why={mayCommand ? (first.enable ?? '') : t.commandForbidden}
        icon={<IconPower size={16} aria-hidden />}
        onClick={() => setAction({ kind: 'verb', name: 'enable' })}
      >
        {t.enable}
      </BulkButton>
      <BulkButton
        may={mayLabel}
        why={t.labelForbidden}
        icon={<IconTag size={16} aria-hidden />}
        onClick={() => setLabelling(true)}
      >
        {t.label}
      </BulkButton>
      <BulkButton
        may={mayAssign}
        why={t.assignForbidden}
        icon={<IconShare3 size={16} aria-hidden />}
        onClick={() => {
          const query = new URLSearchParams(assignment);
          query.set('selector', JSON.stringify(selector));
          void navigate(`/assign?${query}`);
        }}
      >
        {t.assign}
      </BulkButton>
      <Button component="a" variant="default" href={csv} download leftSection={<IconDownload size={16} aria-hidden />}>
        CSV
      </Button>
      <HoldToStop selector={selector} />
      {mayStop && <CommandLine compact lines={[lineOf('stop', { body: { selector, why: t.stopWhy } })]} />}
      {action && <BulkDialog action={action} selector={selector} name={name} onClose={() => setAction(undefined)} />}
      {labelling && <LabelDialog selector={selector} name={name} onClose={() => setLabelling(false)} />}
    </Group>
  );
}

function BulkButton(p: { may: boolean; why: string; icon: ReactNode; onClick: () => void; children: ReactNode }) {
  return (
    <Tooltip label={p.why} disabled={p.may}>
      <Button
        variant="default"
        leftSection={p.icon}
        data-disabled={!p.may || undefined}
        aria-disabled={!p.may}
        onClick={() => p.may && p.onClick()}
      >
        {p.children}
      </Button>
    </Tooltip>
  );
}

/** The software stop of the selection: one robot at once, several after a second of holding. */
function HoldToStop({ selector }: { selector: Selector }) {
  const t = useBulkTexts();
  const may = useMayStop();
  const one = selector.ids?.length === 1 ? selector.ids[0] : undefined;
  const send = () => sendStop({ selector, why: t.stopWhy }, selector.ids ?? []);
  const held = useHold(may && !one, send);
  return (
    <>
      <Tooltip label={may ? t.stopHelp : t.stopForbidden}>
        <Button
          {...held.button}
          color="red.9"
          leftSection={<IconHandStop size={16} aria-hidden />}
          data-disabled={!may || undefined}
          aria-disabled={!may}
          onClick={() => may && one && void send()}
        >
          <span className="hold-fill" />
          <span dir="auto">{one ? t.stopOne(one) : t.stopHold}</span>
        </Button>
      </Tooltip>
      <HoldNote at="above" text={held.early ? t.stopEarly(selector.ids?.length) : ''} />
    </>
  );
}
