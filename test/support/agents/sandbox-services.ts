/** Services of this machine that no program in a sandbox may reach, except the model: servers, sockets, a process, a group. */

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { mkdtempSync, rmSync } from 'node:fs';
import { type Server as HttpServer, createServer as createHttp } from 'node:http';
import { type AddressInfo, type Server, createServer } from 'node:net';
import path from 'node:path';

import { closeGroup, openGroup } from '../../../packages/copse/src/processes/cgroup.ts';

export interface Services {
  readonly ports: Readonly<Record<'model' | 'database' | 'elsewhere' | 'datagrams', number>>;
  /** A folder of sockets. One without a file has its name. */
  readonly sockets: string;
  readonly witness: ChildProcess;
  /** A control group, where one can be made. */
  readonly group: string | undefined;
  close(): Promise<void>;
}

export async function openServices(): Promise<Services> {
  // Where the name of a socket is short enough.
  const sockets = mkdtempSync('/tmp/copse-');
  const [model, database, elsewhere] = await Promise.all([
    listenHttp('127.0.0.1'),
    listenHttp('127.0.0.1'),
    listenHttp('127.0.0.2'),
  ]);
  const files = ['docker.sock', 'bus', '.s.PGSQL.5432'].map((name) => path.join(sockets, name));
  const listeners = await Promise.all([...files, `\0${sockets}`].map(listenSocket));
  const datagrams = createSocket('udp4');
  datagrams.on('message', (_, { port }) => datagrams.send('x', port, '127.0.0.1'));
  await new Promise<void>((resolve) => void datagrams.bind(0, '127.0.0.1', resolve));
  const tmux = path.join(sockets, 'tmux');
  execFileSync('tmux', ['-S', tmux, '-f', '/dev/null', 'new-session', '-d', 'sleep 600'], { cwd: '/' });
  const keys = spawn('ssh-agent', ['-D', '-a', path.join(sockets, 'ssh-agent')], { stdio: 'ignore' });
  const witness = spawn('sleep', ['600'], { stdio: 'ignore' });
  const group = openGroup(`matrix-${process.pid}`);
  const portOf = (server: HttpServer) => (server.address() as AddressInfo).port;
  return {
    ports: {
      model: portOf(model),
      database: portOf(database),
      elsewhere: portOf(elsewhere),
      datagrams: datagrams.address().port,
    },
    sockets,
    witness,
    group,
    async close() {
      for (const child of [witness, keys]) child.kill('SIGKILL');
      execFileSync('tmux', ['-S', tmux, 'kill-server']);
      for (const server of [model, database, elsewhere]) {
        server.closeAllConnections();
        server.close();
      }
      datagrams.close();
      await Promise.all(listeners.map((one) => new Promise((resolve) => void one.close(resolve))));
      if (group !== undefined) await closeGroup(group);
      rmSync(sockets, { recursive: true, force: true });
    },
  };
}

async function listenHttp(host: string): Promise<HttpServer> {
  const server = createHttp((_, response) => void response.end('hello'));
  await new Promise<void>((resolve, reject) => void server.once('error', reject).listen(0, host, resolve));
  return server;
}

async function listenSocket(name: string): Promise<Server> {
  const server = createServer((socket) => void socket.end());
  await new Promise<void>((resolve, reject) => void server.once('error', reject).listen(name, resolve));
  return server;
}
