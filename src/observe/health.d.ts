/**
 * Everything that can keep the sidecar from doing its whole job, with what to do about it. The
 * table in this folder's README is made from it.
 */
export declare const REASONS: {
    readonly starting: {
        readonly what: 'the sidecar is still starting';
        readonly hint: 'wait; if it takes long, the log says what it waits for';
    };
    readonly upstream: {
        readonly status: 502;
        readonly what: 'the service could not be reached';
        readonly hint: 'check `upstream.url` and the network; `postern check` tries each step';
    };
    readonly token: {
        readonly what: 'the service refuses the bot’s token';
        readonly hint: 'let the owner issue a new one in the bot console and put it into `bot.token`; a token file is reread automatically';
    };
    readonly identity: {
        readonly what: 'the service answers as another bot than the one whose token this is';
        readonly hint: 'check that `bot.token` and `upstream.url` belong together; nothing that such an answer says is believed';
    };
    readonly paused: {
        readonly what: 'the bot’s owner has paused it';
        readonly hint: 'ask the owner to resume it in the bot console';
    };
    readonly 'key-unpublished': {
        readonly what: "the bot’s key is not confirmed by the service yet";
        readonly hint: 'wait: Postern retries; `postern key list` shows what is pending';
    };
    readonly 'key-conflict': {
        readonly status: 503;
        readonly what: 'the service lists a key for this bot that is not ours';
        readonly hint: 'find out who published it, or restore a later backup that has it; `postern key publish --replace` replaces it by ours';
    };
    readonly 'key-expired': {
        readonly status: 503;
        readonly what: 'the bot’s key has expired';
        readonly hint: 'run `postern key rotate` for a key that does not expire; the old one still opens messages';
    };
    readonly 'bot-unprotected': {
        readonly status: 503;
        readonly what: 'the service says that this bot has no key any more';
        readonly hint: 'publish again with `postern key publish`, or leave encrypted chats for good with `postern chat allow-readable --private`';
    };
    readonly clock: {
        readonly what: 'our clock and the service’s differ by more than two minutes';
        readonly hint: 'set this machine’s clock (NTP); no key is made until they agree';
    };
    readonly store: {
        readonly status: 503;
        readonly what: 'the data directory cannot be written, so whatever must be recorded first is refused';
        readonly hint: 'free space on the disk of `dataDir`, or make it writable';
    };
    readonly 'webhook-at-service': {
        readonly what: 'the service itself delivers to a webhook, so polls are answered 409';
        readonly hint: 'let the bot set it again through Postern (`POST /webhook`) to get opened updates, or remove it (`DELETE /webhook`) and poll';
    };
    readonly 'webhook-failing': {
        readonly what: 'deliveries to the bot’s webhook fail';
        readonly hint: 'repair the bot; setting its webhook again retries at once; its updates wait at the service for 72 hours';
    };
    readonly 'updates-waiting': {
        readonly what: 'updates pile up at the service: the bot’s webhook takes them too slowly or not at all';
        readonly hint: 'make the bot answer faster, or find out why it takes none';
    };
    readonly 'updates-expiring': {
        readonly what: 'the service is about to drop updates: it keeps 10,000, for 72 hours';
        readonly hint: 'let the bot take its updates now; dropped ones are lost';
    };
    readonly 'second-poller': {
        readonly what: 'somebody else polls for this bot; each takes updates from the other';
        readonly hint: 'stop the other one: a second sidecar, or a bot that still calls the service or this sidecar';
    };
    readonly stopping: {
        readonly what: 'the sidecar is stopping';
        readonly hint: 'start it again with `postern run`';
    };
};
/** Why the sidecar is not ready. */
export type ReasonCode = keyof typeof REASONS;
/** Every reason there is, for gauges and documentation. */
export declare const REASON_CODES: readonly ReasonCode[];
/** One reason, for people and probes. */
export interface HealthReason {
    code: ReasonCode;
    /** What is the matter, with its detail. */
    message: string;
    /** What to do about it. */
    hint: string;
    /** Since when, ms since epoch. */
    sinceMs: number;
}
/** What is known of the flow of messages, rather than of the process: ready when nothing is wrong. */
export declare class Health {
    #private;
    /** @param changed told when a reason comes up and when it goes */
    constructor(changed?: (change: {
        code: ReasonCode;
        holds: boolean;
    }) => void);
    /**
     * States a reason. Stated again, it keeps its beginning and takes the new detail.
     * @param detail what exactly, for people; no secrets and nobody's words; may be empty
     */
    set(code: ReasonCode, detail: string): void;
    /** Takes a reason back; nothing happens when it was not stated. */
    clear(code: ReasonCode): void;
    /** What a reason is and what to do about it, whether it holds or not. */
    static words(code: ReasonCode): {
        what: string;
        hint: string;
    };
    /** All reasons that hold, the oldest first. */
    reasons(): HealthReason[];
    /** True when no reason holds. */
    get ready(): boolean;
}
