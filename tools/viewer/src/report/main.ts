// A report: reads its data and shows it, section by section.

import './report.css';
import { unpack } from '../bytes';
import { byId, element } from '../dom';
import { count, duration, share } from '../format';
import { startTheme, toggleTheme } from '../theme';
import { Report } from './data';
import { idleSection, wholeOf } from './idle';
import { tile } from './parts';
import { phasesSection, recolorChart } from './phases';
import { ranksSection, recolorRanks } from './ranks';
import { recordingSection, verdictSection } from './recording';
import { kernelsSection, layersSection } from './work';

/** What tests look at. */
export let report: Report;
export let complete = false;

function tiles(): HTMLElement {
    const { steps, idle, recording } = report;
    const [phase] = steps.phases;
    const whole = idle.reduce((sum, gpu) => sum + wholeOf(gpu), 0);
    const empty = idle.reduce((sum, gpu) => sum + gpu.idle_ns, 0);
    return element('div', { class: 'tiles' },
        phase && tile(duration(phase.step_ns.p50), `p50 of a step of phase ${phase.phase}: ${phase.what}`),
        phase && tile(duration(phase.step_ns.p99), 'p99 of the same'),
        phase && tile(phase.steps_per_s.toFixed(1), `steps a second, ${count(phase.steps)} steps`),
        whole > 0 && !idle.some((gpu) => gpu.absent?.by_mode) && tile(share(empty / whole), `${idle.length > 1 ? 'GPUs' : 'GPU'} idle`),
        tile(count(recording.kernels), 'kernels'),
        tile(duration(recording.recorded_ns), 'recorded'));
}

function show(): void {
    const { recording, verdict } = report;
    const name = recording.command ?? recording.file;
    document.title = `RTL report: ${recording.file}`;
    byId('title').textContent = name;
    byId('title').title = name;
    const badge = byId('verdict');
    badge.textContent = verdict.completeness.split(':')[0];
    badge.title = verdict.completeness;
    badge.className = `badge ${verdict.complete ? 'good' : 'bad'}`;
    byId('report').replaceChildren(...[tiles(), phasesSection(report), ranksSection(report), kernelsSection(report), layersSection(report), idleSection(report),
        verdictSection(report), recordingSection(report)].filter((part): part is HTMLElement => part !== null));
}

/** What would turn the order of letters around is written as a number. */
function visible(_: string, value: unknown): unknown {
    return typeof value === 'string' ? value.replace(/[\u202a-\u202e\u2066-\u2069]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16)}`) : value;
}

export async function start(): Promise<void> {
    byId('theme').addEventListener('click', toggleTheme);
    try {
        report = JSON.parse(new TextDecoder().decode(await unpack(byId('rtl-data'))), visible) as Report;
        startTheme(() => {
            show();
            recolorChart();
            recolorRanks();
        });
    } catch (error) {
        byId('report').textContent = `This report cannot be shown: ${String(error)}`;
        throw error;
    }
    complete = true;
}
