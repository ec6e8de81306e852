// Where the time of all kernels went: families, kernels, layers.

import { element, hideTip, showTip } from '../dom';
import { count, duration, share } from '../format';
import { Layers, Report } from './data';
import { barCell, familyColor, legend, section, stack, swatch, table } from './parts';

function cellName(family: string, name: string): HTMLElement {
    return element('span', { title: name }, swatch(familyColor(family)), name);
}

export function kernelsSection({ kernels }: Report): HTMLElement | null {
    if (kernels.total === 0)
        return null;
    return section('kernels', 'Where the kernels\' time went',
        stack(kernels.families.map((family) => [family.family, family.ns, familyColor(family.family)]), kernels.total),
        legend(kernels.families.filter((family) => family.ns > 0).map((family) => [`${family.family} ${share(family.ns / kernels.total)}`, familyColor(family.family)])),
        element('p', { class: 'soft' }, `${duration(kernels.total)} in kernels of ${count(kernels.names)} ${kernels.names === 1 ? 'name' : 'names'}` +
            `${kernels.names > kernels.kernels.length ? `; those with most time:` : ':'}`),
        table(['share', 'calls', 'total', 'mean', 'p50', 'p99', 'longest', 'kernel'], kernels.kernels.map((kernel) => [share(kernel.total / kernels.total),
            count(kernel.calls), duration(kernel.total), duration(kernel.mean), duration(kernel.p50), duration(kernel.p99), duration(kernel.max),
            cellName(kernel.family, kernel.name)]), [], 7));
}

function layerBars(layers: Layers): HTMLElement {
    const most = Math.max(1, ...layers.layers.map((layer) => layer.time?.p50_ns ?? 0));
    return element('div', { class: 'layers', role: 'img', 'aria-label': `p50 of ${layers.layers.length} layers` }, ...layers.layers.map((layer) => {
        const bar = element('i', { class: layer.outlying ? 'outlying' : layer.more_nodes ? 'odd' : undefined });
        bar.style.height = `${100 * (layer.time?.p50_ns ?? 0) / most}%`;
        bar.addEventListener('mousemove', (event) => showTip(event.clientX, event.clientY, [`layer ${layer.layer}`,
            `p50 ${duration(layer.time?.p50_ns ?? 0)}, p99 ${duration(layer.time?.p99_ns ?? 0)}`,
            layer.more_nodes ? 'it has more nodes than the others' : `${((layer.away ?? 0) * 100).toFixed(1)} % from the usual${layer.outlying ? ', outlying' : ''}`]));
        bar.addEventListener('mouseleave', hideTip);
        return bar;
    }));
}

function layersPart(layers: Layers, several: boolean): HTMLElement {
    const most = Math.max(1e-9, ...layers.places.map((place) => place.share));
    return element('div', {}, element('h3', {}, `${several ? `Process ${layers.process}, graph` : 'Graph'} ${layers.graph}, generation ${layers.generation}: ${count(layers.count)} layers of ${count(layers.length)} ${layers.length === 1 ? 'node' : 'nodes'}, ` +
        `p50 of a layer ${duration(layers.p50_ns)}; ${layers.outlying ? `${count(layers.outlying)} outlying` : 'none outlying'}`),
    layerBars(layers),
    legend([['p50 of a layer', 'var(--graphs)'], ...(layers.outlying ? [['outlying', 'var(--bad)'] as [string, string]] : []),
        ...(layers.layers.some((layer) => layer.more_nodes) ? [['it has more nodes', 'var(--idle)'] as [string, string]] : [])]),
    table(['place', 'mean', 'mean gap before', 'share', '', 'kernel'], layers.places.map((place) => [String(place.place), duration(place.time?.mean_ns ?? 0),
        place.gap ? duration(place.gap.mean_ns) : '–', share(place.share), barCell(place.share / most, familyColor(place.family)),
        cellName(place.family, place.name)]), [4], 5));
}

export function layersSection(report: Report): HTMLElement | null {
    if (report.layers.length === 0)
        return null;
    return section('layers', 'Layers', element('p', { class: 'soft' }, 'A block of nodes that repeats in a graph, numbered; times are over all launches.'),
        ...report.layers.map((layers) => layersPart(layers, report.recording.process_count > 1)));
}
