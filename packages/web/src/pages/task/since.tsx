import { spanText } from '../../../../copse/src/kernel/time.ts';
import { useNow } from '../../parts/now.ts';

const DAY_MS = 86_400_000;

interface SinceProps {
  readonly at: string;
  /** A state lasts for a time; an event was a time ago. */
  readonly lasts?: boolean;
}

/** How long ago, with the exact time as its title. */
export function Since({ at, lasts = false }: SinceProps) {
  const now = useNow();
  const ms = Math.max(0, now - Date.parse(at));
  const days = Math.floor(ms / DAY_MS);
  const span = days > 1 ? `${days} days` : spanText(Math.floor(ms / 1_000) * 1_000);
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {lasts ? `for ${span}` : `${span} ago`}
    </time>
  );
}
