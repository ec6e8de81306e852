// Why the GPUs were idle.

import { element } from '../dom';
import { count, duration, share } from '../format';
import { ACTIVITIES, Gpu, Report } from './data';
import { absentText, activityLegend, activityStack, barCell, causeText, section, table } from './parts';

export const wholeOf = (gpu: Gpu) => ACTIVITIES.reduce((sum, activity) => sum + gpu[activity], 0);

function gpuName({ recording }: Report, gpu: Gpu): string {
    const agent = recording.gpus.find((item) => item.process === gpu.process && item.gpu === gpu.gpu);
    return `GPU ${gpu.gpu}${agent?.name ? ` ${agent.name}` : ''}${recording.process_count > 1 ? `, process ${gpu.process}` : ''}`;
}

function gpuPart(report: Report, gpu: Gpu): HTMLElement {
    const whole = Math.max(1, wholeOf(gpu));
    if (gpu.absent?.by_mode)
        return element('div', {}, element('h3', {}, `${gpuName(report, gpu)}: not known`), element('p', { class: 'bad' }, absentText(gpu.absent)));
    return element('div', {}, element('h3', {}, `${gpuName(report, gpu)}: idle for ${gpu.absent ? 'at most ' : ''}${duration(gpu.idle_ns)} of ${duration(whole)} (${share(gpu.idle_ns / whole)}), in ${count(gpu.gaps)} gaps`),
        gpu.absent && element('p', { class: 'bad' }, absentText(gpu.absent)),
        activityStack(gpu), activityLegend(),
        gpu.causes.length > 0 && table(['what the submitting thread did', 'idle', 'of all', 'gaps', ''], gpu.causes.map((cause) => [causeText(cause.cause), duration(cause.ns),
            share(cause.ns / whole), count(cause.gaps), barCell(cause.ns / Math.max(1, gpu.causes[0].ns), 'var(--idle)')]), [0, 4]),
        gpu.longest.length > 0 && element('details', {}, element('summary', {}, 'The longest gaps'),
            table(['at', 'time', 'most of it', 'what ran then'], gpu.longest.map((gap) => [duration(Math.max(0, gap.start_ns - report.recording.start_ns)),
                duration(gap.ns), causeText(gap.cause), gap.next]), [2], 3)));
}

export function idleSection(report: Report): HTMLElement | null {
    if (report.idle.length === 0)
        return null;
    return section('idle', 'Why the GPU was idle', element('p', { class: 'soft' }, 'From the first kernel or copy to the last. A gap is given to what the thread did that then submitted the next work.'),
        element('div', { class: 'pair' }, ...report.idle.filter((gpu) => wholeOf(gpu) > 0).map((gpu) => gpuPart(report, gpu))));
}
