/** A chart drawn by uPlot, loaded with the first chart. Its figures are in the table beside it. */

import { useEffect, useRef, useState } from 'react';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

import { type Chart, amountText } from './charts.ts';

interface PlotProps {
  readonly chart: Chart;
  /** A level line. */
  readonly pinned: number | null;
}

const HEIGHT = 180;
/** What never was more than nothing has an axis too. */
const LEAST_TOP = { count: 1, time: 60_000, share: 0.1, dollars: 1 } as const;
const WHOLE_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];
const COLOURS = ['--working', '--landing'] as const;

const HALF_DAY_S = 43_200;

export default function Plot({ chart, pinned }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const isDark = useDark();
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const plot = new UPlot(optionsOf(chart, pinned, element), dataOf(chart, pinned), element);
    const sizes = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    sizes.observe(element);
    return () => {
      sizes.disconnect();
      plot.destroy();
    };
  }, [chart, pinned, isDark]);
  return <div ref={place} role="img" aria-label={`Chart: ${chart.title}`} style={{ minHeight: HEIGHT }} />;
}

function dataOf({ days, lines }: Chart, pinned: number | null): UPlot.AlignedData {
  const times = days.map((day) => Date.parse(`${day}T12:00`) / 1_000);
  const level = pinned === null ? [] : [times.map(() => pinned)];
  return [times, ...lines.map(({ values }) => [...values]), ...level];
}

function optionsOf(chart: Chart, pinned: number | null, element: HTMLElement): UPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name).trim() || 'gray';
  const ink = resolved(element, colour('--faint'));
  const grid = { stroke: resolved(element, colour('--line')), width: 1 };
  const axis = { stroke: ink, grid, ticks: grid, font: `11px ${style.fontFamily}` };
  const lineCount = chart.lines.length + (pinned === null ? 0 : 1);
  const bars = UPlot.paths.bars?.({ size: [0.7, 40] });
  const value = (_: UPlot, given: number | null) => (given === null ? '–' : amountText(given, chart.unit));
  return {
    width: element.clientWidth,
    height: HEIGHT,
    cursor: { y: false },
    legend: { live: false, show: lineCount > 1 },
    axes: [
      {
        ...axis,
        values: (_, splits) =>
          splits.map((at) =>
            new Date(at * 1_000).toLocaleDateString(undefined, { month: 'short', day: 'numeric' }),
          ),
        space: 70,
      },
      {
        ...axis,
        size: 64,
        ...(chart.unit === 'count' && { incrs: WHOLE_STEPS }),
        values: (_, splits) => splits.map((split) => amountText(split, chart.unit)),
      },
    ],
    scales: {
      // The first and the last day have room for a whole bar.
      x: { range: (_, first, last) => [first - HALF_DAY_S, last + HALF_DAY_S] },
      y: { range: (_, __, most) => [0, Math.max(most * 1.1, LEAST_TOP[chart.unit])] },
    },
    series: [
      { value: (_, at) => (at === null ? '' : new Date(at * 1_000).toLocaleDateString()) },
      ...chart.lines.map(({ name }, index) => {
        const stroke = resolved(element, colour(COLOURS[index] ?? '--ink'));
        const isBars = chart.shape === 'bars' && bars !== undefined;
        return {
          label: name,
          value,
          stroke,
          width: 2,
          spanGaps: true,
          ...(index === 1 && { dash: [2, 3] }),
          points: { show: !isBars, size: 6 },
          ...(isBars && { paths: bars, fill: stroke }),
        };
      }),
      ...(pinned === null
        ? []
        : [{ label: 'baseline', value, stroke: ink, width: 1, dash: [6, 4], points: { show: false } }]),
    ],
  };
}

/** A canvas does not know light-dark(). */
function resolved(element: HTMLElement, colour: string): string {
  const probe = document.createElement('span');
  probe.style.color = colour;
  element.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

function useDark(): boolean {
  const [isDark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const media = matchMedia('(prefers-color-scheme: dark)');
    const onChange = () => setDark(media.matches);
    media.addEventListener('change', onChange);
    return () => media.removeEventListener('change', onChange);
  }, []);
  return isDark;
}
