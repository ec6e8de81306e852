// The phases of a program: what their steps cost, how long they took over time, which took long.

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

import { numberedColor, palette } from '../colors';
import { element, hideTip, showTip } from '../dom';
import { count, duration, share, tick } from '../format';
import { ACTIVITIES, ACTIVITY_LABELS, Phase, Report } from './data';
import { absentText, activityLegend, activityStack, barCell, causeText, familyColor, legend, named, section, swatch,
    table } from './parts';

const DETAILED = 4; // phases with a part of their own that is open
const MOST_CAUSES = 8;
const BY: Record<string, string> = {
    auto: 'launches of graphs or eager kernels that repeat', launches: 'launches of graphs that repeat',
    graph: 'launches of one graph', range: 'ranges', kernels: 'eager kernels that repeat',
};

const each = (sum: number, phase: Phase) => {
    const mean = sum / Math.max(1, phase.steps);
    return mean >= 100 || Number.isInteger(mean) ? count(mean) : mean.toFixed(1);
};

const phaseColor = (place: number) => numberedColor(place % 16);

const totals = (phase: Phase) => Object.fromEntries(ACTIVITIES.map((activity) =>
    [activity, phase[activity].total])) as Record<(typeof ACTIVITIES)[number], number>;

export function trendText(phase: Phase): string {
    const { verdict, first_quarter_p50_ns: first, last_quarter_p50_ns: last } = phase.trend;
    if (verdict === 'too few')
        return 'too few steps to tell';
    if (verdict === 'alike')
        return 'steady';
    return `${verdict === 'slower' ? 'longer' : 'shorter'} by ${share(Math.abs(last - first) / Math.max(1, first))} (p50 ${duration(first)}, then ${duration(last)})`;
}

function phaseTable({ steps, recording }: Report): HTMLElement {
    const several = recording.process_count > 1;
    return table(['', 'phase', ...(several ? ['process'] : []), 'steps', 'p50', 'p90', 'p99', 'steps/s', 'time', 'launches', 'kernels', 'copies',
        'host calls'],
    steps.phases.map((phase, place) => [swatch(phaseColor(place)), `${phase.phase}: ${phase.what}`, ...(several ? [String(phase.process)] : []),
        count(phase.steps), duration(phase.step_ns.p50), duration(phase.step_ns.p90), duration(phase.step_ns.p99), phase.steps_per_s.toFixed(1), activityStack(totals(phase)), each(phase.launches, phase),
        each(phase.kernels_in_graphs + phase.eager_kernels, phase), each(phase.copies, phase), each(phase.host_calls, phase)]), [0, 1]);
}

/** Steps of several phases over one time: a row for each moment, a column for each phase. */
function columns(phases: Phase[]): (number | null)[][] {
    const moments = [...new Set(phases.flatMap((phase) => phase.points!.at))].sort((a, b) => a - b);
    const place = new Map(moments.map((at, index) => [at, index]));
    return [moments, ...phases.flatMap((phase) => (['median', 'most'] as const).map((which) => {
        const column: (number | null)[] = new Array(moments.length).fill(null);
        phase.points!.at.forEach((at, index) => (column[place.get(at)!] = phase.points![which][index]));
        return column;
    }))];
}

/** The chart of steps over time; drawn again when its place or the colours change. */
class Chart {
    private chart: uPlot | null = null;
    private readonly data: (number | null)[][];

    constructor(private readonly place: HTMLElement, private readonly phases: Phase[]) {
        this.data = columns(phases);
        new ResizeObserver(() => this.draw()).observe(place);
    }

    draw(): void {
        this.chart?.destroy();
        this.chart = null;
        const width = this.place.clientWidth - 6;
        if (width <= 0)
            return;
        const colors = palette();
        const most = Math.max(...this.phases.map((phase) => phase.step_ns.max));
        const least = Math.min(...this.phases.map((phase) => phase.step_ns.p50));
        const wide = most > 20 * least; // decades, or nothing but the longest would be seen
        const axis = { stroke: colors.soft, grid: { stroke: colors.line, width: 1 }, ticks: { stroke: colors.line, width: 1 },
            font: '12px system-ui, "DejaVu Sans", sans-serif' };
        const series = this.phases.flatMap((phase, place) => [1, 0.45].map((alpha, which) => ({
            stroke: phaseColor(place), alpha, paths: () => null, show: which === 0 || phase.points!.each > 1,
            points: { show: true, size: which ? 3 : 5, fill: phaseColor(place), stroke: phaseColor(place), width: 0 },
        })));
        this.chart = new uPlot({
            width, height: 260, padding: [10, 24, 0, 0], legend: { show: false }, cursor: { drag: { x: true, y: false } },
            scales: { x: { time: false }, y: wide ? { distr: 3 } : { range: (_, low, high) => [0, Math.max(low, high) * 1.08] } },
            axes: [{ ...axis, values: (_, splits) => splits.map((value) => tick(value, splits[1] - splits[0])) },
                { ...axis, size: 76, values: (_, splits) => splits.map((value) => (value === null ? '' :
                    wide ? duration(value).replace(/\.0+(?=\D)/, '') : tick(value, splits[1] - splits[0]))) }],
            series: [{}, ...series],
        }, this.data as uPlot.AlignedData, this.place);
        this.listen(this.chart);
    }

    private listen(chart: uPlot): void {
        chart.over.addEventListener('mousemove', (event) => {
            const row = chart.cursor.idx;
            const lines = row === null || row === undefined ? [] : this.phases.flatMap((phase, place) => {
                const median = this.data[1 + 2 * place][row];
                const most = this.data[2 + 2 * place][row];
                return median === null ? [] : [`phase ${phase.phase}: ${duration(median)}` +
                    (phase.points!.each > 1 ? ` (median of ${phase.points!.each} steps, longest ${duration(most!)})` : '')];
            });
            if (lines.length)
                showTip(event.clientX, event.clientY, [`at ${duration(this.data[0][row!]!)}`, ...lines]);
            else
                hideTip();
        });
        chart.over.addEventListener('mouseleave', hideTip);
    }
}

let chart: Chart | null = null;

export function recolorChart(): void {
    chart?.draw();
}

/** What took longer than usual in a step. */
function excessText(excess: Record<string, number>): string {
    return ACTIVITIES.filter((activity) => excess[activity] > 0).sort((a, b) => excess[b] - excess[a])
        .map((activity) => `${ACTIVITY_LABELS[activity]} +${duration(excess[activity])}`).join(', ') || '–';
}

function outliers(phase: Phase): HTMLElement | string {
    const { limit, count: above, longest } = phase.outliers;
    if (above === 0)
        return element('p', { class: 'soft' }, `No step took more than ${duration(limit)}: the median and five deviations, and 5 % more at least.`);
    return element('div', {}, element('p', {}, `${count(above)} of ${count(phase.steps)} steps took more than ${duration(limit)}` +
        `${above > longest.length ? `; the longest ${longest.length}` : ''}:`),
    table(['at', 'took', 'of the median', 'more than in the median step'], longest.map((step) => [duration(step.at), duration(step.took),
        `${(step.took / Math.max(1, phase.step_ns.p50)).toFixed(2)} ×`, excessText(step.excess)]), [3]));
}

function idle(phase: Phase): HTMLElement {
    const whole = phase.step_ns.total;
    return element('div', {}, element('h3', {}, `Idle ${duration(phase.idle_ns.total / Math.max(1, phase.steps))} a step on average (${share(phase.idle_ns.total / Math.max(1, whole))}), ` +
        'by what the thread did that submitted the next work'),
    phase.idle.length > 0 && table(['cause', 'a step', 'of all', 'gaps a step', ''], phase.idle.slice(0, MOST_CAUSES).map((cause) => [causeText(cause.cause),
        duration(cause.ns / Math.max(1, phase.steps)), share(cause.ns / Math.max(1, whole)), each(cause.gaps, phase),
        barCell(cause.ns / Math.max(1, phase.idle[0].ns), 'var(--idle)')]), [0, 4]));
}

function families(phase: Phase): HTMLElement | null {
    const whole = phase.families.reduce((sum, family) => sum + family.ns, 0);
    if (whole === 0)
        return null;
    return element('div', {}, element('h3', {}, 'Kernels by family'),
        table(['family', 'a step', 'of the kernels\' time', 'kernels a step', ''], phase.families.filter((family) => family.kernels > 0).map((family) => [
            named(familyColor(family.family), family.family), duration(family.ns / Math.max(1, phase.steps)), share(family.ns / whole),
            each(family.kernels, phase), barCell(family.ns / Math.max(1, phase.families[0].ns), familyColor(family.family))]), [0, 4]));
}

function detail(phase: Phase, place: number): HTMLElement {
    return element('details', { open: place < DETAILED }, element('summary', {}, `Phase ${phase.phase}: ${phase.what}, ${count(phase.steps)} steps, p50 ${duration(phase.step_ns.p50)}, mean ${duration(phase.step_ns.total / Math.max(1, phase.steps))}`),
        element('p', { class: 'soft' }, `Longest ${duration(phase.step_ns.max)}. From the first quarter of its steps to the last: ${trendText(phase)}.`),
        activityStack(totals(phase)), activityLegend(),
        element('div', { class: 'pair' }, families(phase), idle(phase)),
        element('h3', {}, 'Steps that took long'), outliers(phase));
}

function outside({ steps }: Report): HTMLElement | null {
    const places = [['before', 'before the first step'], ['between', 'between steps'], ['behind', 'behind the last step']] as const;
    const sum = (where: (typeof places)[number][0]) => Object.fromEntries(ACTIVITIES.map((activity) => [activity,
        (steps.outside ?? []).reduce((all, thread) => all + thread[where][activity], 0)])) as Record<(typeof ACTIVITIES)[number], number>;
    const rows = places.map(([where, text]) => ({ text, times: sum(where) }))
        .map(({ text, times }) => ({ text, times, whole: ACTIVITIES.reduce((all, activity) => all + times[activity], 0) }))
        .filter(({ whole }) => whole > 0);
    return rows.length === 0 ? null : element('div', {}, element('h3', {}, 'In no step'), table(['', 'time', 'what the GPU did'],
        rows.map(({ text, times, whole }) => [text, duration(whole), activityStack(times)]), [0, 2]));
}

export function phasesSection(report: Report): HTMLElement {
    const { steps } = report;
    if (steps.phases.length === 0)
        return section('steps', 'Steps', element('p', {}, `No steps were found: ${steps.why ?? ''}.`));
    const place = element('div', { class: 'chart', role: 'img', 'aria-label': 'How long each step took, over time' });
    const drawn = steps.phases.filter((phase) => phase.points);
    chart = new Chart(place, drawn);
    const left = (steps.phase_count ?? 0) - steps.phases.length;
    return section('steps', 'Steps', element('p', { class: 'soft' }, `By ${BY[steps.by ?? ''] ?? steps.by}. A step goes from its first kernel to that of the next step.` +
        `${steps.graphs_told === false ? ' Modes lite and standard do not tell kernels of replays from eager ones.' : ''}${steps.absent ? ` ${absentText(steps.absent)}` : ''}`),
    phaseTable(report), activityLegend(),
    left > 0 && element('p', { class: 'soft' }, `and ${count(left)} phases with less time (rtl steps --top 0)`),
    element('h3', {}, 'How long each step took, over time since the recording began'), place,
    legend(drawn.map((phase, index) => [`phase ${phase.phase}${phase.points!.each > 1 ? `, medians of ${phase.points!.each} steps, and the longest of them` : ''}`, phaseColor(index)])),
    ...steps.phases.slice(0, 12).map(detail), outside(report));
}
