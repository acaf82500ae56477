/** This process has what quick-fork.ts gave it. The programs that it starts must not get it too. */

if (process.env['LD_PRELOAD']?.endsWith('/quick-fork.so') === true) delete process.env['LD_PRELOAD'];
