/**
 * Every limit and default of the product, in one place; those that no setting changes are in limits.ts.
 *
 * `copse.yml` may override what its schema exposes; code takes a `Policy` as an argument and never repeats a
 * number from here. Durations are milliseconds and end in `Ms`; shares are between 0 and 1 and end in `Share`.
 */

import { DAY, GIGABYTE, HOUR, MEGABYTE, MINUTE, SECOND, limits } from './limits.ts';

export const defaultPolicy = {
  /** The right of one session to one task. */
  lease: {
    durationMs: 30 * SECOND,
    renewEveryMs: 5 * SECOND,
    /** How long after a change of the board a runner checks that it still has its task, so that one check covers many changes. */
    lookAfterMs: 200,
    /** A runner without the board stops its agent after so many leases: one, and three of grace. */
    cutOffLeases: 4,
    /** The lease of a person who works by hand; it is not renewed. */
    byHandMs: 7 * DAY,
    /** Longest first delay of a task whose machine was lost. */
    lostMachineMs: SECOND,
  },

  orchestration: {
    maxAgents: 4,
    pollIntervalMs: 5 * SECOND,
    /** Changes within this time are handled together. */
    gatherMs: 20,
    /** With less than this, no further session starts on a machine. */
    minFreeMemoryBytes: GIGABYTE,
    minFreeDiskBytes: 2 * GIGABYTE,
    /** A runner that has not recorded its process by then counts as not started. */
    runnerStartMs: 15 * SECOND,
    /** How long a pass waits for landings, so that new work builds on them, before it starts tasks. */
    landFirstMs: 2 * SECOND,
    /** How many ready tasks are considered at once. */
    consideredAtOnce: 200,
    /** How long until a refused removal of a finished task's worktree is retried. */
    releaseAgainMs: MINUTE,
  },

  /** Machines that share a board. */
  nodes: {
    /** How often an orchestrator says that it lives. */
    seeEveryMs: 10 * SECOND,
    /** A node that was not heard from for so long does not count as running. */
    silentMs: MINUTE,
    /** How long running work may go on when a node drains. */
    drainMs: 10 * MINUTE,
    /** A clock offset is recorded again when it has changed by this. */
    offsetStepMs: 2 * SECOND,
  },

  /** What happens after a crash. */
  retry: {
    maxRetries: 3,
    firstBackoffMs: 10 * SECOND,
    maxBackoffMs: 5 * MINUTE,
    /** Automatic restarts of a session that got stuck by failing; a question to a person is never restarted. */
    maxStuckRestarts: 0,
  },

  /** How often the task goes back to the same agent before a person is asked. */
  handback: {
    conflict: 2,
    dirty: 2,
    nothing_committed: 1,
    no_artifact: 1,
    not_imported: 2,
    branch: 2,
    commit_message: 2,
    accept: 2,
    checks: 2,
    unfit: 2,
  },

  session: {
    /** A session whose context is fuller than this is asked for a handoff. */
    contextHandoffShare: 0.85,
    /** How long an agent that reported finished or stuck has to exit. */
    exitGraceMs: 30 * SECOND,
    /** How long an agent that is stopped has before it is killed. */
    stopGraceMs: 5 * SECOND,
    /** How often a command that stops a task checks whether its runner has stopped the agent. */
    stopLookMs: 100,
    /** How long a runner waits for another process that prepares or removes the same worktree. */
    workspaceBusyMs: MINUTE,
    workspaceBusyLookMs: 250,
    /** How often new objects of an agent in a sandbox are brought into the repository while it works. */
    bringObjectsMs: 200,
    /** How often an agent that asked a person looks for the answer. */
    answerLookMs: 500,
    /** How long a task waits whose branch is checked out elsewhere. */
    takenDelayMs: MINUTE,
    /** How long a task waits whose agent hit a rate limit that does not say when it ends. */
    rateLimitDelayMs: 5 * MINUTE,
  },

  task: {
    priority: 3,
    kind: 'code',
    /** Tasks that agents may add while they work on one task. */
    mostAddedByAgents: 20,
    /** A person's task has depth 0, one that its agent adds 1, and so on. */
    deepestAddedByAgents: 2,
  },

  naming: {
    taskIdPrefix: 'cp-',
    taskIdLength: 4,
    /** Random draws at one length before ids grow by a character. */
    taskIdDrawsPerLength: 8,
    /** Random characters in the id of every record that is not a task. */
    recordIdLength: 12,
    slugLength: 30,
    /** For a title without a letter or digit that a branch name can hold. */
    emptySlug: 'work',
    branchPattern: '{task}/{slug}',
    scheduledBranchPattern: 'agent/{agent}/{schedule}/{date}-{jobId}',
    /** {schedule} of a task that no schedule made. */
    manualSchedule: 'manual',
    jobBranchPattern: 'agent/{agent}/job-{jobId}',
    worktreeDir: '.worktrees',
    shortIdLength: 8,
  },

  text: {
    titleLength: 200,
    nameLength: 100,
    listLength: 100,
    /** Files that a message names before it only counts. */
    listedFiles: 20,
    /** Comparing two areas costs the product of their lengths. */
    areaLength: 300,
    bodyLength: 8 * 1024 * 1024,
  },

  /** How much of what people and agents wrote an agent is told; the rest it can ask for. */
  briefing: {
    bodyLength: 60_000,
    planLength: 30_000,
    /** One entry of the ledger, an answer, a message, the reason of a handback. */
    entryLength: 8_000,
    lineLength: 300,
    ledgerEntries: 40,
    listedFiles: 100,
    listedCommits: 30,
    listedTasks: 30,
    listedRescues: 5,
  },

  agent: {
    promptBy: 'file',
    terminal: 'headless',
    permissions: 'accept_edits',
    sandbox: 'none',
    autoClone: false,
    dockerEnabled: false,
  },

  workspace: {
    strategy: 'git_worktree',
    fetchBeforeSetup: true,
    pushOnSuccess: false,
    createPr: false,
    cleanupOnFailure: false,
    shareWork: true,
    /** Setup and teardown commands, each. */
    commandTimeoutMs: 10 * MINUTE,
    /** Asking a remote for branches, or to delete one. A transfer: from its last sign of progress. */
    cloneTimeoutMs: 600_000,
    fetchTimeoutMs: 60 * SECOND,
    /** A whole transfer, however slow the line is. */
    transferMostMs: 6 * HOUR,
    /** `auto` sizes the warm pool by use and leaves it off in small repositories. */
    pool: 'auto',
  },

  /** Checked-out worktrees that wait for a task. */
  pool: {
    /** A checkout of fewer files takes less than starting an agent does. */
    minTrackedFiles: 2_000,
    /** With `auto`, enough worktrees for this time. */
    coverMs: 15 * MINUTE,
    maxAutoSize: 8,
    /** Of the disk above the floor of `orchestration.minFreeDiskBytes`. */
    maxDiskShare: 0.2,
    /** What a file costs besides its bytes: half a block and its name. */
    fileOverheadBytes: 2_560,
  },

  removal: {
    /** How long processes of an agent have to end after SIGTERM before they are killed. */
    endGraceMs: 5 * SECOND,
    /** How often an agent that reappears is ended before the removal is refused. */
    endTimes: 3,
    /** How long a removal waits for gits to leave the worktree, and how often. */
    gitsLeaveMs: 300,
    gitsLeaveTimes: 4,
    /** A younger lock file of git may belong to a command that is still running. */
    staleLockAgeMs: MINUTE,
    /** How long an undo waits for `copse tend`. */
    undoPatienceMs: 30 * SECOND,
  },

  /** TCP ports for the servers of sessions. */
  ports: {
    from: 4100,
    to: 4999,
    perSession: 1,
  },

  landing: {
    policy: 'auto',
    method: 'rebase',
    onConflict: 'handback',
    onPushFailure: 'retry',
    push: false,
    everyCommitGreen: false,
    checkSlots: 2,
    checkTimeoutMs: 30 * MINUTE,
    /** How long a machine leads a queue without renewing. */
    leadMs: MINUTE,
    /** Renewals in that time. */
    leadRenewals: 4,
    /** How often the leader looks at the queue if no event wakes it. */
    lookEveryMs: 2 * SECOND,
    /** How old the last fetch may be; and for a leader that is about to move the target. */
    fetchEveryMs: 5 * SECOND,
    freshMs: 500,
    /** How often the same leader retries checks that could not run, before it leaves them to the next look. */
    patientTimes: 3,
    /** A leader whose looks land nothing waits longer each time, up to so many `gatherMs`. */
    longestPause: 50,
    /** The most changes that are checked together. */
    largestBatch: 32,
    /** The most changes that land with one move of the target where there are no checks. */
    landedAtOnce: 64,
    /** How often later changes may overtake one before it is checked first and alone. */
    mostPassedOver: 8,
    /** Backoff for checks that could not run: the first wait and the longest. */
    troubleFirstMs: 5 * SECOND,
    troubleMostMs: 5 * MINUTE,
    /** How often a landing may fail unexpectedly before a person is asked. */
    failedTimes: 3,
    /** How long the queue may stand still before a person is notified. */
    stallMs: 10 * MINUTE,
    /** How many of the latest events the queue's statistics cover. */
    recentEvents: 5_000,
    /** How long until a refused push is retried. */
    pushAgainMs: 30 * SECOND,
    /** How often a landing is merged onto the remote's new tip at once when another push was first, before the next look. */
    outrunTimes: 10,
  },

  pullRequest: {
    /** How often an open pull request is looked at, and a closed one that may be reopened. */
    lookEveryMs: MINUTE,
    closedLookEveryMs: 10 * MINUTE,
    /** Backoff after a failed request to the forge: the first wait and the longest. */
    firstAgainMs: 30 * SECOND,
    mostAgainMs: 10 * MINUTE,
    /** Attempts to push a branch, and the time between them. */
    pushTries: 3,
    pushAgainMs: 2 * SECOND,
    /** How long one request to a forge may take. */
    timeoutMs: 30 * SECOND,
    /** GitHub takes 65,536 characters. */
    bodyLength: 60_000,
  },

  /** Work that other machines can go on with: snapshots on the remote, if the board is on PostgreSQL. */
  travel: {
    /** The longest time from a change to its snapshot. */
    everyMs: MINUTE,
    /** How often a runner looks for a new commit or phase, which costs reading the times of two files. */
    lookEveryMs: SECOND,
    /** Larger changed files stay on their machine. */
    fileBytes: 20 * MEGABYTE,
    /** Of all changed files of a worktree. */
    changedBytes: 100 * MEGABYTE,
    /** Of a push during an attempt. Finished work is pushed whatever its size. */
    pushBytes: 500 * MEGABYTE,
    /** After a push that failed: the first wait and the longest. */
    firstAgainMs: SECOND,
    mostAgainMs: MINUTE,
    /** How long a leader waits for heads that it fetches before it goes on with the others; and fetches at once. */
    fetchFirstMs: 5 * SECOND,
    fetchesAtOnce: 8,
    /** How long a runner that lost its task has to push its last snapshot. */
    lastMs: 10 * SECOND,
    /** How often an orchestrator removes snapshots of tasks that are over. */
    tidyEveryMs: 10 * MINUTE,
  },

  /** Comparing live branches with each other. */
  radar: {
    /** Least time between two automatic looks. */
    everyMs: 5 * SECOND,
    /** Trial merges of one such look; the next one goes on. */
    trialsAtOnce: 50,
    /** How long an orchestrator that stops goes on starting trial merges. */
    lastMs: SECOND,
    /** A branch that changes more is not listed by its paths. */
    pathsPerBranch: 1_000,
    rememberedPairs: 5_000,
    listedPairs: 500,
    /** Files that are named of each pair. */
    listedFiles: 20,
    /** How long a ready task may be passed over for an equally urgent one that collides with no other. */
    preferMs: 10 * MINUTE,
    /** How long `copse radar` waits for a look that is running. */
    patienceMs: 30 * SECOND,
  },

  /** How much of a conflict the resolving agent is told; together less than `briefing.entryLength`. */
  conflict: {
    hunkFiles: 5,
    hunksLength: 3_500,
    /** Tasks on the other side, and lines and characters about each. */
    others: 5,
    intentLines: 4,
    intentLength: 400,
    triedLength: 1_000,
  },

  /** How conflicts were resolved before. */
  resolutions: {
    pairs: 500,
    bytesPerFile: 1024 ** 2,
    /** Conflicts of generated files, and how much of each. */
    generated: 50,
    generatedBytes: 8 * 1024 ** 2,
    /** Since its last use. */
    ageMs: 60 * DAY,
  },

  finish: {
    onDirty: 'handback',
    commitConvention: 'warn',
    commitMessage: 'agent: {summary}',
    /** Lines of a failed command's output that the agent is told. */
    tailLines: 40,
    /** Commits of a branch whose messages are looked at. */
    commitsLookedAt: 200,
  },

  maintenance: {
    sweepEveryMs: 6 * HOUR,
    finishedWorktreeAgeMs: 7 * DAY,
    abandonedWorktreeAgeMs: HOUR,
    /** How long a removed worktree can be brought back with its ignored files. */
    trashAgeMs: 7 * DAY,
    /** A clock that is ahead of the last look by more has jumped, or the machine was off. */
    clockJumpMs: DAY,
    /** How long it has to stay there before the trash grows old by it. */
    clockHeldMs: 6 * HOUR,
    /** How often an orchestrator looks after the trash and other leftovers. */
    tendEveryMs: MINUTE,
    /** Of removed worktrees whose every file git holds, so many can be brought back. */
    emptyTrashKept: 50,
    /** Folders of logs and patches of tasks that are kept; those of unfinished tasks always are. */
    logsKept: 600,
    /** With so many more of them, an orchestrator sweeps before the usual time; and least time between two such sweeps. */
    logsBeyond: 60,
    logSweepEveryMs: 5 * MINUTE,
    logAgeMs: 30 * DAY,
    sessionCleanupEveryMs: HOUR,
    worktreeCleanup: true,
    sessionCleanup: true,
    cleanupOnStartup: true,
    pruneUnmergedBranches: false,
    /** Null: no limit. */
    maxDiskBytes: null as number | null,
    /** A disk budget removes nothing whose task finished later than this. */
    budgetAgeMs: HOUR,
    /** How long after its end the complete output of a session is kept. */
    sessionAgeMs: 7 * DAY,
    /** How long a sweep measures folders; sizes of the rest are unknown. */
    measureMs: 10 * SECOND,
  },

  notifications: {
    desktop: true,
    bell: true,
    events: ['permission', 'idle', 'stuck', 'needs_attention', 'review', 'stalled', 'failed', 'landed'],
    /** Least time between two of the same kind about the same task. */
    repeatMs: MINUTE,
    /** So many in this time are sent one by one; further ones wait and are sent as one. */
    burst: 3,
    burstMs: 10 * SECOND,
    /** Events within this time are sent together. */
    gatherMs: 50,
    /** As much of a reason as is sent. */
    reasonLength: 200,
    /** How long a channel has to take one. */
    sendMs: 5 * SECOND,
    /** How long until a failed notification is sent once more. */
    sendAgainMs: SECOND,
    /** How long an orchestrator that stops waits for notifications in flight. */
    lastMs: 2 * SECOND,
  },

  /** Questions of hooks to their runner. */
  asks: {
    mostBytes: 1024 ** 2,
    /** An agent that writes more questions than any program asks is left without answers. */
    most: 10_000,
    /** How often the runner looks for questions besides file events, and a hook for its answer. */
    lookEveryMs: 250,
    waitEveryMs: 25,
    /** How long a hook waits for the folder of its runner. */
    noRunnerMs: 2 * SECOND,
    /** Commands that an agent asks its runner to run: how many at once, how long, and how much of their output it gets. */
    commandsAtOnce: 4,
    commandMs: 10 * MINUTE,
    outputBytes: 256 * 1024,
  },

  sources: {
    /** Only issues that carry this label become tasks, so that strangers cannot hand out work. */
    label: 'copse',
    statusComments: true,
    statusLabels: false,
    onClosed: 'keep',
    /** How often a source is looked at. */
    everyMs: MINUTE,
    /** How long a `command` may take. */
    commandTimeoutMs: MINUTE,
    /** Forges ask for at least a second between two writes. */
    writeApartMs: SECOND,
    /** How long a machine holds a source without renewing. */
    holdMs: 3 * MINUTE,
    /** How long a command waits for an orchestrator that looks at the sources. */
    patienceMs: 20 * SECOND,
    mostFiles: 200,
    mostFileBytes: 4 * MEGABYTE,
    /** Boxes of one Markdown file. */
    mostEntries: 2_000,
    /** Answers that are kept to be asked for again by their ETag. */
    mostAnswers: 500,
    /** A limit of a server that ends later, or that a wrong clock computed, counts as one that ends then. */
    mostLimitedMs: 2 * HOUR,
    /** After so many in a row, a look or a report stops: the source is in trouble, and not its items. */
    mostFailures: 10,
    /** Of all that a `command` prints. */
    mostOutputBytes: 16 * MEGABYTE,
    /** How long to wait after a rate limit that does not say when it ends. */
    limitedMs: MINUTE,
    /** Pages of a hundred items. */
    mostPages: 20,
  },

  schedules: {
    missed: 'skip',
    overlap: 'skip',
    /** A start that comes later than this counts as missed. */
    graceMs: 5 * MINUTE,
    /** Runs of `missed: all` that wait at most. */
    mostOwed: 100,
    /** A clock that went back by more makes a schedule compute its times anew. */
    clockStepMs: HOUR,
    /** Coming times that `copse schedule` shows. */
    shownTimes: 3,
    /** Runs that `copse jobs` lists unless --all is given. */
    listedJobs: 50,
  },

  board: {
    /** How long a reader waits for a file that another process is creating, recovering or closing. */
    busyTimeoutMs: 10 * SECOND,
    /** How long a write may wait in all before it fails. */
    writePatienceMs: 60 * SECOND,
    /** How often a follower looks without an event. */
    followPollMs: 5 * SECOND,
    /** So many copies of a board in a file are kept: the newest few, and of the days before the last of each. */
    snapshots: { most: 7, newest: 3 },
    snapshotEveryMs: DAY,
  },

  ...limits,
} as const;

type Widened<T> = T extends number
  ? number
  : T extends boolean
    ? boolean
    : T extends string
      ? T
      : { readonly [K in keyof T]: Widened<T[K]> };

/** Numbers and switches may differ from the defaults, except that a priority stays one of the five. */
export type Policy = Omit<Widened<typeof defaultPolicy>, 'task'> & Pick<typeof defaultPolicy, 'task'>;
