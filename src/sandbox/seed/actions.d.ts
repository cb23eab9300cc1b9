import { z } from 'zod';
import { type ReferenceKind } from '../control/fields.ts';
/** Operations of the control that a seed can schedule. */
export declare const ACTIONS: readonly ["write", "post", "sendMedia", "press", "join", "leave", "setMembership", "setSeat", "changeChat", "block", "unblock", "closeAccount", "renamePerson", "givePhone", "newKey", "publishKey", "pause", "resume", "changeBot", "setCommands", "setBotKey", "removeKey", "issueToken", "revokeToken", "injectUpdate", "fault", "clearFaults"];
export type ActionName = (typeof ACTIONS)[number];
/** The input of an operation as a seed spells it: with names in the place of ids. */
export declare function inputWithNames(input: z.ZodObject): z.ZodObject;
/** The fields of an input that refer to something, alone or in a list. */
export declare function referencesIn(input: z.ZodObject): Map<string, ReferenceKind>;
export declare const actionInput: (action: ActionName) => z.ZodObject;
