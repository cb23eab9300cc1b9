/** Prints data to stdout; a missing last newline is added. */
export declare function print(text: string): void;
/** Prints a person's words to stdout: exactly, but harmless where stdout is a terminal. */
export declare function printText(text: string): void;
/** Begins a new screen, where stdout is a terminal. */
export declare function clearScreen(): void;
/** Prints a line for the person, on stderr. */
export declare function printNotice(line: string): void;
/** Whether somebody sits there who can be asked. */
export declare function isInteractive(): boolean;
/** Where questions are asked: not among the data. */
export declare const promptOutput: NodeJS.WriteStream;
/** Begins a line to the person, on stderr, that something else ends. */
export declare function printPrompt(text: string): void;
/** Whether what `print` prints goes to a terminal. */
export declare function isStdoutTerminal(): boolean;
/** Sends a file to stdout, byte for byte. */
export declare function printFile(path: string): Promise<void>;
/** Resolves once everything that was written is with its reader, or the reader is gone. */
export declare function flush(): Promise<void>;
/** Prints a value as JSON to stdout: one line, or indented when stdout is a terminal. */
export declare function printJson(value: unknown): void;
/**
 * Says why a command did not do what it was asked. What is not a PosternError shows its name
 * alone: its message may hold anything.
 */
export declare function printError(error: unknown): void;
/** The exit code for an error: 2 for usage and settings, 1 for the rest. */
export declare function exitCodeOf(error: unknown): 1 | 2;
/** Colours a word when stdout is a terminal that wants it. */
export declare function colourText(colour: 'green' | 'yellow' | 'red' | 'dim', text: string): string;
/** Takes out what could move the cursor or turn the reading direction; newlines and tabs stay. */
export declare function stripControls(text: string): string;
