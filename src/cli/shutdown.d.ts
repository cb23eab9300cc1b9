/** Aborted by the first SIGTERM or SIGINT. */
export declare const shutdownSignal: AbortSignal;
/**
 * Resolves once a stop was asked for. To be called before anything is started: from then on the
 * first signal asks, and only a second one ends the process at once.
 */
export declare function shutdownRequested(): Promise<void>;
/** Whether the command that runs would heed a request to stop. For main.ts. */
export declare function handlesShutdown(): boolean;
/** Asks whatever runs to stop. For main.ts. */
export declare function requestShutdown(): void;
