// The numbers in a page's data: varints, and what was deflated and written as base64 (tools/common/bytes.h).

export class Reader {
    private at = 0;
    private readonly bits = new DataView(new ArrayBuffer(4));

    constructor(private readonly bytes: Uint8Array<ArrayBuffer>) {}

    varint(): number {
        const { bytes } = this;
        let byte = bytes[this.at++];
        if (byte < 0x80)
            return byte;
        let value = byte & 0x7f;
        let scale = 128;
        do {
            byte = bytes[this.at++];
            value += (byte & 0x7f) * scale;
            scale *= 128;
        } while (byte >= 0x80);
        return value;
    }

    /** 0, 1, 2, 3, … -> 0, -1, 1, -2, … */
    signed(): number {
        const value = this.varint();
        return value % 2 ? -(value + 1) / 2 : value / 2;
    }

    /** A number that may not be there (NaN): a whole one, or the bits of a float; either + 1. */
    optional(whole: boolean): number {
        const value = this.varint();
        if (value === 0)
            return NaN;
        if (whole)
            return value - 1;
        this.bits.setUint32(0, value - 1);
        return this.bits.getFloat32(0);
    }

    /** So many bytes as tell their number before them. */
    part(): Uint8Array<ArrayBuffer> {
        const length = this.varint();
        this.at += length;
        return this.bytes.subarray(this.at - length, this.at);
    }

    get ended(): boolean {
        return this.at >= this.bytes.length;
    }

    text(): string {
        return new TextDecoder().decode(this.part());
    }
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
    const native = (Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array<ArrayBuffer> }).fromBase64;
    if (native)
        return native(text);
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; ++i)
        bytes[i] = binary.charCodeAt(i);
    return bytes;
}

export async function inflate(packed: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
    const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Uint8Array(await new Response(plain).arrayBuffer());
}

/** The bytes that an element of the page holds. */
export function unpack(element: Element): Promise<Uint8Array<ArrayBuffer>> {
    return inflate(fromBase64((element.textContent ?? '').trim()));
}
