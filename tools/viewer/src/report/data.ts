// What a report holds (tools/report). Times are ns; `at` and `first` count from the begin of the recording.

export interface Stats { total: number; min: number; p50: number; p90: number; p99: number; max: number }

export interface Cause { cause: string; ns: number; gaps: number }

export interface FamilyTime { family: string; ns: number; kernels: number }

export const ACTIVITIES = ['graphs_ns', 'eager_ns', 'copies_ns', 'idle_ns'] as const;
export type Activity = (typeof ACTIVITIES)[number];

export const ACTIVITY_LABELS: Record<Activity, string> = {
    graphs_ns: 'graphs', eager_ns: 'eager kernels', copies_ns: 'copies alone', idle_ns: 'idle',
};

/** A name of the style sheet. */
export const ACTIVITY_COLORS: Record<Activity, string> = {
    graphs_ns: 'graphs', eager_ns: 'eager', copies_ns: 'copies', idle_ns: 'idle',
};

export type Phase = Record<Activity, Stats> & {
    phase: number; what: string; process: number; first: number; steps: number; launches: number; kernels_in_graphs: number;
    eager_kernels: number; copies: number; host_calls: number; step_ns: Stats; steps_per_s: number;
    trend: { verdict: string; first_quarter_p50_ns: number; last_quarter_p50_ns: number };
    idle: Cause[]; families: FamilyTime[];
    outliers: { limit: number; count: number; longest: { at: number; took: number; excess: Record<Activity, number> }[] };
    points?: { each: number; at: number[]; least: number[]; median: number[]; most: number[] };
};

export interface Spread { count: number; p50_ns: number; p90_ns: number; p99_ns: number; mean_ns: number; max_ns: number }

export interface Layers {
    process: number; graph: number; generation: number; count: number; length: number; launches: number; p50_ns: number;
    outlying: number;
    layers: { layer: number; time: Spread | null; away: number | null; outlying: boolean; more_nodes?: boolean }[];
    places: { place: number; name: string; family: string; time: Spread | null; gap: Spread | null; share: number }[];
}

export type Gpu = Record<Activity, number> & {
    process: number; gpu: number; first_ns: number; last_ns: number; gaps: number; causes: Cause[]; absent: Absent | null;
    longest: { start_ns: number; ns: number; cause: string; next: string }[];
};

/** Work that is not in the trace and may have run while a GPU seems idle. */
export interface Absent { kernels: number; copies: number; packets: number; by_mode: number; why: string }

export interface Rank {
    rank: string | null; process: number; pid: number; host: string | null; steps: number; p50_ns: number; p90_ns: number; p99_ns: number;
    total_ns: number; slowest: number; collective_ns: number | null; exposed_ns: number | null; waited_ns: number | null;
    waited_for_host_ns: number | null; made_wait_ns: number | null; waited_for: number | null;
}

export interface Ranks {
    by: string; steps: number; count: number; collectives: boolean; by_number: boolean; labelled: boolean; unlike_steps: number; ranks: Rank[];
    hosts: { host: string; ranks: number; total_ns: number; slowest: number; collective_ns: number | null; exposed_ns: number | null;
        waited_ns: number | null; waited_for_host_ns: number | null; made_wait_ns: number | null }[];
    points: { each: number; step: number[]; collective_ns: number[]; exposed_ns: number[]; waited_ns: number[] };
    worst: { step: number; at: number; slowest: number | null; waited_most: number | null; longest_ns: number; waited_ns: number }[];
}

export interface Report {
    version: number;
    recording: {
        file: string; command: string | null; host: string | null; mode: string | null; creator: string | null; date: string;
        start_ns: number; recorded_ns: number; exit_status: number; finished: boolean; failure: string | null; bytes: number;
        kernels: number; copies: number; calls: number; ranges: number; process_count: number;
        processes: { process: number; pid: number; command: string | null; rank: string | null; mode: string | null; way: string | null;
            library: string | null; state: string | null }[];
        gpus: { process: number; gpu: number; name: string | null; product: string | null; compute_units: number }[];
        notes: { at: number; text: string; others: number }[];
        pauses: { process: number | null; start_ns: number; end_ns: number | null; why: string | null }[];
    };
    verdict: {
        completeness: string; complete: boolean; unknown: boolean; damage: string[];
        losses: { lost: number; reason: string; meaning: string; advice: string }[];
        unseen_hips: { process: number; library: string | null; calls: string | null; kernels: number }[];
        graphs: { launches: number; partial: number; missing: number };
    };
    steps: {
        why?: string; by?: string; phase_count?: number; graphs_told?: boolean; absent?: Absent | null; phases: Phase[];
        outside?: (Record<'before' | 'between' | 'behind', Record<Activity, number>> & { process: number })[];
    };
    ranks: Ranks | null;
    kernels: {
        names: number; total: number; families: FamilyTime[];
        kernels: { name: string; family: string; calls: number; total: number; mean: number; p50: number; p99: number; min: number;
            max: number }[];
    };
    layers: Layers[];
    idle: Gpu[];
}
