import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  Menu,
  Modal,
  Popover,
  SegmentedControl,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconBookmark, IconColumns3, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { useNavigate } from 'react-router';

import { type ColumnID, columnIDs } from './columns';
import { useRobotsTexts } from './text';

interface Saved {
  name: string;
  query: string;
}

/** Views that a person saved in this browser. A view is the address of the page. */
export function Views({ query }: { query: string }) {
  const t = useRobotsTexts();
  const navigate = useNavigate();
  const [saved, setSaved] = useLocalStorage<Saved[]>({ key: 'troupe.robots.views', defaultValue: [] });
  const [naming, setNaming] = useState<string>();
  const save = () => {
    const name = naming!.trim();
    setSaved([...saved.filter((v) => v.name !== name), { name, query }]);
    setNaming(undefined);
  };
  return (
    <>
      <Menu position="bottom-end" width={260}>
        <Menu.Target>
          <Button variant="default" leftSection={<IconBookmark size={16} aria-hidden />}>
            {t.views}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {saved.length === 0 && <Menu.Label>{t.noViews}</Menu.Label>}
          {saved.map((v) => (
            <Menu.Item key={v.name} onClick={() => void navigate(`/robots?${v.query}`)}>
              <bdi>{v.name}</bdi>
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item onClick={() => setNaming('')}>{t.saveView}</Menu.Item>
          <Menu.Item onClick={() => void navigator.clipboard?.writeText(location.href)}>{t.copyLink}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <Modal
        opened={naming !== undefined}
        onClose={() => setNaming(undefined)}
        title={t.saveView}
        closeButtonProps={{ 'aria-label': t.close }}
      >
        <form
          onSubmit={(e) => {
            e.preventDefault();
            save();
          }}
        >
          <Stack>
            <Text size="sm">{t.viewHelp}</Text>
            <TextInput
              label={t.viewName}
              value={naming ?? ''}
              maxLength={40}
              required
              data-autofocus
              onChange={(e) => setNaming(e.currentTarget.value)}
            />
            {saved.map((v) => (
              <Group key={v.name} justify="space-between">
                <Text size="sm" dir="auto">
                  {v.name}
                </Text>
                <ActionIcon
                  variant="subtle"
                  color="red"
                  aria-label={t.removeView(v.name)}
                  onClick={() => setSaved(saved.filter((one) => one !== v))}
                >
                  <IconTrash size={16} />
                </ActionIcon>
              </Group>
            ))}
            <Button type="submit" disabled={!naming?.trim()}>
              {t.save}
            </Button>
          </Stack>
        </form>
      </Modal>
    </>
  );
}

interface ChooserProps {
  shown: (c: ColumnID) => boolean;
  onToggle: (c: ColumnID, shown: boolean) => void;
  compact: boolean;
  onCompact: (c: boolean) => void;
}

/** Which columns are shown, and how high rows are. */
export function ColumnChooser({ shown, onToggle, compact, onCompact }: ChooserProps) {
  const t = useRobotsTexts();
  return (
    <Popover position="bottom-end" withArrow trapFocus>
      <Popover.Target>
        <Button variant="default" leftSection={<IconColumns3 size={16} aria-hidden />}>
          {t.columnChooser}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          {columnIDs
            .filter((c) => c !== 'name')
            .map((c) => (
              <Checkbox
                key={c}
                label={t.columns[c]}
                checked={shown(c)}
                onChange={(e) => onToggle(c, e.currentTarget.checked)}
              />
            ))}
          <Text size="sm" fw={500} id="density">
            {t.density}
          </Text>
          <SegmentedControl
            aria-labelledby="density"
            value={compact ? 'compact' : 'comfortable'}
            onChange={(v) => onCompact(v === 'compact')}
            data={[
              { value: 'comfortable', label: t.comfortable },
              { value: 'compact', label: t.compact },
            ]}
          />
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
