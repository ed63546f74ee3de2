import { Button, Group, Modal, NumberInput, Stack, Text, TextInput, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { parse } from 'yaml';

import { api, data } from '../../api/client';
import { lineOf } from '../../api/lines';
import { useMay } from '../../api/me';
import { noSite, putSiteMap, sitesKey, useSiteMap } from '../../api/sites';
import { rosMapOf } from '../../live/floorMap';
import { CommandLine } from '../../shell/CommandLine';
import { Refused } from '../../shell/Refused';
import { toast } from '../../shell/toast';
import { FileInput } from '../library/FileInput';
import { usePlacesTexts } from './text';

/** An image that was chosen, and where it shall lie. */
interface Chosen {
  image: File;
  negate: boolean;
  resolution: number;
  x: number;
  y: number;
  /** In degrees. */
  turned: number;
}

/** The map of a site, or of robots without one: what it is, another one from files, and none. */
export function SiteMapForm({ site }: { site: string }) {
  const t = usePlacesTexts();
  const map = useSiteMap(site);
  const may = useMay('edit');
  const queries = useQueryClient();
  const [chosen, setChosen] = useState<Chosen>();
  const [error, setError] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const [removing, setRemoving] = useState(false);

  const choose = async (files: File[]) => {
    setError(undefined);
    try {
      const text = files.find((f) => /\.ya?ml$/i.test(f.name));
      const images = files.filter((f) => /\.(pgm|png)$/i.test(f.name));
      const only = images.length === 1 ? images[0] : undefined;
      if (!text) {
        if (!only) throw new Error(t.oneImage);
        return setChosen({ image: only, negate: false, resolution: 0.05, x: 0, y: 0, turned: 0 });
      }
      const ros = rosMapOf(parse(await text.text()));
      if (!ros) throw new Error(t.noMap(text.name));
      const image = images.find((f) => f.name === ros.image.split('/').at(-1)) ?? only;
      if (!image) throw new Error(t.needImage(ros.image));
      const [x = 0, y = 0, rad = 0] = ros.origin;
      setChosen({ image, negate: ros.negate, resolution: ros.resolution, x, y, turned: (rad * 180) / Math.PI });
    } catch (thrown) {
      setError(thrown);
    }
  };
  const change = async (send: () => Promise<unknown>, done: string) => {
    setError(undefined);
    setBusy(true);
    try {
      await send();
      toast({ message: done });
      setChosen(undefined);
    } catch (thrown) {
      setError(thrown);
    }
    setBusy(false);
    await queries.invalidateQueries({ queryKey: sitesKey });
  };
  const query = chosen && {
    resolution_m: chosen.resolution,
    x_m: chosen.x,
    y_m: chosen.y,
    theta_rad: (chosen.turned * Math.PI) / 180,
    negate: chosen.negate,
  };
  const number = (label: string, key: 'resolution' | 'x' | 'y' | 'turned', step: number) => (
    <NumberInput
      label={label}
      value={chosen![key]}
      step={step}
      w={150}
      onChange={(v) => typeof v === 'number' && setChosen({ ...chosen!, [key]: v })}
    />
  );
  const metres = (pixels: number) => (pixels * map!.resolution_m).toFixed(1);
  return (
    <Stack gap="xs" maw={720}>
      <Title order={2} size="h4" dir="auto">
        {t.map(site)}
      </Title>
      <Text size="sm" c="dimmed">
        {may ? t.mapAbout : t.mapForbidden}
      </Text>
      <Group>
        <Text size="sm" data-testid="site-map">
          {map ? t.mapIs(metres(map.width), metres(map.height)) : site ? t.mapNone : t.mapNoneHere}
        </Text>
        {map && may && (
          <>
            <Button size="compact-sm" variant="default" onClick={() => setRemoving(true)}>
              {t.mapRemove}
            </Button>
            <CommandLine compact lines={[lineOf('delete-site-map', { path: { id: site || noSite } })]} />
          </>
        )}
      </Group>
      {may && (
        <FileInput
          multiple
          accept=".yaml,.yml,.pgm,.png"
          label={t.mapDrop}
          button={t.mapChoose}
          name={chosen?.image.name}
          onFiles={(files) => void choose(files)}
        />
      )}
      {chosen && query && (
        <>
          <Group align="flex-end">
            {number(t.resolution, 'resolution', 0.01)}
            {number(t.left, 'x', 0.1)}
            {number(t.bottom, 'y', 0.1)}
            {number(t.turned, 'turned', 1)}
          </Group>
          <Group>
            <Button
              loading={busy}
              onClick={() => void change(() => putSiteMap(site, query, chosen.image), t.mapDone(site))}
            >
              {t.mapSet}
            </Button>
            <CommandLine
              lines={[lineOf('put-site-map', { path: { id: site || noSite }, query, file: chosen.image.name })]}
            />
          </Group>
        </>
      )}
      {error !== undefined && <Refused error={error} />}
      {removing && <RemoveDialog site={site} onClose={() => setRemoving(false)} />}
    </Stack>
  );
}

/** Asks before the map of a site is deleted. */
function RemoveDialog({ site, onClose }: { site: string; onClose: () => void }) {
  const t = usePlacesTexts();
  const queries = useQueryClient();
  const [text, setText] = useState('');
  const path = { id: site || noSite };
  const query = { why: text.trim() || undefined };
  const remove = useMutation({
    mutationFn: () => data(api.DELETE('/api/v1/sites/{id}/map', { params: { path, query } })),
    onSuccess: async () => {
      toast({ message: t.mapRemoved(site) });
      onClose();
      await queries.invalidateQueries({ queryKey: sitesKey });
    },
  });
  return (
    <Modal opened onClose={onClose} title={t.mapRemoveTitle(site)} closeButtonProps={{ 'aria-label': t.close }}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          remove.mutate();
        }}
      >
        <Stack>
          <Text>{t.mapRemoveHelp}</Text>
          <TextInput
            label={t.reason}
            value={text}
            maxLength={256}
            data-autofocus
            onChange={(e) => setText(e.currentTarget.value)}
          />
          {remove.isError && <Refused error={remove.error} />}
          <Group justify="flex-end">
            <CommandLine lines={[lineOf('delete-site-map', { path, query })]} />
            <Button variant="default" onClick={onClose}>
              {t.cancel}
            </Button>
            <Button type="submit" color="red" loading={remove.isPending}>
              {t.mapRemove}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
