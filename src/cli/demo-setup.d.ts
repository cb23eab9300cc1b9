import { type Sandbox } from '../sandbox/create.ts';
import type { Phone } from '../sandbox/phone/phone.ts';
import { type EchoedMessage } from './echo-bot.ts';
/** Everything that the demo plays with, running. Disposing ends it and leaves nothing behind. */
export interface Demo extends AsyncDisposable {
    sandbox: Sandbox;
    /** The bot's door of the sidecar. */
    url: string;
    alice: Phone;
    bob: Phone;
    /** What the bot read and answered, in order. */
    echoed: EchoedMessage[];
    /** Why the bot stopped by itself; null while it runs. */
    failure(): string | null;
}
/**
 * Starts the sandbox, a sidecar with a fresh key in a temporary data directory, and the echo bot.
 * @throws OperatorError when the sidecar does not get ready
 */
export declare function startDemo(): Promise<Demo>;
