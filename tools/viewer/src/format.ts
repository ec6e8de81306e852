// How numbers look: as in the other tools of rtl, thousands are parted by a space and durations have a unit.

const THIN = '\u202f';
const KEEP = '\u00a0'; // between a number and its unit, which stay on one line

/** 1234567 -> "1 234 567" */
export function count(value: number): string {
    return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, THIN);
}

/** ns -> "1.234 µs": four figures. */
export function duration(ns: number): string {
    const units: [number, string][] = [[60e9, 'min'], [1e9, 's'], [1e6, 'ms'], [1e3, 'µs']];
    const size = Math.abs(ns);
    for (const [unit, name] of units)
        if (size >= (name === 'min' ? 120e9 : unit)) {
            const value = ns / unit;
            return `${value.toFixed(Math.max(0, 3 - Math.floor(Math.log10(Math.abs(value)))))}${KEEP}${name}`;
        }
    return `${Number.isInteger(ns) ? ns : ns.toFixed(1)}${KEEP}ns`;
}

/** ns -> seconds with all nine decimals in groups, "1.234 567 890 s". */
export function moment(ns: number): string {
    const sign = ns < 0 ? '−' : '';
    const whole = Math.floor(Math.abs(ns) / 1e9);
    const rest = Math.round(Math.abs(ns) - whole * 1e9).toString().padStart(9, '0');
    return `${sign}${count(whole)}.${rest.slice(0, 3)}${THIN}${rest.slice(3, 6)}${THIN}${rest.slice(6)}${KEEP}s`;
}

/** 0.1234 -> "12.3 %"; what is more than nothing does not look like nothing. */
export function share(value: number): string {
    return value > 0 && value < 0.0005 ? `<${KEEP}0.1${KEEP}%` : `${(100 * value).toFixed(1)}${KEEP}%`;
}

/** bytes -> "12.3 MiB" */
export function bytes(value: number): string {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let unit = 0;
    while (value >= 1024 && unit + 1 < units.length) {
        value /= 1024;
        ++unit;
    }
    return unit ? `${value.toFixed(1)}${KEEP}${units[unit]}` : `${value}${KEEP}B`;
}

/** A step of 1, 2 or 5 times a power of ten that is at least `least`. */
export function niceStep(least: number): number {
    const power = 10 ** Math.floor(Math.log10(least));
    for (const factor of [1, 2, 5])
        if (factor * power >= least)
            return factor * power;
    return 10 * power;
}

/** The multiples of `step` in [from, to]. Counted, since large times may be no other ones when a small step is added. */
export function multiples(step: number, from: number, to: number): number[] {
    const first = Math.ceil(from / step);
    const count = Math.min(1000, Math.floor(to / step) - first + 1);
    return Array.from({ length: Math.max(0, count) }, (_, i) => (first + i) * step);
}

/** A time of an axis whose steps are `step` ns: no more decimals than the step needs. */
export function tick(ns: number, step: number): string {
    const size = Math.max(Math.abs(ns), step);
    const [unit, name] = size >= 1e9 ? [1e9, 's'] : size >= 1e6 ? [1e6, 'ms'] : size >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
    const decimals = Math.max(0, Math.ceil(-Math.log10(step / (unit as number)) - 1e-9));
    return `${((ns as number) / (unit as number)).toFixed(decimals)}${KEEP}${name}`;
}
