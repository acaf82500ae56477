/** What depends on what, laid out by dagre and drawn as SVG. Loaded when a plan has dependencies. */

import { Graph as DagreGraph, layout } from '@dagrejs/dagre';
import { useMemo } from 'react';
import { Link } from 'wouter';

import { shown } from '../../../../copse/src/kernel/text.ts';
import type { TaskStatus } from '../../../../copse/src/tasks/rules/task.ts';
import { statusWord } from '../../parts/status-word.ts';
import styles from './plans.module.css';
import type { GraphTask } from './progress.ts';

interface GraphProps {
  readonly tasks: readonly GraphTask[];
  readonly critical: readonly string[];
}

const WIDTH = 220;
const HEIGHT = 52;
const TITLE_LENGTH = 28;

const MARKS: Readonly<Record<TaskStatus, string>> = {
  pending: '…',
  ready: '○',
  paused: '‖',
  in_progress: '◐',
  stuck: '?',
  in_review: '◉',
  needs_attention: '!',
  failed: '✗',
  landing: '⇥',
  done: '✓',
  cancelled: '–',
};

export default function Graph({ tasks, critical }: GraphProps) {
  const { nodes, edges, width, height } = useMemo(() => laidOut(tasks), [tasks]);
  const isCritical = (from: string, to: string) => {
    const at = critical.indexOf(from);
    return at !== -1 && critical[at + 1] === to;
  };
  return (
    <section className={styles.graph} aria-label="Dependency graph" tabIndex={0}>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        <defs>
          <marker
            id="arrow"
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="9"
            markerHeight="9"
            markerUnits="userSpaceOnUse"
            orient="auto"
          >
            <path d="M0 0 8 4 0 8z" />
          </marker>
        </defs>
        {edges.map(({ from, to, path }) => (
          <path
            key={`${from} ${to}`}
            className={styles.edge}
            data-critical={isCritical(from, to)}
            d={path}
            markerEnd="url(#arrow)"
          />
        ))}
        {nodes.map(({ task, x, y }) => (
          <NodeOf key={task.id} task={task} x={x} y={y} isCritical={critical.includes(task.id)} />
        ))}
      </svg>
    </section>
  );
}

interface NodeProps {
  readonly task: GraphTask;
  readonly x: number;
  readonly y: number;
  readonly isCritical: boolean;
}

function NodeOf({ task: { id, title, status }, x, y, isCritical }: NodeProps) {
  const text = shown(title);
  const short = text.length > TITLE_LENGTH ? `${text.slice(0, TITLE_LENGTH - 1)}…` : text;
  const word = statusWord(status);
  return (
    <Link href={`/tasks/${id}`} asChild>
      <a className={styles.node} data-status={status} data-critical={isCritical}>
        <g transform={`translate(${x - WIDTH / 2} ${y - HEIGHT / 2})`}>
          <rect width={WIDTH} height={HEIGHT} rx="6" />
          <text x="10" y="20">
            {`${MARKS[status]} ${id} · ${word}${isCritical ? ' · critical' : ''} `}
          </text>
          <text x="10" y="40">
            {short}
          </text>
        </g>
      </a>
    </Link>
  );
}

function laidOut(tasks: readonly GraphTask[]) {
  const graph = new DagreGraph();
  graph.setGraph({ rankdir: 'LR', nodesep: 16, ranksep: 48, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  const ids = new Set(tasks.map(({ id }) => id));
  for (const { id } of tasks) graph.setNode(id, { width: WIDTH, height: HEIGHT });
  for (const { id, dependsOn } of tasks)
    for (const dependency of dependsOn) if (ids.has(dependency)) graph.setEdge(dependency, id);
  layout(graph);
  const nodes = tasks.map((task) => {
    const { x = 0, y = 0 } = graph.node(task.id) as { readonly x?: number; readonly y?: number };
    return { task, x, y };
  });
  const edges = graph.edges().map((edge) => {
    const { points } = graph.edge(edge) as {
      readonly points: readonly { readonly x: number; readonly y: number }[];
    };
    const path = points.map(({ x, y }, index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join(' ');
    return { from: edge.v, to: edge.w, path };
  });
  const size = graph.graph() as { readonly width?: number; readonly height?: number };
  return { nodes, edges, width: Math.ceil(size.width ?? 0), height: Math.ceil(size.height ?? 0) };
}
