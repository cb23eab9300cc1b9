/**
 * What a readable chat refuses in `text` (spec, POST /messages).
 * Takes the text and the greatest length in UTF-16 units. Gives what is wrong, or null.
 */
export declare function textProblem(text: string, textMax?: number): string | null;
/**
 * The shape that the service gives readable text on delivery (spec, Message): CR LF and CR become
 * LF, control characters go, two or more empty lines become one, the ends are trimmed, and what
 * is over 4000 UTF-16 units is cut, never through a surrogate pair.
 */
export declare function deliveredText(text: string): string;
