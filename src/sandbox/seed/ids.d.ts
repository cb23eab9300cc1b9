import type { ReferenceKind } from '../control/fields.ts';
/** The ids of accounts and chats, by the names that a seed gives them. */
export declare class SeedIds {
    #private;
    readonly accounts: Map<string, number>;
    readonly chats: Map<string, number>;
    /** @throws Error when there is no such name, which a checked seed does not contain */
    account(name: string): number;
    /** @throws Error as `account` does */
    chat(name: string): number;
    /** Gives `chat:ID` for `chat:NAME`; other scopes as they are. */
    scope(scope: string): string;
    /** Replaces the names in an operation's input by ids. @param references fields with names */
    resolve(input: Record<string, unknown>, references: Map<string, ReferenceKind>): Record<string, unknown>;
}
