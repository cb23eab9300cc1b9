/** Buttons, which are never encrypted (spec, Inline keyboard): their text is nobody's Message. */

/** How far a walk has come from a `markup` to a button; 0 outside of any. */
export type KeyboardStep = 0 | 1 | 2 | 3 | 4

const BUTTON: KeyboardStep = 4

/** Where a walk is with `inner`, which stands under `name` in `value`. */
export function stepInto(
  step: KeyboardStep,
  { value, name, inner }: { value: object; name: string; inner: unknown },
): KeyboardStep {
  if (!Array.isArray(value)) {
    if (name === 'markup') return 1
    return step === 1 && name === 'inlineKeyboard' && Array.isArray(inner) ? 2 : 0
  }
  if (step === 2 && Array.isArray(inner)) return 3
  return step === 3 ? BUTTON : 0
}

/** Whether an object is a button as the spec has it, with nothing in it that could be a Message. */
export function isButton(step: KeyboardStep, object: Record<string, unknown>): boolean {
  if (step !== BUTTON || typeof object['text'] !== 'string' || 'armored' in object) return false
  const { callbackData, url } = object
  if (typeof callbackData !== 'string' && typeof url !== 'string') return false
  return Object.values(object).every((value) => typeof value !== 'object' || value === null)
}
