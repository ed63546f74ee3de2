import { useNameOf } from '../library/api';
import { namedIn, type What } from './model';

/** A function that names the stories or the activities in a text of what robots have or get, in the console's language. */
export function useNamed(what: What): (text: string) => string {
  const story = useNameOf('story');
  const activity = useNameOf('activity');
  if (what.kind === 'activities') return (text) => namedIn(text, activity);
  return what.kind === 'story' || (what.kind === 'back' && !what.of) ? (text) => namedIn(text, story) : (text) => text;
}
