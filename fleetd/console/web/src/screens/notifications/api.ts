import { useQuery } from '@tanstack/react-query';

import { quoted } from '../../api/commandline';
import { api, data, type Schemas } from '../../api/client';
import { lineOf } from '../../api/lines';
import { useLanguage } from '../../text/language';

export type Receiver = Schemas['Receiver'];
export type ReceiverBody = Schemas['ReceiverRequest'];
export type Route = Schemas['NotificationRoute'];
export type RouteBody = Schemas['RouteRequest'];
export type Sent = Schemas['Notification'];

/** ms until receivers, routes and what was sent are asked for again. */
const again = 3000;

export function useReceivers() {
  return useQuery({
    queryKey: ['notifications', 'receivers'],
    queryFn: () => data(api.GET('/api/v1/receivers')).then((all) => all.receivers),
    refetchInterval: again,
  });
}

export function useRoutes() {
  return useQuery({
    queryKey: ['notifications', 'routes'],
    queryFn: () => data(api.GET('/api/v1/routes')).then((all) => all.routes),
    refetchInterval: again,
  });
}

export function useSent(state: string, limit: number) {
  const language = useLanguage((s) => s.language);
  return useQuery({
    queryKey: ['notifications', 'sent', state, language, limit],
    queryFn: () =>
      data(
        api.GET('/api/v1/notifications', {
          params: { query: { ...(state ? { state } : {}), language, limit } as never },
        }),
      ).then((all) => all.notifications),
    refetchInterval: again,
  });
}

export const putReceiver = (id: string, body: ReceiverBody) =>
  data(api.PUT('/api/v1/receivers/{id}', { params: { path: { id } }, body }));
export const putRoute = (id: string, body: RouteBody) =>
  data(api.PUT('/api/v1/routes/{id}', { params: { path: { id } }, body }));
export const deleteReceiver = (id: string) => data(api.DELETE('/api/v1/receivers/{id}', { params: { path: { id } } }));
export const deleteRoute = (id: string) => data(api.DELETE('/api/v1/routes/{id}', { params: { path: { id } } }));
export const testReceiver = (id: string) =>
  data(api.POST('/api/v1/receivers/{id}/test', { params: { path: { id } }, body: {} }));
export const resend = (id: string) =>
  data(api.POST('/api/v1/notifications/{id}/resend', { params: { path: { id } }, body: {} }));

const fileOf = (id: string, content: object) => `echo ${quoted(JSON.stringify(content))} > ${id}.json`;

/** The secrets of a receiver, which no line shows. */
const secrets = ['hmac_key', 'password', 'token'] as const;

/** The lines of the command line that save a receiver. */
export function receiverLines(id: string, body: ReceiverBody): string[] {
  const shown = { ...body };
  for (const name of secrets) if (shown[name]) shown[name] = 'SECRET';
  return [fileOf(id, { receiver: id, ...shown }), lineOf('put-receiver', { path: { id }, body })];
}

/** The lines of the command line that save a route. */
export const routeLines = (id: string, body: RouteBody): string[] => [
  fileOf(id, { route: id, ...body }),
  lineOf('put-route', { path: { id }, body }),
];
