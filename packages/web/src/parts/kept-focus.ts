/**
 * The focus is never lost: when the element that has it leaves the page (its task went on, its button was pressed), the nearest
 * part of the page that is left gets it, so that Tab goes on from there and a screen reader is not sent to the top.
 */

/** No field: the next key of the person would be text. */
const FOCUSABLE = 'a[href], button, summary, [tabindex]';

/** Returns what ends it. */
export function keepFocus(): () => void {
  let around: readonly Element[] = [];
  const onFocus = ({ target }: FocusEvent) => {
    if (target instanceof Element) around = withAncestors(target);
  };
  const onChange = () => {
    const [last] = around;
    if (last === undefined || last.isConnected || document.activeElement !== document.body) return;
    const wasInDialog = around.some((element) => element.nodeName === 'DIALOG');
    const kept = around.find((element) => element.isConnected && element !== document.body);
    around = [];
    focusWithin(wasInDialog ? undefined : kept);
  };
  const observer = new MutationObserver(onChange);
  document.addEventListener('focusin', onFocus);
  observer.observe(document.body, { childList: true, subtree: true });
  return () => {
    document.removeEventListener('focusin', onFocus);
    observer.disconnect();
  };
}

function withAncestors(element: Element): readonly Element[] {
  const found: Element[] = [];
  for (let one: Element | null = element; one !== null; one = one.parentElement) found.push(one);
  return found;
}

function focusWithin(kept: Element | undefined): void {
  const main = document.querySelector<HTMLElement>('#main');
  const isPart = kept !== undefined && main?.contains(kept) === true && kept !== main;
  const near = isPart
    ? [...kept.querySelectorAll<HTMLElement>(FOCUSABLE)].find(
        (one) => one.tabIndex >= 0 && one.checkVisibility({ visibilityProperty: true }),
      )
    : undefined;
  (near ?? main)?.focus({ preventScroll: true });
}
