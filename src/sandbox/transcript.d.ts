/** A call that the service received or made to a webhook, or a message that a phone sent. */
export interface TranscriptCall {
    /** Increases by one. */
    n: number;
    /** The sandbox's time. */
    at: number;
    by: 'api' | 'phone' | 'webhook';
    method: string;
    /** With the query, as on the request line. */
    path: string;
    /** As received, names and values in turn. */
    headers: readonly string[];
    /** Every byte of the body that was received. */
    body: string;
    /** 0 while unanswered, or when the connection was closed instead. */
    status: number;
    /** The response body as it was made; a fault may have kept it from being sent. */
    answer: string;
}
/** Records a call while it is in progress. */
export declare class CallRecorder {
    #private;
    readonly n: number;
    readonly at: number;
    readonly by: TranscriptCall['by'];
    readonly method: string;
    readonly path: string;
    readonly headers: readonly string[];
    status: number;
    answer: string;
    /** @param done called once it is answered */
    constructor(call: Pick<TranscriptCall, 'n' | 'at' | 'by' | 'method' | 'path' | 'headers'>, done: () => void);
    received(chunk: Buffer | string): void;
    answered(status: number, body: string): void;
    get body(): string;
    toJSON(): TranscriptCall;
}
/**
 * Everything that the service received and answered, call by call, so that one can search it for
 * text that the service must never see. Holds the newest `maxCalls`.
 */
export declare class Transcript {
    #private;
    /** @param stored where answered calls are stored, with those of earlier runs */
    constructor(maxCalls: number, stored?: Map<number, TranscriptCall> | null);
    /** Begins to record a call. */
    open(call: Pick<TranscriptCall, 'at' | 'by' | 'method' | 'path' | 'headers'>): CallRecorder;
    /** Calls in order; with `after`, only those with greater numbers. */
    list(after?: number): TranscriptCall[];
    /**
     * Calls that contain `text` in the path (also percent-decoded), headers, body or response: as it
     * is, or encoded in JSON or base64.
     */
    search(text: string): TranscriptCall[];
    clear(): void;
}
