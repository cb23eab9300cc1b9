/**
 * Why asking the service again soon may help: `busy`, our calls or the bot's are used up for now;
 * `failed`, it did not answer as it should.
 */
export type Passing = 'busy' | 'failed';
/** What a failed call of our own was, or null when the service has said its word. */
export declare function passingOf(error: unknown): Passing | null;
