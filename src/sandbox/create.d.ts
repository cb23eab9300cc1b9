import { type Control } from './control/table.ts';
import { type Home } from './default-world.ts';
import type { FaultName, FaultOptions } from './faults/table.ts';
import type { ResponseRewrite } from './http/response.ts';
import { type WorldOptions } from './open-world.ts';
import type { Phone } from './phone/phone.ts';
import { type Mishap } from './seed/former-names.ts';
import { type StepError } from './seed/schedule.ts';
import type { SeedInput } from './seed/schema.ts';
import type { Transcript } from './transcript.ts';
export type { Home } from './default-world.ts';
/** Options of a sandbox. By default it is as strict as the spec. */
export interface SandboxOptions extends WorldOptions {
    /** Port of the API, and of the control listener; any free one by default. */
    port?: number;
    controlPort?: number;
    /**
     * `home` (default): the default world, see `Home`. `empty`: a world with nobody in it. Or a seed.
     * Ignored when `data` holds a world.
     */
    world?: 'home' | 'empty' | SeedInput;
    /** Called for each step of a seed's schedule that fails. */
    onStepError?: (error: StepError) => void;
    /** Former name of `onStepError`. */
    onMishap?: (mishap: Mishap) => void;
}
/** A running sandbox. Disposing it closes both listeners and ends all polls and deliveries. */
export interface Sandbox extends AsyncDisposable {
    /** Base URL of the API, without `/bot/v1`. */
    readonly url: string;
    readonly controlUrl: string;
    /** False when `data` held a world already. */
    readonly isNew: boolean;
    /** The accounts and chats of the default world. @throws Error in any other world */
    readonly home: Home;
    /** First token of the default world's bot. */
    readonly token: string;
    readonly bots: {
        id: number;
        username: string;
        token: string;
    }[];
    readonly people: {
        id: number;
        username: string;
    }[];
    readonly chats: {
        id: number;
        kind: string;
        mode: string;
    }[];
    /** All operations of the control listener, to call in this process. */
    readonly control: Control;
    readonly transcript: Transcript;
    /** A person's phone. Making it generates and publishes the person's key. */
    phone(userId: number): Promise<Phone>;
    /** Sets a fault by name. Gives its number, for `clearFaults`. */
    fault(name: FaultName, options?: FaultOptions): number;
    clearFaults(id?: number): void;
    /** Lets a function change every response, once the call is handled, until the returned one is called. */
    onAnswer(rewrite: ResponseRewrite): () => void;
    now(): number;
    /** Moves the clock forward by milliseconds. */
    advance(ms: number): void;
    /** Resolves when every step of a seed's schedule that is due by now is done. */
    caughtUp(): Promise<void>;
}
/**
 * Starts a sandbox on 127.0.0.1.
 * @throws OperatorError when the file of `data` cannot be used; SeedError with everything that is
 *   wrong with a seed; an error of node:net when a port is in use
 */
export declare function createSandbox(options?: SandboxOptions): Promise<Sandbox>;
