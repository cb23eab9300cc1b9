/**
 * Where sends wait while the key that signs them changes: whoever is inside has sealed with the
 * published key, and its message is at the service before another key is published.
 */
export declare class SendGate {
    #private;
    /** Those inside. */
    get inside(): number;
    /**
     * Goes in, once the gate is open.
     * @returns leaves again; to be called when the message has been answered or will not leave
     */
    enter(): Promise<() => void>;
    /** Lets nobody in any more. Those inside go on. */
    close(): void;
    /** Lets everybody in who waits. */
    open(): void;
    /** Resolves when nobody is inside; call it while closed. @throws the signal's reason */
    empty(signal: AbortSignal): Promise<void>;
}
