import { useQuery } from '@tanstack/react-query';

import { addressOf } from '../base';
import { api, data, type Schemas } from './client';

/** The site of robots without one, for their map. */
export const noSite = '-';

/** The image of the floor of a site, and where it lies. */
export type SiteMap = Schemas['SiteMap'];

/** The key of the list of sites, which also has their maps. */
export const sitesKey = ['schedules', 'sites'];

/** Sites of which fleetd knows hours, windows, a map or robots. */
export function useSitesKnown() {
  return useQuery({
    queryKey: sitesKey,
    queryFn: () => data(api.GET('/api/v1/sites')).then((all) => all.sites),
  });
}

/**
 * The map of a site, or with '' that of robots without one; undefined if there is none, or it shows another map than the
 * one on which robots are.
 */
export function useSiteMap(site: string, onMap?: string): SiteMap | undefined {
  const map = useSitesKnown().data?.find((s) => s.id === (site || noSite))?.map;
  return map && (onMap === undefined || !map.map_sha256 || map.map_sha256 === onMap) ? map : undefined;
}

/** Where the image of a map is read. The digest is in the address, so that another image is another address. */
export const imageOf = (site: string, map: SiteMap): string =>
  addressOf(`/api/v1/sites/${encodeURIComponent(site || noSite)}/map?sha256=${map.sha256}`);

export const putSiteMap = (id: string, query: Pick<SiteMap, 'resolution_m' | 'x_m' | 'y_m'> & object, image: Blob) =>
  data(
    api.PUT('/api/v1/sites/{id}/map', {
      params: { path: { id: id || noSite }, query },
      body: image as unknown as string,
      headers: { 'Content-Type': 'application/octet-stream' },
      bodySerializer: (b) => b as unknown as BodyInit,
    }),
  );
