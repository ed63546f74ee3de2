import { useQuery } from '@tanstack/react-query';

import { addressOf } from '../../base';
import { api, data } from '../../api/client';

/** The assets that are sounds, each with the address of its bytes. */
export function useSoundAddresses(): ReadonlyMap<string, string> {
  const assets = useQuery({
    queryKey: ['assets'],
    queryFn: async () => (await data(api.GET('/api/v1/assets'))).assets ?? [],
  }).data;
  return new Map(
    (assets ?? [])
      .filter((a) => a.kind === 'sound')
      .map((a) => [a.name, addressOf(`/api/v1/assets/sha256/${a.sha256}`)]),
  );
}

export interface Wave {
  ms: number;
  /** The loudest of each part of it, from 0 to 1. */
  peaks: readonly number[];
}

/** The parts of a waveform. */
const parts = 120;

export function peaksOf(samples: Float32Array): number[] {
  const size = Math.max(1, Math.floor(samples.length / parts));
  const peaks = Array.from({ length: Math.min(parts, samples.length) }, (_, n) =>
    samples.subarray(n * size, (n + 1) * size).reduce((most, s) => Math.max(most, Math.abs(s)), 0),
  );
  const loudest = Math.max(...peaks, 0.01);
  return peaks.map((p) => p / loudest);
}

async function waveOf(address: string): Promise<Wave> {
  const bytes = await (await fetch(address)).arrayBuffer();
  const audio = await new OfflineAudioContext(1, 1, 22_050).decodeAudioData(bytes);
  return { ms: Math.round(audio.duration * 1000), peaks: peaksOf(audio.getChannelData(0)) };
}

/** The waveforms of these sounds, as far as they are assets that the browser can decode. */
export function useWaves(names: readonly string[]): ReadonlyMap<string, Wave> {
  const addresses = useSoundAddresses();
  const wanted = [...new Set(names)].filter((n) => addresses.has(n)).sort();
  const waves = useQuery({
    queryKey: ['waves', wanted.map((n) => addresses.get(n))],
    enabled: wanted.length > 0,
    staleTime: Infinity,
    queryFn: async () => {
      const all = await Promise.allSettled(wanted.map((n) => waveOf(addresses.get(n)!)));
      return new Map(all.flatMap((w, n) => (w.status === 'fulfilled' ? [[wanted[n]!, w.value] as const] : [])));
    },
  }).data;
  return waves ?? none;
}

const none: ReadonlyMap<string, Wave> = new Map();

/** The outline of a waveform in a box of 1 by 1. */
export function outline(peaks: readonly number[]): string {
  const at = (n: number) => (n / Math.max(1, peaks.length - 1)).toFixed(4);
  const top = peaks.map((p, n) => `${at(n)} ${(0.5 - p / 2).toFixed(3)}`);
  const bottom = peaks.map((p, n) => `${at(n)} ${(0.5 + p / 2).toFixed(3)}`).reverse();
  return `M${[...top, ...bottom].join('L')}Z`;
}
