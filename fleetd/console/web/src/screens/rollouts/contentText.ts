import { texts } from '../../text/language';
import { useNameOf } from '../library/api';
import { useModeName } from '../../text/modes';

const useTexts = texts(
  {
    noStory: 'no default story',
    noActivities: 'no activities',
    noPlaces: 'no places',
    revision: (name: string, rev: string) => `${name}, rev. ${rev}`,
    story: (name: string) => `Story ${name}`,
    activities: (names: string) => `Activities ${names}`,
    config: (keys: string) => `Settings ${keys}`,
    mode: (mode: string) => `Mode ${mode}`,
    places: (id: string) => `Places ${id}`,
    kinds: { story: 'Story', activities: 'Activities', config: 'Settings', mode: 'Mode', places: 'Places' },
  },
  {
    noStory: 'keine Standardgeschichte',
    noActivities: 'keine Aktivitäten',
    noPlaces: 'keine Orte',
    revision: (name, rev) => `${name}, Rev. ${rev}`,
    story: (name) => `Geschichte ${name}`,
    activities: (names) => `Aktivitäten ${names}`,
    config: (keys) => `Einstellungen ${keys}`,
    mode: (mode) => `Modus ${mode}`,
    places: (id) => `Orte ${id}`,
    kinds: {
      story: 'Geschichte',
      activities: 'Aktivitäten',
      config: 'Einstellungen',
      mode: 'Modus',
      places: 'Orte',
    },
  },
  {
    noStory: 'pas d’histoire par défaut',
    noActivities: 'pas d’activités',
    noPlaces: 'pas de lieux',
    revision: (name, rev) => `${name}, rév. ${rev}`,
    story: (name) => `Histoire ${name}`,
    activities: (names) => `Activités ${names}`,
    config: (keys) => `Réglages ${keys}`,
    mode: (mode) => `Mode ${mode}`,
    places: (id) => `Lieux ${id}`,
    kinds: { story: 'Histoire', activities: 'Activités', config: 'Réglages', mode: 'Mode', places: 'Lieux' },
  },
);

export type Kind = 'story' | 'activities' | 'config' | 'mode' | 'places';

/** Names of kinds of contents. */
export const useKindNames = () => useTexts().kinds;

/** Says in the console's language, and with the names for people, what fleetd says of a content in a few words. */
export function useContentText(): (content: string) => string {
  const t = useTexts();
  const story = useNameOf('story');
  const activity = useNameOf('activity');
  const modeName = useModeName();
  return (content) => {
    const [word = '', ...rest] = content.split(' ');
    const of = rest.join(' ');
    switch (word) {
      case 'no':
        return { 'default story': t.noStory, activities: t.noActivities, places: t.noPlaces }[of] ?? content;
      case 'story': {
        const [id = '', , rev] = rest;
        return t.story(rev ? t.revision(story(id), rev) : story(id));
      }
      case 'activities': {
        const one = (text: string) => {
          const [id = '', rev] = text.split('@');
          return rev ? `${activity(id)} ${rev}` : activity(id);
        };
        return t.activities(of.split(', ').map(one).join(', '));
      }
      case 'settings':
        return t.config(of);
      case 'mode':
        return t.mode(modeName(of));
      case 'places':
        return t.places(of);
    }
    return content;
  };
}
