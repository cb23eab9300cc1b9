import type { Demo } from './demo-setup.ts';
/** Who writes what, where. */
export interface ScriptLine {
    chat: 'private' | 'group';
    text: string;
}
/** What came of it. */
export interface SceneResult {
    /** The bot read the very words. */
    wasRead: boolean;
    /** The phone opened the answer and the bot's signature is good. */
    isVerified: boolean;
    /** The words or the answer stood somewhere in what the service received or answered. */
    hasLeaked: boolean;
}
/** Prints the heads of the three columns. */
export declare function printHeadings(): void;
/** Lets alice write, and waits for the bot's answer on her phone; prints what each saw. */
export declare function playLine(demo: Demo, { chat, text }: ScriptLine): Promise<SceneResult>;
/** What went wrong, in words for people; empty when all of it worked. */
export declare function problemsOf({ wasRead, isVerified, hasLeaked }: SceneResult): string[];
