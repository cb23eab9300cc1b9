import { type Registry } from '@prometheus-io/client';
/** What is known of attachments, asked when somebody looks. */
export interface MediaSource {
    openings(): number;
    spoolOctets(): number;
}
/** What is counted of attachments. */
export declare class MediaMetrics {
    #private;
    constructor(registry: Registry, source: MediaSource);
    /** One was fetched; `outcome` is a verdict, `stored`, `service` or a code of ours. */
    fetched(o: {
        outcome: string;
        ms: number;
    }): void;
}
