import { Alert } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';

import { alertColor, AlertText, useAlertName } from '../../live/AlertText';
import { performing } from '../../live/performing';
import { texts } from '../../text/language';
import { Nothing, Panel } from './Panel';
import { usePage } from './page';

const useTexts = texts(
  {
    title: 'Alerts',
    none: 'It reports no problem.',
    stopped: 'It reports no problem of its own: what keeps it from performing is said above.',
  },
  {
    title: 'Alarme',
    none: 'Er meldet keine Störung.',
    stopped: 'Er meldet keine eigene Störung: was ihn am Auftreten hindert, steht oben.',
  },
  {
    title: 'Alertes',
    none: 'Il ne signale aucun problème.',
    stopped: 'Il ne signale aucun problème à lui : ce qui l’empêche de jouer est dit plus haut.',
  },
);

/** The present problems that the robot reports, each with what to do. */
export function Alerts() {
  const t = useTexts();
  const name = useAlertName();
  const { robot } = usePage();
  return (
    <Panel title={robot.alerts.length ? `${t.title} (${robot.alerts.length})` : t.title}>
      {robot.alerts.length === 0 && <Nothing>{performing(robot).tone === 'good' ? t.none : t.stopped}</Nothing>}
      {robot.alerts.map((a) => (
        <Alert
          key={a.id}
          color={alertColor[a.level] ?? 'gray'}
          p="xs"
          icon={<IconAlertTriangle aria-hidden />}
          title={name(a)}
        >
          <AlertText of={a} />
        </Alert>
      ))}
    </Panel>
  );
}
