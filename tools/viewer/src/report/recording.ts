// Whether all is there, and how it was recorded.

import { element } from '../dom';
import { bytes, count, duration } from '../format';
import { Report } from './data';
import { section, table } from './parts';

export function verdictSection({ verdict, recording }: Report): HTMLElement {
    return section('completeness', 'Is everything there?',
        element('p', { class: verdict.complete ? 'good' : 'bad' }, verdict.completeness),
        verdict.losses.length > 0 && table(['kernels', 'why', 'what to do'], verdict.losses.map((loss) => [count(loss.lost), loss.meaning, loss.advice]), [1, 2]),
        verdict.damage.length > 0 && element('ul', {}, ...verdict.damage.map((what) => element('li', {}, what))),
        verdict.unseen_hips.length > 0 && element('ul', {}, ...verdict.unseen_hips.map((hip) => element('li', {},
            `process ${hip.process}: host calls of ${hip.library ?? 'the program itself'} are not in the trace (${count(hip.kernels)} kernels)`))),
        verdict.graphs.partial > 0 && element('p', {}, `${count(verdict.graphs.partial)} of ${count(verdict.graphs.launches)} launches of graphs are not whole.`),
        recording.pauses.length > 0 && element('p', {}, `Recording was stopped ${recording.pauses.length === 1 ? 'once' : `${count(recording.pauses.length)} times`}.`),
        element('p', { class: 'soft' }, 'As rtl check found it in the whole trace.'));
}

function ended({ recording }: Report): string {
    const how = recording.finished ? 'in order' : recording.failure ? `not: it could not be written, ${recording.failure}` :
        'not: it is being recorded, or the collector was killed';
    if (recording.exit_status >= 256)
        return `${how}, program died by signal ${recording.exit_status - 256}`;
    return recording.exit_status >= 0 ? `${how}, exit status ${recording.exit_status}` : how;
}

export function recordingSection(report: Report): HTMLElement {
    const { recording } = report;
    const facts: [string, string | null][] = [
        ['file', recording.file], ['command', recording.command], ['host', recording.host], ['mode', recording.mode],
        ['written by', recording.creator], ['recorded', new Date(Number(BigInt(recording.date) / 1000000n)).toLocaleString()],
        ['for', duration(recording.recorded_ns)], ['ended', ended(report)], ['size', `${bytes(recording.bytes)}` +
            (recording.kernels ? `, ${(recording.bytes / recording.kernels).toFixed(1)} bytes per kernel` : '')],
        ['kernels', count(recording.kernels)], ['copies', count(recording.copies)], ['host calls', count(recording.calls)],
        ['ranges', count(recording.ranges)],
    ];
    const left = recording.process_count - recording.processes.length;
    return section('recording', 'How it was recorded',
        element('dl', {}, ...facts.flatMap(([what, value]) => (value === null ? [] : [element('dt', {}, what), element('dd', {}, value)]))),
        element('h3', {}, 'Processes'), table(['process', 'pid', 'rank', 'mode', 'way', 'librtl', 'state', 'command'], recording.processes.map((process) => [String(process.process),
            String(process.pid), process.rank ?? '–', process.mode ?? '–', process.way ?? '–', process.library ?? '–', process.state ?? '–', process.command ?? '–']),
        [2, 3, 4, 5, 6], 7),
        left > 0 && element('p', { class: 'soft' }, `and ${count(left)} more`),
        recording.gpus.length > 0 && element('h3', {}, 'GPUs'),
        recording.gpus.length > 0 && table(['process', 'GPU', 'name', 'product', 'compute units'], recording.gpus.map((gpu) => [String(gpu.process), String(gpu.gpu),
            gpu.name ?? '–', gpu.product ?? '–', count(gpu.compute_units)]), [2, 3]),
        recording.notes.length > 0 && element('h3', {}, 'Notes'),
        recording.notes.length > 0 && element('ul', {}, ...recording.notes.map((note) => element('li', {}, note.text +
            (note.others ? ` (the same of ${count(note.others)} more processes)` : '')))));
}
