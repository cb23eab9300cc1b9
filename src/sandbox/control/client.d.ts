import { type Control } from './table.ts';
/**
 * The same operations over a control listener, for programs outside the sandbox's process.
 * Takes the `controlUrl` that `postern sandbox --json` prints.
 * @throws ControlError (each operation) when the sandbox refuses
 */
export declare function createControlClient(controlUrl: string): Control;
