// What was asked for of a page that is served: the single events of a window, numbered as the page numbers rows, texts and items, so that
// whoever draws them or looks for them need not know where they come from.

import { levelsOf, readBins } from './bins';
import { Reader, inflate } from './bytes';
import { Columns, Segment, Segments } from './segments';
import { CALL, Head, Lane, Launch, Slice, Trace, readLaunches } from './trace';

type RowKey = Pick<Lane, 'process' | 'kind' | 'gpu' | 'queue' | 'stream' | 'thread' | 'number'>;

const keyOf = ({ process, kind, gpu, queue, stream, thread, number }: RowKey) => [process, kind, gpu, queue, stream, thread, number].join();

/** The places in a page's list of what an answer has; what is new is added. */
function placesIn<T>(list: T[], key: (item: T) => string, added: T[], add: (item: T) => T = (item) => item): number[] {
    const places = new Map(list.map((item, place) => [key(item), place]));
    return added.map((item) => {
        let place = places.get(key(item));
        if (place === undefined) {
            place = list.push(add(item)) - 1;
            places.set(key(item), place);
        }
        return place;
    });
}

/** Where the page has what an answer has, by its place there. */
interface Places {
    texts: number[];
    kernels: number[];
    copies: number[];
    lanes: Lane[];
    launches: number[]; // + 1
}

function addTexts(trace: Trace, head: Head): number[] {
    const texts = placesIn(trace.head.texts, (text) => text, head.texts);
    for (const [name, family] of head.families)
        if (!trace.families.has(texts[name]))
            trace.families.set(texts[name], family);
    for (const [name, inTable, inLittle] of head.short_names)
        if (!trace.shortNames.has(texts[name]))
            trace.shortNames.set(texts[name], [inTable, inLittle]);
    return texts;
}

/** The first two numbers of an item are texts. */
function addItems(list: number[][], added: number[][], texts: number[]): number[] {
    return placesIn(list, (item) => item.join(), added.map(([name, second, ...rest]) => [texts[name], texts[second], ...rest]));
}

function addLanes(trace: Trace, head: Head): Lane[] {
    const added = head.lanes.map(({ bins, shift, ...rest }): Lane => ({ ...rest, place: -1, levels: [], crossings: [] }));
    const places = placesIn(trace.lanes, keyOf, added, (lane) =>
        ({ ...lane, place: trace.lanes.length, levels: levelsOf(readBins(new Reader(new Uint8Array()), 20, 0)) }));
    return places.map((place) => trace.lanes[place]);
}

/** Replays that the page has are that whole; of others it may be a part. */
function addLaunches(trace: Trace, added: Launch[], from: number, to: number): number[] {
    const key = ({ process, graph, launch }: Launch) => [process, graph, launch].join();
    const known = new Map([...trace.launches, ...trace.further].map((launch) => [key(launch), launch]));
    return added.map((launch) => {
        let there = known.get(key(launch));
        if (!there || (there.cut && launch.start >= from && launch.start + launch.duration <= to)) {
            const place = there?.place ?? trace.launches.length + trace.further.length;
            there = { ...launch, place, cut: launch.start < from || launch.start + launch.duration > to };
            trace.further[place - trace.launches.length] = there;
        }
        return there.place + 1;
    });
}

export class Near extends Segments {
    private readonly crossings = new Map<Lane, Slice[]>();

    private constructor(private readonly places: Places, private readonly packed: Map<number, Uint8Array<ArrayBuffer>>, head: Head,
                        private readonly page: Trace, readonly from: number, readonly to: number) {
        super(head.segments);
        for (const [place, start, duration, item, id, correlation, range, launch, node, more, text, counts] of head.crossings) {
            const lane = places.lanes[place];
            const slice: Slice = { lane, start, duration, item: this.itemOf(lane, item), id, correlation, range,
                launch: launch && places.launches[launch - 1], node, more, text: text ?? '', counts: counts ?? [] };
            this.crossings.set(lane, [...this.crossingsOf(lane), slice]);
        }
    }

    /** Reads an answer (tools/export/served.h) about [from, to) for a page. */
    static async read(page: Trace, bytes: Uint8Array<ArrayBuffer>, from: number, to: number): Promise<Near> {
        const parts = new Reader(bytes);
        const reader = new Reader(await inflate(parts.part()));
        const head = JSON.parse(reader.text()) as Head;
        for (const { shift, bins } of [...head.lanes, ...head.gpus])
            readBins(reader, shift, bins); // the page has them for all of the time
        const packed = new Map<number, Uint8Array<ArrayBuffer>>();
        head.segments.forEach(({ kept }, number) => kept && packed.set(number, parts.part()));
        const texts = addTexts(page, head);
        const places = { texts, kernels: addItems(page.head.kernels, head.kernels, texts), copies: addItems(page.head.copies, head.copies, texts),
            lanes: addLanes(page, head), launches: addLaunches(page, readLaunches(reader), from, to) };
        return new Near(places, packed, head, page, from, to);
    }

    /** Is all of [from, to] in it, as far as the page has anything there? */
    spans(from: number, to: number): boolean {
        const { first, last } = this.page.head;
        return this.from <= Math.max(from, first) && Math.min(to, last) <= this.to && from < this.to && to > this.from;
    }

    protected bytesOf(number: number): Promise<Uint8Array<ArrayBuffer> | null> {
        const packed = this.packed.get(number);
        return packed ? inflate(packed) : Promise.resolve(null);
    }

    crossingsOf(lane: Lane): Slice[] {
        return this.crossings.get(lane) ?? [];
    }

    private itemOf(lane: Lane, item: number): number {
        const { texts, kernels, copies } = this.places;
        switch (lane.kind) {
        case 'queue':
            return kernels[item];
        case 'copies':
            return copies[item];
        case 'thread':
            return (item & 3) === CALL ? texts[Math.floor(item / 4)] * 4 + CALL : item;
        default:
            return texts[item];
        }
    }

    protected adapt(segment: Segment): Segment {
        const lanes = new Map<number, Columns>();
        for (const [place, columns] of segment.lanes) {
            const lane = this.places.lanes[place];
            columns.item = columns.item.map((item) => this.itemOf(lane, item));
            columns.launch = columns.launch.map((launch) => launch && this.places.launches[launch - 1]);
            lanes.set(lane.place, columns);
        }
        return { ...segment, lanes };
    }
}
