/** What `copse watch`, `list --watch` and `queue --watch` change of the terminal, and back. */

const CSI = '\u001b[';
const ALTERNATE = '?1049';
const PASTE = '?2004';
const CURSOR = '?25';
const SYNCHRONIZED = '?2026';

export const ENTER_SCREEN = `${CSI}${ALTERNATE}h${CSI}${PASTE}h${CSI}${CURSOR}l`;
/** Ends an unfinished frame first: some terminals would show nothing more for a while. */
export const LEAVE_SCREEN = `${CSI}${SYNCHRONIZED}l${CSI}0m${CSI}${PASTE}l${CSI}${CURSOR}h${CSI}${ALTERNATE}l`;

/** For a view that is drawn below the lines that were printed before. */
export const ENTER_LINES = `${CSI}${CURSOR}l`;
export const LEAVE_LINES = `${CSI}0m${CSI}${CURSOR}h`;
