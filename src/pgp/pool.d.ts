/** Kinds of threads, by their files. */
type ThreadKind = 'library/worker' | 'native/worker';
type JobArgs<J, N extends keyof J> = J[N] extends (...args: infer A) => unknown ? A : never;
type JobResult<J, N extends keyof J> = J[N] extends (...args: never[]) => infer R ? Awaited<R> : never;
/** The thread was killed because the job overran its deadline, or died of the job. */
export declare class JobKilled extends Error {
}
/** What threads of a kind are doing. */
export interface ThreadLoad {
    /** At work on a job. */
    busy: number;
    /** Jobs that wait for a thread. */
    waiting: number;
}
/** @template J the jobs that its threads do, by name */
export declare class Pool<J> implements AsyncDisposable {
    #private;
    /**
     * @param kind of thread, by its file
     * @param size greatest number of threads; they are started when first needed
     * @param killed called with the job's name whenever a thread had to be killed or died
     */
    constructor(kind: ThreadKind, size: number, killed?: (name: string) => void);
    /**
     * Runs a job. The deadline counts from when a thread takes it up, once that has started: nobody's
     * key or signature is bad because the machine was slow. `signal` drops the job before.
     * @throws JobKilled past the deadline; Error with the job's own message when it failed
     */
    run<N extends keyof J & string>(name: N, args: JobArgs<J, N>, deadlineMs: number, signal?: AbortSignal): Promise<JobResult<J, N>>;
    get load(): ThreadLoad;
    [Symbol.asyncDispose](): Promise<void>;
}
/** A thread's side of a pool: does jobs by name, one after the other, until the thread is ended; arguments and results are structured clones. */
export declare function serve(jobs: Record<string, (...args: never[]) => unknown>): void;
export {};
