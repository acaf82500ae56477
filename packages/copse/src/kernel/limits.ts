/**
 * Limits of memory, sizes and waits that no setting changes, as a part of `defaultPolicy` (policy.ts), where code reads them. Numbers that a
 * format or a protocol fixes, and how much a screen shows, stay beside the code that uses them.
 */

/** In milliseconds. */
export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** In bytes. */
export const KILOBYTE = 1024;
export const MEGABYTE = 1024 ** 2;
export const GIGABYTE = 1024 ** 3;

export const limits = {
  /** Added to every fencing token when the board's server was replaced: more than were given out in what it lost. */
  tokenStep: 1_000_000,

  /** Of events that are read at a time: an agent can write many of a megabyte. */
  eventPage: { limit: 500, mostBytes: 4 * MEGABYTE },

  /** What an agent may add to the ledger of a task; a person may add more. */
  ledger: { textLength: 30_000, perTask: 200 },

  /** What the merges of a queue remember. */
  mergeMemory: {
    merges: 8_192,
    bytes: 64 * MEGABYTE,
    /** Processes of git that merge. */
    mergers: 4,
    mergedFiles: 1_000,
    trees: 20_000,
    /** Git searches packs one after another. */
    packs: 128,
    /** For candidates that are not in the repository yet. Beyond it, all of them are written there. */
    heldBytes: 16 * MEGABYTE,
    /** The cache is emptied beyond this size. */
    candidates: 20_000,
    entries: 50_000,
  },

  /** The check of a branch’s new objects before it lands. */
  examination: {
    timeoutMs: MINUTE,
    /** Commits and trees, without files. */
    bytes: 512 * MEGABYTE,
    remembered: 10_000,
  },

  /** Objects of git that are kept in memory, and how far history is walked without starting git. */
  objectMemory: {
    commits: 2_500,
    commitBytes: 2 * MEGABYTE,
    // A merge reads the trees of changed paths only. Every landing of a repository makes new ones, which fill this.
    treeBytes: 2 * MEGABYTE,
    /** A larger loose object is read by git. */
    looseBytes: 8 * MEGABYTE,
    /** Loose objects that were read lately are kept, if they are small. */
    recentLoose: 64,
    smallBytes: 4_096,
    readCommits: 2_000,
    walkedCommits: 20_000,
    skewedCommits: 1_000,
    boundedTips: 1_000,
  },

  /** What an orchestrator tried and told, of each kind: it may run for months. */
  orchestratorMemory: { tries: 10_000 },

  /** The object store of an attempt in a sandbox, whose objects are verified and brought into the repository. */
  objectStores: {
    /** How often objects are read again that name objects of a later part. The next call goes on with the rest. */
    rounds: 8,
    /** A folder that changed since then may change again without another time. */
    settledMs: 2 * SECOND,
    /** For objects that a reader waits for. */
    patienceMs: 10 * SECOND,
    /** Lets other work of this process go on after so many. */
    turn: 32,
    /** A larger object is verified in parts, and not kept in memory. */
    smallBytes: 8 * MEGABYTE,
    smallContentBytes: 32 * MEGABYTE,
    chunkBytes: 256 * KILOBYTE,
    /** Written at the latest when so many wait. */
    waitingBytes: 32 * MEGABYTE,
  },

  /** A ref that git keeps in a file of its own: a commit and the end of its line, with room. */
  looseRefBytes: 100,

  /** Folders of objects that may yet be thrown away. */
  quarantine: {
    /** A folder that is younger than this may not be locked yet. */
    newMs: MINUTE,
    /** From so many objects on, the repository gets one pack: git's own limit when it receives objects. */
    packedFrom: 100,
    roomBytes: 512 * MEGABYTE,
  },

  /** Looking for named pipes among the files that a git waits for. */
  pipes: {
    entries: 2_000_000,
    lookedAt: 200_000,
  },

  /** A git that answers many questions. */
  longLivedGit: {
    deathsInARow: 3,
    /** Where git's output stays buffered, no answer would ever come. */
    patienceMs: 10 * SECOND,
    farewellMs: SECOND,
  },

  /** What Copse reads in the git directory of a worktree, and how many commits of it. */
  worktreeFiles: {
    /** No branch has a name of this length. */
    headBytes: 8_192,
    /** Longer ones are not read. */
    reflogBytes: 4 * MEGABYTE,
    reflogBranches: 50,
    /** More history is not read for trailers. */
    tracedCommits: 50_000,
    /** Above this, a merge is made: each commit costs some processes. */
    rebasedCommits: 100,
    /** Most of one kind in one round. */
    sweptAtOnce: 500,
  },

  /** Commands that a person wrote: set-up, teardown, acceptance, hooks. */
  commands: {
    endGraceMs: 5 * SECOND,
    tailLines: 40,
    tailBytes: 64 * KILOBYTE,
    hookFiles: 1_000,
    /** Of a reason or summary that a hook is told. */
    hookReasonLength: 4_000,
  },

  /** What a program gets of a diff, unless it asks for another size. */
  diffPage: { files: 2_000, patchBytes: MEGABYTE, mostPatchBytes: 16 * MEGABYTE },

  /** How long operations take that wait or measure. */
  operations: {
    /** A landing is waited for so long, which is less than a request to the server may take. */
    landingSeconds: 20,
    mostLandingSeconds: 3_600,
    /** How often to look whether another leader of the queue has landed it. */
    landingLookMs: 300,
    /** Under another leader, a landing that is held for this long is no longer waited for. */
    heldMs: 3 * SECOND,
    /** Another leader lands most things within this time, without a word about it. */
    silentMs: 2 * SECOND,
    /** Sizes of all worktrees together: a person waits for the answer. */
    sizesMs: 2 * SECOND,
  },

  /** How often a process that keeps a board open looks whether its file was replaced. */
  replacedBoard: { lookEveryMs: 2 * SECOND },

  /** Of a list in the input of a program: one of a hundred thousand costs seconds to look at, before any of it is refused. */
  listedInput: { entries: 1_000 },

  /** Submodules and large files that a fresh worktree gets. */
  fetched: {
    submoduleDepth: 5,
    submoduleMs: 30 * MINUTE,
    largeFileMs: 30 * MINUTE,
  },

  /** When a folder that a killed process left is deleted. */
  leftovers: {
    /** A process in another container has another id here; after this time it has touched its folder again. */
    scratchMs: 10 * MINUTE,
    /** A folder that does not name its process. */
    namelessMs: DAY,
    snapshotMs: HOUR,
  },

  /** What agents and their programs print and write. */
  agentOutput: {
    /** Longer lines are skipped. */
    lineBytes: 32 * MEGABYTE,
    reportBytes: MEGABYTE,
    reportEveryMs: SECOND,
    commandWords: 1_000,
    lastBytes: 16 * KILOBYTE,
    lastLines: 20,
    /** Of the log of a runner that did not start. */
    lastWordsLength: 300,
    /** Of the logs in one document, the newest first; and of a page that a program reads on from. */
    documentBytes: 16 * MEGABYTE,
    pageBytes: 256 * KILOBYTE,
    /** Where the last lines of a log are looked for. */
    tailBytes: MEGABYTE,
  },

  /** Files and addresses that tasks leave as results. */
  artifacts: {
    fileBytes: 64 * MEGABYTE,
    /** Of all files of a task. */
    taskBytes: 512 * MEGABYTE,
    perTask: 200,
    nameLength: 200,
    uriLength: 2_048,
    /** Of the content in one document. */
    pageBytes: 4 * MEGABYTE,
    /** How long the unfinished file of a killed process stays. */
    unfinishedMs: HOUR,
  },

  /** Whether a sandbox works on this machine, and which agents can run here. */
  sandboxTries: {
    mostMs: 10 * SECOND,
    /** What is left of its output after its end. */
    lastMs: 200,
    textLength: KILOBYTE,
    /** A person may start Docker or install a program meanwhile. */
    keptMs: 10 * SECOND,
  },

  /** How long Copse waits for an agent’s program. */
  agentPrograms: {
    /** A program that asks a question instead of printing its version is killed after this time. */
    versionMs: 15 * SECOND,
    acpExitMs: 3 * SECOND,
    acpGraceMs: SECOND,
    /** The program is ready after a second or two, unless it shows a dialog. */
    terminalReadyMs: MINUTE,
    terminalGraceMs: 5 * SECOND,
    /** Time for the process to exit after its last message, or for its last messages to arrive after its exit. */
    sdkLastMs: 5 * SECOND,
  },

  /** Conflicts that Copse tries to resolve without an agent, and what is told of them. */
  resolving: {
    conflicts: 128,
    /** As many as fit into one command. */
    files: 500,
    steps: 50,
    merges: 50,
    /** People resolve larger files. */
    fileBytes: 16 * MEGABYTE,
    attributeBytes: MEGABYTE,
  },

  /** Runs of checks. */
  checkRuns: {
    /** For a run that was just cancelled, or whose process is dying. */
    slotPatienceMs: 2 * SECOND,
    /** With less free disk, a failure counts as one of the disk. */
    freeBytes: 16 * MEGABYTE,
  },

  /** Moving the target. */
  target: {
    commitTries: 3,
    patienceMs: 2 * SECOND,
    /** Another process needs only a moment for the checkout. */
    lookEveryMs: 25,
    /** Of an undone landing. */
    laterCommits: 50,
  },

  /** What `copse.yml` may hold. */
  configFile: {
    values: 50_000,
    depth: 60,
  },

  /** Connections to a board on PostgreSQL. Its waits add up to less than the 15 s in which a command answers. */
  database: {
    /** Of one process: a runner holds as few as possible, because there are hundreds. */
    connections: 4,
    runnerConnections: 2,
    /** An unused connection is closed after this time. */
    idleMs: SECOND,
    runnerIdleMs: 100,
    connectMs: 5 * SECOND,
    /** On the server: how long a statement waits for a lock, how long it may take, how long a transaction may idle. */
    lockMs: 5 * SECOND,
    statementMs: 7 * SECOND,
    idleInTransactionMs: 10 * SECOND,
    /** In the client: a statement without an answer, after which the connection counts as dead. */
    answerMs: 8 * SECOND,
    /** A migration may take so long. */
    longMs: 10 * MINUTE,
    /** A process that was stopped finds the answers in its socket before it counts them as missing. */
    secondLookMs: 500,
    /** How often a listening connection is asked for a sign of life; without one, twice this time is its end. */
    listenEveryMs: 4 * SECOND,
    /** Between closing a connection and destroying its socket. */
    closeMs: SECOND,
    /** How long it may take to find out whether a commit was recorded whose answer was lost. */
    settleMs: 4 * SECOND,
    /** Backoff for a lost server: the first wait and the longest. */
    againFirstMs: 250,
    againMostMs: 2 * SECOND,
    /** How often one question may fail while the server answers others. */
    sameTimes: 8,
    /** How long a process that is told to stop waits for a board that does not answer. */
    lastMs: 2 * SECOND,
    /** On the server, in seconds and milliseconds: when it gives a client up that vanished. */
    keepAliveSeconds: 10,
    clientGoneMs: 20 * SECOND,
    /** A list of ids gives another text for each length. */
    statements: 256,
    snapshotBusyMs: 10 * SECOND,
  },

  /** Answers to requests with a key. The oldest are forgotten first. */
  keptAnswers: {
    forMs: DAY,
    most: 1_000,
    bytes: 32 * MEGABYTE,
    /** After it, an answer that was not kept counts as lost: its server was killed. */
    pendingMs: MINUTE,
  },

  /** `copse serve`: what clients may send, and how long each step may take. */
  server: {
    headerBytes: 16 * KILOBYTE,
    bodyBytes: MEGABYTE,
    /** Of an operation that takes a whole board; only a person may call it. */
    largeBodyBytes: 64 * MEGABYTE,
    targetLength: 2_048,
    /** What a client may send over a WebSocket. */
    frameBytes: 64 * KILOBYTE,
    connections: 256,
    /** Requests on one connection that have no answer yet: clients of today wait for each. */
    pipelined: 16,
    /** Requests whose work goes on, also of clients that are gone: while the board is away, it waits. */
    working: 1_000,
    /** Bodies of requests that are not verified yet are held in memory. */
    unverifiedBodies: 16,
    unverifiedMs: 5 * SECOND,
    headersMs: 10 * SECOND,
    requestMs: 30 * SECOND,
    /** A stream says so often that it is alive; a WebSocket that does not answer is closed. */
    heartbeatMs: 15 * SECOND,
    /** A client that takes nothing for so long is disconnected, and catches up by number. */
    slowMs: 10 * SECOND,
    /** For the last words to a client that is disconnected. */
    farewellMs: 2 * SECOND,
    /** For the last words of a server that stops. */
    stopMs: 300,
    /** Work of requests that a server which stops waits for; what is cut then is finished later, as after a crash. */
    lastWorkMs: 5 * SECOND,
    codeMs: 5 * MINUTE,
    codeBytes: KILOBYTE,
    /** How long the program that opens a browser may take, and how long the file that leads to the address stays. */
    openMs: 5 * SECOND,
    openedMs: 30 * SECOND,
    ticketMs: 30 * SECOND,
    tickets: 256,
    /** Tokens that were given for codes; the oldest is forgotten first. */
    tokens: 64,
    /** How long a page may go on, also after the server was started again. */
    pageTokenMs: 12 * HOUR,
    /** Exports at a time, and how long each may take: it holds a read transaction of the board. */
    exports: 2,
    exportMs: 10 * MINUTE,
    /** The board reads no further until the client has taken this much. */
    exportBytes: 64 * KILOBYTE,
    /** A clock that is set back by less changes nothing. */
    clockStepMs: MINUTE,
    /** Events in memory for all clients, and what one write has at most; an event may be larger alone. */
    recentEvents: 2_000,
    recentBytes: 8 * MEGABYTE,
    batchEvents: 200,
    batchBytes: 256 * KILOBYTE,
    /** Refused hosts and origins that are told to the person; a scan names thousands. */
    toldRefusals: 20,
  },

  /** Output of sessions that pages have open. */
  terminals: {
    /** Output is sent at most so often. */
    coalesceMs: 100,
    /** The last output of a terminal, kept for readers that come back; and at most so many terminals and pages at a time. */
    bufferBytes: 256 * KILOBYTE,
    sources: 32,
    pages: 128,
    /** What one frame has at most. */
    pieceBytes: 64 * KILOBYTE,
    /** A new reader of a log begins so far from its end; one that is further behind is moved on. */
    logTailBytes: 256 * KILOBYTE,
    logBehindBytes: MEGABYTE,
    /** After the end of an attempt, its log ends once it did not grow for so many looks. */
    lastLooks: 3,
    /** Bytes that one command of tmux types. */
    typedAtOnce: 256,
    /** Of an answer of tmux, and of what it says before it ends. */
    answerLines: 1_000,
    saidLength: 1_000,
    /** A line of tmux: a screen of many colours has up to half a megabyte in all. */
    lineBytes: MEGABYTE,
    /** A terminal that puts out more between two pieces is not read for a while. */
    floodBytes: 512 * KILOBYTE,
    floodPauseMs: 300,
    answerMs: 10 * SECOND,
    closeMs: SECOND,
    /** A page that is loaded again finds the terminal still open. */
    lingerMs: 2 * SECOND,
    /** What a person may type: in one frame, and in a second. */
    typedBytes: 4 * KILOBYTE,
    typedBytesPerSecond: 16 * KILOBYTE,
    /** A small input counts as so many bytes, because each is checked by the board. */
    leastTypedBytes: 64,
    /** Inputs that wait for their turn; a page that sends more is disconnected. */
    waitingInputs: 64,
    /** A take-over ends so long after its last page was closed. */
    pageClosedMs: MINUTE,
  },

  /** Locks of a git that was killed. */
  gitLocks: {
    /** A ref's lock is held for moments only: one that has not changed for so long is stale. */
    deadMs: 10 * SECOND,
    lookEveryMs: 100,
    /** How long to wait for a git that packs refs before reporting the lock. */
    patienceMs: MINUTE,
  },

  /** What a rescue saves at most, and Copse commits for an agent: more is refused, and stays where it is. */
  rescue: {
    mostBytes: 4 * GIGABYTE,
    mostFiles: 250_000,
  },

  /** Processes of git, and whatever is computed from a branch. */
  git: {
    /** A git that takes longer is ended with the processes that it started. */
    mostMs: 10 * MINUTE,
    /** How often a running git is checked for waiting on a pipe, and how long it may. */
    lookEveryMs: 500,
    pipeMs: SECOND,
    /** Between asking a git to end and killing it. */
    endGraceMs: SECOND,
    /** Of one process of git, where the system can limit it. */
    memoryBytes: 4 * GIGABYTE,
    /** What one git may print. */
    outputBytes: 512 * MEGABYTE,
    /** The largest object that Copse reads into its own memory. */
    objectBytes: 256 * MEGABYTE,
    /** What Copse takes from the store of an attempt at a time: bytes of large files, of all else that names objects, objects. */
    broughtBytes: 4 * GIGABYTE,
    broughtTreeBytes: 64 * MEGABYTE,
    broughtObjects: 500_000,
    /** The most objects of a store that are looked at for a reader who misses one. */
    missedObjects: 10_000,
    /** Paths that a branch may change, against its target. */
    changedPaths: 250_000,
    /** Folders in folders; no system can check out more. */
    folderDepth: 2_000,
  },

  /** The largest files that Copse reads whole, of those that agents can write; larger ones count as damaged. */
  files: {
    smallBytes: 8 * MEGABYTE,
    indexBytes: GIGABYTE,
    packedRefsBytes: 256 * MEGABYTE,
  },

  list: {
    /** Finished tasks shown by `copse list` unless `--all` is given. */
    recentlyFinished: 50,
  },

  escape: {
    /** Files of the main checkout that an event names. */
    listedPaths: 200,
    /** How long a look at the main checkout waits for a landing that moves it, and how often it tries. */
    patienceMs: 5 * SECOND,
    lookEveryMs: 50,
  },
} as const;
