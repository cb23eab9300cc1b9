import { z } from 'zod';
/** What is looked at in a body before it is handed on. */
interface BodyRule {
    schema: z.ZodType;
    /** `names`: only that no field is unknown, values are the service's to judge; `types`: both. */
    check: 'names' | 'types';
}
/** Endpoints that pass through, with the body that each may carry (DESIGN, What the bot sees). */
export declare const PASSED: {
    readonly getCommands: BodyRule;
    readonly putCommands: {
        readonly schema: z.ZodObject<{
            scope: z.ZodDefault<z.ZodString>;
            commands: z.ZodArray<z.ZodObject<{
                command: z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>, z.ZodString>;
                description: z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>, z.ZodString>;
            }, z.core.$strict>>;
        }, z.core.$strict>;
        readonly check: 'names';
    };
    readonly deleteCommands: BodyRule;
    readonly deleteMessage: {
        readonly schema: z.ZodObject<{
            chatId: z.ZodInt;
        }, z.core.$strict>;
        readonly check: 'types';
    };
    readonly answerCallback: {
        readonly schema: z.ZodObject<{
            text: z.ZodOptional<z.ZodPipe<z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>, z.ZodString>>;
            alert: z.ZodDefault<z.ZodBoolean>;
            url: z.ZodOptional<z.ZodString>;
        }, z.core.$strict>;
        readonly check: 'names';
    };
    readonly getMembers: BodyRule;
    readonly getMember: BodyRule;
    readonly leaveChat: BodyRule;
    readonly sendTyping: {
        readonly schema: z.ZodObject<{
            typing: z.ZodOptional<z.ZodBoolean>;
        }, z.core.$strict>;
        readonly check: 'types';
    };
    readonly resolve: BodyRule;
    readonly getUserKey: BodyRule;
    readonly revokeToken: BodyRule;
};
/** `PUT /key`, for a sidecar that manages no key. */
export declare const PASSED_KEY: BodyRule;
/**
 * Judges a parsed body by its rule. Nothing is changed: what passes is written anew from `body`.
 * @throws Refusal `bad_request` naming the field
 */
export declare function checkBody(rule: BodyRule, body: unknown): void;
export {};
