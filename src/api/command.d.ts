import { z } from 'zod';
/** `default`, `private`, `groups`, `groupAdmins` or `chat:<chat_id>`. */
export declare const Scope: z.ZodString;
/**
 * A command as it is stored: name trimmed, lower-cased and without its slash, description with
 * runs of whitespace folded before its limit applies.
 */
export declare const Command: z.ZodObject<{
    command: z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>, z.ZodString>;
    description: z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>, z.ZodString>;
}, z.core.$strict>;
export type Command = z.infer<typeof Command>;
/** A scope with its list. */
export interface CommandScope {
    scope: string;
    commands: Command[];
}
/** Body of `PUT /commands`. */
export declare const PutCommands: z.ZodObject<{
    scope: z.ZodDefault<z.ZodString>;
    commands: z.ZodArray<z.ZodObject<{
        command: z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>, z.ZodString>;
        description: z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>, z.ZodString>;
    }, z.core.$strict>>;
}, z.core.$strict>;
export type PutCommands = z.infer<typeof PutCommands>;
