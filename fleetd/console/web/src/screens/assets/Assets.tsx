import {
  ActionIcon,
  Alert,
  Anchor,
  Button,
  Group,
  Image,
  List,
  Menu,
  Modal,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { IconDots, IconSearch } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useSearchParams } from 'react-router';

import { addressOf } from '../../base';
import { api, data, type Schemas } from '../../api/client';
import { lineOf } from '../../api/lines';
import { useMay } from '../../api/me';
import { CommandLine } from '../../shell/CommandLine';
import { ListState } from '../../shell/ListState';
import { ScreenHead } from '../../shell/ScreenHead';
import { dateTime } from '../../text/time';
import { FileInput } from '../library/FileInput';
import { Refused } from '../../shell/Refused';
import { SlashKey } from '../../shell/SlashKey';
import { useAssetTexts } from './text';

type Asset = Schemas['Asset'];

const largest = 16 << 20;
const validName = /^[a-z0-9][a-z0-9-]{0,62}$/;
const bytesOf = (a: Asset) => addressOf(`/api/v1/assets/sha256/${a.sha256}`);
const size = (n: number) => (n < 1 << 20 ? `${Math.ceil(n / 1024)} KiB` : `${(n / (1 << 20)).toFixed(1)} MiB`);

/** The name under which a file is uploaded: "Big Gong.wav" becomes big-gong. */
const assetName = (file: string) =>
  file
    .replace(/\.[^.]*$/, '')
    .toLowerCase()
    .replaceAll(/[ _]+/g, '-');

/** Sounds, pictures and maps: uploaded, played, and where each is used. */
export default function Assets() {
  const t = useAssetTexts();
  const mayEdit = useMay('edit');
  const queries = useQueryClient();
  const [query, setQuery] = useSearchParams();
  const filter = query.get('q') ?? '';
  const [deleting, setDeleting] = useState<Asset>();
  const [busy, setBusy] = useState('');
  const [sent, setSent] = useState<string[]>([]);
  const [refused, setRefused] = useState<unknown[]>([]);
  const assets = useQuery({
    queryKey: ['assets'],
    queryFn: async () => (await data(api.GET('/api/v1/assets'))).assets ?? [],
  });

  const upload = async (files: File[]) => {
    setRefused([]);
    setSent(files.map((f) => f.name));
    for (const file of files) {
      const name = assetName(file.name);
      try {
        if (!validName.test(name)) throw new Error(t.badName(file.name));
        if (file.size > largest) throw new Error(t.tooLarge(file.name, (file.size / (1 << 20)).toFixed(1)));
        setBusy(name);
        const done = await data(
          api.PUT('/api/v1/assets/{name}', {
            params: { path: { name } },
            body: file as unknown as string,
            headers: { 'Content-Type': 'application/octet-stream' },
            bodySerializer: (b) => b as unknown as BodyInit,
          }),
        );
        const stale = [...(done.stale ?? []), ...(done.stale_activities ?? [])];
        notifications.show({
          color: 'green',
          title: done.unchanged ? t.same(name) : t.uploaded(name),
          message: stale.length > 0 ? t.stale(stale.join(', ')) : undefined,
        });
      } catch (thrown) {
        setRefused((all) => [...all, thrown]);
      }
    }
    setBusy('');
    await queries.invalidateQueries({ queryKey: ['assets'] });
  };
  const shown = (assets.data ?? []).filter((a) => a.name.includes(filter.toLowerCase().trim()));
  return (
    <Stack>
      <ScreenHead title={t.title} about={t.about} />
      {!mayEdit && <Alert color="gray">{t.noEdit}</Alert>}
      <FileInput
        multiple
        accept=".wav,.ogg,.mp3,.flac,.png,.jpg,.jpeg,.json"
        label={t.drop}
        button={t.choose}
        disabled={!mayEdit || busy !== ''}
        onFiles={(f) => void upload(f)}
      />
      <Group gap="xs" justify="space-between">
        <Text size="sm" c="dimmed" role="status" flex="1 1 20rem">
          {busy ? t.uploading(busy) : t.limits}
        </Text>
        <CommandLine
          compact
          lines={(sent.length > 0 ? sent : ['gong.wav']).map((file) =>
            lineOf('put-asset', { path: { name: assetName(file) }, file }),
          )}
        />
      </Group>
      {refused.map((e, n) => (
        <Refused key={n} error={e} />
      ))}
      <TextInput
        data-filter
        type="search"
        aria-label={t.filter}
        placeholder={t.filter}
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={<SlashKey />}
        rightSectionPointerEvents="none"
        value={filter}
        onChange={(e) => setQuery(e.currentTarget.value ? { q: e.currentTarget.value } : {}, { replace: true })}
        w={{ base: '100%', xs: 300 }}
      />
      <ListState of={assets} rows={shown.length} empty={assets.data?.length === 0 ? t.empty : t.noMatch} />
      {shown.length > 0 && (
        <Table highlightOnHover style={{ overflowWrap: 'anywhere' }}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t.name}</Table.Th>
              <Table.Th visibleFrom="sm">{t.size}</Table.Th>
              <Table.Th visibleFrom="sm">{t.usedIn}</Table.Th>
              <Table.Th visibleFrom="lg">{t.changed}</Table.Th>
              <Table.Th>
                <span className="visually-hidden">{t.actions}</span>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((a) => (
              <Row key={a.name} a={a} mayEdit={mayEdit} onDelete={() => setDeleting(a)} />
            ))}
          </Table.Tbody>
        </Table>
      )}
      {deleting && <DeleteAsset a={deleting} onClose={() => setDeleting(undefined)} />}
    </Stack>
  );
}

function Uses({ a }: { a: Asset }) {
  const t = useAssetTexts();
  if (!a.uses?.length) return <Text size="sm">{t.nowhere}</Text>;
  return a.uses.map((u, n) => (
    <Text key={n} size="sm">
      <Anchor
        component={Link}
        size="sm"
        underline="always"
        to={u.story ? `/stories/${u.story}` : `/activities/${u.activity ?? ''}`}
      >
        {u.story || u.activity}
      </Anchor>{' '}
      {t.revision(u.rev)}
      {u.newest ? '' : ` (${t.older})`}
      {u.robots?.length ? `: ${u.robots.slice(0, 4).join(', ')}${u.robots.length > 4 ? ' …' : ''}` : ''}
    </Text>
  ));
}

function Row({ a, mayEdit, onDelete }: { a: Asset; mayEdit: boolean; onDelete: () => void }) {
  const t = useAssetTexts();
  const wide = useMediaQuery('(min-width: 48em)') ?? true;
  const kind = t.kinds[a.kind as keyof typeof t.kinds] ?? a.kind;
  return (
    <Table.Tr>
      <Table.Td>
        <Text fw={500}>{a.name}</Text>
        <Text size="xs" c="dimmed">
          {kind}, {a.media}
        </Text>
        {a.kind === 'sound' && (
          <audio controls preload="none" src={bytesOf(a)} aria-label={t.play(a.name)} className="asset-player" />
        )}
        {a.kind === 'face' && (
          <Image src={bytesOf(a)} alt={t.picture(a.name)} h={72} w="auto" fit="contain" radius="sm" loading="lazy" />
        )}
        {!wide && <Uses a={a} />}
      </Table.Td>
      <Table.Td visibleFrom="sm">{size(a.size)}</Table.Td>
      {wide && (
        <Table.Td>
          <Uses a={a} />
        </Table.Td>
      )}
      <Table.Td visibleFrom="lg">
        <Text size="sm">{dateTime(a.at)}</Text>
        <Text size="xs" c="dimmed" dir="auto">
          {t.by(a.by || t.somebody)}
        </Text>
      </Table.Td>
      <Table.Td w={1}>
        <Menu position="bottom-end">
          <Menu.Target>
            <ActionIcon variant="subtle" size={32} aria-label={t.more(a.name)}>
              <IconDots size={18} aria-hidden />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item component="a" href={bytesOf(a)} download={a.name}>
              {t.download}
            </Menu.Item>
            <Menu.Item color="red" disabled={!mayEdit} onClick={onDelete}>
              {t.remove}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Table.Td>
    </Table.Tr>
  );
}

function DeleteAsset({ a, onClose }: { a: Asset; onClose: () => void }) {
  const t = useAssetTexts();
  const queries = useQueryClient();
  const [error, setError] = useState<unknown>();
  const used = (a.uses?.length ?? 0) > 0;
  const send = async () => {
    try {
      await api.DELETE('/api/v1/assets/{name}', { params: { path: { name: a.name } } });
      notifications.show({ message: t.removed(a.name) });
      await queries.invalidateQueries({ queryKey: ['assets'] });
      onClose();
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <Modal opened onClose={onClose} title={t.removeTitle(a.name)} closeButtonProps={{ 'aria-label': t.close }}>
      <Stack>
        <Text size="sm">{used ? t.removeUsed : t.removeHelp}</Text>
        {used && (
          <List size="sm">
            {a.uses!.map((u, n) => (
              <List.Item key={n}>
                {u.story || u.activity} {u.rev}
              </List.Item>
            ))}
          </List>
        )}
        {error !== undefined && <Refused error={error} />}
        <Group justify="flex-end">
          <CommandLine lines={[lineOf('delete-asset', { path: { name: a.name } })]} />
          <Button variant="default" onClick={onClose} data-autofocus>
            {t.cancel}
          </Button>
          <Button color="red.9" disabled={used} onClick={() => void send()}>
            {t.removeNow}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
