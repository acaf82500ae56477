import { spanText } from '../../../../copse/src/kernel/time.ts';
import { useNow } from '../../parts/now.ts';

interface SinceProps {
  readonly at: string;
  /** A state lasts for a time; an event was a time ago. */
  readonly lasts?: boolean;
}

/** How long ago, with the exact time as its title. */
export function Since({ at, lasts = false }: SinceProps) {
  const now = useNow();
  const span = spanText(Math.max(0, Math.floor((now - Date.parse(at)) / 1_000) * 1_000));
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {lasts ? `for ${span}` : `${span} ago`}
    </time>
  );
}
