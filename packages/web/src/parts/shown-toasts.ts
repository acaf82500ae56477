/** Which messages are shown: the last one, and every problem until a person closes it. A problem may hold the only copy of a text. */

export interface Toast {
  readonly text: string;
  /** What it is about: its problem replaces what was said of it before. */
  readonly about?: string;
  readonly isProblem?: boolean;
  /** Commands that a person may type next. */
  readonly next?: readonly string[];
  readonly undo?: { readonly label: string; readonly run: () => void };
}

export interface ShownToasts {
  /** The oldest first. */
  readonly problems: readonly Toast[];
  readonly last: Toast | undefined;
}

export const noToasts: ShownToasts = { problems: [], last: undefined };

export function withToast({ problems, last }: ShownToasts, toast: Toast): ShownToasts {
  if (!toast.isProblem) return { problems, last: toast };
  const others = problems.filter((one) => textOf(one) !== textOf(toast));
  const isOver = toast.about !== undefined && toast.about === last?.about;
  return { problems: [...others, toast], last: isOver ? undefined : last };
}

export function withoutToast({ problems, last }: ShownToasts, toast: Toast): ShownToasts {
  return {
    problems: problems.filter((one) => one !== toast),
    last: last === toast ? undefined : last,
  };
}

function textOf({ text, next = [] }: Toast): string {
  return [text, ...next].join('\n');
}
