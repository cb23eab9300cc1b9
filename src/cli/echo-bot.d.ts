/** What the bot does with a message it can read. */
export interface EchoedMessage {
    chatId: number;
    text: string;
    answer: string;
}
/**
 * An ordinary bot: it speaks HTTP and JSON to one address, says again what it reads, and knows
 * nothing of keys. Runs until `signal` is aborted.
 */
export declare function runEchoBot(o: {
    url: string;
    token: string;
    signal: AbortSignal;
    onMessage: (message: EchoedMessage) => void;
}): Promise<void>;
