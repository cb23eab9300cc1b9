/** Buttons, which are never encrypted (spec, Inline keyboard): their text is nobody's Message. */
/** How far a walk has come from a `markup` to a button; 0 outside of any. */
export type KeyboardStep = 0 | 1 | 2 | 3 | 4;
/** Where a walk is with `inner`, which stands under `name` in `value`. */
export declare function stepInto(step: KeyboardStep, { value, name, inner }: {
    value: object;
    name: string;
    inner: unknown;
}): KeyboardStep;
/** Whether an object is a button as the spec has it, with nothing in it that could be a Message. */
export declare function isButton(step: KeyboardStep, object: Record<string, unknown>): boolean;
