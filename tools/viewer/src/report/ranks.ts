// The ranks of a job side by side: who came last, who waited for whom, and what nothing hides.

import uPlot from 'uplot';

import { palette } from '../colors';
import { element, hideTip, showTip } from '../dom';
import { count, duration, share, tick } from '../format';
import { Rank, Ranks, Report } from './data';
import { legend, section, stack, table } from './parts';

const BY: Record<string, string> = {
    auto: 'launches of graphs or eager kernels that repeat', launches: 'launches of graphs that repeat', range: 'ranges',
    kernels: 'eager kernels that repeat', collective: 'collectives',
};
const KINDS = [['exposed', 'exposed_ns', '--bad', 'in collectives beside which nothing computes'],
    ['waited', 'waited_ns', '--copies', 'waited in collectives for the last rank']] as const;

const nameOf = (ranks: Ranks, process: number | null) => {
    const rank = ranks.ranks.find((item) => item.process === process);
    return process === null ? 'several' : ranks.labelled && rank?.rank ? `rank ${rank.rank}` : `process ${process}`;
};

/** A rank's time: collectives that nothing hides, the rest of them, all else. */
function timeOf(rank: Pick<Rank, 'total_ns' | 'collective_ns' | 'exposed_ns'>): HTMLElement {
    const collective = rank.collective_ns ?? 0;
    const exposed = rank.exposed_ns ?? 0;
    return stack([['other work, and idle', rank.total_ns - collective, 'var(--graphs)'], ['hidden collectives', collective - exposed, 'var(--eager)'],
        ['exposed collectives', exposed, 'var(--bad)']], rank.total_ns);
}

const partOf = (ns: number | null, rank: { total_ns: number }) => (ns === null ? '–' : share(ns / Math.max(1, rank.total_ns)));

function rankTable(ranks: Ranks): HTMLElement {
    const several = ranks.hosts.length > 1;
    const told = ranks.collectives;
    return table(['', ...(several ? ['host'] : []), 'p50 of a step', 'p99', 'slowest in', ...(told ? ['collectives', 'exposed', 'waited',
        'made others wait', 'waited for', 'time'] : [])],
    ranks.ranks.map((rank) => [nameOf(ranks, rank.process), ...(several ? [rank.host ?? ''] : []), duration(rank.p50_ns), duration(rank.p99_ns),
        count(rank.slowest), ...(told ? [partOf(rank.collective_ns, rank), partOf(rank.exposed_ns, rank), partOf(rank.waited_ns, rank),
            duration(rank.made_wait_ns ?? 0), rank.waited_for === null ? '–' : nameOf(ranks, rank.waited_for), timeOf(rank)] : [])]),
    several ? [0, 1, ...(told ? [9, 10] : [])] : [0, ...(told ? [8, 9] : [])]);
}

function hostTable(ranks: Ranks): HTMLElement | false {
    return ranks.hosts.length > 1 && ranks.collectives && element('div', {}, element('h3', {}, 'Hosts'),
        table(['host', 'ranks', 'slowest in', 'collectives', 'exposed', 'waited for its own ranks', 'for other hosts', 'made others wait'],
            ranks.hosts.map((host) => [host.host, count(host.ranks), count(host.slowest), partOf(host.collective_ns, host), partOf(host.exposed_ns, host),
                partOf(host.waited_for_host_ns, host), partOf((host.waited_ns ?? 0) - (host.waited_for_host_ns ?? 0), host), duration(host.made_wait_ns ?? 0)]), [0]));
}

/** What a rank lost in a step, on average; drawn again when its place or the colours change. */
class Chart {
    private chart: uPlot | null = null;
    private readonly data: number[][];

    constructor(private readonly place: HTMLElement, private readonly ranks: Ranks) {
        const { points } = ranks;
        const shares = points.step.map((_, at) => ranks.count * Math.min(points.each, ranks.steps - at * points.each));
        this.data = [points.step, ...KINDS.map(([, key]) => points[key].map((ns, at) => ns / Math.max(1, shares[at])))];
        new ResizeObserver(() => this.draw()).observe(place);
    }

    draw(): void {
        this.chart?.destroy();
        this.chart = null;
        const width = this.place.clientWidth - 6;
        if (width <= 0)
            return;
        const colors = palette();
        const style = getComputedStyle(document.documentElement);
        const axis = { stroke: colors.soft, grid: { stroke: colors.line, width: 1 }, ticks: { stroke: colors.line, width: 1 },
            font: '12px system-ui, "DejaVu Sans", sans-serif' };
        this.chart = new uPlot({
            width, height: 200, padding: [10, 24, 0, 0], legend: { show: false }, cursor: { drag: { x: true, y: false } },
            scales: { x: { time: false }, y: { range: (_, low, high) => [0, Math.max(low, high, 1) * 1.08] } },
            axes: [axis, { ...axis, size: 76, values: (_, splits) => splits.map((value) => tick(value, splits[1] - splits[0])) }],
            series: [{}, ...KINDS.map(([, , color]) => ({ stroke: style.getPropertyValue(color), width: 1.5 }))],
        }, this.data as uPlot.AlignedData, this.place);
        this.chart.over.addEventListener('mousemove', (event) => {
            const row = this.chart?.cursor.idx;
            if (row === null || row === undefined)
                return hideTip();
            const { each } = this.ranks.points;
            showTip(event.clientX, event.clientY, [each > 1 ? `${each} steps from step ${this.data[0][row]}` : `step ${this.data[0][row]}`,
                ...KINDS.map(([what], place) => `${what} ${duration(this.data[1 + place][row])} a rank`)]);
        });
        this.chart.over.addEventListener('mouseleave', hideTip);
    }
}

let chart: Chart | null = null;

export function recolorRanks(): void {
    chart?.draw();
}

function overSteps(ranks: Ranks): HTMLElement | false {
    if (!ranks.collectives)
        return false;
    const place = element('div', { class: 'chart', role: 'img', 'aria-label': 'What is exposed, and waited for, in each step' });
    chart = new Chart(place, ranks);
    return element('div', {}, element('h3', {}, `What a rank loses in a step, on average${ranks.points.each > 1 ? `: means of ${ranks.points.each} steps` : ''}`), place,
        legend(KINDS.map(([, , color, text]) => [text, `var(${color})`])));
}

function worst(ranks: Ranks): HTMLElement | false {
    return ranks.worst.length > 0 && element('details', {}, element('summary', {}, 'The steps with the longest waits'),
        table(['step', 'at', 'slowest', 'waited most', 'for', 'all together'], ranks.worst.map((step) => [count(step.step), duration(step.at),
            nameOf(ranks, step.slowest), nameOf(ranks, step.waited_most), duration(step.longest_ns), duration(step.waited_ns)]), [2, 3]));
}

export function ranksSection({ ranks }: Report): HTMLElement | null {
    if (!ranks)
        return null;
    const left = ranks.count - ranks.ranks.length;
    return section('ranks', 'Ranks', element('p', { class: 'soft' }, `The same ${count(ranks.steps)} steps of ${count(ranks.count)} ${ranks.labelled ? 'ranks' : 'processes'} side by side, by ${BY[ranks.by] ?? ranks.by}. ` +
        (ranks.collectives ? 'Who spends least time in the collectives of a step came last; what another one spends there beyond that it waited. Exposed is what no kernel that computes hides.' :
            'No rank waits for another one in collectives, as far as their steps tell.') +
        (ranks.by_number ? ' The ranks have different numbers of steps: those of one number need not belong together.' : '') +
        (ranks.unlike_steps ? ` Of ${count(ranks.unlike_steps)} steps nobody can say who waited: the ranks ran different collectives.` : '')),
    rankTable(ranks), left > 0 && element('p', { class: 'soft' }, `and ${count(left)} more (rtl ranks)`),
    ranks.collectives && legend([['other work, and idle', 'var(--graphs)'], ['hidden collectives', 'var(--eager)'], ['exposed collectives', 'var(--bad)']]),
    hostTable(ranks), overSteps(ranks), worst(ranks));
}
